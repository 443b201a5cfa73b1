//! No file contains a path of the machine that it was written on.

use crate::report::finding::Finding;
use crate::source::sources::Sources;

/// Roots of such paths, concatenated so that this file contains none.
const ROOTS: &[&str] = &[
    concat!("/", "work/"),
    concat!("/", "root/"),
    concat!("/", "home/"),
    concat!("/", "Users/"),
    concat!("C:\\", "Users\\"),
];

/// Searches every text file.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in sources.iter() {
        for (line, number) in file.text.lines().zip(1..) {
            let roots = ROOTS.iter().filter(|root| starts_path(line, root));
            findings.extend(roots.map(|root| {
                Finding::new(
                    format!("{}:{number}", file.path),
                    format!("path under {root}"),
                    "use a path relative to the workspace, or one that the reader chooses",
                )
            }));
        }
    }
    findings
}

/// Returns whether `root` occurs at the start of a path, as opposed to the middle of one.
fn starts_path(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | '}' | ')' | '*'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: usize) {
        let found = findings(&Sources::from([("docs/a.md", text)]));
        assert_eq!(found.len(), expected, "{found:?}");
    }

    #[test]
    fn finds_a_path_of_a_machine() {
        for root in ROOTS {
            check(&format!("see {root}x"), 1);
            check(&format!("\"{root}x\""), 1);
        }
        check(&format!("ok\nfile://{}x", ROOTS[0]), 1);
        let found = findings(&Sources::from([("docs/a.md", format!("a\n{}b", ROOTS[2]).as_str())]));
        assert!(found[0].to_string().starts_with("docs/a.md:2: path under"), "{found:?}");
    }

    #[test]
    fn accepts_the_middle_of_a_path() {
        for root in &ROOTS[..4] {
            check(&format!("https://example.com{root}x"), 0);
            check(&format!("..{root}x ${{HOME}}{root} ~{root}"), 0);
        }
    }
}
