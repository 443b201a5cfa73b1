//! `graph`: the dependency graph of the workspace, checked against its architecture and drawn.
//!
//! Each rule is one file with its table and its check.

mod floors;
mod dev_testkit;
mod doors;
mod defaults;
mod modules;
mod budgets;
mod absences;
mod rust_versions;
mod crypto;
mod locks;
mod picture;

use crate::report::Report;
use crate::workspace::Workspace;

/// A rule: its name on the command line, and the function that checks it.
type Rule = (&'static str, fn(&Workspace, &mut Report));

const RULES: &[Rule] = &[
    ("floors", floors::check),
    ("dev-testkit", dev_testkit::check),
    ("doors", doors::check),
    ("defaults", defaults::check),
    ("modules", modules::check),
    ("budgets", budgets::check),
    ("absences", absences::check),
    ("rust-versions", rust_versions::check),
    ("crypto", crypto::check),
    ("locks", locks::check),
];

/// The rule that the picture in `docs/graph.md` shows the actual graph.
const PICTURE: &str = "picture";

/// Returns the names of all rules.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = RULES.iter().map(|(name, _)| *name).collect();
    names.push(PICTURE);
    names
}

/// Checks the rules in `only`, or all of them if it is empty. With `check_picture`, an outdated picture is a finding;
/// otherwise the picture is rewritten.
pub(crate) fn run(workspace: &Workspace, check_picture: bool, only: &[String], report: &mut Report) {
    let is_selected = |name: &str| only.is_empty() || only.iter().any(|selected| selected == name);
    for (name, check) in RULES {
        if is_selected(name) {
            check(workspace, report);
        }
    }
    if is_selected(PICTURE) {
        report.add(&picture::check(workspace, check_picture));
    }
}
