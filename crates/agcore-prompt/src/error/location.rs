//! [`Location`]: a line and column in a template.

use std::fmt;

use super::printable::Printable;

/// The number of characters that an excerpt shows on each side of the location.
const EXCERPT_RADIUS: usize = 30;

/// A location in the source of a template.
///
/// Lines and columns are one-based. Columns count characters, not bytes.
///
/// ```
/// use agcore_prompt::PromptTemplate;
///
/// let error = PromptTemplate::compile("Dear user,\n你好 {{/if}}").unwrap_err();
/// let location = error.location().unwrap();
/// assert_eq!((location.line, location.column), (2, 4));
/// assert_eq!(&*location.excerpt, "你好 {{/if}}");
/// assert_eq!(location.to_string(), "line 2, column 4");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The name under which the template is registered, if any.
    pub template: Option<Box<str>>,
    /// The one-based line.
    pub line: usize,
    /// The one-based column in characters.
    pub column: usize,
    /// The part of the line around the location.
    pub excerpt: Box<str>,
}

impl Location {
    /// Creates the location of a byte offset in the source.
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
            write!(f, "template `{}`, ", Printable(name))?;
        }
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Joins the end of the text before the location with the start of the text after it. An ellipsis marks omitted text.
fn excerpt(before: &str, after: &str) -> Box<str> {
    let start = before
        .char_indices()
        .rev()
        .nth(EXCERPT_RADIUS - 1)
        .map_or(0, |(index, _)| index);
    let end = after
        .char_indices()
        .nth(EXCERPT_RADIUS)
        .map_or(after.len(), |(index, _)| index);
    let prefix = if start > 0 { "…" } else { "" };
    let suffix = if end < after.len() { "…" } else { "" };
    [prefix, before[start..].trim_start(), after[..end].trim_end(), suffix]
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
    fn truncates_long_lines_on_both_sides() {
        let long = "ü".repeat(40) + "^" + &"b".repeat(40);
        check(&long, 1, 41, &format!("…{}^{}…", "ü".repeat(30), "b".repeat(29)));
    }

    #[test]
    fn accepts_an_offset_outside_the_source() {
        assert_eq!(Location::new(None, "é", 1).column, 2);
        assert_eq!(
            Location::new(Some("t"), "é", 9).to_string(),
            "template `t`, line 1, column 2"
        );
    }
}
