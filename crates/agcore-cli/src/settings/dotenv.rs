//! The variables of an `.env` file.

use std::{collections::HashMap, path::Path};

use super::place::place;
use crate::exit::Failure;

/// Reads the variables. A line that is none is named by its place and never quoted: it may hold a key.
///
/// # Errors
/// The first line that is none.
pub(super) fn parse(path: &Path, text: &str) -> Result<HashMap<String, String>, Failure> {
    let pairs: Result<HashMap<String, String>, dotenvy::Error> = dotenvy::from_read_iter(text.as_bytes()).collect();
    pairs.map_err(|error| {
        let at = match &error {
            dotenvy::Error::LineParse(line, column) => {
                text.find(line.trim_end()).map(|begin| place(text, begin + column)).unwrap_or_default()
            }
            _ => String::new(),
        };
        Failure::usage(format!("{}{at}: this is no NAME=value; put values with spaces or signs into quotes", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_variables() {
        let variables = parse(Path::new(".env"), "# keys\nA=1\nexport B='two words'\n\nA_B=\"x\"\n").unwrap();
        assert_eq!((variables["A"].as_str(), variables["B"].as_str(), variables["A_B"].as_str()), ("1", "two words", "x"));
    }

    #[test]
    fn faults_have_a_place_and_show_no_key() {
        let check = |text: &str, expected: &str| {
            let error = parse(Path::new(".env"), text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("sk-"), "{error}");
        };
        check("A=1\nOPENAI_API_KEY=sk-1 sk-2\n", ".env:2:");
        check("A=1\n\nsk-live-key\n", ".env:3:");
        check("A='sk-open\n", ".env:1:");
    }
}
