//! The statistics that libFuzzer prints at the end of a run.

use std::fmt::Write as _;

/// The outcome of running one target.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    target: String,
    executions: u64,
    /// Edges of the control flow that were reached.
    edges: u64,
    /// Number of inputs in the corpus.
    inputs: usize,
    finding: Option<String>,
}

impl Outcome {
    /// Parses the output of libFuzzer.
    pub(super) fn parse(target: String, succeeded: bool, inputs: usize, text: &str) -> Self {
        let finding = text.lines().find_map(|line| line.split("Test unit written to ").nth(1));
        let finding = finding.map(str::to_owned);
        let failed = || (!succeeded).then(|| "it failed, see above".to_owned());
        Self {
            target,
            executions: number_after(text, "stat::number_of_executed_units:"),
            edges: number_after(text, " cov:"),
            inputs,
            finding: finding.or_else(failed),
        }
    }

    /// Returns whether nothing was found. A run that reached no code tested nothing and counts as failed.
    pub(super) fn succeeded(&self) -> bool {
        self.finding.is_none() && self.executions > 0 && self.edges > 0
    }
}

/// Renders the outcomes as a table with a line for each target.
pub(super) fn table(outcomes: &[Outcome]) -> String {
    let mut table = format!(
        "{:<16} {:>12} {:>7} {:>7}  findings\n",
        "target", "executions", "edges", "corpus"
    );
    for outcome in outcomes {
        let Outcome {
            target,
            executions,
            edges,
            inputs,
            finding,
        } = outcome;
        let finding = match finding {
            Some(finding) => finding,
            None if outcome.succeeded() => "none",
            None => "nothing ran",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(table, "{target:<16} {executions:>12} {edges:>7} {inputs:>7}  {finding}");
    }
    table
}

/// Returns the number after the last occurrence of a word, or 0 without one.
fn number_after(text: &str, word: &str) -> u64 {
    let rest = text.rsplit_once(word).map_or("", |(_, rest)| rest);
    let number = rest.split_whitespace().next();
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
#2\tINITED cov: 12 ft: 13 corp: 1/1b exec/s: 0 rss: 30Mb
#4096\tDONE   cov: 345 ft: 700 corp: 60/2Kb lim: 80 exec/s: 2048 rss: 40Mb
Done 4096 runs in 2 second(s)
stat::number_of_executed_units: 4096
stat::average_exec_per_sec:     2048
";

    #[track_caller]
    fn check(succeeded: bool, text: &str, expected: &str) {
        let outcome = Outcome::parse("sse".to_owned(), succeeded, 60, text);
        assert_eq!(outcome.succeeded(), expected.ends_with(" none"));
        let table = table(&[outcome]);
        let line = table.lines().nth(1).unwrap_or_default();
        assert_eq!(line.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn a_run_is_one_line() {
        check(true, GOOD, "sse 4096 345 60 none");
    }

    #[test]
    fn a_finding_is_shown_with_its_file() {
        let found = format!("{GOOD}artifact_prefix='a/'; Test unit written to a/crash-1\n");
        check(false, &found, "sse 4096 345 60 a/crash-1");
        check(false, GOOD, "sse 4096 345 60 it failed, see above");
    }

    #[test]
    fn a_run_that_executed_nothing_failed() {
        check(true, "", "sse 0 0 60 nothing ran");
    }
}
