//! The changelog tells of the version that is being made.

use toml::Table;

use crate::finding::Finding;
use crate::sources::Sources;

const FILE: &str = "CHANGELOG.md";

/// Reads the changelog and the version in the root manifest.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let Some(changelog) = sources.get(FILE) else {
        let remedy = "write what users see of each version, newest first";
        return vec![Finding::new(FILE, "there is no changelog", remedy)];
    };
    let version = sources.get("Cargo.toml").and_then(|manifest| version(&manifest.text));
    let is_told = changelog
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .any(|heading| {
            let heading = heading.trim_start_matches('[');
            let tells = |version: &str| {
                heading
                    .strip_prefix(version)
                    .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
            };
            tells("Unreleased") || version.as_deref().is_some_and(tells)
        });
    if is_told {
        return Vec::new();
    }
    let version = version.unwrap_or_else(|| "Unreleased".to_owned());
    vec![Finding::new(
        FILE,
        format!("it does not tell of {version}"),
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
    fn the_version_or_what_comes_next_is_told_of() {
        check("# Changelog\n\n## 0.1.0\n", None);
        check("## [0.1.0] - 2026-01-01\n", None);
        check("## [Unreleased]\n", None);
    }

    #[test]
    fn silence_is_found() {
        check("# Changelog\n\n## 0.0.9\n", Some("does not tell of 0.1.0"));
        check("## 0.1.0.1\n", Some("does not tell of 0.1.0"));
        assert!(
            findings(&Sources::default())[0]
                .to_string()
                .contains("there is no changelog")
        );
    }
}
