//! Floors: a crate uses only crates on lower floors.

use crate::check::Check;
use crate::finding::Finding;
use crate::workspace::{Dependency, Kind, Workspace};

/// Where a crate lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// It may use everything on lower floors.
    Floor(u8),
    /// It stands beside the house and may use what is listed.
    Beside(&'static [&'static str]),
}

/// The plan of the house. A crate that is not built yet has its place already.
pub(crate) const HOUSE: &[(&str, Place)] = &[
    ("agcore-chat", Place::Floor(0)),
    (TOOLS_MACROS, Place::Floor(0)),
    ("agcore-llm", Place::Floor(1)),
    ("agcore-prompt", Place::Floor(1)),
    ("agcore-tools", Place::Floor(1)),
    ("agcore-memory", Place::Floor(1)),
    ("agcore-mcp", Place::Floor(2)),
    ("agcore-catalog", Place::Floor(2)),
    ("agcore-store", Place::Floor(2)),
    ("agcore-profile", Place::Floor(2)),
    ("agcore-agui", Place::Floor(2)),
    ("agcore-agent", Place::Floor(3)),
    ("agcore-flow", Place::Floor(4)),
    ("agcore", Place::Floor(5)),
    ("agcore-server", Place::Floor(5)),
    ("agcore-cli", Place::Floor(6)),
    (
        TESTKIT,
        Place::Beside(&["agcore-chat", "agcore-llm", "agcore-tools", "agcore-memory"]),
    ),
    ("agcore-examples", Place::Beside(&["agcore", TESTKIT])),
    (
        "agcore-benches",
        Place::Beside(&["agcore-chat", "agcore-llm", "agcore-tools", "agcore-agent"]),
    ),
    ("xtask", Place::Beside(&[])),
];

/// The test doubles: everybody's dev-dependency.
pub(crate) const TESTKIT: &str = "agcore-testkit";

const TOOLS_MACROS: &str = "agcore-tools-macros";

/// Macros and whose names they write: what they write can only be tested with
/// it.
const MACROS: &[(&str, &str)] = &[(TOOLS_MACROS, "agcore-tools")];

/// Who ships the test doubles: the demo runs against the mock server, and so
/// do the examples.
const TESTKIT_HOLDERS: &[&str] = &["agcore-cli", "agcore-examples"];

/// The place of a crate, if it has one.
pub(crate) fn place(name: &str) -> Option<Place> {
    let resident = HOUSE.iter().find(|(resident, _)| *resident == name);
    resident.map(|(_, place)| *place)
}

/// Checks every dependency between members, dev-dependencies too.
pub(crate) fn check(workspace: &Workspace) -> Vec<Check> {
    vec![Check::new("floors", findings(workspace))]
}

fn findings(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        if place(&member.name).is_none() {
            findings.push(Finding::new(
                &member.manifest,
                format!("{} has no place in the house", member.name),
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
                    "move what it needs to a lower floor, or ask for it by a small trait of its own \
                     that the floor above implements",
                ));
            }
        }
    }
    findings
}

fn violation(user: &str, dependency: &Dependency) -> Option<String> {
    let used = dependency.name.as_str();
    // Who has no place is told so once.
    let (from, to) = (place(user)?, place(used)?);
    let is_tested_with = used == TESTKIT || MACROS.contains(&(user, used));
    if is_tested_with && dependency.kind == Kind::Development {
        return None;
    }
    let allowed = match (from, to) {
        _ if used == TESTKIT => TESTKIT_HOLDERS.contains(&user),
        (Place::Floor(from), Place::Floor(to)) => to < from,
        (Place::Floor(_), Place::Beside(_)) => false,
        (Place::Beside(list), _) => list.contains(&used),
    };
    (!allowed).then(|| format!("{} uses {}", describe(user, from), describe(used, to)))
}

fn describe(name: &str, place: Place) -> String {
    match place {
        Place::Floor(floor) => format!("{name} (floor {floor})"),
        Place::Beside([]) => format!("{name} (beside the house, may use none of its crates)"),
        Place::Beside(list) => format!("{name} (beside the house, may use {})", list.join(", ")),
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
    fn only_lower_floors_may_be_used() {
        check("agcore-llm", Kind::Normal, "agcore-chat", true);
        check("agcore-agent", Kind::Normal, "agcore-tools", true);
        check("agcore-llm", Kind::Normal, "agcore-tools", false);
        check("agcore-chat", Kind::Normal, "agcore-llm", false);
        check("agcore-tools", Kind::Build, "agcore-agent", false);
        check("agcore-tools", Kind::Development, "agcore-agent", false);
    }

    #[test]
    fn the_testkit_is_for_tests_and_the_demo() {
        check("agcore-llm", Kind::Development, TESTKIT, true);
        check("agcore-chat", Kind::Development, TESTKIT, true);
        check("agcore-cli", Kind::Normal, TESTKIT, true);
        check("agcore-examples", Kind::Normal, TESTKIT, true);
        check("agcore-agent", Kind::Normal, TESTKIT, false);
        check("agcore", Kind::Normal, TESTKIT, false);
        check(TESTKIT, Kind::Normal, "agcore-tools", true);
        check(TESTKIT, Kind::Normal, "agcore-agent", false);
    }

    #[test]
    fn macros_use_none_of_ours_but_are_tested_with_their_crate() {
        check("agcore-tools", Kind::Normal, TOOLS_MACROS, true);
        check(TOOLS_MACROS, Kind::Normal, "agcore-tools", false);
        check(TOOLS_MACROS, Kind::Normal, "agcore-chat", false);
        check(TOOLS_MACROS, Kind::Development, "agcore-tools", true);
        check(TOOLS_MACROS, Kind::Development, "agcore-agent", false);
        check("agcore-chat", Kind::Normal, TOOLS_MACROS, false);
    }

    #[test]
    fn what_stands_beside_the_house_is_no_dependency() {
        check("agcore-examples", Kind::Normal, "agcore", true);
        check("agcore-examples", Kind::Normal, "agcore-llm", false);
        check("agcore-cli", Kind::Normal, "xtask", false);
        check("xtask", Kind::Normal, "agcore-chat", false);
    }
}
