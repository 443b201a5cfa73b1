//! Crypto: the lock file contains one provider of TLS cryptography. Two would double the build and make it unclear
//! which one is used.

use std::fs;

use anyhow::Context as _;
use toml::Table;

use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::workspace::Workspace;

/// The provider that this workspace uses.
const CHOSEN: &str = "ring";

/// All other known providers.
const OTHERS: &[&str] = &[
    "aws-lc-rs",
    "aws-lc-sys",
    "boring",
    "boring-sys",
    "graviola",
    "mbedtls",
    "native-tls",
    "openssl",
    "openssl-sys",
    "rustls-rustcrypto",
    "wolfssl",
];

/// Checks the lock file.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) {
    let lock = fs::read_to_string(workspace.root.join("Cargo.lock"));
    let found = lock.context("cannot read Cargo.lock").and_then(|lock| findings(&lock));
    report.add(&Check::from_result("crypto", found));
}

fn findings(lock: &str) -> anyhow::Result<Vec<Finding>> {
    let names = names(lock)?;
    let foreign = names.iter().filter(|name| OTHERS.contains(&name.as_str()));
    let mut findings: Vec<Finding> = foreign
        .map(|name| finding(name, format!("{name} is a second crypto provider besides {CHOSEN}")))
        .collect();
    let chosen = names.iter().filter(|name| *name == CHOSEN).count();
    if chosen > 1 {
        findings.push(finding(CHOSEN, format!("there are {chosen} versions of {CHOSEN}")));
    }
    Ok(findings)
}

fn names(lock: &str) -> anyhow::Result<Vec<String>> {
    let lock: Table = lock.parse().context("Cargo.lock is not valid TOML")?;
    let packages = lock.get("package").and_then(|packages| packages.as_array());
    let names = packages
        .into_iter()
        .flatten()
        .filter_map(|package| package.get("name")?.as_str());
    Ok(names.map(str::to_owned).collect())
}

fn finding(name: &str, problem: String) -> Finding {
    Finding::new(
        "Cargo.lock",
        problem,
        format!(
            "`cargo tree --workspace --all-features --target all --invert {name}` shows where it comes from; \
             turn off the feature that enables it"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: &[&str]) {
        let package = |name: &&str| format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n");
        let lock: String = names.iter().map(package).collect();
        let found = findings(&lock).unwrap();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (finding, expected) in found.iter().zip(expected) {
            assert!(finding.to_string().contains(expected), "{finding}");
        }
    }

    #[test]
    fn accepts_one_provider() {
        check(&["serde", "ring", "rustls"], &[]);
        check(&["serde"], &[]);
    }

    #[test]
    fn finds_a_second_provider() {
        check(&["ring", "aws-lc-rs"], &["aws-lc-rs is a second crypto provider"]);
        check(&["openssl-sys"], &["openssl-sys is a second crypto provider"]);
        check(&["ring", "ring"], &["there are 2 versions of ring"]);
    }
}
