//! Words, and runs of characters without spaces.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The maximum length of a word, in bytes. Longer ones, such as encoded data, are cut.
const MAX_WORD: usize = 64;

/// A part of a text.
pub(super) enum Segment<'s> {
    /// A word in lower case.
    Word(&'s str),
    /// Characters of scripts that do not separate words.
    Characters(&'s [char]),
}

/// Calls a function with each part of a text, in order.
pub(super) fn segments(text: &str, found: &mut dyn FnMut(Segment<'_>)) {
    let mut parts = Parts {
        word: String::new(),
        run: Vec::new(),
        found,
    };
    if text.is_ascii() {
        for byte in text.bytes() {
            parts.push(char::from(byte.to_ascii_lowercase()), byte.is_ascii_alphanumeric());
        }
    } else {
        for character in text.nfkc() {
            let base = folded(character);
            for lower in base.to_lowercase() {
                parts.push(lower, lower.is_alphanumeric());
            }
        }
    }
    parts.end_word();
    parts.end_run();
}

struct Parts<'f> {
    word: String,
    run: Vec<char>,
    found: &'f mut dyn FnMut(Segment<'_>),
}

impl Parts<'_> {
    fn push(&mut self, character: char, is_alphanumeric: bool) {
        if !character.is_ascii() && has_no_spaces(character) {
            self.end_word();
            self.run.push(character);
            return;
        }
        self.end_run();
        let continues = !character.is_ascii() && is_combining_mark(character) && !self.word.is_empty();
        if !is_alphanumeric && !continues {
            self.end_word();
        } else if self.word.len() + character.len_utf8() <= MAX_WORD {
            self.word.push(character);
        }
    }

    fn end_word(&mut self) {
        if !self.word.is_empty() {
            (self.found)(Segment::Word(&self.word));
            self.word.clear();
        }
    }

    fn end_run(&mut self) {
        if !self.run.is_empty() {
            (self.found)(Segment::Characters(&self.run));
            self.run.clear();
        }
    }
}

/// Returns a Latin letter without its accents, or the character itself.
fn folded(character: char) -> char {
    if character.is_ascii() {
        return character;
    }
    let base = std::iter::once(character).nfd().next();
    base.filter(char::is_ascii_alphabetic).unwrap_or(character)
}

/// Returns whether a character belongs to a script that does not separate words, or whose words have particles attached.
fn has_no_spaces(character: char) -> bool {
    matches!(character,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{0f00}'..='\u{0fff}' // Tibetan
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' // Hiragana, Katakana
        | '\u{3100}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' // Bopomofo
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Han
        | '\u{20000}'..='\u{3ffff}'
        | '\u{ac00}'..='\u{d7a3}' // Hangul
    )
}
