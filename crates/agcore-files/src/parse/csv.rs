//! CSV and TSV.

use serde_json::Value;

use crate::{decode::decode, grid::Grid, preprocessed::Preprocessed, problem::FileProblem, work::Work};

/// The number of bytes that are inspected to find the separator.
const SNIFFED_BYTES: usize = 8192;

/// The separators in use. On a tie, the first one wins.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Reads values whose separator is detected.
pub(crate) fn parse_csv(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let text = decode(work)?;
    parse(work, &text, separator(&text))
}

/// Reads values that are separated by tabs.
pub(crate) fn parse_tsv(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    parse(work, &decode(work)?, b'\t')
}

fn parse(work: &Work<'_>, text: &str, separator: u8) -> Result<Preprocessed, FileProblem> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut grid = Grid::default();
    let mut record = csv::StringRecord::new();
    while reader
        .read_record(&mut record)
        .map_err(|error| work.broken("its rows cannot be separated").with_source(error))?
    {
        work.check_row(record.len())?;
        let cells = record.iter().map(|cell| {
            if cell.is_empty() {
                Value::Null
            } else {
                Value::from(cell)
            }
        });
        grid.push(work, cells.collect())?;
    }
    Ok(Preprocessed {
        tables: grid.into_table(work.name).into_iter().collect(),
        ..Preprocessed::new()
    })
}

/// Returns the separator that occurs in the first lines outside of quotes, and most evenly.
fn separator(text: &str) -> u8 {
    let mut end = text.len().min(SNIFFED_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = &text[..end];
    let mut best = (0, SEPARATORS[0]);
    for separator in SEPARATORS {
        let score = score(sample, separator);
        if score > best.0 {
            best = (score, separator);
        }
    }
    best.1
}

/// Returns how many lines have as many of the separators as the first line, which has at least one.
fn score(sample: &str, separator: u8) -> usize {
    let mut counts = Vec::new();
    let (mut count, mut is_quoted) = (0_usize, false);
    for byte in sample.bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => {
                counts.push(count);
                count = 0;
            }
            byte if byte == separator && !is_quoted => count += 1,
            _ => {}
        }
    }
    if counts.is_empty() {
        counts.push(count);
    }
    let first = counts[0];
    if first == 0 {
        return 0;
    }
    counts.iter().filter(|count| **count == first).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: u8) {
        assert_eq!(char::from(separator(text)), char::from(expected));
    }

    #[test]
    fn the_separator_is_detected() {
        check("a,b\n1,2\n", b',');
        check("a;b\n1,5;2\n2,5;3\n", b';');
        check("a\tb\n1\t2", b'\t');
        check("a|b|c\n1|2|3\n", b'|');
        check("\"a;b\",c\n\"d;e\",f\n", b',');
        check("one column\nonly\n", b',');
        check("", b',');
    }
}
