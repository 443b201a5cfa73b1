//! Parser of `.env` files.

use std::collections::HashMap;

/// The maximum number of lines of a quoted value.
const MAX_LINES: usize = 64;

/// The number of attempts to find the end of quoted values, so that a file of quotation marks takes no time.
const MAX_ATTEMPTS: usize = 4_096;

/// The start of a variable name that does not exist.
const UNSET: &str = "AGCORENOTSET";

/// The variables of a `.env` file.
#[derive(Default)]
pub(crate) struct Dotenv {
    /// The names of the variables.
    pub(crate) names: Vec<String>,
    /// The values by name, as they can be shown: references to other variables are not replaced.
    pub(crate) shown: HashMap<String, String>,
    /// The lines that were ignored.
    pub(crate) invalid: Vec<InvalidLine>,
    /// The valid lines.
    text: String,
}

/// A line that is not `NAME=value`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidLine {
    /// The number of the line, counted from 1.
    pub(crate) number: usize,
    /// The word at the start of the line. It may be part of a key: quote it only if it is a known name.
    pub(crate) word: String,
}

/// Finds the variables. Lines that are invalid are ignored and reported. Quoted values may span several lines.
pub(crate) fn parse(text: &str) -> Dotenv {
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.lines().collect();
    let (mut found, mut at, mut attempts) = (Dotenv::default(), 0, MAX_ATTEMPTS);
    while let Some(line) = lines.get(at) {
        let may_continue = attempts > 0 && line.contains(['"', '\'']);
        let max_end = lines.len().min(at + if may_continue { MAX_LINES } else { 1 });
        let statement = (at + 1..=max_end).find_map(|end| {
            attempts = attempts.saturating_sub(usize::from(end > at + 1));
            let statement = lines[at..end].join("\n") + "\n";
            Some((end, unexpanded(&statement)?, statement))
        });
        if let Some((end, variables, statement)) = statement {
            for (name, value) in variables {
                found.names.push(name.clone());
                found.shown.insert(name, value);
            }
            found.text += &statement;
            at = end;
        } else {
            found.invalid.push(InvalidLine {
                number: at + 1,
                word: first_word(line).to_owned(),
            });
            at += 1;
        }
    }
    found
}

impl Dotenv {
    /// Returns the values by name. They may refer to earlier variables and so be much longer than the file: evaluate
    /// only files that are trusted.
    pub(crate) fn values(&self) -> HashMap<String, String> {
        variables(&self.text).unwrap_or_default()
    }
}

fn variables(text: &str) -> Option<HashMap<String, String>> {
    dotenvy::from_read_iter(text.as_bytes()).collect::<Result<_, _>>().ok()
}

/// Parses a statement without replacing references, because a short one can have a very long value. If there may be any,
/// the value is the text in the file.
fn unexpanded(statement: &str) -> Option<HashMap<String, String>> {
    if !statement.contains('$') {
        return variables(statement);
    }
    // The rest of the line must be understood as with the reference, so the reference stays, with a name that is not set.
    let unset = statement
        .replace('$', &format!("${UNSET}"))
        .replace(&format!("${UNSET}{{"), &format!("${{{UNSET}"));
    let names = variables(&unset)?.into_keys();
    let text = statement.split_once('=').map_or("", |(_, text)| text);
    let text = text.trim().trim_matches(['"', '\'']);
    Some(names.map(|name| (name, text.to_owned())).collect())
}

/// Returns the name that the line begins with.
fn first_word(line: &str) -> &str {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &line[..end.unwrap_or(line.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)], invalid: &[(usize, &str)]) {
        let parsed = parse(text);
        let values = parsed.values();
        let mut variables: Vec<(&str, &str)> = values
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        variables.sort_unstable();
        assert_eq!(variables, expected, "{text}");
        assert_eq!(parsed.names.len(), expected.len(), "{text}");
        let found: Vec<(usize, &str)> = parsed
            .invalid
            .iter()
            .map(|line| (line.number, line.word.as_str()))
            .collect();
        assert_eq!(found, invalid, "{text}");
    }

    #[test]
    fn parses_variables() {
        check(
            "# keys\nA=1\nexport B='two words'\n\nA_B=\"x\"\r\n",
            &[("A", "1"), ("A_B", "x"), ("B", "two words")],
            &[],
        );
        check(
            "A='one\ntwo # three'\nB=\"${A}!\" # more\nC=3",
            &[("A", "one\ntwo # three"), ("B", "one\ntwo # three!"), ("C", "3")],
            &[],
        );
        check("\u{feff}A=1", &[("A", "1")], &[]);
        check("", &[], &[]);
    }

    #[test]
    fn a_malicious_file_is_parsed_quickly() {
        let quotes = parse(&"'\n".repeat(500_000));
        assert!(quotes.names.is_empty() && !quotes.invalid.is_empty());
        let mut doubling = "A0=xxxxxxxx\n".to_owned();
        for number in 1..60 {
            let before = format!("${{A{}}}", number - 1);
            doubling += &format!("A{number}={before}{before}\n");
        }
        assert_eq!(parse(&doubling).names.len(), 60);
    }

    #[test]
    fn references_are_not_replaced_to_find_the_names() {
        let path = agcore_terminal::process::variable("PATH").unwrap();
        let parsed = parse(&format!(
            "A=\"x{}\"\nB='$PATH'\nC=$'x y'\nD=${{x\nE=$PATH",
            "${PATH}".repeat(150_000)
        ));
        assert_eq!(parsed.names, ["A", "B", "E"]);
        let invalid: Vec<usize> = parsed.invalid.iter().map(|line| line.number).collect();
        assert_eq!(invalid, [3, 4], "a reference is not a quotation mark");
        assert!(parsed.shown["A"].starts_with("x${PATH}${PATH}"));
        assert!(!parsed.shown["A"].contains(&path));
        assert_eq!(parsed.shown["B"], "$PATH");
        assert_eq!(parse("E=$PATH").values()["E"], path);
    }

    #[test]
    fn ignores_invalid_lines_and_keeps_the_others() {
        check(
            "A=1\nDOCKER_PASSES_THIS_ON\nOPENAI_API_KEY=sk-1 sk-2\nB=${A}",
            &[("A", "1"), ("B", "1")],
            &[(2, "DOCKER_PASSES_THIS_ON"), (3, "OPENAI_API_KEY")],
        );
        check("A=1\n\nsk-live-key\n", &[("A", "1")], &[(3, "sk")]);
        check("export A='open\nB=2\nC=3", &[("B", "2"), ("C", "3")], &[(1, "A")]);
        check("A=it's\nB=2\n=3\n", &[("B", "2")], &[(1, "A"), (3, "")]);
        // The comment contains the same text.
        check("# no: x y\nx y\n", &[], &[(2, "x")]);
    }
}
