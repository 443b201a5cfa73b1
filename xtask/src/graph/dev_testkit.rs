//! Dev-dependencies on the testkit have a path and no version. The testkit depends on the crates that are tested with
//! it, so a version would make a cycle that cannot be published.

use crate::graph::floors::TESTKIT;
use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::workspace::{Dependency, Kind, Workspace};

/// Checks the dev-dependencies of every member.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) {
    let mut findings = Vec::new();
    for member in &workspace.members {
        let versioned = member.dependencies.iter().filter(|dependency| is_versioned(dependency));
        findings.extend(versioned.map(|dependency| {
            let version = dependency.version.as_deref().unwrap_or("none");
            Finding::new(
                &member.manifest,
                format!("the dev-dependency on {TESTKIT} requires version {version}"),
                format!(
                    "write `{TESTKIT} = {{ path = \"../{TESTKIT}\", default-features = false, features = [...] }}`"
                ),
            )
        }));
    }
    report.add(&Check::new("dev-testkit", findings));
}

fn is_versioned(dependency: &Dependency) -> bool {
    dependency.name == TESTKIT
        && dependency.kind == Kind::Development
        && (dependency.version.is_some() || !dependency.has_path)
}
