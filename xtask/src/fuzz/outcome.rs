//! What libFuzzer says at the end of a run.

use std::fmt::Write as _;

/// One target's run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    target: String,
    executions: u64,
    /// Edges of the program that were reached.
    edges: u64,
    /// Inputs in the corpus.
    inputs: usize,
    finding: Option<String>,
}

impl Outcome {
    /// Reads it out of the text that libFuzzer printed.
    pub(super) fn read(target: String, succeeded: bool, inputs: usize, text: &str) -> Self {
        let finding = text.lines().find_map(|line| line.split("Test unit written to ").nth(1));
        let finding = finding.map(str::to_owned);
        let failed = || (!succeeded).then(|| "it did not end well, see above".to_owned());
        Self {
            target,
            executions: number_behind(text, "stat::number_of_executed_units:"),
            edges: number_behind(text, " cov:"),
            inputs,
            finding: finding.or_else(failed),
        }
    }

    /// Whether nothing was found. A run that reached nothing has tested nothing.
    pub(super) fn is_fine(&self) -> bool {
        self.finding.is_none() && self.executions > 0 && self.edges > 0
    }
}

/// The outcomes, a line each.
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
            None if outcome.is_fine() => "none",
            None => "nothing was run",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(table, "{target:<16} {executions:>12} {edges:>7} {inputs:>7}  {finding}");
    }
    table
}

/// The number behind the last occurrence of a word; 0 without one.
fn number_behind(text: &str, word: &str) -> u64 {
    let behind = text.rsplit_once(word).map_or("", |(_, behind)| behind);
    let number = behind.split_whitespace().next();
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
        let outcome = Outcome::read("sse".to_owned(), succeeded, 60, text);
        assert_eq!(outcome.is_fine(), expected.ends_with(" none"));
        let table = table(&[outcome]);
        let line = table.lines().nth(1).unwrap_or_default();
        assert_eq!(line.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn a_run_is_told_in_a_line() {
        check(true, GOOD, "sse 4096 345 60 none");
    }

    #[test]
    fn a_finding_is_named() {
        let found = format!("{GOOD}artifact_prefix='a/'; Test unit written to a/crash-1\n");
        check(false, &found, "sse 4096 345 60 a/crash-1");
        check(false, GOOD, "sse 4096 345 60 it did not end well, see above");
    }

    #[test]
    fn a_run_of_nothing_is_not_fine() {
        check(true, "", "sse 0 0 60 nothing was run");
    }
}
