//! The encodings of simple fonts, which give each code the name of a glyph.

use std::sync::LazyLock;

/// A line for each encoding: its name, and 256 names of glyphs. Made by `scripts/pdf-tables`.
const TABLES: &str = include_str!("encodings.txt");

/// The names of the glyphs of the 256 codes.
pub(super) type NameTable = [Option<&'static str>; 256];

static ENCODINGS: LazyLock<Vec<(&'static str, NameTable)>> =
    LazyLock::new(|| TABLES.lines().filter_map(table).collect());

/// Returns an encoding, such as `WinAnsiEncoding`.
pub(super) fn encoding(name: &str) -> Option<&'static NameTable> {
    let found = ENCODINGS.iter().find(|(known, _)| *known == name);
    found.map(|(_, table)| table)
}

fn table(line: &'static str) -> Option<(&'static str, NameTable)> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let mut table = [None; 256];
    for (slot, glyph) in table.iter_mut().zip(words) {
        *slot = Some(glyph).filter(|glyph| *glyph != ".notdef");
    }
    Some((name, table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encodings_of_the_standard_are_known() {
        for (name, code, expected) in [
            ("WinAnsiEncoding", 0x80, Some("Euro")),
            ("WinAnsiEncoding", 0x92, Some("quoteright")),
            ("MacRomanEncoding", 0x8e, Some("eacute")),
            ("StandardEncoding", 0x27, Some("quoteright")),
            ("StandardEncoding", 0x80, None),
            ("MacExpertEncoding", 0x57, Some("fi")),
            ("SymbolEncoding", 0x61, Some("alpha")),
            ("ZapfDingbatsEncoding", 0x21, Some("a1")),
        ] {
            assert_eq!(encoding(name).and_then(|table| table[code]), expected, "{name} {code}");
        }
        assert!(encoding("Identity-H").is_none());
    }
}
