//! The changelog has a section for the current version.

use toml::Table;

use crate::report::finding::Finding;
use crate::source::sources::Sources;

const FILE: &str = "CHANGELOG.md";

/// Compares the changelog with the version in the root manifest.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let Some(changelog) = sources.get(FILE) else {
        let remedy = "describe the changes that users notice in each version, newest first";
        return vec![Finding::new(FILE, "there is no changelog", remedy)];
    };
    let version = sources.get("Cargo.toml").and_then(|manifest| version(&manifest.text));
    let is_present = changelog
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .any(|heading| {
            let heading = heading.trim_start_matches('[');
            let names = |version: &str| {
                heading
                    .strip_prefix(version)
                    .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
            };
            names("Unreleased") || version.as_deref().is_some_and(names)
        });
    if is_present {
        return Vec::new();
    }
    let version = version.unwrap_or_else(|| "Unreleased".to_owned());
    vec![Finding::new(
        FILE,
        format!("there is no section for {version}"),
        format!("add a heading `## {version}`"),
    )]
}

fn version(manifest: &str) -> Option<String> {
    let manifest: Table = manifest.parse().ok()?;
    let version = manifest.get("workspace")?.get("package")?.get("version")?;
    version.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(changelog: &str, expected: Option<&str>) {
        let manifest = "[workspace.package]\nversion = \"0.1.0\"\n";
        let found = findings(&Sources::from([("Cargo.toml", manifest), (FILE, changelog)]));
        match expected {
            None => assert_eq!(found, []),
            Some(expected) => assert!(found[0].to_string().contains(expected), "{found:?}"),
        }
    }

    #[test]
    fn accepts_a_section_for_the_version_or_for_unreleased_changes() {
        check("# Changelog\n\n## 0.1.0\n", None);
        check("## [0.1.0] - 2026-01-01\n", None);
        check("## [Unreleased]\n", None);
    }

    #[test]
    fn finds_a_missing_section() {
        check("# Changelog\n\n## 0.0.9\n", Some("no section for 0.1.0"));
        check("## 0.1.0.1\n", Some("no section for 0.1.0"));
        assert!(
            findings(&Sources::default())[0]
                .to_string()
                .contains("there is no changelog")
        );
    }
}
