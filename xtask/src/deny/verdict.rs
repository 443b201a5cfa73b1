//! Reading what cargo-deny says.

use std::process::Output;

use crate::check::Check;
use crate::finding::Finding;

/// One check per name. Warnings are told in a line each.
pub(super) fn read(names: &[&str], output: &Output) -> Vec<Check> {
    let summary = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    for line in told.lines().filter(|line| line.starts_with("warning")) {
        println!("{line}");
    }
    let mut checks: Vec<_> = names.iter().map(|name| check(name, &summary, &told)).collect();
    let none_failed = checks.iter().all(Check::is_passed);
    if none_failed && !output.status.success() {
        checks.push(Check::new("deny", vec![finding("cargo-deny itself failed", &told)]));
    }
    checks
}

/// The summary reads `bans ok, licenses FAILED, sources ok`.
fn check(name: &str, summary: &str, told: &str) -> Check {
    let says = |word: &str| summary.split(',').any(|part| part.trim() == format!("{name} {word}"));
    let findings = if says("ok") {
        Vec::new()
    } else if says("FAILED") {
        vec![finding("cargo-deny refuses it", &errors(told))]
    } else {
        vec![finding("cargo-deny gave no verdict", told)]
    };
    Check::new(name, findings)
}

fn finding(problem: &str, told: &str) -> Finding {
    Finding::new(
        "deny.toml",
        format!("{problem}:\n{}", told.trim_end()),
        "choose another dependency or version; or allow it in deny.toml and say why",
    )
}

/// What is told stands in blocks; these are the blocks of errors.
fn errors(told: &str) -> String {
    let blocks = told
        .split("\n\n")
        .filter(|block| block.trim_start().starts_with("error"));
    blocks.collect::<Vec<_>>().join("\n\n")
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;
    use crate::check::Outcome;

    const NAMES: &[&str] = &["bans", "licenses", "sources"];

    #[track_caller]
    fn check_failed(status: i32, summary: &str, told: &str, expected: &[&str]) {
        let output = Output {
            status: ExitStatus::from_raw(status << 8),
            stdout: summary.into(),
            stderr: told.into(),
        };
        let checks = read(NAMES, &output);
        let failed = checks
            .iter()
            .filter(|check| matches!(check.outcome(), Outcome::Failed(_)));
        assert_eq!(failed.map(Check::name).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn each_part_has_its_verdict() {
        check_failed(0, "bans ok, licenses ok, sources ok\n", "", &[]);
        check_failed(
            4,
            "bans ok, licenses FAILED, sources ok\n",
            "error[rejected]: x\n",
            &["licenses"],
        );
    }

    #[test]
    fn silence_is_no_consent() {
        check_failed(1, "", "error: cannot read deny.toml\n", NAMES);
        check_failed(1, "bans ok, licenses ok, sources ok", "thread panicked", &["deny"]);
    }

    #[test]
    fn only_errors_are_shown_in_full() {
        assert_eq!(
            errors("warning[a]: b\n  c\n\nerror[d]: e\n  f\n\nwarning: g"),
            "error[d]: e\n  f"
        );
    }
}
