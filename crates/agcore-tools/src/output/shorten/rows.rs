//! Tables: the head, some rows, and those that differ.

use std::collections::{BTreeMap, BTreeSet};

use agcore_chat::text::{clip, visible};

use super::sheet::Sheet;

/// The largest number of rows of a table that are all kept.
const MAX_ROWS: usize = 30;

/// The number of rows that are kept at the start and at the end.
const ENDS: (usize, usize) = (5, 3);

/// The number of rows that are kept because they differ from the others.
const MAX_RARE: usize = 15;

/// The smallest part of the lines with as many cells as the head, in percent.
const MIN_PERCENT: usize = 90;

/// The longest value of the first column that a note names, in bytes.
const MAX_VALUE: usize = 40;

/// Shortens a table. Returns whether the text is one.
pub(super) fn shorten(sheet: &mut Sheet) -> bool {
    let Some((separator, columns)) = form(sheet) else {
        return false;
    };
    let cells = |at: usize| cells(sheet.line(at), separator);
    let rows: Vec<(usize, Vec<String>)> = (1..sheet.len())
        .map(|at| (at, cells(at)))
        .filter(|(at, cells)| cells.len() == columns && !is_rule(sheet.line(*at)))
        .collect();
    let head = cells(0);
    let mut kept: BTreeSet<usize> = rows
        .iter()
        .take(ENDS.0)
        .chain(rows.iter().rev().take(ENDS.1))
        .map(|(at, _)| *at)
        .collect();
    kept.extend(extremes(&rows, columns));
    kept.extend(rare(&rows, columns).into_iter().take(MAX_RARE));
    let mut run: Option<Run> = None;
    for (at, row) in &rows {
        if kept.contains(at) {
            run = None;
            continue;
        }
        let first = row.first().map_or("", String::as_str);
        match &mut run {
            Some(run) => run.last = shown(first),
            none => {
                let (note, value) = (sheet.note(""), shown(first));
                *none = Some(Run {
                    note,
                    first: value.clone(),
                    last: value,
                });
            }
        }
        if let Some(Run { note, first, last }) = &run {
            let column = head.first().map_or_else(String::new, |name| shown(name));
            sheet.set_note(*note, format!("{column} from {first} to {last}"));
            sheet.leave(*at, *note);
        }
    }
    true
}

/// Rows that are left out together: their note, and the first and the last value of the first column.
struct Run {
    note: usize,
    first: String,
    last: String,
}

/// Returns the separator and the number of the columns.
fn form(sheet: &Sheet) -> Option<(char, usize)> {
    let lines = || sheet.lines().filter(|line| !line.trim().is_empty());
    let count = lines().count();
    if count <= MAX_ROWS {
        return None;
    }
    let head = lines().next()?;
    let separators = [('\t', 2), (',', 3), (';', 3), ('|', 3)];
    separators.into_iter().find_map(|(separator, min)| {
        let columns = cells(head, separator).len();
        let same = lines().filter(|line| cells(line, separator).len() == columns).count();
        (columns >= min && same * 100 >= count * MIN_PERCENT).then_some((separator, columns))
    })
}

/// Divides a row. Separators between quotation marks are text.
fn cells(line: &str, separator: char) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            c => cell.push(c),
        }
    }
    cells.push(cell.trim().to_owned());
    cells
}

/// Returns whether a line only separates the head of a table from its rows.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '|' | '-' | '+' | ':' | '=' | ' '))
}

/// Returns the rows with the smallest and the largest number of each column.
fn extremes(rows: &[(usize, Vec<String>)], columns: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for column in 0..columns {
        let numbers = rows
            .iter()
            .filter_map(|(at, cells)| Some((*at, cells.get(column)?.parse::<f64>().ok()?)));
        let numbers: Vec<_> = numbers.filter(|(_, number)| number.is_finite()).collect();
        let order = |one: &&(usize, f64), other: &&(usize, f64)| one.1.total_cmp(&other.1);
        found.extend(
            numbers
                .iter()
                .min_by(order)
                .into_iter()
                .chain(numbers.iter().max_by(order))
                .map(|(at, _)| *at),
        );
    }
    found
}

/// Returns the rows with rare values in columns that have few different ones.
fn rare(rows: &[(usize, Vec<String>)], columns: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for column in 0..columns {
        let mut values: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, cells) in rows {
            values
                .entry(cells.get(column).map_or("", String::as_str))
                .or_default()
                .push(*at);
        }
        // Numbers differ anyway; a missing one is rare.
        let are_few = values.len() <= 4.max(rows.len() / 10);
        let few = values
            .iter()
            .filter(|(value, at)| at.len() <= 1.max(rows.len() / 50) && (are_few || value.is_empty()));
        found.extend(few.flat_map(|(_, at)| at));
    }
    found
}

fn shown(value: &str) -> String {
    visible(&clip(value, MAX_VALUE)).into_owned()
}
