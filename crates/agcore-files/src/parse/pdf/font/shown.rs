//! [`Shown`]: the measures of a text in a font.

/// The character in place of those that are not known.
const UNKNOWN: char = char::REPLACEMENT_CHARACTER;

/// The size of a text, and the numbers of its codes.
#[derive(Debug, Default, Clone, Copy)]
pub(in super::super) struct Shown {
    /// The width, or the height in texts from top to bottom, in parts of the font size.
    pub(in super::super) width: f32,
    /// The number of codes.
    pub(in super::super) codes: usize,
    /// The number of codes that are the single byte 32.
    pub(in super::super) spaces: usize,
    /// The number of codes whose characters are not known.
    pub(in super::super) unknown: usize,
}

impl Shown {
    /// Adds a code.
    pub(super) fn add(&mut self, meaning: Meaning<'_>, width: f32, is_space: bool, text: &mut String) {
        self.width += width;
        self.codes += 1;
        self.spaces += usize::from(is_space);
        match meaning {
            Meaning::Text(characters) => text.push_str(characters),
            Meaning::Nothing => {}
            Meaning::Unknown => {
                self.unknown += 1;
                if !text.ends_with(UNKNOWN) {
                    text.push(UNKNOWN);
                }
            }
        }
    }
}

/// The meaning of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning<'a> {
    Text(&'a str),
    /// There is no glyph, or it has no characters.
    Nothing,
    /// There is a glyph, but its characters are not known.
    Unknown,
}

impl<'a> Meaning<'a> {
    /// Returns the meaning of a code that has `characters` in a table. Tables use U+0000 and U+FFFD for unknown characters.
    pub(super) fn of(characters: &'a str, code: u32) -> Self {
        match characters {
            "" => Self::Nothing,
            "\0" if code == 0 => Self::Nothing,
            "\0" | "\u{fffd}" => Self::Unknown,
            characters => Self::Text(characters),
        }
    }
}
