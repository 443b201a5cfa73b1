//! [`Table`]: a table of an answer, with aligned columns.
//!
//! The width of a column depends on all of its cells, so the rows of a table are held back until it ends. A table of more
//! than [`MAX_HELD_ROWS`] rows is written with the widths of its first rows.

use anstyle::{Effects, Style};

use super::spans::write_spans;
use crate::render::{
    layout::{Layout, styled},
    text::columns,
};

/// The number of rows after which a table is written although more may follow.
const MAX_HELD_ROWS: usize = 200;

/// The spaces between two columns.
const GAP: &str = "  ";

/// The width down to which a column is narrowed, unless one of its words is wider.
const NARROW: usize = 8;

/// The lines of a table that were received but not written.
#[derive(Debug)]
pub(super) struct Table {
    /// The text before each line, such as the bars of a quote, and its width.
    indent: (String, usize),
    /// The first line, as it was received.
    line: String,
    head: Vec<String>,
    /// Present once the second line was received, which makes the first one the head of a table.
    alignments: Option<Vec<Alignment>>,
    rows: Vec<Vec<String>>,
    /// The widths with which the first rows were written.
    shape: Option<Shape>,
}

/// The alignment of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alignment {
    Left,
    Center,
    Right,
}

/// The form in which a table is written.
#[derive(Debug, Clone)]
enum Shape {
    /// As columns with these widths.
    Columns(Vec<usize>),
    /// As a list of fields for each row, because the columns do not fit next to each other.
    Fields,
}

impl Table {
    /// Starts a table with its first line.
    pub(super) fn new(line: &str, indent: String, indent_columns: usize) -> Self {
        Self {
            indent: (indent, indent_columns),
            line: line.to_owned(),
            head: cells(line),
            alignments: None,
            rows: Vec::new(),
            shape: None,
        }
    }

    /// Adds the line below the head. Returns `false` if the two do not make a table.
    pub(super) fn push_rule(&mut self, line: &str) -> bool {
        let alignments: Vec<_> = cells(line).iter().map(|cell| alignment(cell)).collect();
        let is_table = self.alignments.is_none() && alignments.len() == self.head.len();
        if is_table {
            self.alignments = Some(alignments);
        }
        is_table
    }

    /// Adds a row. Returns `false` if the first line turned out not to be the head of a table.
    pub(super) fn push_row(&mut self, line: &str) -> bool {
        if self.alignments.is_none() {
            return false;
        }
        self.rows.push(fitted(cells(line), self.head.len()));
        true
    }

    /// Returns whether enough rows are held back that they should be written.
    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= MAX_HELD_ROWS
    }

    /// Returns what precedes each line, and its width.
    pub(super) fn indent(&self) -> (String, usize) {
        self.indent.clone()
    }

    /// Returns the first line if no second one made it the head of a table.
    pub(super) fn text(&self) -> Option<&str> {
        self.alignments.is_none().then_some(self.line.as_str())
    }

    /// Writes the rows that are held back, and the head before the first ones. `width` is that of the window.
    pub(super) fn write(&mut self, width: usize, out: &mut String) {
        let is_first = self.shape.is_none();
        let shape = self.shape.take().unwrap_or_else(|| self.shape(width));
        let rows = std::mem::take(&mut self.rows);
        match &shape {
            Shape::Columns(widths) => {
                if is_first {
                    self.write_row(&self.head, widths, bold(), out);
                    self.write_rule(widths, out);
                }
                for row in &rows {
                    self.write_row(row, widths, Style::new(), out);
                }
            }
            Shape::Fields => {
                for (index, row) in rows.iter().enumerate() {
                    if index > 0 || !is_first {
                        out.push('\n');
                    }
                    self.write_fields(row, width, out);
                }
            }
        }
        self.shape = Some(shape);
    }

    /// Returns the widest columns that fit into the window.
    fn shape(&self, width: usize) -> Shape {
        let available = width.saturating_sub(self.indent.1 + GAP.len() * self.head.len().saturating_sub(1));
        let mut widths = self.widths(usize::MAX / 2);
        let narrowest = self.widths(NARROW);
        if narrowest.iter().sum::<usize>() > available && !self.rows.is_empty() {
            return Shape::Fields;
        }
        while widths.iter().sum::<usize>() > available {
            let widest = (0..widths.len())
                .filter(|column| widths[*column] > narrowest[*column])
                .max_by_key(|column| widths[*column]);
            match widest {
                Some(column) => widths[column] -= 1,
                None => break,
            }
        }
        Shape::Columns(widths)
    }

    /// Returns the width that each column needs if its cells are wrapped at `limit`.
    fn widths(&self, limit: usize) -> Vec<usize> {
        let mut widths = vec![1; self.head.len()];
        for (row, style) in std::iter::once((&self.head, bold())).chain(self.rows.iter().map(|row| (row, Style::new())))
        {
            for (width, cell) in widths.iter_mut().zip(row) {
                let lines = wrapped(cell, limit, style);
                *width = lines.iter().map(|line| visible(line)).fold(*width, usize::max);
            }
        }
        widths
    }

    fn write_row(&self, row: &[String], widths: &[usize], style: Style, out: &mut String) {
        let wrapped: Vec<_> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| wrapped(cell, *width, style))
            .collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        for index in 0..height {
            let mut line = self.indent.0.clone();
            for (column, lines) in wrapped.iter().enumerate() {
                if column > 0 {
                    line.push_str(GAP);
                }
                let text = lines.get(index).map_or("", String::as_str);
                line.push_str(&padded(text, widths[column], self.alignment(column)));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }

    fn write_rule(&self, widths: &[usize], out: &mut String) {
        let lines: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
        out.push_str(&self.indent.0);
        styled(Style::new().dimmed(), &lines.join(GAP), out);
        out.push('\n');
    }

    /// Writes each cell of a row on a line of its own, after the name of its column.
    fn write_fields(&self, row: &[String], width: usize, out: &mut String) {
        for (name, cell) in self.head.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
            let mut layout = Layout::new(width);
            let indent = self.indent.0.clone() + GAP;
            layout.begin(&self.indent.0, indent, self.indent.1 + GAP.len(), out);
            if !name.is_empty() {
                write_spans(&mut layout, bold(), name, &mut None, true, out);
                layout.text(Style::new(), ": ", out);
            }
            write_spans(&mut layout, Style::new(), cell, &mut None, true, out);
            layout.end(out);
        }
    }

    fn alignment(&self, column: usize) -> Alignment {
        let alignments = self.alignments.as_deref().unwrap_or_default();
        alignments.get(column).copied().unwrap_or(Alignment::Left)
    }
}

fn bold() -> Style {
    Style::new().effects(Effects::BOLD)
}

/// Splits a line at its bars. A bar after a backslash is part of a cell.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let mut is_escaped = false;
    for c in line.chars() {
        match c {
            '|' if is_escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    // The bar at the end of the line starts no cell.
    if cells.is_empty() || !cell.trim().is_empty() {
        cells.push(cell);
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// Brings a row to this number of cells. Excess cells are joined with the last one.
fn fitted(mut cells: Vec<String>, count: usize) -> Vec<String> {
    if cells.len() > count {
        let rest = cells.split_off(count.saturating_sub(1)).join(" | ");
        cells.push(rest);
    }
    cells.resize(count, String::new());
    cells
}

fn alignment(cell: &str) -> Alignment {
    match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Alignment::Center,
        (false, true) => Alignment::Right,
        _ => Alignment::Left,
    }
}

/// Returns the lines of a cell. Only a word that is wider makes a line wider than `width`.
fn wrapped(cell: &str, width: usize, style: Style) -> Vec<String> {
    let (mut layout, mut out) = (Layout::new(width), String::new());
    write_spans(&mut layout, style, cell, &mut None, true, &mut out);
    layout.end(&mut out);
    out.lines().map(str::to_owned).collect()
}

fn padded(text: &str, width: usize, alignment: Alignment) -> String {
    let missing = width.saturating_sub(visible(text));
    let before = match alignment {
        Alignment::Left => 0,
        Alignment::Center => missing / 2,
        Alignment::Right => missing,
    };
    " ".repeat(before) + text + &" ".repeat(missing - before)
}

/// Returns how many columns a text occupies without its escape codes, which are all styles.
fn visible(text: &str) -> usize {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().map_or(0, columns);
    pieces.fold(first, |sum, piece| {
        sum + piece.split_once('m').map_or(0, |(_, rest)| columns(rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_lines_at_bars() {
        let check = |line: &str, expected: &[&str]| assert_eq!(cells(line), expected, "{line}");
        check("| a | b |", &["a", "b"]);
        check("| a | b", &["a", "b"]);
        check("| a || c |", &["a", "", "c"]);
        check(r"| a \| b | `c\|d` |", &["a | b", "`c|d`"]);
        check(r"| a \\| b |", &[r"a \\", "b"]);
        check("|", &[""]);
    }

    #[test]
    fn rows_have_the_cells_of_the_head() {
        let check = |cells: &[&str], expected: &[&str]| {
            assert_eq!(
                fitted(cells.iter().map(|cell| (*cell).to_owned()).collect(), 2),
                expected
            );
        };
        check(&["a"], &["a", ""]);
        check(&["a", "b", "c"], &["a", "b | c"]);
    }
}
