//! [`Glyph`]: the characters and the width of a code in a text.

/// The characters and the width of a code in a text.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Glyph<'a> {
    pub(in super::super) meaning: Meaning<'a>,
    /// The width, or the height in texts from top to bottom, in parts of the font size.
    pub(in super::super) width: f32,
    /// Whether the code is the single byte 32.
    pub(in super::super) is_space: bool,
}

/// The meaning of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Meaning<'a> {
    Text(&'a str),
    /// There is no glyph, or it has no characters.
    Nothing,
    /// There is a glyph, but its characters are not known.
    Unknown,
}

impl<'a> Meaning<'a> {
    /// Returns the meaning of a code that has `characters` in a table. Tables use U+FFFD and control characters, which have no
    /// glyphs, for unknown characters.
    pub(super) fn of(characters: &'a str, code: u32) -> Self {
        match characters {
            "" => Self::Nothing,
            "\0" if code == 0 => Self::Nothing,
            "\u{fffd}" => Self::Unknown,
            characters if characters.chars().all(is_unseen) => Self::Unknown,
            characters => Self::Text(characters),
        }
    }
}

fn is_unseen(char: char) -> bool {
    char.is_control() && !matches!(char, '\t' | '\n' | '\r')
}
