//! Parsing the output of cargo-deny.

use std::process::Output;

use crate::report::check::Check;
use crate::report::finding::Finding;

/// Returns one check per name.
pub(super) fn read(names: &[&str], output: &Output) -> Vec<Check> {
    let summary = String::from_utf8_lossy(&output.stdout);
    let details = String::from_utf8_lossy(&output.stderr);
    let mut checks: Vec<_> = names.iter().map(|name| check(name, &summary, &details)).collect();
    let none_failed = checks.iter().all(Check::is_passed);
    if none_failed && !output.status.success() {
        checks.push(Check::new("deny", vec![finding("cargo-deny itself failed", &details)]));
    }
    checks
}

/// Creates the check of one name from a summary such as `bans ok, licenses FAILED, sources ok`.
fn check(name: &str, summary: &str, details: &str) -> Check {
    let has_verdict = |word: &str| summary.split(',').any(|part| part.trim() == format!("{name} {word}"));
    let findings = if has_verdict("ok") {
        Vec::new()
    } else if has_verdict("FAILED") {
        vec![finding("cargo-deny rejects a dependency", &errors(details))]
    } else {
        vec![finding("cargo-deny reported no verdict", details)]
    };
    Check::new(name, findings)
}

fn finding(problem: &str, details: &str) -> Finding {
    Finding::new(
        "deny.toml",
        format!("{problem}:\n{}", details.trim_end()),
        "choose another dependency or version, or allow it in deny.toml with a reason",
    )
}

/// Returns the blocks of errors; cargo-deny separates its messages by blank lines.
fn errors(details: &str) -> String {
    let blocks = details
        .split("\n\n")
        .filter(|block| block.trim_start().starts_with("error"));
    blocks.collect::<Vec<_>>().join("\n\n")
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;
    use crate::report::check::Outcome;

    const NAMES: &[&str] = &["bans", "licenses", "sources"];

    #[track_caller]
    fn check_failed(status: i32, summary: &str, details: &str, expected: &[&str]) {
        let output = Output {
            status: ExitStatus::from_raw(status << 8),
            stdout: summary.into(),
            stderr: details.into(),
        };
        let checks = read(NAMES, &output);
        let failed = checks
            .iter()
            .filter(|check| matches!(check.outcome(), Outcome::Failed(_)));
        assert_eq!(failed.map(Check::name).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn each_check_has_its_own_verdict() {
        check_failed(0, "bans ok, licenses ok, sources ok\n", "", &[]);
        check_failed(
            4,
            "bans ok, licenses FAILED, sources ok\n",
            "error[rejected]: x\n",
            &["licenses"],
        );
    }

    #[test]
    fn a_missing_verdict_is_a_failure() {
        check_failed(1, "", "error: cannot read deny.toml\n", NAMES);
        check_failed(1, "bans ok, licenses ok, sources ok", "thread panicked", &["deny"]);
    }

    #[test]
    fn shows_errors_but_not_warnings() {
        assert_eq!(
            errors("warning[a]: b\n  c\n\nerror[d]: e\n  f\n\nwarning: g"),
            "error[d]: e\n  f"
        );
    }
}
