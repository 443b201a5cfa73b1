//! The encoding in a CFF font file.

use super::{bytes::Bytes, encodings};

/// The names of glyphs that have the numbers from 0. Made by `scripts/pdf-tables`.
const STRINGS: &str = include_str!("strings.txt");

/// The number of the first name that is in the file.
const FIRST_OWN: usize = 391;

/// Returns the names of the glyphs of the 256 codes.
pub(super) fn encoding(file: &[u8]) -> Option<Vec<Option<String>>> {
    let file = Bytes(file);
    let (_, end) = Index::read(file, usize::from(file.u8(2)?))?;
    let (top, end) = Index::read(file, end)?;
    let (strings, _) = Index::read(file, end)?;
    let top = Top::read(top.get(0)?)?;
    match top.encoding {
        0 => return of_table("StandardEncoding"),
        1 => return of_table("MacExpertEncoding"),
        _ => {}
    }
    let (glyphs, _) = Index::read(file, top.char_strings)?;
    let known: Vec<&str> = STRINGS.lines().collect();
    let name = |number: u16| {
        let number = usize::from(number);
        let own = || Some(String::from_utf8_lossy(strings.get(number.checked_sub(FIRST_OWN)?)?).into_owned());
        known.get(number).map(|name| (*name).to_owned()).or_else(own)
    };
    let charset = charset(file, top.charset, glyphs.count)?;
    let mut names = vec![None; 256];
    for (code, glyph) in codes(file.from(top.encoding)?, glyphs.count)? {
        if let Some(slot) = names.get_mut(usize::from(code)) {
            *slot = charset.get(usize::from(glyph)).and_then(|number| name(*number));
        }
    }
    for (code, number) in supplement(file.from(top.encoding)?).unwrap_or_default() {
        if let Some(slot) = names.get_mut(usize::from(code)) {
            *slot = name(number);
        }
    }
    Some(names)
}

fn of_table(name: &str) -> Option<Vec<Option<String>>> {
    Some(
        encodings::encoding(name)?
            .iter()
            .map(|name| name.map(str::to_owned))
            .collect(),
    )
}

/// A list of byte strings.
struct Index<'a> {
    count: usize,
    /// The size of an offset in bytes.
    size: usize,
    offsets: Bytes<'a>,
    /// The bytes that the offsets, which begin with 1, refer to.
    data: Bytes<'a>,
}

impl<'a> Index<'a> {
    /// Reads the list at an offset, and returns where it ends.
    fn read(file: Bytes<'a>, at: usize) -> Option<(Self, usize)> {
        let count = usize::from(file.u16(at)?);
        let start = at.checked_add(2)?;
        if count == 0 {
            let (offsets, data) = (Bytes(&[]), Bytes(&[]));
            return Some((
                Self {
                    count,
                    size: 1,
                    offsets,
                    data,
                },
                start,
            ));
        }
        let size = usize::from(file.u8(start)?);
        let offsets = file.from(start + 1)?;
        let before_data = start + size.checked_mul(count + 1)?;
        let data = file.from(before_data)?;
        let index = Self {
            count,
            size,
            offsets,
            data,
        };
        let end = before_data.checked_add(index.offset(count)?)?;
        Some((index, end))
    }

    fn offset(&self, number: usize) -> Option<usize> {
        let bytes = self.offsets.slice(number.checked_mul(self.size)?, self.size)?;
        let offset = bytes.iter().fold(0_u32, |offset, byte| offset << 8 | u32::from(*byte));
        usize::try_from(offset).ok()
    }

    fn get(&self, number: usize) -> Option<&'a [u8]> {
        if number >= self.count {
            return None;
        }
        let (start, end) = (self.offset(number)?, self.offset(number + 1)?);
        self.data.slice(start, end.checked_sub(start)?)
    }
}

/// The offsets of the tables.
#[derive(Default)]
struct Top {
    charset: usize,
    encoding: usize,
    char_strings: usize,
}

impl Top {
    /// Reads the offsets, or `None` for a font whose glyphs have numbers instead of names.
    fn read(dictionary: &[u8]) -> Option<Self> {
        let (mut top, mut operand) = (Self::default(), 0_i32);
        let mut bytes = dictionary.iter().copied();
        while let Some(byte) = bytes.next() {
            let mut next = || bytes.next().map(i32::from);
            match byte {
                12 => match next()? {
                    30 => return None,
                    _ => operand = 0,
                },
                15 => top.charset = usize::try_from(operand).ok()?,
                16 => top.encoding = usize::try_from(operand).ok()?,
                17 => top.char_strings = usize::try_from(operand).ok()?,
                28 => operand = next()? << 8 | next()?,
                29 => operand = next()? << 24 | next()? << 16 | next()? << 8 | next()?,
                // A decimal number ends with F in one half of a byte.
                30 => while bytes.next()? & 0xf != 0xf {},
                32..=246 => operand = i32::from(byte) - 139,
                247..=250 => operand = (i32::from(byte) - 247) * 256 + next()? + 108,
                251..=254 => operand = -(i32::from(byte) - 251) * 256 - next()? - 108,
                _ => {}
            }
        }
        Some(top)
    }
}

/// Returns the numbers of the names of the glyphs.
fn charset(file: Bytes<'_>, at: usize, glyphs: usize) -> Option<Vec<u16>> {
    if at <= 2 {
        // The predefined ones for expert fonts are not known.
        return (at == 0).then(|| (0..229).collect());
    }
    let table = file.from(at)?;
    let mut numbers: Vec<u16> = vec![0];
    let format = table.u8(0)?;
    let mut offset = 1;
    while numbers.len() < glyphs {
        let first = table.u16(offset)?;
        let more = match format {
            0 => 0,
            1 => u16::from(table.u8(offset + 2)?),
            2 => table.u16(offset + 2)?,
            _ => return None,
        };
        offset += 2 + usize::from(format);
        let wanted = glyphs - numbers.len();
        numbers.extend((first..=first.saturating_add(more)).take(wanted));
    }
    Some(numbers)
}

/// Returns codes with their glyphs.
fn codes(table: Bytes<'_>, glyphs: usize) -> Option<Vec<(u8, u16)>> {
    let entries = usize::from(table.u8(1)?);
    let mut codes = Vec::new();
    match table.u8(0)? & 0x7f {
        0 => {
            for (entry, glyph) in (0..entries).zip(1..) {
                codes.push((table.u8(2 + entry)?, glyph));
            }
        }
        1 => {
            let mut glyph = 1;
            for entry in 0..entries {
                let (first, more) = (table.u8(2 + 2 * entry)?, table.u8(3 + 2 * entry)?);
                for code in first..=first.saturating_add(more) {
                    codes.push((code, glyph));
                    glyph += 1;
                }
            }
        }
        _ => return None,
    }
    codes.retain(|(_, glyph)| usize::from(*glyph) < glyphs);
    Some(codes)
}

/// Returns further codes with the numbers of the names of their glyphs.
fn supplement(table: Bytes<'_>) -> Option<Vec<(u8, u16)>> {
    let format = table.u8(0)?;
    if format & 0x80 == 0 {
        return None;
    }
    let entries = usize::from(table.u8(1)?);
    let at = 2 + entries * if format & 0x7f == 1 { 2 } else { 1 };
    let count = usize::from(table.u8(at)?);
    let entry = |number: usize| Some((table.u8(at + 1 + number * 3)?, table.u16(at + 2 + number * 3)?));
    (0..count).map(entry).collect()
}
