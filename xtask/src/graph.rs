//! `graph`: the shape of the house, checked against its plan and drawn.
//!
//! Each rule is one file that holds its table and its check.

mod floors;
mod dev_testkit;
mod doors;
mod defaults;
mod modules;
mod budgets;
mod absences;
mod rust_versions;
mod crypto;
mod picture;

use crate::check::Check;
use crate::report::Report;
use crate::workspace::Workspace;

/// One rule: its name on the command line, and how it is checked.
type Rule = (&'static str, fn(&Workspace) -> Vec<Check>);

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
];

/// The rule that the drawn picture is the real graph.
const PICTURE: &str = "picture";

/// The names that `only` may hold.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = RULES.iter().map(|(name, _)| *name).collect();
    names.push(PICTURE);
    names
}

/// Checks the rules in `only`, or all when it is empty. With `frozen` a stale
/// picture is a finding; without, it is drawn anew.
pub(crate) fn run(workspace: &Workspace, frozen: bool, only: &[String], report: &mut Report) {
    let wanted = |name: &str| only.is_empty() || only.iter().any(|wanted| wanted == name);
    for (name, check) in RULES {
        if wanted(name) {
            for check in check(workspace) {
                report.add(&check);
            }
        }
    }
    if wanted(PICTURE) {
        report.add(&picture::check(workspace, frozen));
    }
}
