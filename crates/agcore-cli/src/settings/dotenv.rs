//! Parser of `.env` files.

use std::{collections::HashMap, path::Path};

use super::error::SettingsError;

/// Parses the variables. An invalid line is reported by number and never quoted, because it may contain a key.
///
/// # Errors
/// The location of the first invalid line.
pub(super) fn parse(path: &Path, text: &str) -> Result<HashMap<String, String>, SettingsError> {
    variables(text).ok_or_else(|| {
        SettingsError(format!(
            "{}:{}: expected NAME=value; quote values that contain spaces or special characters",
            path.display(),
            invalid_line(text)
        ))
    })
}

fn variables(text: &str) -> Option<HashMap<String, String>> {
    dotenvy::from_read_iter(text.as_bytes()).collect::<Result<_, _>>().ok()
}

/// Returns the number of the first invalid line, counted from 1: the line after the longest prefix that can be parsed.
/// Quoted values may span several lines.
fn invalid_line(text: &str) -> usize {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let readable = (0..lines.len())
        .rev()
        .find(|count| variables(&lines[..*count].concat()).is_some());
    readable.unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_variables() {
        let variables = parse(Path::new(".env"), "# keys\nA=1\nexport B='two words'\n\nA_B=\"x\"\n").unwrap();
        assert_eq!(
            (
                variables["A"].as_str(),
                variables["B"].as_str(),
                variables["A_B"].as_str()
            ),
            ("1", "two words", "x")
        );
    }

    #[test]
    fn errors_name_the_line_and_hide_keys() {
        let check = |text: &str, expected: &str| {
            let error = parse(Path::new(".env"), text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("sk-"), "{error}");
        };
        check("A=1\nOPENAI_API_KEY=sk-1 sk-2\n", ".env:2: ");
        check("A=1\n\nsk-live-key\n", ".env:3:");
        check("A='sk-open\nB=2\n", ".env:1:");
        // The comment contains the same text.
        check("# no: x y\nx y\n", ".env:2:");
    }
}
