//! [`Font`]: turns the bytes of a text into characters and their width.

mod bytes;
mod cff;
mod cmap;
mod composite;
mod encodings;
mod glyph;
mod glyph_names;
mod predefined;
mod simple;
mod source;
mod standard;
mod true_type;
mod type1;
mod widths;

use lopdf::{Dictionary, Object};

use self::{cmap::CMap, composite::CompositeFont, simple::SimpleFont};
pub(super) use self::{
    glyph::{Glyph, Meaning},
    source::Source,
};

/// The smallest and the largest space, in parts of the font size.
const SMALLEST_SPACE: f32 = 0.15;
const LARGEST_SPACE: f32 = 0.5;

/// A factor for the smallest gap, because positions are rounded.
const TOLERANCE: f32 = 0.98;

/// A font of a page.
#[derive(Debug)]
pub(super) struct Font {
    kind: Kind,
    space: f32,
}

#[derive(Debug)]
enum Kind {
    Simple(SimpleFont),
    Composite(Box<CompositeFont>),
}

impl Font {
    /// Reads a font. Unreadable parts are replaced with the usual ones.
    pub(super) fn read<'p>(source: &mut Source<'p>, font: &'p Dictionary) -> Self {
        let to_unicode = to_unicode(source, font);
        let is_composite =
            font.has(b"DescendantFonts") || source.name(font, b"Subtype").is_some_and(|kind| kind == "Type0");
        let (kind, space) = if is_composite {
            let font = CompositeFont::read(source, font, to_unicode);
            let space = font.space();
            (Kind::Composite(Box::new(font)), space)
        } else {
            let font = SimpleFont::read(source, font, to_unicode.as_ref());
            let space = font.space();
            (Kind::Simple(font), space)
        };
        Self {
            kind,
            space: space.clamp(SMALLEST_SPACE, LARGEST_SPACE),
        }
    }

    /// Returns whether texts are written from top to bottom.
    pub(super) fn is_vertical(&self) -> bool {
        matches!(&self.kind, Kind::Composite(font) if font.is_vertical())
    }

    /// Returns the smallest gap between two words, in parts of the font size: half of the width of a space.
    pub(super) fn gap(&self) -> f32 {
        self.space / 2.0 * TOLERANCE
    }

    /// Calls a function with the glyphs of a text, as long as it does not fail.
    pub(super) fn show<E>(&self, bytes: &[u8], each: impl FnMut(Glyph<'_>) -> Result<(), E>) -> Result<(), E> {
        match &self.kind {
            Kind::Simple(font) => font.show(bytes, each),
            Kind::Composite(font) => font.show(bytes, each),
        }
    }
}

impl Default for Font {
    /// Returns the font of texts whose font is missing.
    fn default() -> Self {
        let font = SimpleFont::default();
        Self {
            space: font.space(),
            kind: Kind::Simple(font),
        }
    }
}

/// Reads the table that translates codes to characters. ISO 32000-1, 9.10.2, has it before all others.
fn to_unicode<'p>(source: &mut Source<'p>, font: &'p Dictionary) -> Option<CMap> {
    let map = match source.member(font, b"ToUnicode")? {
        Object::Stream(stream) => {
            let content = source.content(stream)?;
            let mut map = CMap::parse(&content);
            if let Some(name) = source.name(&stream.dict, b"UseCMap") {
                map.extend(name.as_bytes());
            }
            map
        }
        Object::Name(name) => {
            let mut map = CMap::default();
            map.extend(name);
            map
        }
        _ => return None,
    };
    source.keep(map.len()).then_some(map)
}
