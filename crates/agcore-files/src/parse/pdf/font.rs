//! [`Font`]: turns the bytes of a text into characters and their width.

use lopdf::{Dictionary, Document as Pdf, Encoding, Error};

/// The width of a character of which it is not known, in parts of the font size.
const USUAL_WIDTH: f32 = 0.5;

/// The largest number of widths, one for each code of a font with one byte per character.
const MAX_WIDTHS: usize = 256;

/// A font of a page.
pub(super) struct Font<'p> {
    encoding: Encoding<'p>,
    /// The first code with a width, and the widths in thousandths of the font size.
    widths: Option<(usize, Vec<f32>)>,
}

impl<'p> Font<'p> {
    /// Reads a font. Its tables may have at most `limit` bytes after decompression.
    pub(super) fn read(pdf: &'p Pdf, font: &'p Dictionary, limit: usize) -> Result<Self, Error> {
        Ok(Self {
            encoding: font.get_font_encoding_with_limit(pdf, limit)?,
            widths: widths(pdf, font),
        })
    }

    /// Returns the characters of a text. Codes without a character are left out.
    pub(super) fn text(&self, bytes: &[u8]) -> String {
        // Most fonts for scripts with many characters have no table that translates all of them.
        self.encoding.bytes_to_string(bytes).unwrap_or_default()
    }

    /// Returns the width of a text in parts of the font size.
    pub(super) fn width(&self, bytes: &[u8], text: &str) -> f32 {
        let Some((first, widths)) = &self.widths else {
            return text.chars().map(usual_width).sum();
        };
        let of_code = |byte: &u8| {
            usize::from(*byte)
                .checked_sub(*first)
                .and_then(|index| widths.get(index))
        };
        bytes
            .iter()
            .map(|byte| of_code(byte).map_or(USUAL_WIDTH, |width| width / 1000.0))
            .sum()
    }
}

fn widths(pdf: &Pdf, font: &Dictionary) -> Option<(usize, Vec<f32>)> {
    let first = font.get_deref(b"FirstChar", pdf).ok()?.as_i64().ok()?;
    let widths = font.get_deref(b"Widths", pdf).ok()?.as_array().ok()?;
    let widths = widths
        .iter()
        .take(MAX_WIDTHS)
        .map(|width| width.as_float().unwrap_or(0.0));
    Some((usize::try_from(first).ok()?, widths.collect()))
}

/// Chinese, Japanese and Korean characters are as wide as they are high.
fn usual_width(char: char) -> f32 {
    if char >= '\u{2e80}' { 1.0 } else { USUAL_WIDTH }
}
