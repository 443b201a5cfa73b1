//! A report: what the checks and tests of one stage came to.

use crate::check::{Check, Outcome};
use crate::counts::Counts;

/// The sum of one stage, told to the terminal while it grows.
#[derive(Debug, Default)]
pub(crate) struct Report {
    counts: Counts,
    failures: Vec<String>,
    skips: Vec<String>,
}

impl Report {
    /// Counts a check and prints its line.
    pub(crate) fn add(&mut self, check: &Check) {
        println!("{}", render(check));
        let name = check.name();
        match check.outcome() {
            Outcome::Passed => self.counts.passed += 1,
            Outcome::Failed(_) => {
                self.counts.failed += 1;
                self.failures.push(name.to_owned());
            }
            Outcome::Skipped(reason) => {
                self.counts.skipped += 1;
                self.skips.push(format!("{name}: {reason}"));
            }
        }
    }

    /// Counts what a test runner told. `finished` is its exit status: a run
    /// that failed without naming a failed test counts as one failure.
    pub(crate) fn add_tests(&mut self, runner: &str, counts: Counts, finished: bool) {
        self.counts += counts;
        if counts.failed > 0 {
            self.failures.push(format!("{runner}: {} failed", counts.failed));
        } else if !finished {
            self.counts.failed += 1;
            self.failures.push(format!(
                "{runner}: ended badly without naming a failed test (it did not build, or a test binary died)"
            ));
        }
        if counts.skipped > 0 {
            self.skips.push(format!("{runner}: {} ignored tests", counts.skipped));
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// A line for each failed check.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// A line for each check that did not run, with its reason.
    pub(crate) fn skips(&self) -> &[String] {
        &self.skips
    }
}

fn render(check: &Check) -> String {
    let name = check.name();
    match check.outcome() {
        Outcome::Passed => format!("ok       {name}"),
        Outcome::Skipped(reason) => format!("skipped  {name}: {reason}"),
        Outcome::Failed(findings) => {
            let mut text = format!("FAILED   {name}");
            for finding in findings {
                text.push_str("\n  ");
                text.push_str(&finding.to_string());
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Finding;

    #[test]
    fn checks_are_counted_by_outcome() {
        let mut report = Report::default();
        report.add(&Check::new("a", Vec::new()));
        report.add(&Check::new("b", vec![Finding::new("x", "y", "z")]));
        report.add(&Check::skipped("c", "no network"));
        let expected = Counts {
            passed: 1,
            failed: 1,
            skipped: 1,
        };
        assert_eq!(report.counts(), expected);
        assert_eq!(report.failures(), ["b"]);
        assert_eq!(report.skips(), ["c: no network"]);
    }

    #[test]
    fn a_dead_test_binary_is_a_failure() {
        let mut report = Report::default();
        let counts = Counts {
            passed: 3,
            ..Counts::default()
        };
        report.add_tests("cargo test", counts, false);
        assert_eq!(report.counts().failed, 1);
        assert_eq!(report.counts().passed, 3);
    }

    #[test]
    fn named_failures_are_not_counted_twice() {
        let mut report = Report::default();
        let counts = Counts {
            passed: 3,
            failed: 2,
            skipped: 0,
        };
        report.add_tests("cargo test", counts, false);
        assert_eq!(report.counts().failed, 2);
    }

    #[test]
    fn a_finding_says_where_what_and_how_to_mend_it() {
        let check = Check::new("floors", vec![Finding::new("a.toml", "bad", "mend")]);
        assert_eq!(render(&check), "FAILED   floors\n  a.toml: bad\n    do: mend");
    }
}
