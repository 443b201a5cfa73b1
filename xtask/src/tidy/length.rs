//! A file of a crate is one noun; a long one is two.

use crate::finding::Finding;
use crate::sources::Sources;

/// What can still be read as one thing.
const LONGEST: usize = 600;

/// Files that are long for a reason: path and reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

const THIS_FILE: &str = "xtask/src/tidy/length.rs";

/// Counts the lines of the sources of crates.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    check(sources, EXCEPTIONS)
}

fn check(sources: &Sources, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let is_excepted = |path: &str| exceptions.iter().any(|(excepted, _)| *excepted == path);
    let lengths = sources.iter().filter(|file| file.is_crate_source());
    let lengths = lengths.map(|file| (file.path.as_str(), file.text.lines().count()));
    let (long, fine): (Vec<_>, Vec<_>) = lengths.partition(|(_, lines)| *lines > LONGEST);
    let too_long = long
        .into_iter()
        .filter(|(path, _)| !is_excepted(path))
        .map(|(path, lines)| {
            Finding::new(
                path,
                format!("{lines} lines, {LONGEST} are allowed"),
                format!("part it by nouns, or list it with a reason in {THIS_FILE}"),
            )
        });
    let needless = fine
        .into_iter()
        .filter(|(path, _)| is_excepted(path))
        .map(|(path, lines)| {
            Finding::new(
                THIS_FILE,
                format!("{path} has {lines} lines and needs no exception"),
                "take it off the list",
            )
        });
    let unexplained = exceptions.iter().filter(|(_, reason)| reason.trim().is_empty());
    let unexplained = unexplained
        .map(|(path, _)| Finding::new(THIS_FILE, format!("the exception for {path} has no reason"), "give one"));
    too_long.chain(needless).chain(unexplained).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/a/src/lib.rs";

    #[track_caller]
    fn check_lines(lines: usize, exceptions: &[(&str, &str)], expected: Option<&str>) {
        let text = "//\n".repeat(lines);
        let found = check(&Sources::from([(PATH, text.as_str())]), exceptions);
        match expected {
            None => assert_eq!(found, []),
            Some(expected) => assert!(found[0].to_string().contains(expected), "{found:?}"),
        }
    }

    #[test]
    fn a_long_file_is_found() {
        check_lines(600, &[], None);
        check_lines(601, &[], Some("601 lines, 600 are allowed"));
    }

    #[test]
    fn an_exception_has_a_reason_and_a_need() {
        check_lines(601, &[(PATH, "one table")], None);
        check_lines(601, &[(PATH, "")], Some("has no reason"));
        check_lines(600, &[(PATH, "one table")], Some("needs no exception"));
    }
}
