//! Names of glyphs, and the characters that they stand for.

use std::{collections::HashMap, sync::LazyLock};

/// The Adobe Glyph List (copyright Adobe, BSD-3-Clause), with the names of ZapfDingbats and some of TeX. Made by
/// `scripts/pdf-tables`.
const LIST: &str = include_str!("glyphs.txt");

/// The largest number of components of a ligature, such as `f_f_i`.
const MAX_COMPONENTS: usize = 8;

static NAMES: LazyLock<HashMap<&'static str, &'static str>> =
    LazyLock::new(|| LIST.lines().filter_map(|line| line.split_once(' ')).collect());

/// Returns the characters of a glyph, or `None` if its name does not say them.
pub(super) fn characters(name: &str) -> Option<String> {
    // What follows a period is a variant, such as `a.sc`; `.notdef` has no characters.
    let stem = name.split('.').next().filter(|stem| !stem.is_empty())?;
    if let Some(found) = component(stem) {
        return Some(found);
    }
    let parts: Vec<&str> = stem.split('_').take(MAX_COMPONENTS + 1).collect();
    if !(2..=MAX_COMPONENTS).contains(&parts.len()) {
        return None;
    }
    parts.into_iter().map(component).collect()
}

/// Returns the characters of a glyph of ZapfDingbats, whose names have other meanings in other fonts.
pub(super) fn dingbat(name: &str) -> Option<String> {
    NAMES
        .get(format!("ZapfDingbats.{name}").as_str())
        .and_then(|codes| text(codes))
}

/// Returns the characters of a glyph whose name is a letter or two with its own code, such as `g65`, `G41` or `C065`.
pub(super) fn numbered(name: &str, code: u8) -> Option<char> {
    let digits = name.trim_start_matches(|char: char| char.is_ascii_alphabetic());
    let is_named = (1..=2).contains(&(name.len() - digits.len())) && !digits.is_empty();
    let is_code = |radix| u32::from_str_radix(digits, radix) == Ok(u32::from(code));
    (is_named && (0x21..0x7f).contains(&code) && (is_code(10) || is_code(16))).then_some(char::from(code))
}

fn component(name: &str) -> Option<String> {
    // TeX has delimiters and operators in several sizes, such as `parenleftbigg`.
    let sizes = ["bigg", "Bigg", "big", "Big", "text", "display"];
    let stem = || {
        sizes
            .iter()
            .find_map(|size| name.strip_suffix(size))
            .filter(|stem| stem.len() > 2)
    };
    if let Some(codes) = NAMES.get(name).or_else(|| NAMES.get(stem()?)) {
        return text(codes);
    }
    if let Some(codes) = name.strip_prefix("uni") {
        return of_units(codes);
    }
    let code = name.strip_prefix('u')?;
    char_of(code, 4..=6).map(String::from)
}

fn text(codes: &str) -> Option<String> {
    codes.split(' ').map(|code| char_of(code, 4..=6)).collect()
}

/// Reads `uni` names: four digits for each UTF-16 code unit.
fn of_units(digits: &str) -> Option<String> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if digits.is_empty() || !is_hex || !digits.len().is_multiple_of(4) || digits.len() > 4 * MAX_COMPONENTS {
        return None;
    }
    let units: Option<Vec<u16>> = (0..digits.len())
        .step_by(4)
        .map(|start| u16::from_str_radix(digits.get(start..start + 4)?, 16).ok())
        .collect();
    String::from_utf16(&units?).ok()
}

fn char_of(digits: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<char> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = u32::from_str_radix(digits, 16).ok()?;
    char::from_u32(code).filter(|_| is_hex && lengths.contains(&digits.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_adobe_glyph_list() {
        for (name, expected) in [
            ("A", "A"),
            ("eacute", "é"),
            ("quoteright", "’"),
            ("Euro", "€"),
            ("fi", "fi"),
            ("f_f_i", "ffi"),
            ("t_i.alt", "ti"),
            ("a.sc", "a"),
            ("uni4E00", "一"),
            ("uni00660069", "fi"),
            ("uniD83DDE00", "😀"),
            ("u1F600", "😀"),
            ("u4E00.vert", "一"),
            ("parenleftbigg", "("),
            ("summationdisplay", "∑"),
            ("radicalBig", "√"),
            ("dalethatafpatah", "דֲ"),
        ] {
            assert_eq!(characters(name).as_deref(), Some(expected), "{name}");
        }
        for name in [
            ".notdef", "", "g12", "uni12", "uniD800", "u+041", "uni+041", "a1", "Atext", "_", "a_", "nonsense", "u123é",
        ] {
            assert_eq!(characters(name), None, "{name}");
        }
    }

    #[test]
    fn dingbats_have_their_own_names() {
        assert_eq!(dingbat("a1").as_deref(), Some("✁"));
        assert_eq!(dingbat("A"), None);
    }

    #[test]
    fn numbers_are_only_believed_if_they_are_the_code() {
        for (name, code, expected) in [
            ("g65", 65, Some('A')),
            ("G41", 65, Some('A')),
            ("C065", 65, Some('A')),
            ("g1", 1, None),
            ("g66", 65, None),
            ("65", 65, None),
            ("cid65", 65, None),
        ] {
            assert_eq!(numbered(name, code), expected, "{name}");
        }
    }
}
