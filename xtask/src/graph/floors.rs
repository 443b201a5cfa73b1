//! Floors: a crate uses only crates on lower floors.

use crate::{
    report::{Report, check::Check, finding::Finding},
    workspace::{Dependency, Kind, Workspace},
};

/// The place of a crate in the layering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// May use every crate on a lower floor.
    Floor(u8),
    /// Is outside the layering and may use the listed crates.
    Outside(&'static [&'static str]),
}

/// The place of every crate, including crates that do not exist yet.
pub(crate) const PLACES: &[(&str, Place)] = &[
    ("agcore-chat", Place::Floor(0)),
    (TOOLS_MACROS, Place::Floor(0)),
    ("agcore-document", Place::Floor(0)),
    ("agcore-trace", Place::Floor(0)),
    ("agcore-console", Place::Floor(0)),
    ("agcore-aws", Place::Floor(0)),
    ("agcore-sandbox", Place::Floor(0)),
    ("agcore-wire", Place::Floor(1)),
    ("agcore-prompt", Place::Floor(1)),
    ("agcore-tools", Place::Floor(1)),
    ("agcore-session", Place::Floor(1)),
    ("agcore-memory", Place::Floor(1)),
    ("agcore-schedule", Place::Floor(1)),
    ("agcore-webhook", Place::Floor(1)),
    ("agcore-files", Place::Floor(1)),
    ("agcore-llm", Place::Floor(2)),
    ("agcore-mcp", Place::Floor(2)),
    ("agcore-store", Place::Floor(2)),
    ("agcore-profile", Place::Floor(2)),
    ("agcore-agui", Place::Floor(2)),
    ("agcore-ingest", Place::Floor(3)),
    ("agcore-cycle", Place::Floor(3)),
    ("agcore-catalog", Place::Floor(3)),
    ("agcore-flow", Place::Floor(3)),
    ("agcore-telemetry", Place::Floor(3)),
    ("agcore-openai", Place::Floor(3)),
    ("agcore-ui-stream", Place::Floor(3)),
    ("agcore-agent", Place::Floor(4)),
    ("agcore-acp", Place::Floor(5)),
    ("agcore-flow-files", Place::Floor(5)),
    ("agcore-eval", Place::Floor(5)),
    ("agcore", Place::Floor(6)),
    ("agcore-server", Place::Floor(6)),
    ("agcore-stream-json", Place::Floor(4)),
    ("agcore-terminal", Place::Floor(4)),
    ("agcore-settings", Place::Floor(7)),
    ("agcore-workbench", Place::Floor(8)),
    ("agcore-demo", Place::Floor(8)),
    ("agcore-args", Place::Floor(9)),
    ("agcore-cli", Place::Floor(10)),
    (
        TESTKIT,
        Place::Outside(&[
            "agcore-chat",
            "agcore-llm",
            "agcore-tools",
            "agcore-memory",
            "agcore-schedule",
            "agcore-session",
            "agcore-store",
            "agcore-profile",
            "agcore-catalog",
            "agcore-webhook",
        ]),
    ),
    (
        "agcore-examples",
        Place::Outside(&["agcore", "agcore-server", "agcore-workbench", TESTKIT]),
    ),
    (
        "agcore-benches",
        Place::Outside(&[
            "agcore-chat",
            "agcore-llm",
            "agcore-cycle",
            "agcore-tools",
            "agcore-agent",
        ]),
    ),
    (
        "agcore-benches-flow",
        Place::Outside(&["agcore-chat", "agcore-session", "agcore-store", "agcore-flow"]),
    ),
    (
        "agcore-benches-leases",
        Place::Outside(&["agcore-chat", "agcore-session", "agcore-store"]),
    ),
    (
        "agcore-benches-mcp",
        Place::Outside(&["agcore-chat", "agcore-tools", "agcore-mcp", "agcore-benches"]),
    ),
    (
        "agcore-benches-retrieval",
        Place::Outside(&[
            "agcore-chat",
            "agcore-llm",
            "agcore-memory",
            "agcore-store",
            "agcore-benches",
        ]),
    ),
    ("agcore-benches-sandbox", Place::Outside(&["agcore-sandbox"])),
    (
        "agcore-benches-service",
        Place::Outside(&[
            "agcore-chat",
            "agcore-llm",
            "agcore-store",
            "agcore-agent",
            "agcore-server",
        ]),
    ),
    (
        "agcore-benches-store",
        Place::Outside(&[
            "agcore-chat",
            "agcore-llm",
            "agcore-tools",
            "agcore-memory",
            "agcore-session",
            "agcore-store",
            "agcore-agent",
        ]),
    ),
    ("xtask", Place::Outside(&[])),
];

/// The test kit, which every crate may use as a dev-dependency.
pub(crate) const TESTKIT: &str = "agcore-testkit";

const TOOLS_MACROS: &str = "agcore-tools-macros";

/// Macro crates, each with the crate that its output refers to: the output can only be tested together with that crate.
const MACROS: &[(&str, &str)] = &[(TOOLS_MACROS, "agcore-tools")];

/// The crates that use the test kit outside of tests: the demo and the examples run against its mock server, a simulation with its
/// clock.
const TESTKIT_USERS: &[&str] = &["agcore-cli", "agcore-demo", "agcore-examples", "agcore-benches-leases"];

/// Returns the place of a crate, if it has one.
pub(crate) fn place(name: &str) -> Option<Place> {
    let entry = PLACES.iter().find(|(known, _)| *known == name);
    entry.map(|(_, place)| *place)
}

/// Checks every dependency between members, including dev-dependencies.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) {
    report.add(&Check::new("floors", findings(workspace)));
}

fn findings(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        if place(&member.name).is_none() {
            findings.push(Finding::new(
                &member.manifest,
                format!("{} has no place in the layering", member.name),
                "give it a floor in xtask/src/graph/floors.rs and in docs/architecture.md",
            ));
        }
        for dependency in &member.dependencies {
            if workspace.member(&dependency.name).is_none() {
                continue;
            }
            if let Some(problem) = violation(&member.name, dependency) {
                findings.push(Finding::new(
                    &member.manifest,
                    problem,
                    "move the shared code to a lower floor, or define a small trait here that the crate above \
                     implements",
                ));
            }
        }
    }
    findings
}

fn violation(user: &str, dependency: &Dependency) -> Option<String> {
    let used = dependency.name.as_str();
    // A crate without a place has its own finding.
    let (from, to) = (place(user)?, place(used)?);
    let is_tested_with = used == TESTKIT || MACROS.contains(&(user, used));
    if is_tested_with && dependency.kind == Kind::Development {
        return None;
    }
    let allowed = match (from, to) {
        _ if used == TESTKIT => TESTKIT_USERS.contains(&user),
        (Place::Floor(from), Place::Floor(to)) => to < from,
        (Place::Floor(_), Place::Outside(_)) => false,
        (Place::Outside(list), _) => list.contains(&used),
    };
    (!allowed).then(|| format!("{} uses {}", describe(user, from), describe(used, to)))
}

fn describe(name: &str, place: Place) -> String {
    match place {
        Place::Floor(floor) => format!("{name} (floor {floor})"),
        Place::Outside([]) => format!("{name} (outside the layering, may use none of its crates)"),
        Place::Outside(list) => format!("{name} (outside the layering, may use {})", list.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(user: &str, kind: Kind, used: &str, allowed: bool) {
        let dependency = Dependency {
            name: used.to_owned(),
            kind,
            version: None,
            has_path: true,
            default_features: false,
            features: Vec::new(),
        };
        let found = violation(user, &dependency);
        assert_eq!(found.is_none(), allowed, "{user} -> {used}: {found:?}");
    }

    #[test]
    fn crates_may_use_lower_floors_only() {
        check("agcore-llm", Kind::Normal, "agcore-wire", true);
        check("agcore-cycle", Kind::Normal, "agcore-llm", true);
        check("agcore-agent", Kind::Normal, "agcore-tools", true);
        check("agcore-cycle", Kind::Normal, "agcore-agent", false);
        check("agcore-wire", Kind::Normal, "agcore-tools", false);
        check("agcore-chat", Kind::Normal, "agcore-llm", false);
        check("agcore-tools", Kind::Build, "agcore-agent", false);
        check("agcore-llm", Kind::Development, "agcore-cycle", false);
    }

    #[test]
    fn the_testkit_is_for_tests_and_the_demo() {
        check("agcore-llm", Kind::Development, TESTKIT, true);
        check("agcore-chat", Kind::Development, TESTKIT, true);
        check("agcore-cli", Kind::Normal, TESTKIT, true);
        check("agcore-examples", Kind::Normal, TESTKIT, true);
        check("agcore-benches-leases", Kind::Normal, TESTKIT, true);
        check("agcore-agent", Kind::Normal, TESTKIT, false);
        check("agcore", Kind::Normal, TESTKIT, false);
        check(TESTKIT, Kind::Normal, "agcore-tools", true);
        check(TESTKIT, Kind::Normal, "agcore-agent", false);
    }

    #[test]
    fn macro_crates_use_no_member_but_are_tested_with_one() {
        check("agcore-tools", Kind::Normal, TOOLS_MACROS, true);
        check(TOOLS_MACROS, Kind::Normal, "agcore-tools", false);
        check(TOOLS_MACROS, Kind::Normal, "agcore-chat", false);
        check(TOOLS_MACROS, Kind::Development, "agcore-tools", true);
        check(TOOLS_MACROS, Kind::Development, "agcore-agent", false);
        check("agcore-chat", Kind::Normal, TOOLS_MACROS, false);
    }

    #[test]
    fn crates_outside_the_layering_are_not_dependencies() {
        check("agcore-examples", Kind::Normal, "agcore", true);
        check("agcore-examples", Kind::Normal, "agcore-llm", false);
        check("agcore-cli", Kind::Normal, "xtask", false);
        check("xtask", Kind::Normal, "agcore-chat", false);
    }
}
