//! Rust versions: no dependency of a crate requires a newer compiler than the crate itself declares.

use cargo_metadata::semver::Version;

use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::tree::{Features, Query, Tree};
use crate::workspace::{Package, Workspace};

/// A dependency that declares a newer version than it needs, or that only a feature needs which documents the newer version.
#[derive(Debug)]
struct Exception {
    dependency: &'static str,
    /// How we know that it builds with the older compiler, or where the newer one is documented.
    reason: &'static str,
}

/// Why sqlx may need a newer compiler.
const SQLX: &str =
    "only the feature `postgres` of agcore-store uses it, whose documentation states that it needs Rust 1.94";

const EXCEPTIONS: &[Exception] = &[
    Exception {
        dependency: "sqlx",
        reason: SQLX,
    },
    Exception {
        dependency: "sqlx-core",
        reason: SQLX,
    },
    Exception {
        dependency: "sqlx-postgres",
        reason: SQLX,
    },
];

/// Checks the tree of every member, with all features and for every target.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) {
    let found = findings_of_all(workspace).map(|mut findings| {
        findings.extend(unexplained(EXCEPTIONS));
        findings
    });
    report.add(&Check::from_result("rust-versions", found));
}

fn findings_of_all(workspace: &Workspace) -> anyhow::Result<Vec<Finding>> {
    let mut all = Vec::new();
    for member in &workspace.members {
        let Some(declared) = &member.rust_version else {
            all.push(Finding::new(
                &member.manifest,
                format!("{} declares no rust-version", member.name),
                "write `rust-version.workspace = true`",
            ));
            continue;
        };
        let query = Query {
            package: &member.name,
            features: Features::All,
            edges: "normal,build",
            target: Some("all"),
        };
        let tree = Tree::ask(&workspace.cargo, &query)?;
        all.extend(findings(workspace, member, declared, &tree));
    }
    Ok(all)
}

fn findings(workspace: &Workspace, member: &Package, declared: &Version, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, version) in tree.crates() {
        let key = (name.to_owned(), version.to_owned());
        let Some(required) = workspace.rust_versions.get(&key) else {
            continue;
        };
        let is_excepted = EXCEPTIONS.iter().any(|exception| exception.dependency == name);
        if required > declared && !is_excepted {
            findings.push(Finding::new(
                &member.manifest,
                format!(
                    "{} declares Rust {declared}, but {name} {version} requires {required}",
                    member.name
                ),
                format!(
                    "run `cargo update --package {name} --precise <older version>`; or, if it builds anyway, \
                     add an exception with a reason to xtask/src/graph/rust_versions.rs"
                ),
            ));
        }
    }
    findings
}

fn unexplained(exceptions: &[Exception]) -> impl Iterator<Item = Finding> {
    exceptions
        .iter()
        .filter(|exception| exception.reason.trim().is_empty())
        .map(|exception| {
            Finding::new(
                "xtask/src/graph/rust_versions.rs",
                format!("the exception for {} has no reason", exception.dependency),
                "explain how we know that it builds with the older compiler, or where the newer one is documented",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_needs_a_reason() {
        let exceptions = [
            Exception {
                dependency: "a",
                reason: " ",
            },
            Exception {
                dependency: "b",
                reason: "its CI builds with 1.80",
            },
        ];
        let found: Vec<_> = unexplained(&exceptions).collect();
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().contains("the exception for a has no reason"));
    }
}
