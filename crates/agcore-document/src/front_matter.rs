//! [`FrontMatter`]: the data at the beginning of a Markdown file.

use crate::{
    error::{DocumentError, ErrorKind, Expected, Found},
    format::Format,
    limits::Limits,
    node::{Node, Value},
    place::Place,
};

/// The largest number of characters of a key that shows that a line is not prose.
const MAX_KEY: usize = 64;

/// The data at the beginning of a Markdown file, and the text after it. The data is YAML between lines with `---` (the last may
/// be `...`), or TOML between lines with `+++`.
///
/// A file that begins with a horizontal rule has none: a line `---` begins front matter if the next line is not blank and looks
/// like a member, such as `title: Tea`, or a comment, and another line ends it.
///
/// ```
/// use agcore_document::{Format, FrontMatter, Place};
///
/// let found = FrontMatter::split("---\ntitle: Tea\n...\nGreen.")?.unwrap();
/// assert_eq!((found.format, found.text, found.body), (Format::Yaml, "title: Tea\n", "Green."));
/// // Places are those of the file.
/// assert_eq!(found.parse()?.member("title").unwrap().place, Place::new(2, 1));
/// let found = FrontMatter::split("+++\ntitle = 'Tea'\n+++\nGreen.")?.unwrap();
/// assert_eq!(found.parse()?.to_json()["title"], "Tea");
/// assert_eq!(FrontMatter::split("---\n\nA rule.\n\n---\n")?, None);
/// # Ok::<(), agcore_document::DocumentError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrontMatter<'t> {
    /// The format, YAML or TOML.
    pub format: Format,
    /// The lines between the delimiters.
    pub text: &'t str,
    /// The lines after the last delimiter.
    pub body: &'t str,
}

impl<'t> FrontMatter<'t> {
    /// Splits a file into front matter and text; `None` if all of it is text.
    ///
    /// # Errors
    /// When the first line begins front matter that does not end.
    pub fn split(text: &'t str) -> Result<Option<Self>, DocumentError> {
        let text = text.trim_start_matches('\u{feff}');
        let Some((first, rest)) = text.split_once('\n') else {
            return Ok(None);
        };
        let (format, ends) = match first.trim_end() {
            "---" => (Format::Yaml, &["---", "..."][..]),
            "+++" => (Format::Toml, &["+++"][..]),
            _ => return Ok(None),
        };
        let mut lines = rest.lines().take_while(|line| !ends.contains(&line.trim_end()));
        let begins = match lines.next() {
            // There is no line between the delimiters.
            None => !rest.is_empty(),
            Some(line) if line.trim().is_empty() => false,
            Some(line) => {
                let is_comment = |line: &&str| line.trim().is_empty() || line.starts_with('#');
                let content = std::iter::once(line).chain(lines).find(|line| !is_comment(line));
                content.is_none_or(|line| is_member(format, line))
            }
        };
        if !begins {
            return Ok(None);
        }
        let mut at = 0;
        for line in rest.split_inclusive('\n') {
            if ends.contains(&line.trim_end()) {
                return Ok(Some(Self {
                    format,
                    text: &rest[..at],
                    body: &rest[at + line.len()..],
                }));
            }
            at += line.len();
        }
        // Prose may have a colon in its first line.
        let key = rest.split([':', '=']).next().unwrap_or_default().trim_end();
        if key.contains(char::is_whitespace) || key.starts_with('#') {
            return Ok(None);
        }
        let delimiter = ends[0];
        let problem = format!("the front matter that begins here does not end; add a line with `{delimiter}` after it");
        Err(DocumentError::of_text(Place::START, ErrorKind::Syntax(problem)))
    }

    /// Reads the data within the default limits. Its places are those of the file.
    ///
    /// # Errors
    /// The first part that is not of the format, is not supported, or exceeds a limit, or data that is not a table.
    pub fn parse(&self) -> Result<Node, DocumentError> {
        let mut root = self
            .format
            .parse_within(self.text, &Limits::default())
            .map_err(|mut error| {
                error.place.line += 1;
                error
            })?;
        below_delimiter(&mut root);
        if let Value::Null = root.value {
            root.value = Value::Table(Vec::new());
        }
        match root.value {
            Value::Table(_) => Ok(root),
            _ => {
                let found = Found::of(&root);
                let expected = Expected::Other("members such as `title: Tea`".to_owned());
                let kind = ErrorKind::WrongType { expected, found };
                Err(DocumentError::of_text(root.place, kind))
            }
        }
    }

    /// Describes a problem of the data for people who edit the file, with its line.
    ///
    /// ```
    /// use agcore_document::FrontMatter;
    ///
    /// let found = FrontMatter::split("---\ntitle: a\ntitle: b\n---\n")?.unwrap();
    /// let problem = found.describe(&found.parse().unwrap_err());
    /// let expected = "the front matter is invalid: line 3: the key \"title\" occurs twice in one table; remove one of them";
    /// assert_eq!(problem, expected);
    /// # Ok::<(), agcore_document::DocumentError>(())
    /// ```
    pub fn describe(&self, error: &DocumentError) -> String {
        let line = error.place.line;
        match (&error.kind, self.format) {
            (ErrorKind::Syntax(message), Format::Toml) => {
                format!("the front matter is not TOML: line {line}: {message}")
            }
            (ErrorKind::Syntax(message), _) => format!("the front matter is not YAML: line {line}: {message}"),
            (kind, _) if error.path.is_empty() => format!("the front matter is invalid: line {line}: {kind}"),
            (kind, _) => format!("the front matter is invalid: line {line}: {}: {kind}", error.path),
        }
    }
}

/// Moves all places by the line of the first delimiter.
fn below_delimiter(node: &mut Node) {
    node.place.line += 1;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(below_delimiter),
        Value::Table(members) => {
            for member in members {
                member.place.line += 1;
                below_delimiter(&mut member.node);
            }
        }
        _ => {}
    }
}

/// Returns whether a line looks like the first member of a table.
fn is_member(format: Format, line: &str) -> bool {
    let line = line.trim_end();
    match format {
        Format::Yaml if line.starts_with(['{', '?', '!', '&']) => true,
        Format::Yaml => {
            let key = match line.split_once(": ").or_else(|| line.split_once(":\t")) {
                Some((key, _)) => key,
                None => line.strip_suffix(':').unwrap_or_default(),
            };
            !key.is_empty() && !key.starts_with(['-', '*', '>', ' ']) && key.chars().count() <= MAX_KEY
        }
        _ => line.starts_with('[') || line.contains('='),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let found = FrontMatter::split(text).unwrap();
        assert_eq!(found.map(|found| (found.text, found.body)), expected, "{text:?}");
    }

    #[test]
    fn front_matter_is_split_from_the_text() {
        check("---\ntitle: x\n---\nbody\n---\n", Some(("title: x\n", "body\n---\n")));
        check("---\ntitle: x\n...\nbody", Some(("title: x\n", "body")));
        check(
            "\u{feff}--- \r\ntitle: x\r\n---\t\r\nbody",
            Some(("title: x\r\n", "body")),
        );
        check("---\n# comment\n---\nbody", Some(("# comment\n", "body")));
        check("---\n---\nbody", Some(("", "body")));
        check("---\ntags:\n  - a\n---", Some(("tags:\n  - a\n", "")));
        check("---\n{a: b}\n---\n", Some(("{a: b}\n", "")));
        check("---\nDate created: today\n---\n", Some(("Date created: today\n", "")));
        check(
            "+++\n[taxonomies]\ntags = ['a']\n+++\nbody",
            Some(("[taxonomies]\ntags = ['a']\n", "body")),
        );
    }

    #[test]
    fn a_rule_is_text() {
        for text in [
            "",
            "---",
            "---\n",
            "----\na: b\n---\n",
            "---\n\nJust a horizontal rule first\n\n---\n\nmore\n",
            "---\nJust text\n---\nmore",
            "---\n- a\n- b: c\n---\n",
            "---\n# Heading\n\ntext\n---\n",
            "---\nNote to self: buy milk\n",
            "---\n\ntitle: x\n---\n",
            "+++\ntext\n+++\n",
            "text\n---\na: b\n---\n",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn mistakes_are_named() {
        let error = FrontMatter::split("---\ntitle: a\n").unwrap_err().to_string();
        assert!(error.contains("does not end; add a line with `---`"), "{error}");
        let error = FrontMatter::split("+++\ntitle = 'a'\n").unwrap_err().to_string();
        assert!(error.contains("`+++`"), "{error}");
        let error = |text: &str| FrontMatter::split(text).unwrap().unwrap().parse().unwrap_err();
        assert_eq!(error("+++\na = 1\ntitle = \n+++\n").place, Place::new(3, 9));
        assert_eq!(error("---\na: 1\na: 2\n---\n").place, Place::new(3, 1));
        assert_eq!(error("---\n{a, b: }]\n---\n").place.line, 2,);
    }

    #[test]
    fn both_formats_are_read_alike() {
        let parse = |text: &str| FrontMatter::split(text).unwrap().unwrap().parse().unwrap().to_json();
        let toml = "+++\ndate = 2026-01-31T12:00:00Z\ntags = ['a', 2]\n[x]\ny = 1.5\nz = true\n+++\n";
        let yaml = "---\ndate: 2026-01-31T12:00:00Z\ntags: [a, 2]\nx:\n  y: 1.5\n  z: true\n---\n";
        let expected =
            serde_json::json!({"date": "2026-01-31T12:00:00Z", "tags": ["a", 2], "x": {"y": 1.5, "z": true}});
        assert_eq!((parse(toml), parse(yaml)), (expected.clone(), expected));
        assert_eq!(parse("---\n# nothing\n---\n"), serde_json::json!({}));
    }
}
