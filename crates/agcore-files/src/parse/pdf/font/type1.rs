//! The encoding in a Type 1 font file.

use memchr::memmem;

use super::{cmap::Lexer, cmap::Token, encodings::encoding as known};

/// Returns the names of the glyphs of the 256 codes.
pub(super) fn encoding(file: &[u8]) -> Option<Vec<Option<String>>> {
    // What follows is encrypted, and does not contain the encoding.
    let end = memmem::find(file, b"eexec").unwrap_or(file.len());
    let clear = file.get(..end)?;
    let start = memmem::find(clear, b"/Encoding")? + b"/Encoding".len();
    let mut words = Lexer::new(clear.get(start..)?).peekable();
    if words.peek() == Some(&Token::Word(b"StandardEncoding")) {
        return Some(
            known("StandardEncoding")?
                .iter()
                .map(|name| name.map(str::to_owned))
                .collect(),
        );
    }
    let mut names = vec![None; 256];
    while let Some(word) = words.next() {
        match word {
            Token::Word(b"dup") => {
                let (Some(Token::Number(code)), Some(Token::Name(name))) = (words.next(), words.next()) else {
                    continue;
                };
                let slot = usize::try_from(code).ok().and_then(|code| names.get_mut(code));
                if let Some(slot) = slot {
                    *slot = Some(String::from_utf8_lossy(name).into_owned());
                }
            }
            Token::Word(b"def" | b"readonly") => break,
            _ => {}
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_before_the_encrypted_part() {
        let file = b"%!\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 50 /element put\ndup 7/a put\nreadonly def\n\
                     currentfile eexec dup 8 /x put";
        let names = encoding(file).unwrap();
        assert_eq!(names[50].as_deref(), Some("element"));
        assert_eq!(names[7].as_deref(), Some("a"));
        assert_eq!(names[8], None);
        let standard = encoding(b"/Encoding StandardEncoding def").unwrap();
        assert_eq!(standard[65].as_deref(), Some("A"));
        for broken in ["", "/Encoding", "/Encoding 256 array dup 300 /x put dup"] {
            assert!(encoding(broken.as_bytes()).is_none_or(|names| names.len() == 256));
        }
    }
}
