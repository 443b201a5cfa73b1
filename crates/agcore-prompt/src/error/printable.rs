//! [`Printable`]: text of a template, a context or a path, made harmless in a message.

use std::fmt::{self, Write};

/// A wrapper that escapes characters which could forge or disguise a message when it is printed.
///
/// These are control characters, line separators, and invisible characters that change the direction of text or take no
/// space. They appear as `\n`, `\u{1b}` or `\u{202e}`.
pub(crate) struct Printable<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaper(f), "{}", self.0)
    }
}

/// A writer that escapes unprintable characters.
struct Escaper<'f, 'b>(&'f mut fmt::Formatter<'b>);

impl Write for Escaper<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for piece in text.split_inclusive(is_unprintable) {
            let last = piece.chars().next_back().filter(|last| is_unprintable(*last));
            let plain = last.map_or(piece.len(), |last| piece.len() - last.len_utf8());
            self.0.write_str(&piece[..plain])?;
            if let Some(last) = last {
                write!(self.0, "{}", last.escape_default())?;
            }
        }
        Ok(())
    }
}

/// Returns whether a character is invisible and changes how the text around it is displayed.
fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::Printable;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Printable(text).to_string(), expected);
    }

    #[test]
    fn escapes_only_what_is_invisible() {
        check("", "");
        check(
            "plain `text` \\ \"é\" 你好 שלום \u{1F600}",
            "plain `text` \\ \"é\" 你好 שלום \u{1F600}",
        );
        check("a\nb\r\tc", "a\\nb\\r\\tc");
        check("\u{1b}[31m\u{0}\u{7f}\u{85}", "\\u{1b}[31m\\u{0}\\u{7f}\\u{85}");
        check(
            "\u{202e}x\u{2066}\u{200f}\u{feff}",
            "\\u{202e}x\\u{2066}\\u{200f}\\u{feff}",
        );
        check("x\u{e0041}", "x\\u{e0041}");
    }
}
