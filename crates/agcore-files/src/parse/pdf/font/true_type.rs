//! [`Characters`]: the characters of the glyphs of a TrueType font file.

use std::collections::HashMap;

use lopdf::{Dictionary, Object};

use super::{bytes::Bytes, source::Source};

/// The largest number of characters that are read.
const MAX_CHARACTERS: usize = 1 << 17;

/// The characters of the glyphs of a font.
#[derive(Debug, Default)]
pub(super) struct Characters {
    by_glyph: HashMap<u16, char>,
    /// Translates the glyphs of the PDF file to those of the font file, two bytes each.
    glyphs: Option<Vec<u8>>,
}

impl Characters {
    /// Reads the font file of a part of a composite font.
    pub(super) fn read<'p>(source: &mut Source<'p>, font: &'p Dictionary) -> Option<Self> {
        let descriptor = source.dictionary(font, b"FontDescriptor")?;
        let file = source.stream(descriptor, b"FontFile2")?;
        let by_glyph = characters(Bytes(&file))?;
        let glyphs = match source.member(font, b"CIDToGIDMap") {
            Some(Object::Stream(stream)) => source.content(stream),
            _ => None,
        };
        source.keep(by_glyph.len()).then_some(Self { by_glyph, glyphs })
    }

    /// Returns the character of a glyph.
    pub(super) fn char(&self, cid: u32) -> Option<char> {
        let glyph = match &self.glyphs {
            Some(glyphs) => Bytes(glyphs).u16(usize::try_from(cid).ok()?.checked_mul(2)?)?,
            None => u16::try_from(cid).ok()?,
        };
        self.by_glyph.get(&glyph).copied()
    }
}

fn characters(file: Bytes<'_>) -> Option<HashMap<u16, char>> {
    let tables = usize::from(file.u16(4)?);
    let cmap = (0..tables).find_map(|table| {
        let entry = file.from(12 + table * 16)?;
        (entry.slice(0, 4)? == b"cmap").then(|| file.from(usize::try_from(entry.u32(8)?).ok()?))?
    })?;
    let subtables = (0..usize::from(cmap.u16(2)?)).filter_map(|subtable| {
        let entry = cmap.from(4 + subtable * 8)?;
        let is_unicode = matches!((entry.u16(0)?, entry.u16(2)?), (0, 0..=4 | 6) | (3, 1 | 10));
        is_unicode.then(|| cmap.from(usize::try_from(entry.u32(4)?).ok()?))?
    });
    let mut by_glyph = HashMap::new();
    let mut add = |glyph: u32, code: u32| {
        if let (Ok(glyph @ 1..), Some(char)) = (u16::try_from(glyph), char::from_u32(code)) {
            by_glyph.entry(glyph).or_insert(char);
        }
    };
    for table in subtables.take(4) {
        match table.u16(0) {
            Some(4) => drop(segments(table, &mut add)),
            Some(12) => drop(groups(table, &mut add)),
            _ => {}
        }
    }
    Some(by_glyph)
}

/// Reads a table of format 4.
fn segments(table: Bytes<'_>, add: &mut impl FnMut(u32, u32)) -> Option<()> {
    let mut left = MAX_CHARACTERS;
    let doubled = usize::from(table.u16(6)?);
    for offset in (0..doubled).step_by(2) {
        let end = table.u16(14 + offset)?;
        let start = table.u16(16 + doubled + offset)?;
        let delta = table.u16(16 + 2 * doubled + offset)?;
        let at = 16 + 3 * doubled + offset;
        let range = usize::from(table.u16(at)?);
        left = left.checked_sub(usize::from(end.saturating_sub(start)))?;
        for code in start..=end {
            let glyph = match range {
                0 => code.wrapping_add(delta),
                range => match table.u16(at + range + 2 * usize::from(code - start)) {
                    Some(0) | None => continue,
                    Some(glyph) => glyph.wrapping_add(delta),
                },
            };
            add(u32::from(glyph), u32::from(code));
        }
    }
    Some(())
}

/// Reads a table of format 12.
fn groups(table: Bytes<'_>, add: &mut impl FnMut(u32, u32)) -> Option<()> {
    let mut left = MAX_CHARACTERS;
    for group in 0..usize::try_from(table.u32(12)?).ok()? {
        let entry = table.from(16 + group.checked_mul(12)?)?;
        let (start, end, first) = (entry.u32(0)?, entry.u32(4)?, entry.u32(8)?);
        let count = usize::try_from(end.checked_sub(start)?).ok()?.saturating_add(1);
        left = left.checked_sub(count)?;
        for code in start..=end {
            add(first.wrapping_add(code - start), code);
        }
    }
    Some(())
}
