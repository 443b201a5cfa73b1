//! [`EmittedText`]: a text that was emitted, remembered to recognize it in a whole message.

use agcore_chat::text::prefix;

/// The number of bytes at the beginning of a text that are remembered.
const HEAD: usize = 64;

/// The length of a text so far, and its beginning.
#[derive(Debug, Default)]
pub(super) struct EmittedText {
    len: usize,
    head: String,
}

impl EmittedText {
    /// Appends text that was emitted.
    pub(super) fn push(&mut self, text: &str) {
        let free = HEAD.saturating_sub(self.len);
        self.head.push_str(prefix(text, free));
        self.len += text.len();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns what follows the emitted text in a whole text, or the whole text if it begins differently.
    pub(super) fn remainder<'t>(&self, whole: &'t str) -> &'t str {
        let is_continuation = self.len > 0 && whole.starts_with(&self.head);
        whole.get(self.len..).filter(|_| is_continuation).unwrap_or(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(emitted: &[&str], whole: &str, remainder: &str) {
        let mut text = EmittedText::default();
        emitted.iter().for_each(|piece| text.push(piece));
        assert_eq!(text.remainder(whole), remainder, "{whole} after {emitted:?}");
    }

    #[test]
    fn recognizes_emitted_text() {
        check(&[], "Hello", "Hello");
        check(&["He", "llo"], "Hello", "");
        check(&["He"], "Hello", "llo");
        check(&["He", "llo"], "llo", "llo");
        check(&["He", "llo"], "Good day", "Good day");
    }

    #[test]
    fn respects_character_boundaries() {
        check(&["é"], "é!", "!");
        // The length of the emitted text is inside a character, so this is another text.
        check(&["a"], "é", "é");
        let long = "é".repeat(100);
        check(&["x", &long], &format!("x{long}!"), "!");
        check(&["x", &long, "!", "?"], &format!("x{long}!?."), ".");
        check(&[&long[..2], &long[2..]], &long, "");
    }

    #[test]
    fn recognizes_long_text_by_its_beginning_and_length() {
        let long = "abc ".repeat(1000);
        check(&[&long[..10], &long[10..]], &long, "");
        check(&[&long], &long[..3999], &long[..3999]);
        check(&[&long], &format!("b{long}"), &format!("b{long}"));
    }
}
