//! [`JsonPath`]: names places in arguments.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use crate::error::{ToolError, ToolErrorKind};

/// Names places in a JSON value, in the notation of RFC 9535 without filters, slices and descent: `$`, `$.path`,
/// `$['odd name']`, `$.files[0].name`, `$.files[*]`, `$.headers.*`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonPath {
    text: Box<str>,
    steps: Box<[Step]>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    Name(Box<str>),
    Index(usize),
    All,
}

impl JsonPath {
    /// Reads a path.
    ///
    /// # Errors
    /// What cannot be read, and where.
    pub fn new(text: &str) -> Result<Self, ToolError> {
        let steps = parse(text).map_err(|(at, why)| {
            ToolError::new(
                ToolErrorKind::Config,
                format!("the path {text:?} cannot be read at byte {at}: {why}; write it like $.files[0].name"),
            )
        })?;
        Ok(Self {
            text: text.into(),
            steps: steps.into(),
        })
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// All values at this path.
    pub fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for step in &self.steps {
            let mut next = Vec::new();
            for value in found {
                step.follow(value, &mut next);
            }
            found = next;
        }
        found
    }
}

impl Step {
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

type Failed = (usize, &'static str);

fn parse(text: &str) -> Result<Vec<Step>, Failed> {
    let mut rest = text.strip_prefix('$').ok_or((0, "it must begin with $"))?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        let (step, tail) = match rest.as_bytes()[0] {
            b'.' => dotted(&rest[1..]).map_err(|why| (at + 1, why))?,
            b'[' => bracketed(&rest[1..]).map_err(|why| (at + 1, why))?,
            _ => return Err((at, "expected . or [")),
        };
        steps.push(step);
        rest = tail;
    }
    Ok(steps)
}

/// `*` or a bare name, up to the next `.` or `[`.
fn dotted(rest: &str) -> Result<(Step, &str), &'static str> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    let (name, tail) = rest.split_at(end);
    if name == "*" {
        return Ok((Step::All, tail));
    }
    if name.is_empty() {
        return Err("expected a name");
    }
    if let Some(odd) = name
        .chars()
        .find(|c| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@')))
    {
        return Err(if odd == '*' {
            "* stands alone"
        } else {
            "a name with such a character goes in ['…']"
        });
    }
    Ok((Step::Name(name.into()), tail))
}

/// `*`, an index or a quoted name, up to and with the `]`.
fn bracketed(rest: &str) -> Result<(Step, &str), &'static str> {
    if let Some(quote @ ('\'' | '"')) = rest.chars().next() {
        let (name, tail) = quoted(&rest[1..], quote)?;
        return Ok((Step::Name(name.into()), tail.strip_prefix(']').ok_or("expected ]")?));
    }
    let (inner, tail) = rest.split_once(']').ok_or("expected ]")?;
    if inner == "*" {
        return Ok((Step::All, tail));
    }
    if inner.is_empty() || !inner.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("expected an index, * or a quoted name");
    }
    let index = inner.parse().map_err(|_| "the index is too large")?;
    Ok((Step::Index(index), tail))
}

/// Text up to a quote; a backslash keeps the next character as it is.
fn quoted(rest: &str, quote: char) -> Result<(String, &str), &'static str> {
    let mut name = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.push(chars.next().ok_or("the quoted name does not end")?.1),
            c if c == quote => return Ok((name, &rest[at + c.len_utf8()..])),
            c => name.push(c),
        }
    }
    Err("the quoted name does not end")
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
    fn finds() {
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
    fn refuses_what_it_cannot_read() {
        for path in [
            "", "path", "$path", "$.", "$..a", "$.a[", "$.a[-1]", "$.a[x]", "$.a b", "$.a*", "$['a", "$['a'", "$[?@.a]",
        ] {
            let error = JsonPath::new(path).expect_err(path);
            assert!(error.message().contains("cannot be read at byte"), "{error}");
        }
    }
}
