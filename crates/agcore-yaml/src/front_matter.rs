//! [`FrontMatter`]: the data at the beginning of a Markdown file.

use serde_json::{Map, Value};

/// The largest number of characters of a key that shows that a line is not prose.
const MAX_KEY: usize = 64;

/// The format of front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrontMatterFormat {
    /// YAML, between lines with `---`, of which the last may be `...`.
    Yaml,
    /// TOML, between lines with `+++`.
    Toml,
}

/// The data at the beginning of a Markdown file, and the text after it.
///
/// A file that begins with a horizontal rule has none: a line `---` begins front matter if the next line is not blank and looks
/// like a member, such as `title: Tea`, or a comment, and another line ends it.
///
/// ```
/// use agcore_yaml::{FrontMatter, FrontMatterFormat};
///
/// let found = FrontMatter::split("---\ntitle: Tea\n...\nGreen.")?.unwrap();
/// assert_eq!((found.format, found.text, found.body), (FrontMatterFormat::Yaml, "title: Tea\n", "Green."));
/// let found = FrontMatter::split("+++\ntitle = 'Tea'\n+++\nGreen.")?.unwrap();
/// assert_eq!(found.toml()?["title"], "Tea");
/// assert_eq!(FrontMatter::split("---\n\nA rule.\n\n---\n")?, None);
/// # Ok::<(), agcore_yaml::FrontMatterError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrontMatter<'t> {
    /// The format.
    pub format: FrontMatterFormat,
    /// The lines between the delimiters.
    pub text: &'t str,
    /// The lines after the last delimiter.
    pub body: &'t str,
}

/// A problem of front matter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FrontMatterError(String);

impl<'t> FrontMatter<'t> {
    /// Splits a file into front matter and text; `None` if all of it is text.
    ///
    /// # Errors
    /// When the first line begins front matter that does not end.
    pub fn split(text: &'t str) -> Result<Option<Self>, FrontMatterError> {
        let text = text.trim_start_matches('\u{feff}');
        let Some((first, rest)) = text.split_once('\n') else {
            return Ok(None);
        };
        let (format, ends) = match first.trim_end() {
            "---" => (FrontMatterFormat::Yaml, &["---", "..."][..]),
            "+++" => (FrontMatterFormat::Toml, &["+++"][..]),
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
        Err(FrontMatterError(format!(
            "the front matter that begins in line 1 does not end: add a line with `{delimiter}` after it"
        )))
    }

    /// Reads TOML. Dates and times become texts.
    ///
    /// # Errors
    /// When the text is not TOML.
    pub fn toml(&self) -> Result<Map<String, Value>, FrontMatterError> {
        let table = self.text.parse::<toml::Table>().map_err(|error| {
            let before = error
                .span()
                .map_or("", |span| self.text.get(..span.start).unwrap_or_default());
            // The first line of the file is the delimiter.
            let line = before.matches('\n').count() + 2;
            FrontMatterError(format!(
                "the front matter is not TOML: line {line}: {}",
                error.message()
            ))
        })?;
        Ok(table.into_iter().map(|(name, value)| (name, json(value))).collect())
    }
}

/// Returns whether a line looks like the first member of a table.
fn is_member(format: FrontMatterFormat, line: &str) -> bool {
    let line = line.trim_end();
    match format {
        FrontMatterFormat::Yaml if line.starts_with(['{', '?', '!', '&']) => true,
        FrontMatterFormat::Yaml => {
            let key = match line.split_once(": ").or_else(|| line.split_once(":\t")) {
                Some((key, _)) => key,
                None => line.strip_suffix(':').unwrap_or_default(),
            };
            !key.is_empty() && !key.starts_with(['-', '*', '>', ' ']) && key.chars().count() <= MAX_KEY
        }
        FrontMatterFormat::Toml => line.starts_with('[') || line.contains('='),
    }
}

fn json(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(value) => value.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => items.into_iter().map(json).collect(),
        toml::Value::Table(members) => {
            Value::Object(members.into_iter().map(|(name, value)| (name, json(value))).collect())
        }
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
        assert!(error.contains("does not end: add a line with `---`"), "{error}");
        let error = FrontMatter::split("+++\ntitle = 'a'\n").unwrap_err().to_string();
        assert!(error.contains("`+++`"), "{error}");
        let found = FrontMatter::split("+++\na = 1\ntitle = \n+++\n").unwrap().unwrap();
        let error = found.toml().unwrap_err().to_string();
        assert!(error.starts_with("the front matter is not TOML: line 3: "), "{error}");
    }

    #[test]
    fn toml_becomes_json() {
        let found =
            FrontMatter::split("+++\ndate = 2026-01-31T12:00:00Z\ntags = ['a', 2]\n[x]\ny = 1.5\nz = true\n+++\n");
        let found = found.unwrap().unwrap().toml().unwrap();
        let expected =
            serde_json::json!({"date": "2026-01-31T12:00:00Z", "tags": ["a", 2], "x": {"y": 1.5, "z": true}});
        assert_eq!(Value::Object(found), expected);
    }
}
