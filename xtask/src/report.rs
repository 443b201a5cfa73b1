//! A report: the checks and tests of one stage, printed while they end.

pub(crate) mod check;
pub(crate) mod counts;
pub(crate) mod finding;
pub(crate) mod summary;

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::report::check::{Check, Outcome};
use crate::report::counts::Counts;

/// Column at which the durations start, unless a name is longer.
const DURATIONS: usize = 72;

/// The result of one stage. Each check is printed as one line when it is added.
#[derive(Debug)]
pub(crate) struct Report {
    stage: &'static str,
    /// When the previous check ended, which is when the next one started.
    since: Instant,
    counts: Counts,
    failures: Vec<String>,
    skips: Vec<String>,
}

impl Report {
    /// Starts the report of a stage.
    pub(crate) fn new(stage: &'static str) -> Self {
        let report = Self {
            stage,
            since: Instant::now(),
            counts: Counts::default(),
            failures: Vec::new(),
            skips: Vec::new(),
        };
        report.show_progress();
        report
    }

    /// Counts a check and prints its line, with the time since the previous one.
    pub(crate) fn add(&mut self, check: &Check) {
        let label = self.label(check.name());
        self.print(&render(&label, check, self.since.elapsed()));
        match check.outcome() {
            Outcome::Passed => self.counts.passed += 1,
            Outcome::Failed(_) => {
                self.counts.failed += 1;
                self.failures.push(label);
            }
            Outcome::Skipped(reason) => {
                self.counts.skipped += 1;
                self.skips.push(format!("{label}: {reason}"));
            }
        }
    }

    /// Counts the tests of a runner, whose check shows the log if it failed. A run that failed without naming a
    /// failed test counts as one failure.
    pub(crate) fn add_tests(&mut self, check: &Check, counts: Counts) {
        let label = self.label(check.name());
        self.print(&render(&label, check, self.since.elapsed()));
        self.counts += counts;
        if counts.failed > 0 {
            self.failures.push(format!("{label}: {} failed", counts.failed));
        } else if !check.is_passed() {
            self.counts.failed += 1;
            self.failures.push(format!(
                "{label}: failed without naming a failed test (it did not build, or a test program crashed)"
            ));
        }
        if counts.skipped > 0 {
            self.skips.push(format!("{label}: {} ignored tests", counts.skipped));
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns a line for each failed check.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Returns a line for each check that did not run, with its reason.
    pub(crate) fn skips(&self) -> &[String] {
        &self.skips
    }

    fn print(&mut self, text: &str) {
        hide_progress();
        println!("{text}");
        self.since = Instant::now();
        self.show_progress();
    }

    /// Prefixes the name of a check with its stage, unless it already starts with it.
    fn label(&self, name: &str) -> String {
        match name.strip_prefix(self.stage) {
            Some(rest) if rest.is_empty() || rest.starts_with(' ') => name.to_owned(),
            _ => format!("{} {name}", self.stage),
        }
    }

    /// On a terminal, shows which stage is running until the next line is printed.
    fn show_progress(&self) {
        if std::io::stdout().is_terminal() {
            print!("{} …", self.stage);
            // A closed terminal must not end the run.
            let _ = std::io::stdout().flush();
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        hide_progress();
    }
}

fn hide_progress() {
    if std::io::stdout().is_terminal() {
        // Return to the first column and clear the line.
        print!("\r\x1b[2K");
    }
}

fn render(label: &str, check: &Check, time: Duration) -> String {
    let status = match check.outcome() {
        Outcome::Passed => "ok",
        Outcome::Skipped(reason) => return format!("skipped  {label}: {reason}"),
        Outcome::Failed(_) => "FAILED",
    };
    let note = check.note().map(|note| format!(" ({note})")).unwrap_or_default();
    let name = format!("{status:<8} {label}{note}");
    let mut text = format!("{name:<DURATIONS$}{:>7.1} s", time.as_secs_f64());
    if let Outcome::Failed(findings) = check.outcome() {
        for finding in findings {
            text.push_str("\n  ");
            text.push_str(&finding.to_string());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::finding::Finding;

    fn failed(name: &str) -> Check {
        Check::new(name, vec![Finding::new("a.toml", "bad", "fix it")])
    }

    #[test]
    fn counts_checks_by_outcome() {
        let mut report = Report::new("tidy");
        report.add(&Check::new("a", Vec::new()));
        report.add(&failed("b"));
        report.add(&Check::skipped("c", "no network"));
        let expected = Counts {
            passed: 1,
            failed: 1,
            skipped: 1,
        };
        assert_eq!(report.counts(), expected);
        assert_eq!(report.failures(), ["tidy b"]);
        assert_eq!(report.skips(), ["tidy c: no network"]);
    }

    #[test]
    fn counts_a_crashed_test_program_as_a_failure() {
        let mut report = Report::new("test");
        let counts = Counts {
            passed: 3,
            ..Counts::default()
        };
        report.add_tests(&failed("units"), counts);
        assert_eq!(report.counts().failed, 1);
        assert_eq!(report.counts().passed, 3);
    }

    #[test]
    fn does_not_count_a_failed_test_twice() {
        let mut report = Report::new("test");
        let counts = Counts {
            passed: 3,
            failed: 2,
            skipped: 0,
        };
        report.add_tests(&failed("units"), counts);
        assert_eq!(report.counts().failed, 2);
    }

    #[test]
    fn a_line_has_status_stage_name_and_duration() {
        let time = Duration::from_millis(440);
        let passed = Check::new("length", Vec::new()).with_note("3 files");
        let line = render("tidy length", &passed, time);
        assert_eq!(
            line.split_whitespace().collect::<Vec<_>>().join(" "),
            "ok tidy length (3 files) 0.4 s"
        );
        let text = render("graph floors", &failed("floors"), time);
        assert!(
            text.starts_with("FAILED   graph floors") && text.ends_with(" s\n  a.toml: bad\n    do: fix it"),
            "{text}"
        );
    }

    #[test]
    fn a_stage_with_one_check_is_named_once() {
        let report = Report::new("docs");
        assert_eq!(report.label("docs"), "docs");
        assert_eq!(report.label("docs public"), "docs public");
        assert_eq!(report.label("docsify"), "docs docsify");
    }
}
