//! [`TypedAhead`]: input that is typed while a turn is running, for the next prompt.

use std::collections::VecDeque;

use super::pastes::Pastes;
use crate::render::sanitized_line;

/// The number of complete lines that are shown; the rest are only counted.
const MAX_SHOWN: usize = 3;

/// Input that was typed while nothing asked for it.
#[derive(Debug, Default)]
pub(crate) struct TypedAhead {
    /// The start of a key that is not complete yet.
    bytes: Vec<u8>,
    /// The line that is not complete yet.
    line: String,
    /// Complete lines.
    lines: VecDeque<String>,
    /// How often Shift-Tab was pressed.
    mode_changes: usize,
    pastes: Pastes,
}

impl TypedAhead {
    /// Creates an empty input, in which long texts that are pasted are folded.
    pub(super) fn new(pastes: Pastes) -> Self {
        Self {
            pastes,
            ..Self::default()
        }
    }

    /// Adds what the terminal sent.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // A character may not be complete yet.
        let end = match std::str::from_utf8(&self.bytes) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.bytes.len(),
        };
        let rest = self.bytes.split_off(end);
        let keys = String::from_utf8_lossy(&self.bytes).into_owned();
        let mut keys = keys.as_str();
        while let Some((key, length)) = next_key(keys) {
            self.press(key);
            keys = &keys[length..];
        }
        self.bytes = [keys.as_bytes(), &rest].concat();
    }

    fn press(&mut self, key: Key<'_>) {
        match key {
            Key::Enter if self.line.ends_with('\\') => {
                self.line.pop();
                self.line.push('\n');
            }
            Key::Enter => self.lines.push_back(std::mem::take(&mut self.line)),
            // Tab queues a message.
            Key::Tab if !self.line.trim().is_empty() => self.lines.push_back(std::mem::take(&mut self.line)),
            Key::Backspace => match self.pastes.at_end(&self.line) {
                Some(placeholder) => self.line.truncate(self.line.len() - placeholder.len()),
                None => drop(self.line.pop()),
            },
            Key::ClearLine => self.line.clear(),
            Key::DeleteWord => {
                let kept = self.line.trim_end();
                let end = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.line.truncate(end);
            }
            Key::Mode => self.mode_changes += 1,
            Key::Paste(text) => self.line += &self.pastes.fold(&pasted(text)),
            Key::Character(character) => self.line.push(character),
            Key::Tab | Key::Other => {}
        }
    }

    /// Removes an Escape key at the end. Returns whether there was one.
    pub(super) fn take_escape(&mut self) -> bool {
        let is_escape = self.ends_with_escape();
        if is_escape {
            self.bytes.clear();
        }
        is_escape
    }

    /// Returns whether the last key is Escape, or the start of the sequence of another key.
    pub(super) fn ends_with_escape(&self) -> bool {
        self.bytes == ESCAPE.as_bytes()
    }

    /// Returns whether the end of a pasted text has not arrived yet.
    pub(super) fn is_pasting(&self) -> bool {
        self.bytes.starts_with(PASTE_START.as_bytes())
    }

    /// Returns how often Shift-Tab was pressed since the last call.
    pub(super) fn take_mode_changes(&mut self) -> usize {
        std::mem::take(&mut self.mode_changes)
    }

    /// Takes the next complete line, or else the text of the incomplete one.
    pub(super) fn take(&mut self) -> Result<String, String> {
        self.lines.pop_front().ok_or_else(|| {
            self.bytes.clear();
            std::mem::take(&mut self.line)
        })
    }

    /// Returns whether nothing was typed.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.line.is_empty() && self.lines.is_empty()
    }

    /// Makes all lines a single one that is not complete, so that the user decides what becomes of them.
    pub(super) fn put_back(&mut self) {
        let mut lines: Vec<String> = self.lines.drain(..).collect();
        lines.extend(Some(std::mem::take(&mut self.line)).filter(|line| !line.is_empty()));
        self.line = lines.join("\n");
    }

    /// Returns what was typed, as it is shown to the user: the lines that will be sent, and the one that is not complete.
    pub(super) fn shown(&self) -> Vec<Shown> {
        let queued = self.lines.iter().take(MAX_SHOWN);
        let queued = queued.map(|line| Shown::Queued(sanitized_line(line)));
        let more = self.lines.len().saturating_sub(MAX_SHOWN);
        let more = (more > 0).then(|| Shown::Queued(format!("{more} more")));
        let line = (!self.line.is_empty()).then(|| Shown::Typing(sanitized_line(&self.line)));
        queued.chain(more).chain(line).collect()
    }

    /// Discards everything.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.pastes.clone());
    }
}

/// A line that was typed ahead, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    /// It will be sent.
    Queued(String),
    /// It is not complete.
    Typing(String),
}

/// A key, or a text that was pasted.
#[derive(Debug, PartialEq, Eq)]
enum Key<'a> {
    Enter,
    Tab,
    Backspace,
    ClearLine,
    DeleteWord,
    /// Shift-Tab.
    Mode,
    Paste(&'a str),
    Character(char),
    Other,
}

const ESCAPE: &str = "\u{1b}";
const PASTE_START: &str = "\u{1b}[200~";
const PASTE_END: &str = "\u{1b}[201~";

/// Returns the first key of what the terminal sent, and its length, or `None` if the rest of it has not arrived.
fn next_key(keys: &str) -> Option<(Key<'_>, usize)> {
    let first = keys.chars().next()?;
    if first == '\u{1b}' {
        return next_sequence(keys);
    }
    let key = match first {
        '\r' => Key::Enter,
        '\t' => Key::Tab,
        '\n' => Key::Character('\n'),
        '\u{7f}' | '\u{8}' => Key::Backspace,
        // Ctrl-U
        '\u{15}' => Key::ClearLine,
        // Ctrl-W
        '\u{17}' => Key::DeleteWord,
        key if key.is_control() => Key::Other,
        key => Key::Character(key),
    };
    Some((key, first.len_utf8()))
}

/// Returns the key that a sequence stands for, and the length of the sequence.
fn next_sequence(keys: &str) -> Option<(Key<'_>, usize)> {
    if let Some(text) = keys.strip_prefix(PASTE_START) {
        let end = text.find(PASTE_END)?;
        return Some((Key::Paste(&text[..end]), PASTE_START.len() + end + PASTE_END.len()));
    }
    let second = keys[1..].chars().next()?;
    match second {
        '\r' => Some((Key::Character('\n'), 2)),
        '[' => {
            let end = 2 + keys[2..].find(|key| ('@'..='~').contains(&key))?;
            let key = if &keys[2..=end] == "Z" { Key::Mode } else { Key::Other };
            Some((key, end + 1))
        }
        'O' => Some((Key::Other, 2 + keys[2..].chars().next()?.len_utf8())),
        second => Some((Key::Other, 1 + second.len_utf8())),
    }
}

/// Returns a pasted text with the line breaks of this program, and without other control characters.
pub(super) fn pasted(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.replace(|key: char| key.is_control() && key != '\n' && key != '\t', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &str) -> TypedAhead {
        let mut typed = TypedAhead::default();
        typed.push(keys.as_bytes());
        typed
    }

    #[test]
    fn keys_are_applied_in_order() {
        let check = |keys: &str, lines: &[&str], rest: &str| {
            let mut byte_by_byte = TypedAhead::default();
            keys.bytes().for_each(|byte| byte_by_byte.push(&[byte]));
            for typed in [typed(keys), byte_by_byte] {
                assert_eq!(typed.lines, lines, "{keys:?}");
                assert_eq!(typed.line, rest, "{keys:?}");
            }
        };
        check("", &[], "");
        check("one\rtwo\rthr", &["one", "two"], "thr");
        check("a\nb\\\rc\u{1b}\rd\r", &["a\nb\nc\nd"], "");
        check("字x\u{7f}\u{7f}b", &[], "b");
        check("a word\u{17}x\u{15}y", &[], "y");
        check("a\u{1b}[A\u{1b}[1;5Cb\u{1b}OHcd", &[], "abcd");
        check("\tone\ttwo\t", &["one", "two"], "");
        check(
            "a\u{1b}[200~x\r\ny\rz\u{1b}[31m\u{1b}[201~b\rc",
            &["ax\ny\nz[31mb"],
            "c",
        );
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

    #[test]
    fn lines_that_are_put_back_are_not_sent() {
        let mut typed = typed("一\rtwo\rthr");
        typed.put_back();
        assert_eq!(typed.take(), Err("一\ntwo\nthr".to_owned()));
        typed.put_back();
        assert_eq!(typed.take(), Err(String::new()));
    }

    #[test]
    fn what_was_typed_is_shown() {
        let queued = |text: &str| Shown::Queued(text.to_owned());
        assert_eq!(typed("").shown(), []);
        assert_eq!(
            typed("早\r\u{1b}[Ztwo\\\rlines\rhal").shown(),
            [queued("早"), queued("two lines"), Shown::Typing("hal".to_owned())]
        );
        assert_eq!(
            typed("1\r2\r3\r4\r5\r").shown(),
            [queued("1"), queued("2"), queued("3"), queued("2 more")]
        );
    }

    #[test]
    fn shift_tab_is_counted_and_not_typed() {
        let mut typed = typed("a\u{1b}[Z\u{1b}[Zb");
        assert_eq!((typed.take_mode_changes(), typed.take_mode_changes()), (2, 0));
        assert_eq!(typed.take(), Err("ab".to_owned()));
    }

    #[test]
    fn a_long_text_that_is_pasted_is_one_message() {
        let mut typed = TypedAhead::default();
        let text = "line\r".repeat(12);
        typed.push(format!("see \u{1b}[200~{text}").as_bytes());
        assert!(typed.is_pasting() && typed.lines.is_empty());
        typed.push("\u{1b}[201~".as_bytes());
        assert!(!typed.is_pasting());
        assert_eq!(typed.line, "see [pasted 12 lines]");
        assert_eq!(
            typed.pastes.expanded(&typed.line),
            format!("see {}", "line\n".repeat(12))
        );
        typed.push(b"\x7f");
        assert_eq!(typed.line, "see ");
    }
}
