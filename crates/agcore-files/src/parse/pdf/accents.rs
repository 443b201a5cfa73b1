//! Accents that are drawn as glyphs of their own, over the letter before or after them.

use unicode_normalization::char::compose;

/// Returns the character that puts an accent on the letter before it, if a text is a single accent.
pub(super) fn combining(text: &str) -> Option<char> {
    Some(match single(text)? {
        accent if is_combining(accent) => accent,
        '`' => '\u{300}',
        '´' => '\u{301}',
        'ˆ' => '\u{302}',
        '˜' => '\u{303}',
        '¯' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '¨' => '\u{308}',
        '˚' => '\u{30a}',
        '˝' => '\u{30b}',
        'ˇ' => '\u{30c}',
        '¸' => '\u{327}',
        '˛' => '\u{328}',
        _ => return None,
    })
}

/// Returns a letter with an accent, or `None` if a text is not a letter. Signs can only be combined with characters that are made
/// for it, such as the stroke of `≠`.
pub(super) fn accented(text: &str, accent: char, is_made_for_it: bool) -> Option<String> {
    let letter = match single(text)? {
        // Letters below an accent have no dot.
        'ı' => 'i',
        'ȷ' => 'j',
        letter => letter,
    };
    let takes_accent = letter.is_alphabetic() || is_made_for_it && !letter.is_whitespace() && !is_combining(letter);
    if !takes_accent {
        return None;
    }
    Some(match compose(letter, accent) {
        Some(composed) => composed.into(),
        None => [letter, accent].iter().collect(),
    })
}

/// Returns whether a character is combined with the one before it.
fn is_combining(char: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&char)
}

fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_composed_with_their_accents() {
        for (accent, letter, expected) in [
            ("´", "e", Some("é")),
            ("¨", "ı", Some("ï")),
            ("¸", "c", Some("ç")),
            ("˜", "γ", Some("γ\u{303}")),
            ("\u{303}", "X", Some("X\u{303}")),
            ("\u{338}", "=", Some("≠")),
            ("\u{338}", "∈", Some("∉")),
            ("´", "=", None),
            ("´", "fi", None),
            ("\u{303}", " ", None),
            ("\u{303}", "\u{301}", None),
        ] {
            let found = combining(accent).and_then(|found| accented(letter, found, accent == String::from(found)));
            assert_eq!(found.as_deref(), expected, "{accent} {letter}");
        }
        for text in ["e", "", "´´", "^", "~", "'"] {
            assert_eq!(combining(text), None, "{text}");
        }
    }
}
