//! [`Template`]: chunks that differ from the one before in their text alone.
//!
//! Most chunks of a stream are the same bytes but for a few letters of text. Those are compared with the last one instead of
//! being read as JSON again, which is several times faster. Whatever is not exactly of that kind is read in full.

/// Where OpenAI writes letters of no meaning, so that the size of chunks tells nothing of the text.
const FILLER: &[u8] = b"\"obfuscation\":\"";

/// The last chunk, when it told nothing but text.
#[derive(Debug, Default)]
pub(super) struct Template {
    /// The chunk; empty when there is none.
    chunk: Vec<u8>,
    choice: u32,
    /// Where its text begins: up to here other chunks must be the same.
    text: usize,
    /// From the quote after the text, to the end or to the filler: must be the same, too.
    middle: (usize, usize),
    /// From the quote after the filler to the end.
    tail: Option<usize>,
}

/// Where a chunk has the text that is all it tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPlace {
    pub(super) choice: u32,
    /// The address of its first byte.
    pub(super) address: usize,
    pub(super) len: usize,
}

impl Template {
    /// Forgets the chunk: after any other, what came before says nothing of the next.
    pub(super) fn clear(&mut self) {
        self.chunk.clear();
    }

    /// Takes a chunk that told nothing but this text, and changed nothing else.
    pub(super) fn learn(&mut self, chunk: &[u8], text: TextPlace) {
        let Some(begin) = text.address.checked_sub(chunk.as_ptr().addr()) else {
            return;
        };
        let end = begin.saturating_add(text.len);
        if begin.checked_sub(1).and_then(|at| chunk.get(at)) != Some(&b'"') || chunk.get(end) != Some(&b'"') {
            return;
        }
        let filler = memchr::memmem::find(&chunk[end..], FILLER).map(|at| end + at + FILLER.len());
        // An escape in it only means that there is no tail of that kind next time.
        let tail = filler.and_then(|filler| Some(filler + memchr::memchr(b'"', &chunk[filler..])?));
        self.chunk.clear();
        self.chunk.extend_from_slice(chunk);
        self.choice = text.choice;
        self.text = begin;
        self.middle = (end, filler.filter(|_| tail.is_some()).unwrap_or(chunk.len()));
        self.tail = tail;
    }

    /// The text of a chunk that is otherwise the same, and its choice.
    pub(super) fn text<'c>(&self, chunk: &'c [u8]) -> Option<(u32, &'c str)> {
        if self.chunk.is_empty() {
            return None;
        }
        let middle = &self.chunk[self.middle.0..self.middle.1];
        let rest = chunk.strip_prefix(&self.chunk[..self.text])?;
        let text = match self.tail {
            None => rest.strip_suffix(middle)?,
            Some(tail) => {
                let rest = rest.strip_suffix(&self.chunk[tail..])?;
                let (text, rest) = rest.split_at(memchr::memchr(b'"', rest)?);
                let filler = rest.strip_prefix(middle)?;
                if !is_plain(filler) || !filler.is_ascii() {
                    return None;
                }
                text
            }
        };
        if text.is_empty() || !is_plain(text) {
            return None;
        }
        Some((self.choice, std::str::from_utf8(text).ok()?))
    }
}

/// Whether these are the bytes of a JSON string without an escape and without its end, as far as ASCII goes.
fn is_plain(bytes: &[u8]) -> bool {
    // No early exit: the loop is short, and without one it is done for many bytes at a time.
    let special = |byte: &u8| (*byte < 0x20) | (*byte == b'"') | (*byte == b'\\');
    bytes.iter().fold(true, |plain, byte| plain & !special(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A template of this chunk, whose text is `T`.
    fn template(chunk: &str) -> Template {
        let at = chunk.find("\"T\"").unwrap() + 1;
        let mut template = Template::default();
        let place = TextPlace {
            choice: 3,
            address: chunk.as_ptr().addr() + at,
            len: 1,
        };
        template.learn(chunk.as_bytes(), place);
        template
    }

    #[track_caller]
    fn check(known: &str, chunk: &str, expected: Option<&str>) {
        let found = template(known).text(chunk.as_bytes()).map(|(choice, text)| {
            assert_eq!(choice, 3);
            text
        });
        assert_eq!(found, expected, "{chunk} after {known}");
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
    fn head_and_tail_may_not_overlap() {
        check(r#"["","T",""]"#, r#"["",""]"#, None);
        check(r#"["T"]"#, r#"[""#, None);
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
    }

    #[test]
    fn broken_utf8_and_a_forgotten_chunk_say_nothing() {
        let mut template = template(r#"["T"]"#);
        assert_eq!(template.text(b"[\"\xFF\"]"), None);
        assert_eq!(template.text(b"[\"ok\"]"), Some((3, "ok")));
        template.clear();
        assert_eq!(template.text(b"[\"ok\"]"), None);
    }

    #[test]
    fn text_that_does_not_stand_in_the_chunk_is_not_learned() {
        let (chunk, other) = (*b"[\"T\"]", *b"T");
        let mut template = Template::default();
        for address in [0, other.as_ptr().addr(), usize::MAX, chunk.as_ptr().addr() + 1] {
            template.learn(
                &chunk,
                TextPlace {
                    choice: 0,
                    address,
                    len: 1,
                },
            );
        }
        assert_eq!(template.text(&chunk), None);
    }
}
