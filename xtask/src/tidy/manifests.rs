//! Manifests inherit from the workspace the values that all packages share: lints, version, edition, compiler version, license,
//! and the versions of dependencies that two of them share.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::report::finding::Finding;
use crate::source::sources::{SourceFile, Sources};

/// The fields that every package inherits.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license"];

/// The lint that finds uses of a standard library newer than `rust-version`.
const MSRV_LINT: &str = "incompatible_msrv";

/// Packages outside the workspace, which cannot inherit.
const OUTSIDE: &[&str] = &[
    "benches/peers/Cargo.toml",
    "benches/peers/minimal/agcore/Cargo.toml",
    "benches/peers/minimal/adk-rust/Cargo.toml",
    "benches/peers/minimal/async-openai/Cargo.toml",
    "benches/peers/minimal/genai/Cargo.toml",
    "benches/peers/minimal/rig/Cargo.toml",
    "benches/queues/Cargo.toml",
    "fuzz/Cargo.toml",
];

/// The examples. They have lints of their own, because they print and read the environment, as programs do.
const EXAMPLES: &str = "examples/Cargo.toml";

const DEPENDENCIES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks the manifests of all members, and the compiler version of the whole repository.
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
            Err(error) => findings.push(Finding::new(
                &file.path,
                format!("not valid TOML: {error}"),
                "fix the file",
            )),
        }
    }
    findings.extend(
        versions
            .iter()
            .filter_map(|(name, places)| declared_twice(name, places)),
    );
    findings.extend(compiler_version(sources));
    findings.extend(hidden_examples(sources));
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
            format!("`{field}` is not inherited from the workspace"),
            format!("write `{field}.workspace = true` under [package]"),
        )
    });
    let has_lints = manifest.get("lints").is_some_and(is_inherited);
    let lints = (!has_lints && file.path != EXAMPLES).then(|| {
        Finding::new(
            &file.path,
            "the lints are not inherited from the workspace",
            "write `workspace = true` under [lints]",
        )
    });
    fields.chain(lints)
}

fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// Returns the dependencies whose version is declared in this manifest.
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

fn declared_twice(name: &str, places: &[&str]) -> Option<Finding> {
    (places.len() > 1).then(|| {
        Finding::new(
            places.join(", "),
            format!("each declares its own version of {name}"),
            format!("put {name} under [workspace.dependencies] and write `{name}.workspace = true`"),
        )
    })
}

/// Checks that the packages outside the workspace declare the same compiler version, and that clippy enforces it. There
/// is only one toolchain in CI, so no build with the oldest compiler would find a violation.
fn compiler_version(sources: &Sources) -> Vec<Finding> {
    let table = |path: &str| sources.get(path)?.text.parse::<Table>().ok();
    let Some(root) = table("Cargo.toml") else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let declared = root
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("rust-version"));
    for path in OUTSIDE {
        if let Some(outside) = table(path)
            && outside.get("package").and_then(|package| package.get("rust-version")) != declared
        {
            let version = declared.and_then(Value::as_str).unwrap_or("none");
            findings.push(Finding::new(
                *path,
                "`rust-version` differs from the workspace",
                format!("write `rust-version = \"{version}\"`"),
            ));
        }
    }
    let lints = root.get("workspace").and_then(|workspace| workspace.get("lints"));
    let level = lints.and_then(|lints| lints.get("clippy")?.get(MSRV_LINT)?.as_str());
    if !matches!(level, Some("warn" | "deny" | "forbid")) {
        findings.push(Finding::new(
            "Cargo.toml",
            format!("the lint clippy::{MSRV_LINT} is not enabled"),
            format!("write `{MSRV_LINT} = \"warn\"` under [workspace.lints.clippy]"),
        ));
    }
    findings
}

/// Checks that `cargo run --example NAME` finds the examples, without `--package`.
fn hidden_examples(sources: &Sources) -> Option<Finding> {
    sources.get(EXAMPLES)?;
    let root: Table = sources.get("Cargo.toml")?.text.parse().ok()?;
    let default = root.get("workspace")?.get("default-members")?.as_array()?;
    let is_listed = default.iter().any(|member| member.as_str() == Some("examples"));
    (!is_listed).then(|| {
        let problem = "the examples do not run from the root with `cargo run --example NAME`";
        Finding::new("Cargo.toml", problem, "add \"examples\" to `default-members`")
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
rust-version.workspace = true
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
    fn accepts_inherited_fields() {
        check(str::to_owned, &[]);
    }

    #[test]
    fn finds_a_field_that_is_not_inherited() {
        check(
            |good| good.replace("\nversion.workspace = true", "\nversion = \"1.0.0\""),
            &["`version` is not"],
        );
        check(
            |good| good.replace("edition.workspace = true\n", ""),
            &["`edition` is not"],
        );
        check(|good| good.replace("[lints]\nworkspace = true", ""), &["lints"]);
        check(
            |good| good.replace("workspace = true", "workspace = false"),
            &["version", "edition", "rust-version", "license", "lints"],
        );
        check(|_| "[package".to_owned(), &["not valid TOML"]);
    }

    #[test]
    fn the_examples_have_their_own_lints() {
        let manifest = GOOD.replace("[lints]\nworkspace = true", "[lints.clippy]\ntodo = \"warn\"");
        let found = |path| findings(&Sources::from([(path, manifest.as_str())])).len();
        assert_eq!((found(EXAMPLES), found("crates/a/Cargo.toml")), (0, 1));
    }

    #[test]
    fn the_examples_run_from_the_root() {
        let check = |default_members: &str, expected: usize| {
            let lint = "[workspace.lints.clippy]\nincompatible_msrv = \"warn\"";
            let root = format!("[workspace]\n{default_members}\n{lint}\n");
            let found = findings(&Sources::from([("Cargo.toml", root.as_str()), (EXAMPLES, GOOD)]));
            assert_eq!(found.len(), expected, "{found:?}");
        };
        check("", 0);
        check("default-members = [\"crates/a\", \"examples\"]", 0);
        check("default-members = [\"crates/a\"]", 1);
    }

    #[test]
    fn finds_a_version_that_is_declared_twice() {
        let other = GOOD.replace(
            "regex = \"1\"",
            "[target.'cfg(unix)'.dev-dependencies]\nre = { package = \"regex\", version = \"2\" }",
        );
        let sources = Sources::from([("crates/a/Cargo.toml", GOOD), ("crates/b/Cargo.toml", other.as_str())]);
        let found = findings(&sources);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].to_string().contains("its own version of regex"), "{found:?}");
    }

    #[test]
    fn the_compiler_version_is_the_same_everywhere_and_enforced() {
        let check = |fuzz: &str, lints: &str, expected: &[&str]| {
            let root = format!("[workspace.package]\nrust-version = \"1.88\"\n[workspace.lints.clippy]\n{lints}");
            let fuzz = format!("[package]\nrust-version = \"{fuzz}\"\n");
            let found = findings(&Sources::from([
                ("Cargo.toml", root.as_str()),
                ("fuzz/Cargo.toml", fuzz.as_str()),
            ]));
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (finding, expected) in found.iter().zip(expected) {
                assert!(finding.to_string().contains(expected), "{finding}");
            }
        };
        check("1.88", "incompatible_msrv = \"warn\"", &[]);
        check(
            "1.89",
            "incompatible_msrv = \"deny\"",
            &["fuzz/Cargo.toml: `rust-version` differs"],
        );
        check(
            "1.88",
            "incompatible_msrv = \"allow\"",
            &["incompatible_msrv is not enabled"],
        );
        check("1.88", "", &["incompatible_msrv is not enabled"]);
    }
}
