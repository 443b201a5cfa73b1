//! [`Spoken`]: what was told of a text, to know it again in a whole message.

use agcore_chat::floor_boundary;

/// So many bytes of a text's beginning are remembered.
const HEAD: usize = 64;

/// How long a text is so far, and how it begins.
#[derive(Debug, Default)]
pub(super) struct Spoken {
    len: usize,
    head: String,
}

impl Spoken {
    /// More of the text was told.
    pub(super) fn push(&mut self, text: &str) {
        let room = HEAD.saturating_sub(self.len);
        self.head.push_str(&text[..floor_boundary(text, room)]);
        self.len += text.len();
    }

    pub(super) fn is_begun(&self) -> bool {
        self.len > 0
    }

    /// What a text says beyond what was told, where it begins with that.
    pub(super) fn rest<'t>(&self, whole: &'t str) -> &'t str {
        let goes_on = self.len > 0 && whole.starts_with(&self.head);
        whole.get(self.len..).filter(|_| goes_on).unwrap_or(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(told: &[&str], whole: &str, rest: &str) {
        let mut spoken = Spoken::default();
        told.iter().for_each(|text| spoken.push(text));
        assert_eq!(spoken.rest(whole), rest, "{whole} after {told:?}");
    }

    #[test]
    fn what_was_told_is_known_again() {
        check(&[], "Hello", "Hello");
        check(&["He", "llo"], "Hello", "");
        check(&["He"], "Hello", "llo");
        check(&["He", "llo"], "llo", "llo");
        check(&["He", "llo"], "Good day", "Good day");
    }

    #[test]
    fn borders_of_characters_count() {
        check(&["é"], "é!", "!");
        // Not what was told: it would be cut inside a character.
        check(&["a"], "é", "é");
        let long = "é".repeat(100);
        check(&["x", &long], &format!("x{long}!"), "!");
        check(&["x", &long, "!", "?"], &format!("x{long}!?."), ".");
        check(&[&long[..2], &long[2..]], &long, "");
    }

    #[test]
    fn a_long_text_is_known_by_beginning_and_length() {
        let long = "abc ".repeat(1000);
        check(&[&long[..10], &long[10..]], &long, "");
        check(&[&long], &long[..3999], &long[..3999]);
        check(&[&long], &format!("b{long}"), &format!("b{long}"));
    }
}
