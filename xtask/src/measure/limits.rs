//! `limits`: the instructions of the benches stay below their limits.
//!
//! They are counted by valgrind in programs that are built as those of users, and compared with those of a hand-written
//! client in the same run, since they depend on compiler and C library.

use std::process::Command;

use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::workspace::Workspace;

const NAME: &str = "instructions";

const BENCHES: &str = "agcore-benches";

const LIMITS: &[&str] = &[
    "bench",
    "--package",
    BENCHES,
    "--bench",
    "llm",
    "--profile",
    "as-users",
    "--",
    "limits",
];

/// Counts, or reports a skipped check where valgrind is missing.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) {
    if workspace.member(BENCHES).is_none() {
        report.add(&Check::skipped(NAME, format!("{BENCHES} does not exist yet")));
        return;
    }
    let valgrind = process::capture(Command::new("valgrind").arg("--version"));
    if !valgrind.is_ok_and(|output| output.status.success()) {
        report.add(&Check::skipped(NAME, "valgrind is not installed"));
        return;
    }
    let result = process::logged(&mut workspace.cargo.command(LIMITS), &workspace.log("limits"));
    let compared = result.as_ref().map_or(0, |logged| compared(&logged.text));
    let remedy = "find the new cost in a profile, as `benches/README.md` describes";
    let check = Check::command(NAME, result, &workspace.root, remedy);
    report.add(&check.with_note(format!("{compared} limits")));
}

/// Counts the rows of the table: each ends with the result of a comparison.
fn compared(output: &str) -> usize {
    let ends = ["| met |", "| **missed** |"];
    output
        .lines()
        .filter(|line| ends.iter().any(|end| line.ends_with(end)))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_limits_that_were_compared() {
        let output = "| job | client | instructions | ratio | limit | |\n|---|---|---|---|---|---|\n\
                      | turn | chat | 90000 | 1.100 × R | 1.2 | met |\n| loop | chat | 90000 | 3.1 × R | 2 | **missed** |\n";
        assert_eq!(compared(output), 2);
    }
}
