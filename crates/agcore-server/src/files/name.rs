//! [`check_name`]: the names that files can have.

/// The longest name, in bytes.
const MAX_NAME: usize = 255;

/// Checks the name of a file, which is shown to people and models and never opened. Returns it without spaces around it.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check_name(name: &str) -> Result<&str, &'static str> {
    let name = name.trim();
    if name.is_empty() || name.len() > MAX_NAME {
        return Err("must have 1 to 255 bytes");
    }
    if name.contains(['/', '\\']) || name.chars().any(is_hidden) || matches!(name, "." | "..") {
        return Err("must be the name of a file, without a path and without control characters");
    }
    Ok(name)
}

/// Returns whether a character is not shown, or changes how others are shown.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{fffd}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_files() {
        assert_eq!(check_name(" 报告 (2).pdf "), Ok("报告 (2).pdf"));
        let long = "a".repeat(256);
        for name in [
            "",
            "  ",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "a\0b",
            "a\nb",
            "a\u{202e}fdp.exe",
            "\u{feff}",
            &long,
        ] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
