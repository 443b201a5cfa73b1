//! The kinds of characters that tokenizers distinguish.

/// The pictographs that have a token of their own in `o200k_base`.
const FAVORITES: &[char] = &[
    '★', '☆', '☎', '☴', '☺', '♀', '♂', '♡', '♥', '♦', '♪', '♫', '✅', '✓', '✔', '✨', '❤', '➡', '⭐', '⭕', '👇', '👉',
    '👌', '👍', '👏', '💕', '🔥', '😀', '😁', '😂', '😉', '😊', '😍', '😘', '😭', '🙂', '🙏', '🤣',
];

/// The kind of one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Space,
    Tab,
    Newline,
    Lower,
    Upper,
    /// A letter of an extended Latin block, or a combining accent.
    Accented,
    Digit,
    Punct,
    Control,
    /// A letter of a script whose words are split into pieces.
    Pieces(Script),
    /// A letter of another script, which is weighed by its position in the word alone.
    Letter(Script),
    /// CJK and full-width punctuation.
    WideMark,
    /// Typographic punctuation: curly quotes, dashes, the ellipsis.
    Mark,
    /// The symbols of Latin-1: `§`, `°`, `×`.
    LatinSymbol,
    /// Currency, arrows, mathematics.
    Symbol,
    /// Box drawing and block elements, which often occur in long runs.
    Line,
    /// Pictographs of the basic plane: `☀`, `✅`.
    Dingbat,
    /// A pictograph that usually has a token of its own: `😂`, `🔥`.
    Favorite,
    /// A pictograph of the blocks whose characters usually take two tokens: faces, animals, food, objects.
    Pictograph,
    /// Every other pictograph beyond the basic plane.
    RarePictograph,
    /// The zero-width joiner.
    Joiner,
    /// Variation selectors.
    Selector,
    /// Skin tones.
    Tone,
    /// Any other character of two, three or four bytes.
    Other2,
    Other3,
    Other4,
}

/// Scripts other than Latin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Greek,
    /// Armenian and Georgian.
    Caucasian,
    Hebrew,
    Bengali,
    Tamil,
    /// Telugu and Kannada.
    Telugu,
    /// Gurmukhi, Gujarati, Oriya, Malayalam, Sinhala.
    OtherIndic,
    /// Lao, Burmese, Khmer.
    SouthEastAsian,
    Arabic,
    Cyrillic,
    Devanagari,
    Han,
    Hangul,
    /// Hiragana and Katakana.
    Kana,
    Thai,
}

impl Class {
    /// Classifies a character.
    #[inline]
    pub(super) fn from_char(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            ' ' => Self::Space,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            '\n' | '\r' => Self::Newline,
            '\t' => Self::Tab,
            '!'..='~' => Self::Punct,
            '\0'..='\x7f' => Self::Control,
            '\u{4e00}'..='\u{9fff}' => Self::Pieces(Script::Han),
            _ => Self::from_letter(c).unwrap_or_else(|| Self::from_symbol(c)),
        }
    }

    /// Classifies letters outside ASCII and the common ideographs.
    fn from_letter(c: char) -> Option<Self> {
        Some(match u32::from(c) {
            0xaa | 0xb5 | 0xba | 0xc0..=0xd6 | 0xd8..=0xf6 | 0xf8..=0x36f | 0x1e00..=0x1eff => Self::Accented,
            0x370..=0x3ff | 0x1f00..=0x1fff => Self::Letter(Script::Greek),
            0x400..=0x52f => Self::Pieces(Script::Cyrillic),
            0x530..=0x58f | 0x10a0..=0x10ff => Self::Letter(Script::Caucasian),
            0x590..=0x5ff => Self::Letter(Script::Hebrew),
            0x600..=0x77f | 0x8a0..=0x8ff | 0xfb50..=0xfdff | 0xfe70..=0xfefe => Self::Pieces(Script::Arabic),
            0x900..=0x97f => Self::Pieces(Script::Devanagari),
            0x980..=0x9ff => Self::Letter(Script::Bengali),
            0xb80..=0xbff => Self::Letter(Script::Tamil),
            0xc00..=0xcff => Self::Letter(Script::Telugu),
            0xa00..=0xdff => Self::Letter(Script::OtherIndic),
            0xe00..=0xe7f => Self::Pieces(Script::Thai),
            0xe80..=0xeff | 0x1000..=0x109f | 0x1780..=0x17ff => Self::Letter(Script::SouthEastAsian),
            0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7af => Self::Pieces(Script::Hangul),
            0x3040..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f => Self::Pieces(Script::Kana),
            0x3400..=0x4dbf | 0xf900..=0xfaff => Self::Pieces(Script::Han),
            _ => return None,
        })
    }

    /// Classifies punctuation and symbols outside ASCII, and all remaining characters.
    fn from_symbol(c: char) -> Self {
        match u32::from(c) {
            0x80..=0xff => Self::LatinSymbol,
            0x200d => Self::Joiner,
            0xfe00..=0xfe0f => Self::Selector,
            0x2000..=0x206f => Self::Mark,
            0x2500..=0x259f => Self::Line,
            0x2600..=0x27bf | 0x2b00..=0x2bff | 0x1f000..=0x1faff if FAVORITES.contains(&c) => Self::Favorite,
            0x2600..=0x27bf | 0x2b00..=0x2bff => Self::Dingbat,
            0x2070..=0x2bff => Self::Symbol,
            0x3000..=0x303f | 0xff01..=0xff0f | 0xff1a..=0xff20 | 0xff3b..=0xff40 | 0xff5b..=0xff65 => Self::WideMark,
            0x1f3fb..=0x1f3ff => Self::Tone,
            0x1f300..=0x1f53f | 0x1f600..=0x1f6bf | 0x1f900..=0x1f97f => Self::Pictograph,
            0x1f000..=0x1faff => Self::RarePictograph,
            _ => match c.len_utf8() {
                2 => Self::Other2,
                3 => Self::Other3,
                _ => Self::Other4,
            },
        }
    }

    /// Returns whether this is a letter of a Latin word.
    pub(super) fn is_latin(self) -> bool {
        matches!(self, Self::Lower | Self::Upper | Self::Accented)
    }

    /// Returns whether a character of the kind `next` continues a run of this kind.
    pub(super) fn continues_with(self, next: Self) -> bool {
        self == next || self.is_latin() && next.is_latin()
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Script};

    #[test]
    fn classifies_characters() {
        let check = |text: &str, class: Class| {
            text.chars()
                .for_each(|c| assert_eq!(Class::from_char(c), class, "{c:?}"));
        };
        check("az", Class::Lower);
        check("AZ", Class::Upper);
        check("éÿłộ\u{301}", Class::Accented);
        check("09", Class::Digit);
        check("!/:@[`{~", Class::Punct);
        check("\r\n", Class::Newline);
        check("\0\x1f\x7f", Class::Control);
        check("中㐀豈", Class::Pieces(Script::Han));
        check("한ㅋ", Class::Pieces(Script::Hangul));
        check("あんアーｱ", Class::Pieces(Script::Kana));
        check("яЁїъ", Class::Pieces(Script::Cyrillic));
        check("ابپ", Class::Pieces(Script::Arabic));
        check("ಕత", Class::Letter(Script::Telugu));
        check("。「！？～", Class::WideMark);
        check("—’…", Class::Mark);
        check("°×§", Class::LatinSymbol);
        check("→€∑", Class::Symbol);
        check("─│█", Class::Line);
        check("☀✈⚠", Class::Dingbat);
        check("😂🔥", Class::Favorite);
        check("🐶🚀🙄", Class::Pictograph);
        check("🇫🦀🪝", Class::RarePictograph);
        check("ߊ", Class::Other2);
        check("አ", Class::Other3);
        check("𠀀𝐀", Class::Other4);
    }
}
