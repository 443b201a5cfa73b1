//! [`Location`]: a place in a template, in the terms of a person with an editor.

use std::fmt;

/// Characters of the line that an excerpt shows on either side of the place.
const EXCERPT_SIDE: usize = 30;

/// A place in the source of a template.
///
/// Lines and columns count from 1; columns count characters, not bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The name under which the template is registered, if it is.
    pub template: Option<Box<str>>,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The piece of the line around the place.
    pub excerpt: Box<str>,
}

impl Location {
    /// The place at this byte offset of the source.
    pub(crate) fn new(template: Option<&str>, source: &str, offset: usize) -> Self {
        let (before, after) = source.split_at_checked(offset).unwrap_or((source, ""));
        let (lines, line_before) = before
            .rsplit_once('\n')
            .map_or(("", before), |(lines, last)| (lines, last));
        let line = if line_before.len() == before.len() {
            1
        } else {
            lines.matches('\n').count() + 2
        };
        Self {
            template: template.map(Into::into),
            line,
            column: line_before.chars().count() + 1,
            excerpt: excerpt(line_before, after.lines().next().unwrap_or_default()),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.template {
            write!(f, "template `{name}`, ")?;
        }
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The end of what stands before and the start of what stands after, marked where something is left out.
fn excerpt(before: &str, after: &str) -> Box<str> {
    let start = before
        .char_indices()
        .rev()
        .nth(EXCERPT_SIDE - 1)
        .map_or(0, |(at, _)| at);
    let end = after.char_indices().nth(EXCERPT_SIDE).map_or(after.len(), |(at, _)| at);
    let open = if start > 0 { "…" } else { "" };
    let close = if end < after.len() { "…" } else { "" };
    [open, before[start..].trim_start(), after[..end].trim_end(), close]
        .concat()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, line: usize, column: usize, excerpt: &str) {
        let offset = source.find('^').unwrap_or(source.len());
        let found = Location::new(None, source, offset);
        assert_eq!((found.line, found.column, &*found.excerpt), (line, column, excerpt));
    }

    #[test]
    fn counts_lines_and_characters_from_one() {
        check("", 1, 1, "");
        check("^", 1, 1, "^");
        check("ab^c", 1, 3, "ab^c");
        check("\n^x\ny", 2, 1, "^x");
        check("a\nb\r\n  你好^", 3, 5, "你好^");
        check("a\n", 2, 1, "");
    }

    #[test]
    fn cuts_long_lines_on_both_sides() {
        let long = "ü".repeat(40) + "^" + &"b".repeat(40);
        check(&long, 1, 41, &format!("…{}^{}…", "ü".repeat(30), "b".repeat(29)));
    }

    #[test]
    fn survives_an_offset_outside_the_source() {
        assert_eq!(Location::new(None, "é", 1).column, 2);
        assert_eq!(
            Location::new(Some("t"), "é", 9).to_string(),
            "template `t`, line 1, column 2"
        );
    }
}
