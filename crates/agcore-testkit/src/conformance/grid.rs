//! [`Grid`]: what became of every behaviour, whole and streamed.

use std::fmt;

use super::{behaviour::Behaviour, mode::Mode};

/// What became of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The provider does what it shall.
    Pass,
    /// It does not; here is why.
    Fail(String),
    /// It was not asked; here is why.
    Skip(String),
}

/// One checked behaviour in one form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cell {
    /// What was checked.
    pub behaviour: Behaviour,
    /// In which form.
    pub mode: Mode,
    /// What came out.
    pub verdict: Verdict,
}

/// What became of every behaviour of a subject, whole and streamed. Prints as a table, with the reasons below.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Grid {
    name: String,
    cells: Vec<Cell>,
}

impl Verdict {
    pub(super) fn word(&self) -> &'static str {
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

    pub(super) fn push(&mut self, behaviour: Behaviour, mode: Mode, verdict: Verdict) {
        self.cells.push(Cell {
            behaviour,
            mode,
            verdict,
        });
    }

    /// The subject's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Everything that was checked, row by row.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// What became of a behaviour in this form; `None` when it was not checked.
    pub fn verdict(&self, behaviour: Behaviour, mode: Mode) -> Option<&Verdict> {
        let cell = self
            .cells
            .iter()
            .find(|cell| (cell.behaviour, cell.mode) == (behaviour, mode));
        cell.map(|cell| &cell.verdict)
    }

    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Cell> {
        self.cells
            .iter()
            .filter(|cell| matches!(cell.verdict, Verdict::Fail(_)))
    }

    /// The checks that were not made.
    pub fn skips(&self) -> impl Iterator<Item = &Cell> {
        self.cells
            .iter()
            .filter(|cell| matches!(cell.verdict, Verdict::Skip(_)))
    }

    /// Checks that nothing failed and that something passed; skips are allowed, as they can be seen.
    ///
    /// # Panics
    /// With the grid when a check failed, or when all were skipped.
    #[track_caller]
    pub fn assert_passed(&self) {
        let passed = self.cells.iter().any(|cell| cell.verdict == Verdict::Pass);
        assert!(
            passed && self.failures().next().is_none(),
            "the provider does not conform\n{self}"
        );
    }

    /// The rows in the order of their first cell.
    fn rows(&self) -> Vec<Behaviour> {
        let mut rows: Vec<Behaviour> = self.cells.iter().map(|cell| cell.behaviour).collect();
        rows.dedup();
        rows
    }

    /// Each reason with the forms that have it.
    fn reasons(&self, row: Behaviour) -> Vec<(String, &str, &str)> {
        let mut reasons: Vec<(String, &str, &str)> = Vec::new();
        for cell in self.cells.iter().filter(|cell| cell.behaviour == row) {
            let (word, Some(reason)) = (cell.verdict.word(), cell.verdict.reason()) else {
                continue;
            };
            match reasons.last_mut().filter(|last| (last.1, last.2) == (word, reason)) {
                Some((modes, ..)) => *modes = format!("{modes} and {}", cell.mode),
                None => reasons.push((cell.mode.to_string(), word, reason)),
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
            let word = |mode| self.verdict(*row, mode).map_or("-", Verdict::word);
            writeln!(f, "{row:width$}  {:8}  {:8}", word(Mode::Whole), word(Mode::Streamed))?;
        }
        for row in &rows {
            for (modes, word, reason) in self.reasons(*row) {
                writeln!(f, "{word}: {row} ({modes}): {reason}")?;
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
        grid.push(Behaviour::PlainText, Mode::Whole, whole);
        grid.push(Behaviour::PlainText, Mode::Streamed, streamed);
        grid.push(Behaviour::ErrorInStream, Mode::Streamed, other);
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
    fn skips_alone_are_no_pass() {
        let skip = || Verdict::Skip(String::new());
        grid([Verdict::Pass, skip(), skip()]).assert_passed();
        let asserted = |grid: Grid| std::panic::catch_unwind(|| grid.assert_passed());
        assert!(asserted(grid([skip(), skip(), skip()])).is_err());
        assert!(asserted(grid([Verdict::Pass, Verdict::Fail(String::new()), skip()])).is_err());
    }
}
