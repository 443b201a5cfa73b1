//! [`CompositeFont`]: a font whose codes have one to four bytes.

use std::borrow::Cow;

use lopdf::{Dictionary, Object};

use super::{
    bytes::number_of,
    cmap::CMap,
    glyph::{Glyph, Meaning},
    source::Source,
    true_type,
    widths::CidWidths,
};

/// The assumed length of codes whose length is unknown.
const USUAL_CODE_LENGTH: usize = 2;

/// The height of a glyph in texts from top to bottom, in parts of the font size.
const USUAL_HEIGHT: f32 = 1.0;

/// A font whose codes have one to four bytes.
#[derive(Debug)]
pub(super) struct CompositeFont {
    /// Translates codes to glyphs.
    encoding: CMap,
    /// Translates codes to characters.
    to_unicode: Option<CMap>,
    widths: CidWidths,
    /// The height of glyphs in texts from top to bottom.
    height: f32,
    /// The characters of glyphs, from the font file.
    glyphs: Option<true_type::Characters>,
}

impl CompositeFont {
    pub(super) fn read<'p>(source: &mut Source<'p>, font: &'p Dictionary, to_unicode: Option<CMap>) -> Self {
        let encoding = encoding(source, font);
        let descendants = source.array(font, b"DescendantFonts").unwrap_or_default();
        let descendant = descendants
            .first()
            .and_then(|font| source.resolve(font)?.as_dict().ok());
        let widths = match descendant {
            Some(descendant) => CidWidths::read(source, descendant),
            None => CidWidths::unknown(),
        };
        let height = descendant.and_then(|font| source.array(font, b"DW2")?.get(1)?.as_float().ok());
        let mut font = Self {
            encoding,
            to_unicode,
            widths,
            height: height.map_or(USUAL_HEIGHT, |height| height.abs() / 1000.0),
            glyphs: None,
        };
        if let Some(descendant) = descendant.filter(|_| font.needs_glyphs()) {
            font.glyphs = true_type::Characters::read(source, descendant);
        }
        font
    }

    pub(super) fn is_vertical(&self) -> bool {
        self.encoding.is_vertical()
    }

    /// Returns the width of a space.
    pub(super) fn space(&self) -> f32 {
        let code = self.to_unicode.as_ref().and_then(CMap::space);
        let cid = match code {
            Some(code) => self.encoding.cid(code, &code.to_be_bytes()[2..]),
            None => self
                .encoding
                .base()
                .and_then(|base| base.cid(b" "))
                .filter(|cid| *cid != u32::from(b' ')),
        };
        cid.map_or(self.widths.average() / 2.0, |cid| self.widths.width(Some(cid)))
    }

    pub(super) fn show<E>(&self, mut bytes: &[u8], mut each: impl FnMut(Glyph<'_>) -> Result<(), E>) -> Result<(), E> {
        while !bytes.is_empty() {
            let length = self.code_length(bytes).clamp(1, bytes.len());
            let (code, rest) = bytes.split_at(length);
            bytes = rest;
            let number = number_of(code);
            let characters = self.characters(number, code);
            each(Glyph {
                meaning: characters
                    .as_deref()
                    .map_or(Meaning::Unknown, |characters| Meaning::of(characters, number)),
                width: if self.is_vertical() {
                    self.height
                } else {
                    self.widths.width(self.encoding.cid(number, code))
                },
                is_space: code == b" ",
            })?;
        }
        Ok(())
    }

    fn code_length(&self, bytes: &[u8]) -> usize {
        let by_encoding = self.encoding.code_length(bytes);
        let by_to_unicode = || self.to_unicode.as_ref()?.code_length(bytes);
        by_encoding.or_else(by_to_unicode).unwrap_or(USUAL_CODE_LENGTH)
    }

    fn characters(&self, number: u32, code: &[u8]) -> Option<Cow<'_, str>> {
        let own = self.to_unicode.as_ref().and_then(|map| {
            let base = || map.base()?.unicode(code).map(Cow::Owned);
            map.characters(number).or_else(base)
        });
        let predefined = || self.encoding.base()?.characters(code).map(Cow::Owned);
        let of_glyph = || {
            let char = self.glyphs.as_ref()?.char(self.encoding.cid(number, code)?)?;
            Some(Cow::Owned(char.into()))
        };
        own.or_else(predefined).or_else(of_glyph)
    }

    /// Returns whether the characters of some codes can only be found in the font file.
    fn needs_glyphs(&self) -> bool {
        let is_identity = self
            .encoding
            .base()
            .is_none_or(|base| base.characters(b"\0A").is_none());
        is_identity && self.to_unicode.as_ref().is_none_or(|map| map.len() == 0)
    }
}

fn encoding<'p>(source: &mut Source<'p>, font: &'p Dictionary) -> CMap {
    let mut map = CMap::default();
    match source.member(font, b"Encoding") {
        Some(Object::Name(name)) => map.extend(name),
        Some(Object::Stream(stream)) => {
            if let Some(content) = source.content(stream) {
                map = CMap::parse(&content);
            }
            if let Some(name) = source.name(&stream.dict, b"UseCMap") {
                map.extend(name.as_bytes());
            }
            if !source.keep(map.len()) {
                map = CMap::default();
            }
        }
        _ => {}
    }
    map
}
