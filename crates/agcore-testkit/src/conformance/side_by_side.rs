//! [`SideBySide`]: several grids as one table, a column for each.

use std::fmt;

use super::{
    behaviour::Behaviour,
    grid::{Cell, Grid, Verdict},
    mode::Mode,
};

/// Several grids as one table, a column for each; reasons of what did not pass stand below. A cell holds the verdict of
/// the whole and of the streamed form, once where they agree.
#[derive(Debug, Clone)]
pub struct SideBySide(Vec<Grid>);

impl SideBySide {
    /// These grids, from left to right.
    pub fn new(grids: impl IntoIterator<Item = Grid>) -> Self {
        Self(grids.into_iter().collect())
    }

    /// The grids.
    pub fn grids(&self) -> &[Grid] {
        &self.0
    }

    /// Behaviours of any grid, in the order of the suite.
    fn rows(&self) -> Vec<Behaviour> {
        let is_asked = |behaviour: &Behaviour| {
            let has = |grid: &Grid| grid.cells().iter().any(|cell| cell.behaviour == *behaviour);
            self.0.iter().any(has)
        };
        Behaviour::ALL.iter().copied().filter(is_asked).collect()
    }
}

/// The verdicts of both forms.
fn told(grid: &Grid, row: Behaviour) -> String {
    let word = |mode| grid.verdict(row, mode).map(Verdict::word);
    match (word(Mode::Whole), word(Mode::Streamed)) {
        (None, None) => "-".to_owned(),
        (Some(word), None) | (None, Some(word)) => word.to_owned(),
        (Some(whole), Some(streamed)) if whole == streamed => whole.to_owned(),
        (Some(whole), Some(streamed)) => format!("{whole}/{streamed}"),
    }
}

impl fmt::Display for SideBySide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let width = rows
            .iter()
            .map(|row| row.to_string().chars().count())
            .max()
            .unwrap_or(0);
        write!(f, "{:width$}", "")?;
        for grid in &self.0 {
            write!(f, "  {:>9}", grid.name())?;
        }
        writeln!(f)?;
        for row in rows {
            write!(f, "{row:width$}")?;
            for grid in &self.0 {
                let columns = grid.name().chars().count().max(9);
                write!(f, "  {:>columns$}", told(grid, row))?;
            }
            writeln!(f)?;
        }
        for grid in &self.0 {
            let reason = |f: &mut fmt::Formatter<'_>, word: &str, cell: &Cell| {
                let why = cell.verdict.reason().unwrap_or_default();
                writeln!(f, "{word}: {}: {} ({}): {why}", grid.name(), cell.behaviour, cell.mode)
            };
            grid.failures().try_for_each(|cell| reason(f, "FAIL", cell))?;
            grid.skips().try_for_each(|cell| reason(f, "skip", cell))?;
        }
        let count = |cells: fn(&Grid) -> usize| self.0.iter().map(cells).sum::<usize>();
        let (failed, skipped) = (
            count(|grid| grid.failures().count()),
            count(|grid| grid.skips().count()),
        );
        let passed = count(|grid| grid.cells().len()) - failed - skipped;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_stand_side_by_side() {
        let (mut one, mut other) = (Grid::new("one"), Grid::new("the other one"));
        one.push(Behaviour::PlainText, Mode::Whole, Verdict::Pass);
        one.push(Behaviour::PlainText, Mode::Streamed, Verdict::Fail("lost".to_owned()));
        other.push(Behaviour::PlainText, Mode::Whole, Verdict::Pass);
        other.push(Behaviour::PlainText, Mode::Streamed, Verdict::Pass);
        other.push(
            Behaviour::ErrorInStream,
            Mode::Streamed,
            Verdict::Skip("no server".to_owned()),
        );
        let expected = [
            "                                       one  the other one",
            "answer: plain text               pass/FAIL           pass",
            "broken: error inside the stream          -           skip",
            "FAIL: one: answer: plain text (streamed): lost",
            "skip: the other one: broken: error inside the stream (streamed): no server",
            "3 passed, 1 failed, 1 skipped",
        ];
        assert_eq!(SideBySide::new([one, other]).to_string(), expected.join("\n"));
    }
}
