//! The widths of the 14 standard fonts, which files do not have to contain.

use std::{collections::HashMap, sync::LazyLock};

/// The widths in the metrics of the fonts (copyright Adobe, free to use): a line for each name of a glyph with the widths in the
/// six fonts with Latin letters, and a line for each of the other two fonts. Made by `scripts/pdf-tables`.
const TABLES: &str = include_str!("widths.txt");

/// The width of every glyph of Courier, in thousandths of the font size.
const COURIER: f32 = 600.0;

/// The bits of the flags of a font descriptor.
const FIXED_PITCH: i64 = 1;
const SERIF: i64 = 1 << 1;
const ITALIC: i64 = 1 << 6;
const FORCE_BOLD: i64 = 1 << 18;

/// The widths of a standard font, or of the one that takes the place of a font without widths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StandardFont {
    Courier,
    /// The column of the table.
    Latin(usize),
    Symbol,
    ZapfDingbats,
}

impl StandardFont {
    /// Chooses by the name of a font, which may have a prefix and a style, and the flags of its descriptor.
    pub(super) fn new(name: &str, flags: i64) -> Self {
        let name = name.split_once('+').map_or(name, |(_, name)| name).to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let is_bold = has(&["bold", "black", "heavy"]) || flags & FORCE_BOLD != 0;
        let is_italic = has(&["italic", "oblique"]) || flags & ITALIC != 0;
        if name.starts_with("symbol") {
            Self::Symbol
        } else if name.starts_with("zapfdingbats") {
            Self::ZapfDingbats
        } else if has(&["courier", "mono", "consolas"]) {
            Self::Courier
        } else if has(&["times", "georgia", "garamond", "serif"]) && !has(&["sans"]) {
            Self::Latin(2 + usize::from(is_bold) + 2 * usize::from(is_italic))
        } else if has(&["helvetica", "arial", "sans"]) {
            Self::Latin(usize::from(is_bold))
        } else if flags & FIXED_PITCH != 0 {
            Self::Courier
        } else if flags & SERIF != 0 {
            Self::Latin(2 + usize::from(is_bold) + 2 * usize::from(is_italic))
        } else {
            Self::Latin(usize::from(is_bold))
        }
    }

    /// Returns the width of a glyph, in thousandths of the font size.
    pub(super) fn width(self, glyph: &str) -> Option<f32> {
        match self {
            Self::Courier => Some(COURIER),
            Self::Latin(column) => WIDTHS.latin.get(glyph)?.get(column).copied(),
            Self::Symbol => WIDTHS.symbol.get(glyph).copied(),
            Self::ZapfDingbats => WIDTHS.dingbats.get(glyph).copied(),
        }
    }
}

#[derive(Debug, Default)]
struct Widths {
    latin: HashMap<&'static str, Vec<f32>>,
    symbol: HashMap<&'static str, f32>,
    dingbats: HashMap<&'static str, f32>,
}

static WIDTHS: LazyLock<Widths> = LazyLock::new(|| {
    let mut widths = Widths::default();
    for line in TABLES.lines() {
        let Some((name, rest)) = line.split_once(' ') else {
            continue;
        };
        match name {
            "Symbol:" => widths.symbol = pairs(rest),
            "ZapfDingbats:" => widths.dingbats = pairs(rest),
            name => {
                let columns = rest.split(' ').filter_map(|width| width.parse().ok());
                widths.latin.insert(name, columns.collect());
            }
        }
    }
    widths
});

fn pairs(text: &'static str) -> HashMap<&'static str, f32> {
    let words: Vec<&str> = text.split(' ').collect();
    let pairs = words.chunks_exact(2);
    pairs
        .filter_map(|pair| Some((*pair.first()?, pair.get(1)?.parse().ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_metrics() {
        for (font, glyph, expected) in [
            ("Helvetica", "i", Some(222.0)),
            ("ABCDEF+Arial,Bold", "i", Some(278.0)),
            ("ArialMT", "W", Some(944.0)),
            ("Times-Roman", "W", Some(944.0)),
            ("TimesNewRomanPS-BoldItalicMT", "W", Some(889.0)),
            ("Times-Italic", "space", Some(250.0)),
            ("Times-Bold", "A", Some(722.0)),
            ("CourierNew", "i", Some(600.0)),
            ("Symbol", "alpha", Some(631.0)),
            ("ZapfDingbats", "a1", Some(974.0)),
            ("Helvetica", "g12", None),
        ] {
            assert_eq!(StandardFont::new(font, 0).width(glyph), expected, "{font} {glyph}");
        }
        assert_eq!(StandardFont::new("Unknown", FIXED_PITCH), StandardFont::Courier);
        assert_eq!(StandardFont::new("Unknown", SERIF | ITALIC), StandardFont::Latin(4));
        assert_eq!(StandardFont::new("Unknown", FORCE_BOLD), StandardFont::Latin(1));
    }
}
