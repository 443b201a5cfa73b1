//! Foreign types: which external crates may occur in the public API of each library.
//!
//! A type of another crate in a public signature ties our versions to theirs, so each one is a decision.

use std::collections::BTreeSet;

use crate::{
    report::{check::Check, finding::Finding},
    source::public_api::{Apis, Entry},
    workspace::Workspace,
};

/// Libraries, and the external crates that their public API may mention.
const ALLOWED: &[(&str, &[&str])] = &[
    // The types of the protocol are those of the library, which no other crate may use.
    (
        "agcore-acp",
        &["agent_client_protocol", "serde_json", "tokio", "tokio_util"],
    ),
    ("agcore-agent", &["serde", "serde_json", "tokio_util"]),
    ("agcore-agui", &["serde", "serde_json"]),
    ("agcore-console", &["serde_json"]),
    ("agcore-openai", &["serde_json"]),
    ("agcore-catalog", &["serde"]),
    ("agcore-chat", &["futures_core", "serde", "serde_json"]),
    (
        "agcore-cycle",
        &["futures_core", "schemars", "serde", "serde_json", "tokio_util"],
    ),
    ("agcore-document", &["schemars", "serde", "serde_json"]),
    ("agcore-files", &["serde", "serde_json"]),
    ("agcore-eval", &["serde", "serde_json", "tokio_util"]),
    (
        "agcore-llm",
        &["bytes", "futures_core", "http", "serde", "serde_json", "tokio_util"],
    ),
    ("agcore-flow", &["serde", "serde_json", "tokio_util"]),
    ("agcore-flow-files", &["serde", "serde_json", "tokio_util"]),
    ("agcore-mcp", &["serde", "serde_json", "tokio"]),
    ("agcore-memory", &["serde", "serde_json"]),
    ("agcore-schedule", &["serde", "serde_json"]),
    ("agcore-webhook", &["serde"]),
    ("agcore-session", &["serde", "serde_json"]),
    ("agcore-store", &["serde"]),
    ("agcore-profile", &["serde", "serde_json", "uuid"]),
    ("agcore-prompt", &["serde", "serde_json"]),
    ("agcore-trace", &["tracing"]),
    ("agcore-args", &["clap", "clap_complete"]),
    ("agcore-settings", &["clap", "regex", "serde"]),
    (
        "agcore-stream-json",
        &["async_trait", "schemars", "serde", "serde_json"],
    ),
    ("agcore-telemetry", &["tokio", "tracing_core", "tracing_subscriber"]),
    ("agcore-terminal", &["anstyle", "serde_json", "tokio_util"]),
    ("agcore-workbench", &["clap", "serde_json", "tokio"]),
    ("agcore-server", &["http", "serde", "serde_json", "tokio", "tokio_util"]),
    (
        "agcore-testkit",
        &["bytes", "serde", "serde_json", "tracing", "tracing_subscriber"],
    ),
    (
        "agcore-tools",
        &[
            "async_trait",
            "futures_core",
            "schemars",
            "serde",
            "serde_json",
            "tokio_util",
        ],
    ),
    ("agcore-wire", &["bytes", "http", "serde", "serde_json"]),
];

const THIS_FILE: &str = "xtask/src/tidy/foreign_types.rs";

/// Compares the public API of all libraries with the table.
pub(super) fn check(name: &str, apis: &Apis<'_>, workspace: &Workspace) -> Check {
    let members = workspace.members.iter();
    let members: BTreeSet<String> = members.map(|member| in_code(&member.name)).collect();
    let findings = apis.libraries().map(|libraries| {
        let lists = libraries.iter().map(|library| {
            let allowed = allowed(&library.name);
            let mut findings = not_allowed(&library.name, &library.entries, &members, allowed);
            let package = workspace.member(&library.name);
            let dependencies = package.into_iter().flat_map(|package| &package.dependencies);
            let dependencies: BTreeSet<String> = dependencies.map(|used| in_code(&used.name)).collect();
            findings.extend(unused(&library.name, &library.entries, &dependencies, allowed));
            findings
        });
        lists.collect::<Vec<_>>().concat()
    });
    Check::from_result(name, findings)
}

/// Returns the name of a crate in code.
fn in_code(name: &str) -> String {
    name.replace('-', "_")
}

fn allowed(library: &str) -> &'static [&'static str] {
    let entry = ALLOWED.iter().find(|(name, _)| *name == library);
    entry.map_or(&[], |(_, crates)| crates)
}

fn not_allowed(library: &str, entries: &[Entry], members: &BTreeSet<String>, allowed: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut reported = BTreeSet::new();
    for entry in entries {
        for name in entry.crates.iter().filter(|name| !members.contains(*name)) {
            if !allowed.contains(&name.as_str()) && reported.insert(name) {
                findings.push(Finding::new(
                    format!("crates/{library}"),
                    format!("its public API mentions `{name}`: {}", entry.text),
                    format!("use a type of our own, or add `{name}` to the list in {THIS_FILE}"),
                ));
            }
        }
    }
    findings
}

/// Finds crates of the table that are dependencies of the library, but not a part of its API.
fn unused(library: &str, entries: &[Entry], dependencies: &BTreeSet<String>, allowed: &[&str]) -> Vec<Finding> {
    let used: BTreeSet<&String> = entries.iter().flat_map(|entry| &entry.crates).collect();
    let unused = allowed
        .iter()
        .filter(|name| dependencies.contains(**name) && !used.iter().any(|used| used == *name));
    let findings = unused.map(|name| {
        Finding::new(
            THIS_FILE,
            format!("`{name}` does not occur in the public API of {library}"),
            "remove it from the list",
        )
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_crates(crates: &[&str], allowed: &[&str], expected: &[&str]) {
        let entry = Entry {
            path: "a::f".to_owned(),
            text: "fn a::f()".to_owned(),
            crates: crates.iter().map(|&name| name.to_owned()).collect(),
            ..Entry::default()
        };
        let members = BTreeSet::from(["agcore_chat".to_owned()]);
        let dependencies = BTreeSet::from(["bytes".to_owned()]);
        let mut found = not_allowed("a", &[entry.clone(), entry.clone()], &members, allowed);
        found.extend(unused("a", &[entry], &dependencies, allowed));
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (finding, expected) in found.iter().zip(expected) {
            assert!(finding.to_string().contains(expected), "{finding}");
        }
    }

    #[test]
    fn finds_a_crate_that_is_not_allowed() {
        check_crates(&["agcore_chat"], &[], &[]);
        check_crates(&["bytes"], &["bytes"], &[]);
        check_crates(
            &["bytes"],
            &[],
            &["crates/a: its public API mentions `bytes`: fn a::f()"],
        );
    }

    #[test]
    fn finds_an_entry_that_is_not_used() {
        check_crates(&[], &["bytes"], &["`bytes` does not occur in the public API of a"]);
        // A table entry for a crate that is not a dependency has no effect.
        check_crates(&[], &["http"], &[]);
    }
}
