//! Merged cells: a workbook has their value once.

use std::collections::BTreeMap;

use calamine::Dimensions;
use serde_json::Value;

use super::super::preamble::Row;
use crate::{problem::FileProblem, work::Work};

/// The rows of a sheet, by their numbers, with cells by their columns.
type Rows = BTreeMap<u32, BTreeMap<u32, Value>>;

/// Gives merged cells their value in all rows that have others, and in the first row in all columns, whose names it is.
pub(super) fn fill(work: &Work<'_>, rows: &mut Rows, merged: &[Dimensions]) -> Result<(), FileProblem> {
    let Some(first) = rows.keys().next().copied() else {
        return Ok(());
    };
    for area in merged {
        work.check()?;
        let ((top, left), (bottom, right)) = (area.start, area.end);
        let Some(value) = rows.get(&top).and_then(|row| row.get(&left)).cloned() else {
            continue;
        };
        if bottom < top {
            continue;
        }
        let last = if top == first { right.max(left) } else { left };
        for (_, row) in rows.range_mut(top..=bottom) {
            // Columns without any value do not belong to the table.
            for column in left..=last {
                work.count_cells(1)?;
                if let Some(text) = value.as_str() {
                    work.count_text(text.len())?;
                }
                row.entry(column).or_insert_with(|| value.clone());
            }
        }
    }
    Ok(())
}

/// The number of columns up to which rows above a table are found.
const MAX_COLUMNS: u32 = 1024;

/// Returns the first rows with all cells that a person sees: merged cells are filled in all of their rows and columns, with an
/// empty text for a text, of which a sheet has only one. Returns no rows of a very wide sheet.
pub(super) fn first_rows(
    work: &Work<'_>,
    rows: &Rows,
    merged: &[Dimensions],
    count: usize,
) -> Result<Vec<Row>, FileProblem> {
    let mut shown: Rows = rows
        .iter()
        .take(count)
        .map(|(row, cells)| (*row, cells.clone()))
        .collect();
    let columns = || shown.values().flat_map(|cells| cells.keys().copied());
    let (Some(first), Some(last)) = (columns().min(), columns().max()) else {
        return Ok(Vec::new());
    };
    if last - first >= MAX_COLUMNS {
        return Ok(Vec::new());
    }
    for area in merged {
        work.check()?;
        let ((top, left), (bottom, right)) = (area.start, area.end);
        let Some(value) = shown.get(&top).and_then(|row| row.get(&left)) else {
            continue;
        };
        if bottom < top {
            continue;
        }
        let copy = match value {
            Value::String(_) => Value::from(""),
            other => other.clone(),
        };
        for (_, row) in shown.range_mut(top..=bottom) {
            for column in left..=right.min(last).max(left) {
                row.entry(column).or_insert_with(|| copy.clone());
            }
        }
    }
    let mut before = None;
    let rows = shown.into_iter().map(|(number, cells)| {
        let width = cells.keys().next_back().map_or(0, |last| (last - first) as usize + 1);
        let mut row = vec![Value::Null; width];
        for (column, value) in cells {
            row[(column - first) as usize] = value;
        }
        let is_after_blank = before.replace(number).is_some_and(|before: u32| number - before > 1);
        Row {
            is_after_blank,
            cells: row,
        }
    });
    Ok(rows.collect())
}

/// Returns how many rows have names of columns: those that a cell of the first row reaches if another one reaches over several
/// columns, or two if texts without numbers are below such a name.
pub(super) fn header_rows(rows: &Rows, merged: &[Dimensions]) -> usize {
    let mut numbers = rows.keys().copied();
    let (Some(first), second) = (numbers.next(), numbers.next()) else {
        return 1;
    };
    let of_first = || merged.iter().filter(|area| area.start.0 == first);
    if !of_first().any(|area| area.end.1 > area.start.1) {
        return 1;
    }
    let bottom = of_first().map(|area| area.end.0).max().unwrap_or(first);
    if bottom > first {
        return rows.range(first..=bottom).count();
    }
    let Some(below) = second.and_then(|second| rows.get(&second)) else {
        return 1;
    };
    let is_text = |row: &BTreeMap<u32, Value>| row.values().all(Value::is_string);
    let has_values = rows.values().skip(2).any(|row| !is_text(row));
    if is_text(below) && has_values { 2 } else { 1 }
}
