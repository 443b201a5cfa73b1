//! [`TextTemplate`]: recognizes events that differ from the previous one only in their text.
//!
//! Most events of a stream are the same bytes except for a few letters of text. Comparing them with the previous event
//! instead of parsing their JSON is several times faster. Events that differ in anything else are parsed.

use std::ops::Range;

use crate::delta::ReplyDelta;

/// The member in which OpenAI pads events with random letters, so that their size does not reveal the text.
const PADDING_MEMBER: &[u8] = b"\"obfuscation\":";

/// The member in which OpenAI numbers the events of a response.
const NUMBER_MEMBER: &[u8] = b"\"sequence_number\":";

/// The maximum number of digits of a number that may differ.
const MAX_DIGITS: usize = 15;

/// The previous event, if it contained nothing but text.
#[derive(Debug, Default)]
pub(crate) struct TextTemplate {
    name: Vec<u8>,
    /// The data of the event; empty if there is no event.
    data: Vec<u8>,
    kind: TextKind,
    choice: u32,
    /// The parts that may differ, in order. Everything between them must be the same.
    variable_parts: Vec<VariablePart>,
}

/// The kind of delta that the text becomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum TextKind {
    #[default]
    Text,
    Reasoning,
    Refusal,
}

/// A part of the data that may differ from event to event.
#[derive(Debug)]
struct VariablePart {
    kind: PartKind,
    range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartKind {
    /// The text of the delta.
    Text,
    /// A string without meaning.
    Padding,
    /// A number without meaning.
    Number,
}

/// The byte range of the text in an event that contains nothing else, and the delta that it becomes.
#[derive(Debug, Clone)]
pub(crate) struct TextRange {
    kind: TextKind,
    choice: u32,
    range: Range<usize>,
}

impl TextRange {
    /// Returns the range of `text` in `data`, which it is borrowed from, if `deltas` is just that text.
    pub(crate) fn new(data: &[u8], text: &str, deltas: &[ReplyDelta]) -> Option<Self> {
        let (kind, choice) = match deltas {
            [ReplyDelta::Text { choice, .. }] => (TextKind::Text, *choice),
            [ReplyDelta::Reasoning { choice, .. }] => (TextKind::Reasoning, *choice),
            [ReplyDelta::Refusal { choice, .. }] => (TextKind::Refusal, *choice),
            _ => return None,
        };
        let range = subslice_range(data, text.as_bytes())?;
        Some(Self { kind, choice, range })
    }
}

/// Returns the range of `part` in `whole`, or `None` if it is not borrowed from there.
fn subslice_range(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let begin = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = begin.checked_add(part.len())?;
    (end <= whole.len()).then_some(begin..end)
}

impl TextTemplate {
    /// Forgets the previous event.
    pub(crate) fn clear(&mut self) {
        self.data.clear();
    }

    /// Remembers an event that contained nothing but this text.
    pub(crate) fn learn(&mut self, name: &[u8], data: &[u8], text: TextRange) {
        let Range { start, end } = text.range;
        let is_quoted = start.checked_sub(1).and_then(|at| data.get(at)) == Some(&b'"') && data.get(end) == Some(&b'"');
        if !is_quoted {
            return;
        }
        name.clone_into(&mut self.name);
        data.clone_into(&mut self.data);
        (self.kind, self.choice) = (text.kind, text.choice);
        self.variable_parts.clear();
        self.variable_parts.push(VariablePart {
            kind: PartKind::Text,
            range: start..end,
        });
        let padding = VariablePart::find(PartKind::Padding, PADDING_MEMBER, data);
        let number = VariablePart::find(PartKind::Number, NUMBER_MEMBER, data);
        self.variable_parts.extend(padding);
        self.variable_parts.extend(number);
        self.variable_parts.sort_unstable_by_key(|part| part.range.start);
    }

    /// Returns the delta of an event that differs from the previous one only in its variable parts.
    pub(crate) fn read(&self, name: &[u8], data: &[u8]) -> Option<ReplyDelta> {
        if self.data.is_empty() || *name != self.name {
            return None;
        }
        let (choice, text) = (self.choice, self.text(data)?.into());
        Some(match self.kind {
            TextKind::Text => ReplyDelta::Text { choice, text },
            TextKind::Reasoning => ReplyDelta::Reasoning { choice, text },
            TextKind::Refusal => ReplyDelta::Refusal { choice, text },
        })
    }

    fn text<'e>(&self, data: &'e [u8]) -> Option<&'e str> {
        let (mut rest, mut same, mut text) = (data, 0, None);
        for part in &self.variable_parts {
            rest = rest.strip_prefix(&self.data[same..part.range.start])?;
            let found = part.kind.leading(rest)?;
            if part.kind == PartKind::Text {
                text = Some(found);
            }
            (rest, same) = (&rest[found.len()..], part.range.end);
        }
        let text = text.filter(|_| *rest == self.data[same..])?;
        std::str::from_utf8(text).ok()
    }
}

impl VariablePart {
    /// Finds the value of a member, given with its colon, if it is of this kind.
    fn find(kind: PartKind, member: &[u8], data: &[u8]) -> Option<Self> {
        let value = memchr::memmem::find(data, member)? + member.len();
        let blanks = data[value..].iter().take_while(|byte| **byte == b' ').count();
        let quote = usize::from(kind == PartKind::Padding);
        let begin = value + blanks + quote;
        if quote > 0 && data.get(begin - 1) != Some(&b'"') {
            return None;
        }
        let end = begin + kind.leading(data.get(begin..)?)?.len();
        // Readers skip empty members, so a value where there was none may have a meaning.
        (end > begin).then_some(Self {
            kind,
            range: begin..end,
        })
    }
}

impl PartKind {
    /// Returns the part at the beginning of these bytes, if there is one of this kind.
    fn leading(self, bytes: &[u8]) -> Option<&[u8]> {
        if self == Self::Number {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = &bytes[..digits];
            let is_number = (1..=MAX_DIGITS).contains(&digits) && (digits == 1 || number[0] != b'0');
            return is_number.then_some(number);
        }
        let string = &bytes[..memchr::memchr(b'"', bytes)?];
        let is_accepted = match self {
            // Whether the text is valid UTF-8 is checked later.
            Self::Text => !string.is_empty(),
            _ => string.is_ascii(),
        };
        (is_accepted && is_unescaped(string)).then_some(string)
    }
}

/// Returns whether these bytes of a JSON string contain neither an escape nor a control character.
fn is_unescaped(bytes: &[u8]) -> bool {
    // Without an early exit the compiler vectorizes the loop, and strings are short.
    let special = |byte: &u8| (*byte < 0x20) | (*byte == b'\\');
    bytes.iter().fold(true, |plain, byte| plain & !special(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(text: &str) -> ReplyDelta {
        ReplyDelta::Reasoning {
            choice: 3,
            text: text.into(),
        }
    }

    /// Returns a template of this event, whose text is `T`.
    fn template(data: &str) -> TextTemplate {
        let at = data.find("\"T\"").unwrap() + 1;
        let mut template = TextTemplate::default();
        let range = TextRange::new(data.as_bytes(), &data[at..=at], &[delta("T")]).unwrap();
        template.learn(b"delta", data.as_bytes(), range);
        template
    }

    #[track_caller]
    fn check(known: &str, data: &str, expected: Option<&str>) {
        let found = template(known).read(b"delta", data.as_bytes());
        assert_eq!(found, expected.map(delta), "{data} after {known}");
    }

    #[test]
    fn recognizes_events_that_differ_in_their_text() {
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
    fn requires_the_same_name() {
        let data = br#"["T"]"#;
        assert_eq!(template(r#"["T"]"#).read(b"other", data), None);
        assert_eq!(template(r#"["T"]"#).read(b"", data), None);
    }

    #[test]
    fn requires_head_and_tail_without_overlap() {
        check(r#"["","T",""]"#, r#"["",""]"#, None);
        check(r#"["T"]"#, r#"[""#, None);
        check(r#"["T"]"#, r#"["x"#, None);
    }

    #[test]
    fn ignores_padding() {
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
    fn compares_padding_that_is_empty_or_not_a_string() {
        let empty = r#"{"t":"T","obfuscation":""}"#;
        check(empty, r#"{"t":"more","obfuscation":""}"#, Some("more"));
        check(empty, r#"{"t":"more","obfuscation":"x"}"#, None);
        let other = r#"{"t":"T","obfuscation":7}"#;
        check(other, r#"{"t":"more","obfuscation":7}"#, Some("more"));
        check(other, r#"{"t":"more","obfuscation":8}"#, None);
    }

    #[test]
    fn ignores_the_number_of_an_event() {
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
    fn rejects_invalid_utf8_and_forgets_a_cleared_event() {
        let mut template = template(r#"["T"]"#);
        assert_eq!(template.read(b"delta", b"[\"\xFF\"]"), None);
        assert_eq!(template.read(b"delta", b"[\"ok\"]"), Some(delta("ok")));
        template.clear();
        assert_eq!(template.read(b"delta", b"[\"ok\"]"), None);
    }

    #[test]
    fn ignores_text_that_is_not_a_string_of_the_event() {
        let data = r#"["T", 7]"#;
        let digit = data.find('7').unwrap();
        let range = |text| TextRange::new(data.as_bytes(), text, &[delta("T")]);
        assert!(range("T").is_none(), "text from elsewhere");
        let mut template = TextTemplate::default();
        for text in [&data[digit..=digit], &data[1..=2], &data[..1]] {
            template.learn(b"delta", data.as_bytes(), range(text).unwrap());
            assert_eq!(template.read(b"delta", data.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn requires_a_single_text_delta() {
        let data = r#"["T"]"#;
        let range = |deltas: &[ReplyDelta]| TextRange::new(data.as_bytes(), &data[2..3], deltas);
        assert!(range(&[delta("T")]).is_some());
        assert!(range(&[]).is_none());
        assert!(range(&[delta("a"), delta("b")]).is_none());
        assert!(range(&[ReplyDelta::BlockEnd { choice: 0 }]).is_none());
    }
}
