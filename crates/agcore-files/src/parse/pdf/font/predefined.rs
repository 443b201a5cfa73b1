//! [`Predefined`]: the tables for Chinese, Japanese and Korean that every reader of PDF knows by name.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS};

use super::bytes::number_of;

/// The encoding of a table: which bytes form a code, and which characters they are.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Two bytes are the number of the glyph itself.
    Identity,
    Utf8,
    Utf16,
    Utf32,
    /// One byte, or two if the first is between these.
    Bytes(&'static Encoding, u8, u8),
    /// One byte, or two if the first is a lead byte of Shift-JIS.
    ShiftJis,
    /// One, two or four bytes.
    Gb18030,
    /// Two bytes with seven bits each, which are the same in an encoding of eight bits.
    SevenBits(&'static Encoding),
}

/// A table with a name, such as `GBK-EUC-H`. It defines where codes end, which characters they are, and whether texts are written
/// from top to bottom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Predefined {
    form: Form,
    /// The number of the glyph of a space, which those of other ASCII characters follow.
    space_cid: u32,
    is_vertical: bool,
}

/// The glyphs of ASCII characters in the collections of Adobe: of their own widths, or half as wide as high.
const PROPORTIONAL: u32 = 1;
const HALF_JAPAN1: u32 = 231;
const HALF_GB1: u32 = 814;
const HALF_CNS1: u32 = 13_648;
const HALF_KOREA1: u32 = 8_094;

impl Predefined {
    /// Returns the table with a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let (base, is_vertical) = match name {
            "H" => ("", false),
            "V" => ("", true),
            name => match name.strip_suffix("-V") {
                Some(base) => (base, true),
                None => (name.strip_suffix("-H")?, false),
            },
        };
        let (form, space_cid) = form(base)?;
        Some(Self {
            form,
            space_cid,
            is_vertical,
        })
    }

    pub(super) fn is_vertical(self) -> bool {
        self.is_vertical
    }

    /// Returns the length of the code at the beginning of bytes, at least 1.
    pub(super) fn code_length(self, bytes: &[u8]) -> usize {
        let first = bytes.first().copied().unwrap_or(0);
        let second = bytes.get(1).copied().unwrap_or(0);
        match self.form {
            Form::Identity | Form::SevenBits(_) => 2,
            Form::Utf8 => match first {
                0..0xc0 => 1,
                0xc0..0xe0 => 2,
                0xe0..0xf0 => 3,
                0xf0.. => 4,
            },
            Form::Utf16 if (0xd8..0xdc).contains(&first) => 4,
            Form::Utf16 => 2,
            Form::Utf32 => 4,
            Form::Bytes(_, low, high) => 1 + usize::from((low..=high).contains(&first)),
            Form::ShiftJis => 1 + usize::from(matches!(first, 0x81..=0x9f | 0xe0..=0xfc)),
            Form::Gb18030 => match (first, second) {
                (0x81..=0xfe, 0x30..=0x39) => 4,
                (0x81..=0xfe, _) => 2,
                _ => 1,
            },
        }
    }

    /// Returns the characters of a code, or `None` if it has none or only the font knows them.
    pub(super) fn characters(self, bytes: &[u8]) -> Option<String> {
        match self.form {
            Form::Identity => None,
            Form::Utf8 => String::from_utf8(bytes.to_vec()).ok(),
            Form::Utf16 => {
                let units = bytes.chunks(2).map(|unit| u16::try_from(number_of(unit)).unwrap_or(0));
                String::from_utf16(&units.collect::<Vec<u16>>()).ok()
            }
            Form::Utf32 => char::from_u32(number_of(bytes)).map(String::from),
            Form::Bytes(encoding, ..) => decode(encoding, bytes),
            Form::ShiftJis => decode(SHIFT_JIS, bytes),
            Form::Gb18030 => decode(GB18030, bytes),
            Form::SevenBits(encoding) => {
                let bytes: Vec<u8> = bytes.iter().map(|byte| byte | 0x80).collect();
                decode(encoding, &bytes)
            }
        }
    }

    /// Returns the characters of a code if the table translates to characters, where `Identity` means that codes are Unicode.
    pub(super) fn unicode(self, bytes: &[u8]) -> Option<String> {
        let form = match self.form {
            Form::Identity => Form::Utf16,
            form => form,
        };
        Self { form, ..self }.characters(bytes)
    }

    /// Returns the number of the glyph of a code, if it is an ASCII character or the code itself is the number.
    pub(super) fn cid(self, bytes: &[u8]) -> Option<u32> {
        let code = number_of(bytes);
        match self.form {
            Form::Identity => Some(code),
            Form::SevenBits(_) => None,
            _ => (0x20..0x7f).contains(&code).then(|| self.space_cid + code - 0x20),
        }
    }
}

/// Returns how a table reads codes, and the number of the glyph of a space.
fn form(base: &str) -> Option<(Form, u32)> {
    if base == "Identity" {
        return Some((Form::Identity, 0));
    }
    if let Some(found) = unicode(base) {
        return Some(found);
    }
    let gbk = Form::Bytes(GBK, 0x81, 0xfe);
    let big5 = Form::Bytes(BIG5, 0x81, 0xfe);
    let korean = Form::Bytes(EUC_KR, 0x81, 0xfe);
    Some(match base {
        "GB-EUC" | "GBK-EUC" => (gbk, HALF_GB1),
        "GBpc-EUC" | "GBKp-EUC" => (gbk, PROPORTIONAL),
        "GBK2K" => (Form::Gb18030, PROPORTIONAL),
        "GB" => (Form::SevenBits(GBK), PROPORTIONAL),
        "ETen-B5" | "ETHK-B5" => (big5, HALF_CNS1),
        "B5pc" | "B5" | "ETenms-B5" | "HKscs-B5" => (big5, PROPORTIONAL),
        "83pv-RKSJ" | "90pv-RKSJ" | "90msp-RKSJ" => (Form::ShiftJis, PROPORTIONAL),
        "78-RKSJ" | "78ms-RKSJ" | "90ms-RKSJ" | "Add-RKSJ" | "Ext-RKSJ" | "RKSJ" => (Form::ShiftJis, HALF_JAPAN1),
        // The first byte of half-width katakana is 8E.
        "EUC" | "78-EUC" => (Form::Bytes(EUC_JP, 0x8e, 0xfe), HALF_JAPAN1),
        "" | "78" | "Add" | "Ext" => (Form::SevenBits(EUC_JP), HALF_JAPAN1),
        "KSC-EUC" | "KSCms-UHC-HW" => (korean, HALF_KOREA1),
        "KSCms-UHC" | "KSCpc-EUC" => (korean, PROPORTIONAL),
        "KSC" => (Form::SevenBits(EUC_KR), PROPORTIONAL),
        _ => return None,
    })
}

/// Returns the form of a table whose codes are Unicode, such as `UniJIS2004-UTF32`.
fn unicode(base: &str) -> Option<(Form, u32)> {
    let mut words = base.strip_prefix("Uni")?.split('-');
    let collection = words.next()?;
    if !["GB", "CNS", "JIS", "KS", "AKR"]
        .iter()
        .any(|known| collection.starts_with(known))
    {
        return None;
    }
    let form = match words.next()? {
        "UCS2" | "UTF16" => Form::Utf16,
        "UTF8" => Form::Utf8,
        "UTF32" => Form::Utf32,
        _ => return None,
    };
    match words.next() {
        None => Some((form, PROPORTIONAL)),
        Some("HW") => Some((form, HALF_JAPAN1)),
        Some(_) => None,
    }
}

fn decode(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    Some(text.into_owned())
}
