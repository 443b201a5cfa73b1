//! [`Citation`]: the place in a source that supports a text.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The place in a source that supports a text: what a model has read, in a form that is the same for every vendor.
///
/// Results of a search in a wiki have one for each passage, and replies those that the vendor has reported.
///
/// ```
/// use agcore_chat::{Citation, SourcePosition};
///
/// let position = SourcePosition::new().with_sheet("Sales").with_cells("A2:D11");
/// let citation = Citation::new("2026/sales.xlsx").with_title("Sales").with_position(position);
/// assert_eq!(citation.to_string(), "2026/sales.xlsx, sheet Sales, cells A2:D11");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Citation {
    /// The source: the name of a file, a URL, or the id of a page.
    pub source: String,
    /// The title of the source, or of its part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The place in the source.
    #[serde(default, skip_serializing_if = "SourcePosition::is_empty")]
    pub position: SourcePosition,
    /// The text at this place, or its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The part of the citing text that the source supports. `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<TextSpan>,
}

/// A part of a text, in characters (Unicode scalar values).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextSpan {
    /// The number of characters before the part.
    pub start: usize,
    /// The number of characters before the end of the part.
    pub end: usize,
}

impl TextSpan {
    /// Creates a part.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

/// A place in a source. Members that the kind of the source does not have are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourcePosition {
    /// The page, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The last page, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_page: Option<u32>,
    /// The name of the sheet of a workbook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The cells of the sheet, such as `A2:D11`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<String>,
    /// The first line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The last line, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<u32>,
    /// The headings above the place, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// The first row of a table without lines or cells, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// The last row, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_row: Option<u32>,
    /// The characters of the source, or of the text that was extracted from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub characters: Option<TextSpan>,
}

impl SourcePosition {
    /// Creates an unknown place.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the page.
    #[must_use]
    pub fn with_page(mut self, page: u32) -> Self {
        self.page = Some(page);
        self
    }

    /// Sets the first and the last page.
    #[must_use]
    pub fn with_pages(mut self, first: u32, last: u32) -> Self {
        (self.page, self.last_page) = range(first, last);
        self
    }

    /// Sets the sheet.
    #[must_use]
    pub fn with_sheet(mut self, sheet: impl Into<String>) -> Self {
        self.sheet = Some(sheet.into());
        self
    }

    /// Sets the cells of the sheet.
    #[must_use]
    pub fn with_cells(mut self, cells: impl Into<String>) -> Self {
        self.cells = Some(cells.into());
        self
    }

    /// Sets the first and the last line.
    #[must_use]
    pub fn with_lines(mut self, first: u32, last: u32) -> Self {
        (self.line, self.last_line) = range(first, last);
        self
    }

    /// Sets the first and the last row.
    #[must_use]
    pub fn with_rows(mut self, first: u32, last: u32) -> Self {
        (self.row, self.last_row) = range(first, last);
        self
    }

    /// Sets the headings, the outermost first.
    #[must_use]
    pub fn with_headings(mut self, headings: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.headings = headings.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the characters.
    #[must_use]
    pub fn with_characters(mut self, characters: TextSpan) -> Self {
        self.characters = Some(characters);
        self
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the first of a range, and the last if it is another one.
fn range(first: u32, last: u32) -> (Option<u32>, Option<u32>) {
    (Some(first), Some(last).filter(|last| *last > first))
}

/// Writes the place for people: `page 3`, `sheet Sales, cells A2:D11`, `lines 4 to 9, "Watering"`. Characters are written if
/// nothing else is known.
impl fmt::Display for SourcePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut part = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            f.write_str(std::mem::replace(&mut separator, ", "))?;
            f.write_fmt(text)
        };
        if let Some(sheet) = &self.sheet {
            part(f, format_args!("sheet {sheet}"))?;
        }
        if let Some(cells) = &self.cells {
            part(f, format_args!("cells {cells}"))?;
        }
        let ranges = [
            ("page", self.page, self.last_page),
            ("line", self.line, self.last_line),
            ("row", self.row, self.last_row),
        ];
        for (name, first, last) in ranges {
            match (first, last) {
                (Some(first), Some(last)) => part(f, format_args!("{name}s {first} to {last}"))?,
                (Some(first), None) => part(f, format_args!("{name} {first}"))?,
                (None, _) => {}
            }
        }
        if let Some(heading) = self.headings.last() {
            part(f, format_args!("\"{heading}\""))?;
        }
        let is_known = self.sheet.is_some() || self.page.is_some() || self.line.is_some() || self.row.is_some();
        match self.characters {
            Some(span) if !is_known => part(f, format_args!("characters {} to {}", span.start + 1, span.end)),
            _ => Ok(()),
        }
    }
}

impl Citation {
    /// Creates the citation of a whole source.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            ..Self::default()
        }
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the place in the source.
    #[must_use]
    pub fn with_position(mut self, position: SourcePosition) -> Self {
        self.position = position;
        self
    }

    /// Sets the text at this place.
    #[must_use]
    pub fn with_quote(mut self, quote: impl Into<String>) -> Self {
        self.quote = Some(quote.into());
        self
    }

    /// Sets the part of the citing text that the source supports.
    #[must_use]
    pub fn with_span(mut self, span: TextSpan) -> Self {
        self.span = Some(span);
        self
    }
}

/// Writes the source and the place: `report.pdf, page 3`.
impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        match self.position.is_empty() {
            true => Ok(()),
            false => write!(f, ", {}", self.position),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_written_for_people() {
        let position = SourcePosition::new;
        for (position, expected) in [
            (position(), "a"),
            (position().with_page(3), "a, page 3"),
            (position().with_pages(3, 4), "a, pages 3 to 4"),
            (position().with_lines(4, 4), "a, line 4"),
            (
                position().with_lines(4, 9).with_headings(["Garden", "Water"]),
                "a, lines 4 to 9, \"Water\"",
            ),
            (
                position().with_sheet("S").with_cells("A2:D11"),
                "a, sheet S, cells A2:D11",
            ),
            (
                position().with_rows(1, 5).with_headings(["Prices"]),
                "a, rows 1 to 5, \"Prices\"",
            ),
            (position().with_characters(TextSpan::new(0, 9)), "a, characters 1 to 9"),
            (
                position().with_page(1).with_characters(TextSpan::new(0, 9)),
                "a, page 1",
            ),
        ] {
            assert_eq!(Citation::new("a").with_position(position).to_string(), expected);
        }
    }

    #[test]
    fn absent_members_are_not_written() {
        let citation = Citation::new("a");
        assert_eq!(serde_json::to_string(&citation).unwrap(), r#"{"source":"a"}"#);
        let full = citation
            .with_title("A")
            .with_position(SourcePosition::new().with_page(2))
            .with_quote("x")
            .with_span(TextSpan::new(1, 2));
        let text = serde_json::to_string(&full).unwrap();
        assert_eq!(
            text,
            r#"{"source":"a","title":"A","position":{"page":2},"quote":"x","span":{"start":1,"end":2}}"#
        );
        assert_eq!(serde_json::from_str::<Citation>(&text).unwrap(), full);
    }
}
