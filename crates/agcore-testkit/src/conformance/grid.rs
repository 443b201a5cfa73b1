//! [`Grid`]: the verdicts on all behaviors, for whole and streamed replies.

use std::fmt;

use super::{behavior::Behavior, mode::Mode};

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The provider behaves as required.
    Pass,
    /// The provider does not behave as required, for this reason.
    Fail(String),
    /// The behavior was not checked, for this reason.
    Skip(String),
}

/// The verdict on one behavior in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cell {
    /// The checked behavior.
    pub behavior: Behavior,
    /// The mode in which it was checked.
    pub mode: Mode,
    /// The result.
    pub verdict: Verdict,
}

/// The verdicts on all behaviors of a subject, for whole and streamed replies. Its `Display` output is a table followed
/// by the reasons for failures and skips.
///
/// ```
/// # #[cfg(feature = "scripted")]
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use agcore_testkit::conformance::{Behavior, ScriptSubject, Suite};
///
/// let subject = ScriptSubject::new("mine").with_skip(Behavior::Refusal, "the API has no refusals");
/// let grid = Suite::new().with_behaviors([Behavior::PlainText, Behavior::Refusal]).run(&subject).await;
/// assert_eq!(
///     grid.to_string(),
///     "mine                whole     streamed
/// answer: plain text  pass      pass    
/// answer: refusal     skip      skip    
/// skip: answer: refusal (whole and streamed): the API has no refusals
/// 2 passed, 0 failed, 2 skipped"
/// );
/// # });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Grid {
    name: String,
    cells: Vec<Cell>,
}

impl Verdict {
    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "FAIL",
            Self::Skip(_) => "skip",
        }
    }

    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Self::Pass => None,
            Self::Fail(reason) | Self::Skip(reason) => Some(reason),
        }
    }
}

impl Grid {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            cells: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, behavior: Behavior, mode: Mode, verdict: Verdict) {
        self.cells.push(Cell {
            behavior,
            mode,
            verdict,
        });
    }

    /// Returns the name of the subject.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all verdicts, row by row.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Returns the verdict on a behavior in this mode, or `None` if the suite did not include it.
    pub fn verdict(&self, behavior: Behavior, mode: Mode) -> Option<&Verdict> {
        let cell = self
            .cells
            .iter()
            .find(|cell| (cell.behavior, cell.mode) == (behavior, mode));
        cell.map(|cell| &cell.verdict)
    }

    /// Returns the checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Cell> {
        self.cells
            .iter()
            .filter(|cell| matches!(cell.verdict, Verdict::Fail(_)))
    }

    /// Returns the checks that were skipped.
    pub fn skips(&self) -> impl Iterator<Item = &Cell> {
        self.cells
            .iter()
            .filter(|cell| matches!(cell.verdict, Verdict::Skip(_)))
    }

    /// Asserts that no check failed and at least one passed. Skipped checks are allowed because the grid lists them.
    ///
    /// # Panics
    ///
    /// Panics with the grid if a check failed or all checks were skipped.
    #[track_caller]
    pub fn assert_passed(&self) {
        let passed = self.cells.iter().any(|cell| cell.verdict == Verdict::Pass);
        assert!(
            passed && self.failures().next().is_none(),
            "the provider does not conform\n{self}"
        );
    }

    /// Returns the rows in the order of their first cell.
    fn rows(&self) -> Vec<Behavior> {
        let mut rows: Vec<Behavior> = self.cells.iter().map(|cell| cell.behavior).collect();
        rows.dedup();
        rows
    }

    /// Returns each reason in a row, as the modes it applies to, its label and its text.
    fn reasons(&self, row: Behavior) -> Vec<(String, &str, &str)> {
        let mut reasons: Vec<(String, &str, &str)> = Vec::new();
        for cell in self.cells.iter().filter(|cell| cell.behavior == row) {
            let (label, Some(reason)) = (cell.verdict.label(), cell.verdict.reason()) else {
                continue;
            };
            match reasons.last_mut().filter(|last| (last.1, last.2) == (label, reason)) {
                Some((modes, ..)) => *modes = format!("{modes} and {}", cell.mode),
                None => reasons.push((cell.mode.to_string(), label, reason)),
            }
        }
        reasons
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let widest = rows.iter().map(|row| row.to_string().chars().count());
        let width = widest.chain([self.name.chars().count()]).max().unwrap_or(0);
        writeln!(f, "{:width$}  {:8}  {:8}", self.name, Mode::Whole, Mode::Streamed)?;
        for row in &rows {
            let label = |mode| self.verdict(*row, mode).map_or("-", Verdict::label);
            writeln!(f, "{row:width$}  {:8}  {:8}", label(Mode::Whole), label(Mode::Streamed))?;
        }
        for row in &rows {
            for (modes, label, reason) in self.reasons(*row) {
                writeln!(f, "{label}: {row} ({modes}): {reason}")?;
            }
        }
        let (failed, skipped) = (self.failures().count(), self.skips().count());
        let passed = self.cells.len() - failed - skipped;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(verdicts: [Verdict; 3]) -> Grid {
        let [whole, streamed, other] = verdicts;
        let mut grid = Grid::new("mine");
        grid.push(Behavior::PlainText, Mode::Whole, whole);
        grid.push(Behavior::PlainText, Mode::Streamed, streamed);
        grid.push(Behavior::ErrorInStream, Mode::Streamed, other);
        grid
    }

    #[test]
    fn prints_as_a_table_with_reasons() {
        let fail = || Verdict::Fail("lost".to_owned());
        let printed = grid([fail(), fail(), Verdict::Skip("no server".to_owned())]).to_string();
        let expected = [
            "mine                             whole     streamed",
            "answer: plain text               FAIL      FAIL    ",
            "broken: error inside the stream  -         skip    ",
            "FAIL: answer: plain text (whole and streamed): lost",
            "skip: broken: error inside the stream (streamed): no server",
            "0 passed, 2 failed, 1 skipped",
        ];
        assert_eq!(printed, expected.join("\n"));
    }

    #[test]
    fn does_not_pass_if_all_checks_are_skipped() {
        let skip = || Verdict::Skip(String::new());
        grid([Verdict::Pass, skip(), skip()]).assert_passed();
        let result = |grid: Grid| std::panic::catch_unwind(|| grid.assert_passed());
        assert!(result(grid([skip(), skip(), skip()])).is_err());
        assert!(result(grid([Verdict::Pass, Verdict::Fail(String::new()), skip()])).is_err());
    }
}
