//! [`shortened`]: a long text with less of what repeats, by its structure.

mod sheet;
mod json;
mod diff;
mod html;
mod rows;
mod repeats;

use self::sheet::Sheet;

/// The part of its length that a shortened text may have at most, in percent.
const MAX_PERCENT: usize = 85;

/// The structure by which a text was shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextStructure {
    /// A JSON document.
    Json,
    /// Changes of files, in the unified format.
    Diff,
    /// A page of HTML.
    Html,
    /// Rows with the same columns, such as CSV.
    Rows,
    /// Lines with the same form, such as logs and stack traces.
    Lines,
}

/// A text that was shortened by its structure.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShortenedText {
    /// The text. Notes in brackets stand for the lines that were left out, and name their numbers.
    pub text: String,
    /// The structure.
    pub structure: TextStructure,
    /// The number of lines of the original, as [`numbered_lines`] divides it.
    pub lines: usize,
}

/// Shortens a long text by its structure: JSON, diffs, HTML, tables, logs and other lines that repeat. Returns `None` if it has
/// no structure that allows it, or if it would not become much shorter.
///
/// The result is always the same for a text. Notes stand for the lines that are left out, with their numbers in
/// [`numbered_lines`]. What is unlike the rest is kept: rare values, errors, the first and last lines of their kind.
///
/// ```
/// use agcore_tools::{TextStructure, shortened};
///
/// let log: Vec<String> = (0..500).map(|n| format!("12:00:01 INFO request {n} took {} ms", n % 7)).collect();
/// let text = log.join("\n") + "\n12:00:02 ERROR the disk is full";
/// let short = shortened(&text).unwrap();
/// assert_eq!((short.structure, short.lines), (TextStructure::Lines, 501));
/// assert!(short.text.len() < 500);
/// assert!(short.text.contains("[lines 4-499 left out: like line 3]"));
/// assert!(short.text.ends_with("12:00:02 ERROR the disk is full"));
/// assert_eq!(shortened("one line"), None);
/// ```
pub fn shortened(text: &str) -> Option<ShortenedText> {
    if text.trim().is_empty() {
        return None;
    }
    let (sheet, structure) = if let Some(sheet) = json::sheet(text) {
        (sheet, TextStructure::Json)
    } else {
        let mut sheet = Sheet::of(text);
        let structure = if diff::shorten(&mut sheet) {
            TextStructure::Diff
        } else if html::shorten(&mut sheet) {
            TextStructure::Html
        } else if rows::shorten(&mut sheet) {
            TextStructure::Rows
        } else {
            repeats::shorten(&mut sheet);
            TextStructure::Lines
        };
        (sheet, structure)
    };
    let short = sheet.render();
    let is_short = !short.is_empty() && short.len() * 100 < text.len() * MAX_PERCENT;
    is_short.then(|| ShortenedText {
        text: short,
        structure,
        lines: sheet.len(),
    })
}

/// Divides a text into the lines to which the notes of [`shortened`] refer: those of JSON documents as they are formatted for
/// reading, and others with very long lines divided.
///
/// ```
/// assert_eq!(agcore_tools::numbered_lines("a\nb"), ["a", "b"]);
/// ```
pub fn numbered_lines(text: &str) -> Vec<String> {
    json::sheet(text).unwrap_or_else(|| Sheet::of(text)).into_lines()
}
