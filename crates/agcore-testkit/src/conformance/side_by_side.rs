//! [`SideBySide`]: several grids as one table, with one column per grid.

use std::fmt;

use super::{
    behavior::Behavior,
    grid::{Cell, Grid, Verdict},
    mode::Mode,
};

/// Several grids as one table, with one column per grid and the reasons for failures and skips below. Each cell shows
/// the verdicts on whole and streamed replies, or a single one if they agree.
///
/// ```
/// # #[cfg(feature = "scripted")]
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// use agcore_testkit::conformance::{Behavior, ScriptSubject, SideBySide, Suite};
///
/// let suite = Suite::new().with_behaviors([Behavior::PlainText]);
/// let grids = [
///     suite.run(&ScriptSubject::new("bare")).await,
///     suite.run(&ScriptSubject::new("layered").with_layer(|inner| inner)).await,
/// ];
/// let table = SideBySide::new(grids).to_string();
/// assert!(table.ends_with("4 passed, 0 failed, 0 skipped"), "{table}");
/// # });
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct SideBySide(Vec<Grid>);

impl SideBySide {
    /// Creates a table of these grids, from left to right.
    pub fn new(grids: impl IntoIterator<Item = Grid>) -> Self {
        Self(grids.into_iter().collect())
    }

    /// Returns the grids.
    pub fn grids(&self) -> &[Grid] {
        &self.0
    }

    /// Returns the behaviors of all grids, in the order of the suite.
    fn rows(&self) -> Vec<Behavior> {
        let is_checked = |behavior: &Behavior| {
            let has = |grid: &Grid| grid.cells().iter().any(|cell| cell.behavior == *behavior);
            self.0.iter().any(has)
        };
        Behavior::ALL.iter().copied().filter(is_checked).collect()
    }
}

/// Returns the text of a cell: the verdicts in both modes.
fn cell_text(grid: &Grid, row: Behavior) -> String {
    let label = |mode| grid.verdict(row, mode).map(Verdict::label);
    match (label(Mode::Whole), label(Mode::Streamed)) {
        (None, None) => "-".to_owned(),
        (Some(label), None) | (None, Some(label)) => label.to_owned(),
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
                write!(f, "  {:>columns$}", cell_text(grid, row))?;
            }
            writeln!(f)?;
        }
        for grid in &self.0 {
            let write_reason = |f: &mut fmt::Formatter<'_>, cell: &Cell| {
                let (label, reason) = (cell.verdict.label(), cell.verdict.reason().unwrap_or_default());
                writeln!(
                    f,
                    "{label}: {}: {} ({}): {reason}",
                    grid.name(),
                    cell.behavior,
                    cell.mode
                )
            };
            grid.failures().try_for_each(|cell| write_reason(f, cell))?;
            grid.skips().try_for_each(|cell| write_reason(f, cell))?;
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
    fn prints_grids_as_columns() {
        let (mut one, mut other) = (Grid::new("one"), Grid::new("the other one"));
        one.push(Behavior::PlainText, Mode::Whole, Verdict::Pass);
        one.push(Behavior::PlainText, Mode::Streamed, Verdict::Fail("lost".to_owned()));
        other.push(Behavior::PlainText, Mode::Whole, Verdict::Pass);
        other.push(Behavior::PlainText, Mode::Streamed, Verdict::Pass);
        other.push(
            Behavior::ErrorInStream,
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
