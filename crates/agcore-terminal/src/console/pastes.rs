//! [`Pastes`]: long texts that were pasted, with a short placeholder for each until the line is sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of lines from which a pasted text is folded.
const MANY_LINES: usize = 10;

/// The number of characters from which a pasted text is folded.
const MANY_CHARACTERS: usize = 1_000;

/// The character with which a placeholder begins. It contains no other.
pub(super) const OPENING: char = '[';

/// The character with which a placeholder ends. It contains no other.
pub(super) const CLOSING: char = ']';

/// The long texts that were pasted. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Pastes(Arc<Mutex<Vec<Paste>>>);

#[derive(Debug)]
struct Paste {
    placeholder: String,
    text: String,
}

impl Pastes {
    /// Returns what stands for a pasted text in the input: a placeholder, or the text itself if it is short.
    pub(super) fn fold(&self, text: &str) -> String {
        let (lines, characters) = (text.lines().count(), text.chars().count());
        if lines < MANY_LINES && characters < MANY_CHARACTERS {
            return text.to_owned();
        }
        let mut pastes = self.pastes();
        if let Some(known) = pastes.iter().find(|paste| paste.text == text) {
            return known.placeholder.clone();
        }
        let extent = match lines {
            0 | 1 => format!("{characters} characters"),
            lines => format!("{lines} lines"),
        };
        let is_free = |name: &String| pastes.iter().all(|paste| paste.placeholder != *name);
        let first = format!("{OPENING}pasted {extent}{CLOSING}");
        let others = (2..).map(|number| format!("{OPENING}pasted {extent} #{number}{CLOSING}"));
        let name = std::iter::once(first).chain(others).find(is_free);
        let placeholder = name.unwrap_or_default();
        pastes.push(Paste {
            placeholder: placeholder.clone(),
            text: text.to_owned(),
        });
        placeholder
    }

    /// Returns a text with its placeholders, in place of the long texts in it that were pasted before.
    pub(super) fn folded(&self, text: &str) -> String {
        let pastes = self.pastes();
        let fold = |text: String, paste: &Paste| text.replace(&paste.text, &paste.placeholder);
        pastes.iter().fold(text.to_owned(), fold)
    }

    /// Returns a text with the pasted texts in place of their placeholders. A placeholder that was changed is only text.
    pub(super) fn expanded(&self, text: &str) -> String {
        let pastes = self.pastes();
        let (mut expanded, mut rest) = (String::new(), text);
        let first = |rest: &str| {
            let found = pastes
                .iter()
                .filter_map(|paste| Some((rest.find(&paste.placeholder)?, paste)));
            found.min_by_key(|(at, _)| *at)
        };
        while let Some((at, paste)) = first(rest) {
            expanded.push_str(&rest[..at]);
            expanded.push_str(&paste.text);
            rest = &rest[at + paste.placeholder.len()..];
        }
        expanded + rest
    }

    /// Returns the placeholder with which a text ends.
    pub(super) fn at_end(&self, text: &str) -> Option<String> {
        self.placeholder(|name| text.ends_with(name))
    }

    /// Returns the placeholder with which a text begins.
    pub(super) fn at_start(&self, text: &str) -> Option<String> {
        self.placeholder(|name| text.starts_with(name))
    }

    fn placeholder(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        let pastes = self.pastes();
        let found = pastes.iter().find(|paste| is_wanted(&paste.placeholder))?;
        Some(found.placeholder.clone())
    }

    fn pastes(&self) -> MutexGuard<'_, Vec<Paste>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize, word: &str) -> String {
        (0..count).map(|number| format!("{word}{number}\n")).collect()
    }

    #[test]
    fn only_long_texts_are_folded() {
        let pastes = Pastes::default();
        assert_eq!(pastes.fold("short"), "short");
        assert_eq!(pastes.fold(&lines(9, "行")), lines(9, "行"));
        assert_eq!(pastes.fold(&lines(10, "行")), "[pasted 10 lines]");
        assert_eq!(pastes.fold(&"字".repeat(1_000)), "[pasted 1000 characters]");
        assert_eq!(pastes.fold(""), "");
    }

    #[test]
    fn placeholders_stand_for_different_texts() {
        let pastes = Pastes::default();
        let (one, two) = (lines(10, "a"), lines(10, "[pasted 10 lines]"));
        assert_eq!(pastes.fold(&one), "[pasted 10 lines]");
        assert_eq!(pastes.fold(&two), "[pasted 10 lines #2]");
        assert_eq!(pastes.fold(&one), "[pasted 10 lines]");
        let typed = "see [pasted 10 lines #2] and [pasted 10 lines]!";
        let expanded = pastes.expanded(typed);
        // A text that was pasted may contain what looks like a placeholder.
        assert_eq!(expanded, format!("see {two} and {one}!"));
        assert_eq!(
            pastes.folded(&format!("before {one} after")),
            "before [pasted 10 lines] after"
        );
    }

    #[test]
    fn a_placeholder_that_was_changed_is_text() {
        let pastes = Pastes::default();
        pastes.fold(&lines(12, "x"));
        assert_eq!(pastes.expanded("[pasted 12 line]"), "[pasted 12 line]");
        assert_eq!(
            pastes.at_end("a [pasted 12 lines]").as_deref(),
            Some("[pasted 12 lines]")
        );
        assert_eq!(pastes.at_end("a [pasted 12 lines] "), None);
        assert_eq!(
            pastes.at_start("[pasted 12 lines] b").as_deref(),
            Some("[pasted 12 lines]")
        );
    }
}
