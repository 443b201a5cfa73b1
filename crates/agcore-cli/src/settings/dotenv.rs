//! The variables of an `.env` file.

use std::{collections::HashMap, path::Path};

use super::fault::Fault;

/// Reads the variables. A line that is none is named by its number and never quoted: it may hold a key.
///
/// # Errors
/// The first line that is none.
pub(super) fn parse(path: &Path, text: &str) -> Result<HashMap<String, String>, Fault> {
    variables(text).ok_or_else(|| {
        Fault(format!(
            "{}:{}: this is no NAME=value; put values with spaces or signs into quotes",
            path.display(),
            wrong_line(text)
        ))
    })
}

fn variables(text: &str) -> Option<HashMap<String, String>> {
    dotenvy::from_read_iter(text.as_bytes()).collect::<Result<_, _>>().ok()
}

/// The number, from 1, of the first wrong line: the one after all that can be read. A quoted value may have many lines.
fn wrong_line(text: &str) -> usize {
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
    fn reads_variables() {
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
    fn faults_have_a_place_and_show_no_key() {
        let check = |text: &str, expected: &str| {
            let error = parse(Path::new(".env"), text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("sk-"), "{error}");
        };
        check("A=1\nOPENAI_API_KEY=sk-1 sk-2\n", ".env:2: ");
        check("A=1\n\nsk-live-key\n", ".env:3:");
        check("A='sk-open\nB=2\n", ".env:1:");
        // The same text stands in a comment above.
        check("# no: x y\nx y\n", ".env:2:");
    }
}
