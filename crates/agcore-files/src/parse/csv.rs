//! CSV and TSV.

mod dialect;

use serde_json::Value;

use self::dialect::Dialect;
use super::preamble::{MAX_ROWS, Row, preamble};
use crate::{decode::decode, grid::Grid, preprocessed::Preprocessed, problem::FileProblem, work::Work};

/// Reads values whose separator is detected.
pub(crate) fn parse_csv(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let text = decode(work)?;
    parse(work, &text, Dialect::detect(&text))
}

/// Reads values that are separated by tabs.
pub(crate) fn parse_tsv(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let text = decode(work)?;
    parse(work, &text, Dialect::of_tabs(&text))
}

fn parse(work: &Work<'_>, text: &str, dialect: Dialect) -> Result<Preprocessed, FileProblem> {
    let rows = &text.as_bytes()[dialect.start..];
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(dialect.separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(rows);
    let mut record = csv::StringRecord::new();
    let mut lines = Lines::new(text, dialect.start);
    let mut first = First::default();
    let mut grid = Grid::default();
    let mut is_after_blank = false;
    let mut headings = None;
    while reader
        .read_record(&mut record)
        .map_err(|error| work.broken("its rows cannot be separated").with_source(error))?
    {
        work.check_row(record.len())?;
        let start = record.position().map_or(0, csv::Position::byte);
        is_after_blank |= record.position().is_some() && has_blank_line(rows, start);
        let line = lines.of_row(start);
        // A line of spaces is blank.
        if record.len() == 1 && record[0].trim().is_empty() {
            is_after_blank = true;
            continue;
        }
        let cells: Vec<Value> = record.iter().map(cell).collect();
        if headings.is_some() {
            grid.push_numbered(work, cells, line)?;
            continue;
        }
        first.lines.push(line);
        first.rows.push(Row {
            is_after_blank: std::mem::take(&mut is_after_blank),
            cells,
        });
        if first.rows.len() == MAX_ROWS {
            headings = Some(begin(work, &mut first, &mut grid)?);
        }
    }
    let headings = match headings {
        Some(headings) => headings,
        None => begin(work, &mut first, &mut grid)?,
    };
    let mut found = Preprocessed::new();
    if let Some(mut table) = grid.into_table(work.name) {
        table.headings = headings;
        found.tables.push(table);
    }
    Ok(found)
}

/// Returns whether the text at a place, which is the end of a row, begins with a blank line.
fn has_blank_line(text: &[u8], at: u64) -> bool {
    let at = usize::try_from(at).unwrap_or(usize::MAX).min(text.len());
    // The reader ends a row between the two characters of a line break.
    let is_inside = at > 0 && text[at - 1] == b'\r' && text.get(at) == Some(&b'\n');
    matches!(text.get(at + usize::from(is_inside)), Some(b'\r' | b'\n'))
}

fn cell(text: &str) -> Value {
    if text.is_empty() {
        Value::Null
    } else {
        Value::from(text)
    }
}

/// The first rows of a file, with their lines.
#[derive(Default)]
struct First {
    rows: Vec<Row>,
    lines: Vec<u32>,
}

/// Counts the lines before rows.
struct Lines<'t> {
    text: &'t [u8],
    /// The place of the first row.
    start: usize,
    /// The bytes that were counted, and the line breaks in them.
    counted: (usize, u32),
}

impl<'t> Lines<'t> {
    fn new(text: &'t str, start: usize) -> Self {
        Self {
            text: text.as_bytes(),
            start,
            counted: (0, 0),
        }
    }

    /// Returns the line of a row, from 1. The place of a row, after the first one, is the end of the row before it.
    fn of_row(&mut self, at: u64) -> u32 {
        let at = self.start.saturating_add(usize::try_from(at).unwrap_or(usize::MAX));
        let blank = self.text.get(at..).unwrap_or_default().iter();
        let blank = blank.take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let end = at.saturating_add(blank).min(self.text.len());
        let (counted, mut breaks) = self.counted;
        for place in counted..end {
            // A carriage return counts if no line feed follows it.
            let is_break = match self.text[place] {
                b'\n' => true,
                b'\r' => self.text.get(place + 1) != Some(&b'\n'),
                _ => false,
            };
            breaks = breaks.saturating_add(u32::from(is_break));
        }
        self.counted = (end.max(counted), breaks);
        breaks.saturating_add(1)
    }
}

/// Moves the first rows to the table, and returns those that are above its header as texts.
fn begin(work: &Work<'_>, first: &mut First, grid: &mut Grid) -> Result<Vec<String>, FileProblem> {
    let First { rows, lines } = std::mem::take(first);
    let above = preamble(&rows);
    let mut headings = Vec::new();
    for (number, (row, line)) in rows.into_iter().zip(lines).enumerate() {
        if number >= above {
            grid.push_numbered(work, row.cells, line)?;
            continue;
        }
        headings.extend(row.into_heading());
    }
    Ok(headings)
}
