//! Dev-dependencies on the testkit carry a path and no version: it depends on
//! the crates that test with it, and a version would close a circle that
//! cannot be published.

use crate::check::Check;
use crate::finding::Finding;
use crate::graph::floors::TESTKIT;
use crate::workspace::{Dependency, Kind, Workspace};

/// Checks the dev-dependencies of every member.
pub(crate) fn check(workspace: &Workspace) -> Vec<Check> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        let ours = member.dependencies.iter().filter(|dependency| is_closing(dependency));
        findings.extend(ours.map(|dependency| {
            let version = dependency.version.as_deref().unwrap_or("none");
            Finding::new(
                &member.manifest,
                format!("the dev-dependency on {TESTKIT} asks for version {version}"),
                format!(
                    "write `{TESTKIT} = {{ path = \"../{TESTKIT}\", default-features = false, features = [...] }}`"
                ),
            )
        }));
    }
    vec![Check::new("dev-testkit", findings)]
}

fn is_closing(dependency: &Dependency) -> bool {
    dependency.name == TESTKIT
        && dependency.kind == Kind::Development
        && (dependency.version.is_some() || !dependency.has_path)
}
