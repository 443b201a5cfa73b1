//! [`TypedAhead`]: what is typed while a turn is running, for the next prompt.

use std::{collections::VecDeque, iter::Peekable, str::Chars};

/// Input that was typed while nothing asked for it.
#[derive(Debug, Default)]
pub(crate) struct TypedAhead {
    /// The keys of the line that is not complete yet.
    bytes: Vec<u8>,
    /// Complete lines.
    lines: VecDeque<String>,
}

impl TypedAhead {
    /// Adds what the terminal sent.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Removes an Escape key at the end. Returns whether there was one.
    pub(super) fn take_escape(&mut self) -> bool {
        let is_escape = self.bytes.ends_with(ESCAPE);
        if is_escape {
            self.bytes.pop();
        }
        is_escape
    }

    /// Returns whether the last key is Escape, or the start of the sequence of another key.
    pub(super) fn ends_with_escape(&self) -> bool {
        self.bytes.ends_with(ESCAPE)
    }

    /// Takes the next complete line, or else the text of the incomplete one.
    pub(super) fn take(&mut self) -> Result<String, String> {
        let (lines, rest) = decode(&String::from_utf8_lossy(&self.bytes));
        self.lines.extend(lines);
        match self.lines.pop_front() {
            Some(line) => {
                self.bytes = rest.into_bytes();
                Ok(line)
            }
            None => {
                self.bytes.clear();
                Err(rest)
            }
        }
    }

    /// Discards everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

const ESCAPE: &[u8] = b"\x1b";

/// Applies the keys in the order in which they were pressed. Returns the complete lines, and the rest.
fn decode(keys: &str) -> (Vec<String>, String) {
    let (mut lines, mut line) = (Vec::new(), String::new());
    let mut keys = keys.chars().peekable();
    while let Some(key) = keys.next() {
        match key {
            '\r' if line.ends_with('\\') => {
                line.pop();
                line.push('\n');
            }
            '\r' => lines.push(std::mem::take(&mut line)),
            // Tab queues a message.
            '\t' if !line.trim().is_empty() => lines.push(std::mem::take(&mut line)),
            '\n' => line.push('\n'),
            '\u{7f}' | '\u{8}' => drop(line.pop()),
            // Ctrl-U
            '\u{15}' => line.clear(),
            // Ctrl-W
            '\u{17}' => {
                let kept = line.trim_end();
                let end = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                line.truncate(end);
            }
            '\u{1b}' => match keys.next() {
                Some('\r') => line.push('\n'),
                Some('[') => skip_sequence(&mut keys),
                Some('O') => drop(keys.next()),
                _ => {}
            },
            key if key.is_control() => {}
            key => line.push(key),
        }
    }
    (lines, line)
}

/// Skips the rest of the sequence of an arrow or function key.
fn skip_sequence(keys: &mut Peekable<Chars<'_>>) {
    for key in keys.by_ref() {
        if ('@'..='~').contains(&key) {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_applied_in_order() {
        let check = |keys: &str, lines: &[&str], rest: &str| {
            assert_eq!(
                decode(keys),
                (lines.iter().map(ToString::to_string).collect(), rest.to_owned()),
                "{keys:?}"
            );
        };
        check("", &[], "");
        check("one\rtwo\rthr", &["one", "two"], "thr");
        check("a\nb\\\rc\u{1b}\rd\r", &["a\nb\nc\nd"], "");
        check("字x\u{7f}\u{7f}b", &[], "b");
        check("a word\u{17}x\u{15}y", &[], "y");
        check("a\u{1b}[A\u{1b}[1;5Cb\u{1b}OHcd", &[], "abcd");
        check("\tone\ttwo\t", &["one", "two"], "");
    }

    #[test]
    fn lines_are_taken_one_by_one_and_the_rest_last() {
        let mut typed = TypedAhead::default();
        typed.push("one\r".as_bytes());
        typed.push("二\rre".as_bytes());
        assert_eq!(typed.take(), Ok("one".to_owned()));
        typed.push("st".as_bytes());
        assert_eq!(typed.take(), Ok("二".to_owned()));
        assert_eq!(typed.take(), Err("rest".to_owned()));
        assert_eq!(typed.take(), Err(String::new()));
        typed.push(b"a\x1b");
        assert!(typed.ends_with_escape() && typed.take_escape() && !typed.take_escape());
    }
}
