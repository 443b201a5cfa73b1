//! [`ReportDiff`]: what has changed between two evaluations.

use super::results::{CaseResult, Report};

/// The changes between two evaluations.
///
/// ```
/// use agcore_eval::{Change, Report};
///
/// let before = r#"{"version": 1, "suite": "math", "results": [
///     {"case": "adds", "run": 1, "checks": [], "answer": "42", "tools": [], "steps": 1, "duration_ms": 5}]}"#;
/// let after = before.replace(r#""checks": []"#, r#""checks": [{"name": "answer", "problem": "wrong"}]"#);
/// let diff = Report::from_json(before)?.diff(&Report::from_json(&after)?);
/// assert!(diff.has_regressions());
/// assert_eq!(diff.cases[0].change, Change::Regressed);
/// # Ok::<(), agcore_eval::EvalError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ReportDiff {
    /// All cases of both, in the order of the newer one; those that were removed come last.
    pub cases: Vec<CaseChange>,
}

/// The change of a case, with all of its runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CaseChange {
    /// The name of the case.
    pub case: String,
    /// The kind of change.
    pub change: Change,
    /// The number of runs that passed, and of all runs, before.
    pub before: (usize, usize),
    /// The number of runs that passed, and of all runs, after.
    pub after: (usize, usize),
    /// The calls of the model in all runs, before and after.
    pub steps: (u64, u64),
    /// The tokens of all runs, before and after; `None` if some are unknown.
    pub tokens: Option<(u64, u64)>,
    /// The first problem, after.
    pub problem: Option<String>,
}

/// The kind of change of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// A smaller part of the runs passed.
    Regressed,
    /// A larger part of the runs passed.
    Improved,
    /// The same part of the runs passed.
    Same,
    /// The case is new.
    Added,
    /// The case was not run.
    Removed,
}

impl Change {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::Same => "same",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

impl ReportDiff {
    /// Returns whether a case regressed, or a new one fails.
    pub fn has_regressions(&self) -> bool {
        self.cases.iter().any(|case| match case.change {
            Change::Regressed => true,
            Change::Added => case.after.0 < case.after.1,
            _ => false,
        })
    }
}

impl Report {
    /// Compares an earlier report, this one, with a later one.
    pub fn diff(&self, later: &Self) -> ReportDiff {
        let names = later.names();
        let removed = self.names().into_iter().filter(|name| !names.contains(name));
        let all = names.iter().copied().chain(removed);
        let cases = all.map(|name| {
            let (before, after) = (Runs::of(self, name), Runs::of(later, name));
            CaseChange {
                case: name.to_owned(),
                change: change(&before, &after),
                before: (before.passed, before.count),
                after: (after.passed, after.count),
                steps: (before.steps, after.steps),
                tokens: before.tokens.zip(after.tokens),
                problem: after.problem,
            }
        });
        ReportDiff { cases: cases.collect() }
    }

    /// Returns the name of each case, in order.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for result in &self.results {
            if !names.contains(&result.case.as_str()) {
                names.push(&result.case);
            }
        }
        names
    }
}

/// All runs of a case.
struct Runs {
    count: usize,
    passed: usize,
    steps: u64,
    tokens: Option<u64>,
    problem: Option<String>,
}

impl Runs {
    fn of(report: &Report, name: &str) -> Self {
        let runs: Vec<&CaseResult> = report.results.iter().filter(|result| result.case == name).collect();
        let mut problems = runs.iter().flat_map(|run| run.problems());
        Self {
            count: runs.len(),
            passed: runs.iter().filter(|run| run.is_passed()).count(),
            steps: runs.iter().fold(0, |sum, run| sum.saturating_add(run.steps)),
            tokens: runs
                .iter()
                .try_fold(0_u64, |sum, run| Some(sum.saturating_add(run.tokens?))),
            problem: problems.next().map(|(check, problem)| format!("{check}: {problem}")),
        }
    }
}

fn change(before: &Runs, after: &Runs) -> Change {
    if before.count == 0 {
        return Change::Added;
    }
    if after.count == 0 {
        return Change::Removed;
    }
    // Compares the parts that passed without division.
    let (earlier, later) = (before.passed * after.count, after.passed * before.count);
    match later.cmp(&earlier) {
        std::cmp::Ordering::Less => Change::Regressed,
        std::cmp::Ordering::Equal => Change::Same,
        std::cmp::Ordering::Greater => Change::Improved,
    }
}
