//! Manifests take from the workspace what is the same for all: lints, version,
//! edition, licence, and the versions of dependencies that two of them share.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::finding::Finding;
use crate::sources::{SourceFile, Sources};

/// What a package inherits without exception.
const INHERITED: &[&str] = &["version", "edition", "license"];

const DEPENDENCIES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Reads the manifests of all members.
pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut versions: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in sources.package_manifests() {
        match file.text.parse::<Table>() {
            Ok(manifest) => {
                findings.extend(not_inherited(file, &manifest));
                for name in with_own_version(&manifest) {
                    versions.entry(name).or_default().push(&file.path);
                }
            }
            Err(error) => findings.push(Finding::new(&file.path, format!("no TOML: {error}"), "mend the file")),
        }
    }
    findings.extend(versions.iter().filter_map(|(name, places)| written_twice(name, places)));
    findings
}

fn not_inherited<'a>(file: &'a SourceFile, manifest: &'a Table) -> impl Iterator<Item = Finding> {
    let package = manifest.get("package");
    let fields = INHERITED.iter().filter(move |field| {
        !package
            .and_then(|package| package.get(**field))
            .is_some_and(is_inherited)
    });
    let fields = fields.map(|field| {
        Finding::new(
            &file.path,
            format!("`{field}` is not the workspace's"),
            format!("write `{field}.workspace = true` under [package]"),
        )
    });
    let has_lints = manifest.get("lints").is_some_and(is_inherited);
    let lints = (!has_lints).then(|| {
        Finding::new(
            &file.path,
            "it does not take the workspace's lints",
            "write `workspace = true` under [lints]",
        )
    });
    fields.chain(lints)
}

fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// The dependencies whose version stands in this manifest.
fn with_own_version(manifest: &Table) -> impl Iterator<Item = String> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets
        .into_iter()
        .flatten()
        .filter_map(|(_, target)| target.as_table());
    let tables = std::iter::once(manifest).chain(targets);
    let lists = tables.flat_map(|table| DEPENDENCIES.iter().filter_map(|kind| table.get(*kind)?.as_table()));
    let named: std::collections::BTreeSet<String> = lists
        .flatten()
        .filter(|(_, value)| value.is_str() || value.get("version").is_some())
        .map(|(key, value)| value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned())
        .collect();
    named.into_iter()
}

fn written_twice(name: &str, places: &[&str]) -> Option<Finding> {
    (places.len() > 1).then(|| {
        Finding::new(
            places.join(", "),
            format!("each writes its own version of {name}"),
            format!("put {name} under [workspace.dependencies] and write `{name}.workspace = true`"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
[package]
name = \"a\"
version.workspace = true
edition.workspace = true
license.workspace = true
[dependencies]
serde.workspace = true
regex = \"1\"
[lints]
workspace = true
";

    #[track_caller]
    fn check(change: impl Fn(&str) -> String, expected: &[&str]) {
        let changed = change(GOOD);
        let found = findings(&Sources::from([("crates/a/Cargo.toml", changed.as_str())]));
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (finding, expected) in found.iter().zip(expected) {
            assert!(finding.to_string().contains(expected), "{finding}");
        }
    }

    #[test]
    fn what_is_inherited_is_fine() {
        check(str::to_owned, &[]);
    }

    #[test]
    fn a_value_of_its_own_is_found() {
        check(
            |good| good.replace("version.workspace = true", "version = \"1.0.0\""),
            &["`version` is not"],
        );
        check(
            |good| good.replace("edition.workspace = true\n", ""),
            &["`edition` is not"],
        );
        check(|good| good.replace("[lints]\nworkspace = true", ""), &["lints"]);
        check(
            |good| good.replace("workspace = true", "workspace = false"),
            &["version", "edition", "license", "lints"],
        );
        check(|_| "[package".to_owned(), &["no TOML"]);
    }

    #[test]
    fn a_version_is_written_once() {
        let other = GOOD.replace(
            "regex = \"1\"",
            "[target.'cfg(unix)'.dev-dependencies]\nre = { package = \"regex\", version = \"2\" }",
        );
        let sources = Sources::from([("crates/a/Cargo.toml", GOOD), ("crates/b/Cargo.toml", other.as_str())]);
        let found = findings(&sources);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].to_string().contains("its own version of regex"), "{found:?}");
    }
}
