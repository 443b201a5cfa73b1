//! Every crate has a README under its own name.

use crate::finding::Finding;
use crate::sources::Sources;

/// Looks beside the manifest of each crate.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let manifests = sources.package_manifests().filter_map(|file| {
        let folder = file.path.strip_suffix("/Cargo.toml")?;
        Some((folder, folder.strip_prefix("crates/")?))
    });
    manifests
        .filter_map(|(folder, name)| finding(sources, folder, name))
        .collect()
}

fn finding(sources: &Sources, folder: &str, name: &str) -> Option<Finding> {
    let path = format!("{folder}/README.md");
    let Some(readme) = sources.get(&path) else {
        let remedy = "say what the crate is, show the smallest example, list the features";
        return Some(Finding::new(path, "the crate has no README", remedy));
    };
    let mut lines = readme.text.lines().filter(|line| !line.trim().is_empty());
    if lines.next().map(str::trim) != Some(&format!("# {name}")) {
        return Some(Finding::new(
            path,
            "it does not open with the name of its crate",
            format!("begin with `# {name}`"),
        ));
    }
    let has_text = lines.any(|line| !line.starts_with('#'));
    (!has_text).then(|| Finding::new(path, "it says nothing", "say what the crate is"))
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
    fn a_crate_without_a_readme_is_found() {
        let found = findings(&Sources::from([MANIFEST]));
        assert!(
            found[0]
                .to_string()
                .starts_with("crates/agcore-chat/README.md: the crate has no README")
        );
    }

    #[test]
    fn a_readme_names_its_crate_and_says_something() {
        check("# agcore-chat\n\nThe vocabulary.\n", None);
        check("# agcore\n\nThe vocabulary.\n", Some("does not open with the name"));
        check("# agcore-chat\n\n", Some("it says nothing"));
        check("", Some("does not open with the name"));
    }
}
