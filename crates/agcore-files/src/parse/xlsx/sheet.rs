//! [`Sheet`]: the cells of a sheet, which become a table.

use std::collections::BTreeMap;

use calamine::{DataRef, Dimensions};
use serde_json::{Number, Value};

use super::{
    super::preamble::{MAX_ROWS, Row, preamble},
    merged::{fill, first_rows, header_rows},
};
use crate::{grid::Grid, problem::FileProblem, table::Table, work::Work};

/// The number of rows above a table that can be its headings.
const MAX_HEADINGS: usize = 5;

/// The largest integer below which all integers are numbers of Excel, which have 53 bits.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

/// The cells of a sheet that have a value. A sheet can have two cells in opposite corners, so they are kept by their positions.
#[derive(Debug)]
pub(super) struct Sheet<'w> {
    work: &'w Work<'w>,
    rows: BTreeMap<u32, BTreeMap<u32, Value>>,
}

impl<'w> Sheet<'w> {
    pub(super) fn new(work: &'w Work<'w>) -> Self {
        Self {
            work,
            rows: BTreeMap::new(),
        }
    }

    /// Adds a cell, and returns whether it has a value. Empty cells are not kept.
    pub(super) fn push(&mut self, row: u32, column: u32, cell: &DataRef<'_>) -> Result<bool, FileProblem> {
        self.work.check()?;
        let Some(value) = value(cell) else {
            return Ok(false);
        };
        self.work.count_cells(1)?;
        if let Value::String(text) = &value {
            self.work.count_text(text.len())?;
        }
        self.rows.entry(row).or_default().insert(column, value);
        Ok(true)
    }

    /// Returns the table of the rows and columns that have values, or `None` if the sheet is empty. The first row has the names
    /// of the columns; rows with a single cell above it, or with names and values, are headings. Merged cells have their value in
    /// all of their rows.
    pub(super) fn into_table(mut self, name: &str, merged: &[Dimensions]) -> Result<Option<Table>, FileProblem> {
        let mut headings = self.take_headings();
        headings.extend(self.take_preamble(merged)?);
        fill(self.work, &mut self.rows, merged)?;
        let header = header_rows(&self.rows, merged);
        let columns = || self.rows.values().flat_map(|row| row.keys().copied());
        let (Some(first), Some(last)) = (columns().min(), columns().max()) else {
            return Ok(None);
        };
        let line = self.rows.keys().next().map(|row| row.saturating_add(1));
        let width = (last - first) as usize + 1;
        let mut grid = Grid::default();
        for (number, cells) in self.rows {
            // Before the row is made, because a single cell in the last column makes it wide.
            self.work.count_cells(width)?;
            let mut row = vec![Value::Null; width];
            for (column, value) in cells {
                row[(column - first) as usize] = value;
            }
            grid.push_numbered(self.work, row, number.saturating_add(1))?;
        }
        Ok(grid.into_table_below(self.work.name, header).map(|mut table| {
            table.sheet = Some(name.to_owned());
            table.line = line;
            table.columns_before = first;
            table.headings = headings;
            table
        }))
    }

    /// Removes the rows above the table that have a single text, and returns the texts.
    fn take_headings(&mut self) -> Vec<String> {
        let is_heading = |row: &BTreeMap<u32, Value>| row.len() == 1 && row.values().all(Value::is_string);
        let rows: Vec<u32> = self
            .rows
            .iter()
            .take_while(|(_, row)| is_heading(row))
            .map(|(row, _)| *row)
            .collect();
        // A sheet with one column is not a list of headings.
        if rows.len() > MAX_HEADINGS || rows.len() == self.rows.len() {
            return Vec::new();
        }
        let taken = rows.iter().filter_map(|row| self.rows.remove(row));
        let texts = taken.flat_map(BTreeMap::into_values);
        texts.filter_map(|value| value.as_str().map(str::to_owned)).collect()
    }
}

impl Sheet<'_> {
    /// Removes the other rows above the table, as in a file of values, and returns their texts.
    fn take_preamble(&mut self, merged: &[Dimensions]) -> Result<Vec<String>, FileProblem> {
        let rows = first_rows(self.work, &self.rows, merged, MAX_ROWS)?;
        let above = preamble(&rows);
        let taken = rows.into_iter().take(above).filter_map(Row::into_heading).collect();
        for _ in 0..above {
            self.rows.pop_first();
        }
        Ok(taken)
    }
}

fn value(cell: &DataRef<'_>) -> Option<Value> {
    Some(match cell {
        DataRef::Empty => return None,
        DataRef::Int(number) => Value::from(*number),
        DataRef::Float(number) => number_value(*number),
        DataRef::String(text) => text_value(text)?,
        DataRef::SharedString(text) => text_value(text)?,
        DataRef::Bool(value) => Value::from(*value),
        DataRef::DateTime(time) if time.is_duration() => Value::from(duration(time.as_f64())),
        DataRef::DateTime(time) => Value::from(date_time(time.to_ymd_hms_milli())),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text_value(text)?,
        DataRef::Error(error) => Value::from(error.to_string()),
    })
}

fn text_value(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| Value::from(text))
}

/// Excel stores whole numbers as fractions.
#[expect(clippy::cast_possible_truncation, reason = "whole numbers below the limit are exact")]
fn number_value(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < MAX_SAFE_INTEGER {
        return Value::from(number as i64);
    }
    Number::from_f64(number).map_or_else(|| Value::from(number.to_string()), Value::Number)
}

/// Year, month, day, hour, minute, second and millisecond, as calamine returns them.
type Moment = (u16, u8, u8, u8, u8, u8, u16);

/// Returns a date, a time, or both as in ISO 8601. Excel stores times without a date as parts of day 0.
fn date_time(moment: Moment) -> String {
    let (year, month, day, hour, minute, second, milli) = moment;
    let fraction = if milli == 0 {
        String::new()
    } else {
        format!(".{milli:03}")
    };
    let time = format!("{hour:02}:{minute:02}:{second:02}{fraction}");
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (year < 1900 || day == 0, time == "00:00:00") {
        (true, _) => time,
        (false, true) => date,
        (false, false) => format!("{date}T{time}"),
    }
}

/// Returns hours, minutes and seconds of a number of days.
fn duration(days: f64) -> String {
    let seconds = (days.abs() * 86_400.0).round();
    let sign = if days < 0.0 { "-" } else { "" };
    let (hours, rest) = ((seconds / 3600.0).floor(), seconds % 3600.0);
    format!("{sign}{hours}:{:02}:{:02}", (rest / 60.0).floor(), rest % 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_shown_as_people_write_them() {
        assert_eq!(number_value(3.0), Value::from(3));
        assert_eq!(number_value(2.5), Value::from(2.5));
        assert_eq!(number_value(f64::NAN), Value::from("NaN"));
        assert_eq!(date_time((2024, 2, 29, 0, 0, 0, 0)), "2024-02-29");
        assert_eq!(date_time((2024, 2, 29, 13, 5, 9, 0)), "2024-02-29T13:05:09");
        assert_eq!(date_time((1899, 12, 31, 13, 5, 9, 250)), "13:05:09.250");
        assert_eq!(duration(1.5), "36:00:00");
        assert_eq!(duration(-0.25), "-6:00:00");
    }
}
