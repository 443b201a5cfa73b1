//! [`TextTemplate`]: events that differ from the one before in their text alone.
//!
//! Most events of a stream are the same bytes but for a few letters of text. Those are compared with the last one instead of
//! being read as JSON again, which is several times faster. Whatever is not exactly of that kind is read in full.

use crate::delta::ReplyDelta;

/// Where OpenAI writes letters of no meaning, so that the size of events tells nothing of the text.
const FILLER: &[u8] = b"\"obfuscation\":";

/// Where OpenAI numbers the events of a response.
const NUMBER: &[u8] = b"\"sequence_number\":";

/// So many digits have numbers that may differ.
const MOST_DIGITS: usize = 15;

/// The last event, when it told nothing but text.
#[derive(Debug, Default)]
pub(super) struct TextTemplate {
    name: Vec<u8>,
    /// Its data; empty when there is none.
    data: Vec<u8>,
    channel: Channel,
    choice: u32,
    /// What may differ, in order: everything between must be the same.
    holes: Vec<Hole>,
}

/// Which delta is told of the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Channel {
    #[default]
    Text,
    Reasoning,
    Refusal,
}

/// A part of the data that may differ.
#[derive(Debug)]
struct Hole {
    kind: HoleKind,
    begin: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HoleKind {
    /// The text that is told.
    Text,
    /// A string that says nothing.
    Filler,
    /// A number that says nothing.
    Number,
}

/// Where an event has the text that is all it tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPlace {
    channel: Channel,
    choice: u32,
    /// The address of its first byte.
    address: usize,
    len: usize,
}

impl TextPlace {
    /// The place of a text that stands at this address, when it is all that was told.
    pub(super) fn of(address: usize, told: &[ReplyDelta]) -> Option<Self> {
        let (channel, choice, text) = match told {
            [ReplyDelta::Text { choice, text }] => (Channel::Text, choice, text),
            [ReplyDelta::Reasoning { choice, text }] => (Channel::Reasoning, choice, text),
            [ReplyDelta::Refusal { choice, text }] => (Channel::Refusal, choice, text),
            _ => return None,
        };
        Some(Self {
            channel,
            choice: *choice,
            address,
            len: text.len(),
        })
    }
}

impl TextTemplate {
    /// Forgets the event: after any other, what came before says nothing of the next.
    pub(super) fn clear(&mut self) {
        self.data.clear();
    }

    /// Takes an event that told nothing but this text, and after which the same with another text would tell but that.
    pub(super) fn learn(&mut self, name: &[u8], data: &[u8], text: TextPlace) {
        let Some(begin) = text.address.checked_sub(data.as_ptr().addr()) else {
            return;
        };
        let end = begin.saturating_add(text.len);
        if begin.checked_sub(1).and_then(|at| data.get(at)) != Some(&b'"') || data.get(end) != Some(&b'"') {
            return;
        }
        name.clone_into(&mut self.name);
        data.clone_into(&mut self.data);
        (self.channel, self.choice) = (text.channel, text.choice);
        self.holes.clear();
        let kind = HoleKind::Text;
        self.holes.push(Hole { kind, begin, end });
        self.holes.extend(Hole::find(HoleKind::Filler, FILLER, data));
        self.holes.extend(Hole::find(HoleKind::Number, NUMBER, data));
        self.holes.sort_unstable_by_key(|hole| hole.begin);
    }

    /// What an event tells that is otherwise the same.
    pub(super) fn read(&self, name: &[u8], data: &[u8]) -> Option<ReplyDelta> {
        if self.data.is_empty() || *name != self.name {
            return None;
        }
        let (choice, text) = (self.choice, self.text(data)?.into());
        Some(match self.channel {
            Channel::Text => ReplyDelta::Text { choice, text },
            Channel::Reasoning => ReplyDelta::Reasoning { choice, text },
            Channel::Refusal => ReplyDelta::Refusal { choice, text },
        })
    }

    fn text<'e>(&self, data: &'e [u8]) -> Option<&'e str> {
        let (mut rest, mut same, mut text) = (data, 0, None);
        for hole in &self.holes {
            rest = rest.strip_prefix(&self.data[same..hole.begin])?;
            let found = hole.kind.fits(rest)?;
            if hole.kind == HoleKind::Text {
                text = Some(found);
            }
            (rest, same) = (&rest[found.len()..], hole.end);
        }
        let text = text.filter(|_| *rest == self.data[same..])?;
        std::str::from_utf8(text).ok()
    }
}

impl Hole {
    /// The value of the member that begins so, where it is one that may differ.
    fn find(kind: HoleKind, member: &[u8], data: &[u8]) -> Option<Self> {
        let value = memchr::memmem::find(data, member)? + member.len();
        let blanks = data[value..].iter().take_while(|byte| **byte == b' ').count();
        let quote = usize::from(kind == HoleKind::Filler);
        let begin = value + blanks + quote;
        if quote > 0 && data.get(begin - 1) != Some(&b'"') {
            return None;
        }
        let end = begin + kind.fits(data.get(begin..)?)?.len();
        // Readers pass over empty members, so that a filled one may be news.
        (end > begin).then_some(Self { kind, begin, end })
    }
}

impl HoleKind {
    /// What stands at the beginning of these bytes, if it is of this kind.
    fn fits(self, bytes: &[u8]) -> Option<&[u8]> {
        if self == Self::Number {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = &bytes[..digits];
            let is_number = (1..=MOST_DIGITS).contains(&digits) && (digits == 1 || number[0] != b'0');
            return is_number.then_some(number);
        }
        let string = &bytes[..memchr::memchr(b'"', bytes)?];
        let is_fit = match self {
            // UTF-8 is checked for what is told.
            Self::Text => !string.is_empty(),
            _ => string.is_ascii(),
        };
        (is_fit && is_plain(string)).then_some(string)
    }
}

/// Whether these bytes of a JSON string are without an escape, as far as ASCII goes.
fn is_plain(bytes: &[u8]) -> bool {
    // No early exit: the loop is short, and without one it is done for many bytes at a time.
    let special = |byte: &u8| (*byte < 0x20) | (*byte == b'\\');
    bytes.iter().fold(true, |plain, byte| plain & !special(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> ReplyDelta {
        ReplyDelta::Reasoning {
            choice: 3,
            text: text.into(),
        }
    }

    /// A template of this event, whose text is `T`.
    fn template(data: &str) -> TextTemplate {
        let at = data.find("\"T\"").unwrap() + 1;
        let mut template = TextTemplate::default();
        let place = TextPlace::of(data.as_ptr().addr() + at, &[told("T")]).unwrap();
        template.learn(b"delta", data.as_bytes(), place);
        template
    }

    #[track_caller]
    fn check(known: &str, data: &str, expected: Option<&str>) {
        let found = template(known).read(b"delta", data.as_bytes());
        assert_eq!(found, expected.map(told), "{data} after {known}");
    }

    #[test]
    fn only_the_text_may_differ() {
        let known = r#"{"id":1,"t":"T","n":null}"#;
        check(known, r#"{"id":1,"t":"more é","n":null}"#, Some("more é"));
        check(known, known, Some("T"));
        check(known, r#"{"id":2,"t":"T","n":null}"#, None);
        check(known, r#"{"id":1,"t":"T","n":true}"#, None);
        check(known, r#"{"id":1,"t":"T","n":null} "#, None);
        check(known, r#"{"id":1,"t":"T"}"#, None);
        check(known, r#"{"id":1,"t":"","n":null}"#, None);
        check(known, r#"{"id":1,"t":"a\"","n":null}"#, None);
        check(known, r#"{"id":1,"t":"a\n","n":null}"#, None);
        check(known, "{\"id\":1,\"t\":\"a\n\",\"n\":null}", None);
        check(known, r#"{"id":1,"t":"a","x":"b","n":null}"#, None);
    }

    #[test]
    fn the_name_counts() {
        let data = br#"["T"]"#;
        assert_eq!(template(r#"["T"]"#).read(b"other", data), None);
        assert_eq!(template(r#"["T"]"#).read(b"", data), None);
    }

    #[test]
    fn head_and_tail_may_not_overlap() {
        check(r#"["","T",""]"#, r#"["",""]"#, None);
        check(r#"["T"]"#, r#"[""#, None);
        check(r#"["T"]"#, r#"["x"#, None);
    }

    #[test]
    fn filler_may_differ_too() {
        let known = r#"{"t":"T","n":0,"obfuscation":"abc"}"#;
        check(known, r#"{"t":"more","n":0,"obfuscation":"x"}"#, Some("more"));
        check(known, r#"{"t":"more","n":0,"obfuscation":""}"#, Some("more"));
        check(known, r#"{"t":"more","n":0,"obfuscation":"x","y":""}"#, None);
        check(known, r#"{"t":"more","n":0,"obfuscation":"é"}"#, None);
        check(known, r#"{"t":"more","n":0,"obfuscation":"\""}"#, None);
        check(known, r#"{"t":"more","n":1,"obfuscation":"x"}"#, None);
        check(known, r#"{"t":"mo\"re","n":0,"obfuscation":"x"}"#, None);
        let before = r#"{"obfuscation": "abc", "t": "T"}"#;
        check(before, r#"{"obfuscation": "x", "t": "more"}"#, Some("more"));
        check(before, r#"{"obfuscation":"x", "t": "more"}"#, None);
    }

    #[test]
    fn a_filler_that_is_empty_or_no_text_stays_as_it_is() {
        let empty = r#"{"t":"T","obfuscation":""}"#;
        check(empty, r#"{"t":"more","obfuscation":""}"#, Some("more"));
        check(empty, r#"{"t":"more","obfuscation":"x"}"#, None);
        let other = r#"{"t":"T","obfuscation":7}"#;
        check(other, r#"{"t":"more","obfuscation":7}"#, Some("more"));
        check(other, r#"{"t":"more","obfuscation":8}"#, None);
    }

    #[test]
    fn the_number_of_an_event_may_differ() {
        let known = r#"{"sequence_number":9,"t":"T"}"#;
        check(known, r#"{"sequence_number":10,"t":"more"}"#, Some("more"));
        check(known, r#"{"sequence_number":0,"t":"more"}"#, Some("more"));
        check(known, r#"{"sequence_number":01,"t":"more"}"#, None);
        check(known, r#"{"sequence_number":,"t":"more"}"#, None);
        check(known, r#"{"sequence_number":-1,"t":"more"}"#, None);
        check(known, r#"{"sequence_number":1.5,"t":"more"}"#, None);
        check(known, r#"{"sequence_number":1234567890123456,"t":"more"}"#, None);
        let after = r#"{"t": "T", "sequence_number": 9, "obfuscation": "a"}"#;
        let next = r#"{"t": "x", "sequence_number": 10, "obfuscation": ""}"#;
        check(after, next, Some("x"));
        check(r#"["T", "sequence_number"]"#, r#"["x", "sequence_number"]"#, Some("x"));
        check(
            r#"{"t":"T","sequence_number":"9"}"#,
            r#"{"t":"T","sequence_number":"8"}"#,
            None,
        );
    }

    #[test]
    fn broken_utf8_and_a_forgotten_event_say_nothing() {
        let mut template = template(r#"["T"]"#);
        assert_eq!(template.read(b"delta", b"[\"\xFF\"]"), None);
        assert_eq!(template.read(b"delta", b"[\"ok\"]"), Some(told("ok")));
        template.clear();
        assert_eq!(template.read(b"delta", b"[\"ok\"]"), None);
    }

    #[test]
    fn text_that_does_not_stand_in_the_event_is_not_learned() {
        let (data, other) = (*b"[\"T\"]", *b"T");
        let mut template = TextTemplate::default();
        for address in [0, other.as_ptr().addr(), usize::MAX, data.as_ptr().addr() + 1] {
            let place = TextPlace::of(address, &[told("T")]).unwrap();
            template.learn(b"delta", &data, place);
        }
        assert_eq!(template.read(b"delta", &data), None);
    }

    #[test]
    fn only_one_text_is_a_place() {
        assert!(TextPlace::of(0, &[]).is_none());
        assert!(TextPlace::of(0, &[told("a"), told("b")]).is_none());
        assert!(TextPlace::of(0, &[ReplyDelta::BlockEnd { choice: 0 }]).is_none());
    }
}
