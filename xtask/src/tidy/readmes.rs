//! Every crate has a README that starts with its name.

use crate::report::finding::Finding;
use crate::source::sources::Sources;

/// Checks the README next to the manifest of each crate.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let crates = sources.crates();
    crates
        .filter_map(|(name, folder)| finding(sources, folder, name))
        .collect()
}

fn finding(sources: &Sources, folder: &str, name: &str) -> Option<Finding> {
    let path = format!("{folder}/README.md");
    let Some(readme) = sources.get(&path) else {
        let remedy = "describe the crate, show the smallest example, list the features";
        return Some(Finding::new(path, "the crate has no README", remedy));
    };
    let mut lines = readme.text.lines().filter(|line| !line.trim().is_empty());
    if lines.next().map(str::trim) != Some(&format!("# {name}")) {
        return Some(Finding::new(
            path,
            "the README does not start with the name of its crate",
            format!("start with `# {name}`"),
        ));
    }
    let has_text = lines.any(|line| !line.starts_with('#'));
    (!has_text).then(|| Finding::new(path, "the README has no text", "describe the crate"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: (&str, &str) = ("crates/agcore-chat/Cargo.toml", "");

    #[track_caller]
    fn check(readme: &str, expected: Option<&str>) {
        let found = findings(&Sources::from([MANIFEST, ("crates/agcore-chat/README.md", readme)]));
        match expected {
            None => assert_eq!(found, []),
            Some(expected) => assert!(found[0].to_string().contains(expected), "{found:?}"),
        }
    }

    #[test]
    fn finds_a_crate_without_a_readme() {
        let found = findings(&Sources::from([MANIFEST]));
        assert!(
            found[0]
                .to_string()
                .starts_with("crates/agcore-chat/README.md: the crate has no README")
        );
    }

    #[test]
    fn a_readme_has_a_title_and_a_text() {
        check("# agcore-chat\n\nThe vocabulary.\n", None);
        check("# agcore\n\nThe vocabulary.\n", Some("does not start with the name"));
        check("# agcore-chat\n\n", Some("the README has no text"));
        check("", Some("does not start with the name"));
    }
}
