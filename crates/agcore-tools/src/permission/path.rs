//! [`JsonPath`]: selects values in arguments.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::error::{ToolError, ToolErrorKind};

/// A path that selects values in a JSON value.
///
/// The syntax is that of RFC 9535 without filters, slices and descendant segments: `$`, `$.path`, `$['odd name']`,
/// `$.files[0].name`, `$.files[*]`, `$.headers.*`.
///
/// ```
/// use agcore_tools::permission::JsonPath;
/// use serde_json::json;
///
/// let path = JsonPath::new("$.to[*].email")?;
/// let value = json!({"to": [{"email": "a@example.org"}, {"email": "b@example.org"}]});
/// assert_eq!(path.find(&value), [&json!("a@example.org"), &json!("b@example.org")]);
/// # Ok::<(), agcore_tools::ToolError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonPath {
    text: Box<str>,
    segments: Box<[PathSegment]>,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum PathSegment {
    Name(Box<str>),
    Index(usize),
    All,
}

impl JsonPath {
    /// Parses a path.
    ///
    /// # Errors
    /// What is invalid, and at which byte.
    pub fn new(text: &str) -> Result<Self, ToolError> {
        let segments = parse(text).map_err(|(at, reason)| {
            ToolError::new(
                ToolErrorKind::Config,
                format!("invalid JSON path {text:?} at byte {at}: {reason}; write it like $.files[0].name"),
            )
        })?;
        Ok(Self {
            text: text.into(),
            segments: segments.into(),
        })
    }

    /// Returns the path `$`, which selects the whole value.
    pub fn root() -> Self {
        Self {
            text: "$".into(),
            segments: Box::default(),
        }
    }

    /// Returns the steps of the path.
    pub(crate) fn segments(&self) -> &[PathSegment] {
        &self.segments
    }

    /// Returns the part of the path before its first wildcard.
    pub(crate) fn before_wildcard(self) -> Self {
        let Some(at) = self.segments.iter().position(|segment| *segment == PathSegment::All) else {
            return self;
        };
        let segments: Box<[PathSegment]> = self.segments[..at].into();
        let mut text = "$".to_owned();
        segments.iter().for_each(|segment| text.push_str(&segment.text()));
        Self {
            text: text.into(),
            segments,
        }
    }

    /// Returns whether what `other` selects is a part of what this path selects.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        other.segments.starts_with(&self.segments)
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns all values that the path selects.
    pub fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for segment in &self.segments {
            let mut next = Vec::new();
            for value in found {
                segment.follow(value, &mut next);
            }
            found = next;
        }
        found
    }
}

impl PathSegment {
    fn text(&self) -> String {
        match self {
            Self::Name(name) => format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'")),
            Self::Index(index) => format!("[{index}]"),
            Self::All => "[*]".to_owned(),
        }
    }

    fn follow<'v>(&self, value: &'v Value, found: &mut Vec<&'v Value>) {
        match (self, value) {
            (Self::Name(name), Value::Object(members)) => found.extend(members.get(&**name)),
            (Self::Index(index), Value::Array(items)) => found.extend(items.get(*index)),
            (Self::All, Value::Object(members)) => found.extend(members.values()),
            (Self::All, Value::Array(items)) => found.extend(items),
            _ => {}
        }
    }
}

/// The byte at which parsing failed, and the reason.
type ParseError = (usize, &'static str);

fn parse(text: &str) -> Result<Vec<PathSegment>, ParseError> {
    let mut rest = text.strip_prefix('$').ok_or((0, "it must start with $"))?;
    let mut segments = Vec::new();
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        let (segment, tail) = match rest.as_bytes()[0] {
            b'.' => dotted(&rest[1..]).map_err(|reason| (at + 1, reason))?,
            b'[' => bracketed(&rest[1..]).map_err(|reason| (at + 1, reason))?,
            _ => return Err((at, "expected . or [")),
        };
        segments.push(segment);
        rest = tail;
    }
    Ok(segments)
}

/// Parses `*` or a bare name, up to the next `.` or `[`.
fn dotted(rest: &str) -> Result<(PathSegment, &str), &'static str> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, tail) = rest.split_at(end);
    if name == "*" {
        return Ok((PathSegment::All, tail));
    }
    if name.is_empty() {
        return Err("expected a name");
    }
    if let Some(invalid) = name
        .chars()
        .find(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@')))
    {
        return Err(if invalid == '*' {
            "* must be the whole segment"
        } else {
            "a name with this character must be quoted, as in ['…']"
        });
    }
    Ok((PathSegment::Name(name.into()), tail))
}

/// Parses `*`, an index or a quoted name, including the closing `]`.
fn bracketed(rest: &str) -> Result<(PathSegment, &str), &'static str> {
    if let Some(quote @ ('\'' | '"')) = rest.chars().next() {
        let (name, tail) = quoted(&rest[1..], quote)?;
        return Ok((
            PathSegment::Name(name.into()),
            tail.strip_prefix(']').ok_or("expected ]")?,
        ));
    }
    let (inner, tail) = rest.split_once(']').ok_or("expected ]")?;
    if inner == "*" {
        return Ok((PathSegment::All, tail));
    }
    if inner.is_empty() || !inner.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("expected an index, * or a quoted name");
    }
    let index = inner.parse().map_err(|_| "the index is too large")?;
    Ok((PathSegment::Index(index), tail))
}

/// Parses text up to the closing quote. A backslash escapes the next character.
fn quoted(rest: &str, quote: char) -> Result<(String, &str), &'static str> {
    let mut name = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.push(chars.next().ok_or("the quoted name is not closed")?.1),
            c if c == quote => return Ok((name, &rest[at + c.len_utf8()..])),
            c => name.push(c),
        }
    }
    Err("the quoted name is not closed")
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for JsonPath {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<Self, ToolError> {
        Self::new(text)
    }
}

impl Serialize for JsonPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for JsonPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        Self::new(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Value) {
        let value = json!({
            "path": "/a", "files": [{"name": "x"}, {"name": "y"}], "a.b": {"it's": 1}, "headers": {"h": 1, "i": 2},
        });
        let found: Vec<_> = JsonPath::new(path).unwrap().find(&value).into_iter().cloned().collect();
        assert_eq!(Value::Array(found), expected, "{path}");
    }

    #[test]
    fn selects_values() {
        check("$.path", json!(["/a"]));
        check("$.files[1].name", json!(["y"]));
        check("$.files[*].name", json!(["x", "y"]));
        check("$.headers.*", json!([1, 2]));
        check(r"$['a.b']['it\'s']", json!([1]));
        check(r#"$["a.b"]["it's"]"#, json!([1]));
        check("$.files[9]", json!([]));
        check("$.path.deeper", json!([]));
        check("$.path[0]", json!([]));
    }

    #[test]
    fn rejects_invalid_paths() {
        for path in [
            "", "path", "$path", "$.", "$..a", "$.a[", "$.a[-1]", "$.a[x]", "$.a b", "$.a*", "$['a", "$['a'", "$[?@.a]",
        ] {
            let error = JsonPath::new(path).expect_err(path);
            assert!(error.message().contains(" at byte "), "{error}");
        }
    }

    #[test]
    fn the_part_before_a_wildcard_is_a_path() {
        for (path, part) in [
            ("$.*", "$"),
            ("$.files[*].name", "$['files']"),
            (r"$['it\'s'][3].*", r"$['it\'s'][3]"),
            ("$.files[0]", "$.files[0]"),
        ] {
            let path = JsonPath::new(path).unwrap();
            let before = path.clone().before_wildcard();
            assert_eq!(before.as_str(), part);
            assert_eq!(JsonPath::new(part).unwrap().segments, before.segments);
            assert!(before.contains(&path));
        }
        let other = JsonPath::new("$.file").unwrap();
        assert!(!other.contains(&JsonPath::new("$.files[*]").unwrap()));
    }
}
