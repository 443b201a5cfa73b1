//! [`SimpleFont`]: a font with one byte for each code.

use lopdf::{Dictionary, Object};

use super::{
    cff,
    cmap::CMap,
    encodings::{NameTable, encoding},
    glyph::{Glyph, Meaning},
    glyph_names,
    source::Source,
    standard::StandardFont,
    type1, widths,
};

/// The number of codes.
const CODES: usize = 256;

/// The assumed width of a glyph whose width is unknown, in parts of the font size.
const USUAL_WIDTH: f32 = 0.5;

/// A font with one byte for each code.
#[derive(Debug)]
pub(super) struct SimpleFont {
    codes: Vec<Code>,
    /// Whether the code with the name of the space may be another glyph; see [`Names::is_space_doubtful`].
    is_space_doubtful: bool,
}

#[derive(Debug)]
struct Code {
    /// The characters, or `None` if they are not known.
    text: Option<Box<str>>,
    /// In parts of the font size, if it is known.
    width: Option<f32>,
}

/// The names of the glyphs of the codes.
struct Names {
    names: Vec<Option<String>>,
    /// Whether a code without a name can have a glyph nevertheless.
    is_guess: bool,
    /// Whether the names are those of ZapfDingbats.
    is_dingbats: bool,
    /// Whether the file names the glyphs that are used, and the space is not among them. TeX writes spaces as gaps, and has another
    /// glyph at the code of the space, with the width of that one.
    is_space_doubtful: bool,
}

impl Names {
    /// Returns the names of an encoding in which codes without a name have no glyph.
    fn sure(names: Vec<Option<String>>) -> Self {
        Self {
            names,
            is_guess: false,
            is_dingbats: false,
            is_space_doubtful: false,
        }
    }
}

impl SimpleFont {
    pub(super) fn read<'p>(source: &mut Source<'p>, font: &'p Dictionary, to_unicode: Option<&CMap>) -> Self {
        let mut found = names(source, font);
        let names = std::mem::take(&mut found.names);
        let widths = Widths::read(source, font);
        let code = |(code, name): (usize, Option<String>)| {
            let byte = u8::try_from(code).unwrap_or(0);
            Code {
                text: text(byte, name.as_deref(), &found, to_unicode),
                width: widths.width(code, name.as_deref()),
            }
        };
        Self {
            codes: names.into_iter().enumerate().map(code).collect(),
            is_space_doubtful: found.is_space_doubtful,
        }
    }

    /// Returns the width of a space.
    pub(super) fn space(&self) -> f32 {
        let widths = |is_wanted: fn(&Code) -> bool| {
            let codes = self.codes.iter().filter(move |code| is_wanted(code));
            codes.filter_map(|code| code.width).filter(|width| *width > 0.0)
        };
        let space = widths(|code| code.text.as_deref() == Some(" ")).next();
        let (count, sum) = widths(|_| true).fold((0.0, 0.0), |(count, sum), width| (count + 1.0, sum + width));
        // Fonts without a space are usually twice as wide on average.
        let usual = if count > 0.0 { sum / count } else { USUAL_WIDTH };
        match space {
            Some(space) if self.is_space_doubtful => space.min(usual / 2.0),
            Some(space) => space,
            None => usual / 2.0,
        }
    }

    pub(super) fn show<E>(&self, bytes: &[u8], mut each: impl FnMut(Glyph<'_>) -> Result<(), E>) -> Result<(), E> {
        for byte in bytes {
            let Some(code) = self.codes.get(usize::from(*byte)) else {
                continue;
            };
            each(Glyph {
                meaning: match code.text.as_deref() {
                    Some("") => Meaning::Nothing,
                    Some(text) => Meaning::Text(text),
                    None => Meaning::Unknown,
                },
                width: code.width.unwrap_or(USUAL_WIDTH),
                is_space: *byte == b' ',
            })?;
        }
        Ok(())
    }
}

impl Default for SimpleFont {
    fn default() -> Self {
        let names = named("WinAnsiEncoding").into_iter().enumerate();
        let standard = StandardFont::new("Helvetica", 0);
        let code = |(code, name): (usize, Option<String>)| Code {
            text: text(
                u8::try_from(code).unwrap_or(0),
                name.as_deref(),
                &Names::sure(Vec::new()),
                None,
            ),
            width: name.and_then(|name| standard.width(&name)).map(|width| width / 1000.0),
        };
        Self {
            codes: names.map(code).collect(),
            is_space_doubtful: false,
        }
    }
}

/// Returns the characters of a code: those in the table of the file, otherwise those that the glyph is named after.
fn text(code: u8, name: Option<&str>, names: &Names, to_unicode: Option<&CMap>) -> Option<Box<str>> {
    let number = u32::from(code);
    let found = to_unicode.and_then(|map| {
        let base = || map.base()?.unicode(&[code]).map(Into::into);
        map.characters(number).or_else(base)
    });
    match found.as_deref().map(|characters| Meaning::of(characters, number)) {
        Some(Meaning::Text(characters)) => return Some(characters.into()),
        Some(Meaning::Nothing) => return Some("".into()),
        Some(Meaning::Unknown) | None => {}
    }
    let Some(name) = name else {
        return (!names.is_guess).then(|| "".into());
    };
    if name.is_empty() || name == ".notdef" {
        return Some("".into());
    }
    let numbered = || glyph_names::numbered(name, code).map(String::from);
    let dingbat = || glyph_names::dingbat(name).filter(|_| names.is_dingbats);
    Some(
        dingbat()
            .or_else(|| glyph_names::characters(name))
            .or_else(numbered)?
            .into(),
    )
}

/// Finds the names of the glyphs: the base encoding, which the font file has if no other is named, with the differences.
fn names<'p>(source: &mut Source<'p>, font: &'p Dictionary) -> Names {
    let member = source.member(font, b"Encoding");
    let dictionary = member.and_then(|member| member.as_dict().ok());
    let base = match dictionary {
        Some(dictionary) => source.name(dictionary, b"BaseEncoding"),
        None => source.name(font, b"Encoding"),
    };
    let base = base.as_deref().and_then(encoding);
    let mut found = match base {
        Some(table) => Names::sure(owned(table)),
        None => implicit(source, font),
    };
    let name = source.name(font, b"BaseFont").unwrap_or_default();
    found.is_dingbats = StandardFont::new(&name, 0) == StandardFont::ZapfDingbats;
    let differences = dictionary.and_then(|dictionary| source.array(dictionary, b"Differences"));
    let (mut code, mut has_space) = (0, false);
    for item in differences.unwrap_or_default() {
        match source.resolve(item) {
            Some(Object::Name(name)) => {
                has_space |= code == usize::from(b' ');
                if let Some(slot) = found.names.get_mut(code) {
                    *slot = Some(String::from_utf8_lossy(name).into_owned());
                }
                code = code.saturating_add(1);
            }
            Some(number) => {
                let number = number.as_float().map(|number| number.clamp(0.0, 256.0) as usize);
                code = number.unwrap_or(CODES);
            }
            None => {}
        }
    }
    found.is_space_doubtful = base.is_none() && differences.is_some_and(|names| !names.is_empty()) && !has_space;
    found
}

/// Returns the encoding of a font that names none.
fn implicit<'p>(source: &mut Source<'p>, font: &'p Dictionary) -> Names {
    let descriptor = source.dictionary(font, b"FontDescriptor");
    let built_in = descriptor.and_then(|descriptor| {
        let type1 = source
            .stream(descriptor, b"FontFile")
            .and_then(|file| type1::encoding(&file));
        type1.or_else(|| cff::encoding(&source.stream(descriptor, b"FontFile3")?))
    });
    if let Some(names) = built_in {
        return Names::sure(names);
    }
    let name = source.name(font, b"BaseFont").unwrap_or_default();
    match StandardFont::new(&name, 0) {
        StandardFont::Symbol => return Names::sure(named("SymbolEncoding")),
        StandardFont::ZapfDingbats => return Names::sure(named("ZapfDingbatsEncoding")),
        StandardFont::Courier | StandardFont::Latin(_) => {}
    }
    let kind = source.name(font, b"Subtype").unwrap_or_default();
    let mut names = named(if kind == "TrueType" {
        "WinAnsiEncoding"
    } else {
        "StandardEncoding"
    });
    for (name, usual) in names.iter_mut().zip(named("WinAnsiEncoding")) {
        *name = name.take().or(usual);
    }
    let is_embedded = descriptor.is_some_and(|descriptor| {
        let files: [&[u8]; 3] = [b"FontFile", b"FontFile2", b"FontFile3"];
        files.iter().any(|file| descriptor.has(file))
    });
    Names {
        names,
        is_guess: is_embedded || kind == "Type3",
        is_dingbats: false,
        is_space_doubtful: false,
    }
}

fn named(name: &str) -> Vec<Option<String>> {
    encoding(name).map_or_else(|| vec![None; CODES], owned)
}

fn owned(table: &NameTable) -> Vec<Option<String>> {
    table.iter().map(|name| name.map(str::to_owned)).collect()
}

/// The widths of the codes, from the best source.
struct Widths {
    own: Vec<Option<f32>>,
    missing: Option<f32>,
    /// The font whose widths replace those that the file does not have.
    standard: Option<StandardFont>,
}

impl Widths {
    fn read<'p>(source: &Source<'p>, font: &'p Dictionary) -> Self {
        // The glyphs of Type 3 fonts have a unit of their own.
        let matrix = source
            .array(font, b"FontMatrix")
            .and_then(|matrix| matrix.first()?.as_float().ok());
        let unit = matrix.map(f32::abs).filter(|unit| *unit > 0.0).unwrap_or(0.001);
        let descriptor = source.dictionary(font, b"FontDescriptor");
        let of_descriptor = |key| descriptor.and_then(|descriptor| source.number(descriptor, key));
        let name = source.name(font, b"BaseFont").unwrap_or_default();
        let own = widths::of_codes(source, font, unit);
        let standard = StandardFont::new(&name, of_descriptor(b"Flags").unwrap_or(0.0) as i64);
        Self {
            standard: own.iter().all(Option::is_none).then_some(standard),
            own,
            missing: of_descriptor(b"MissingWidth").map(|width| width * unit),
        }
    }

    fn width(&self, code: usize, name: Option<&str>) -> Option<f32> {
        let own = self.own.get(code).copied().flatten();
        let missing = self.missing.filter(|width| *width > 0.0);
        let standard = || self.standard?.width(name?).map(|width| width / 1000.0);
        own.or(missing).or_else(standard)
    }
}
