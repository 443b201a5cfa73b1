//! The YAML or TOML at the beginning of a Markdown file.

use agcore_yaml::{FrontMatter, FrontMatterFormat};
use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};
use serde_json::{Map, Value};

/// The deepest nesting of lists and tables.
const MAX_DEPTH: usize = 32;

/// Splits a file into the members of its front matter and the rest.
///
/// # Errors
/// What is wrong with the front matter.
pub(crate) fn split(text: &str) -> Result<(Map<String, Value>, &str), String> {
    let missing = "it must begin with front matter: a line `---`, members such as `name: NAME`, and another line `---`";
    let split = FrontMatter::split(text).map_err(|error| error.to_string())?;
    let split = split.ok_or(missing)?;
    let members = match split.format {
        FrontMatterFormat::Toml => split.toml().map_err(|error| error.to_string())?,
        _ => parse(split.text)?,
    };
    Ok((members, split.body))
}

/// Returns a member that is one line or block of text; an empty text if it is missing or something else.
pub(crate) fn text(front: &Map<String, Value>, name: &str) -> String {
    match front.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
        _ => String::new(),
    }
}

fn parse(yaml: &str) -> Result<Map<String, Value>, String> {
    let mut builder = Builder::default();
    let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str(yaml);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| not_yaml(error.marker().line(), error.info()))?;
        builder
            .event(event)
            .map_err(|problem| not_yaml(span.start.line(), problem))?;
    }
    match builder.root {
        Some(Value::Object(members)) => Ok(members),
        None | Some(Value::Null) => Ok(Map::new()),
        Some(_) => Err("the front matter must have members, such as `name: NAME`".to_owned()),
    }
}

fn not_yaml(line: usize, problem: &str) -> String {
    // The first line of the file is `---`.
    format!("the front matter is not YAML: line {}: {problem}", line + 1)
}

#[derive(Default)]
struct Builder {
    root: Option<Value>,
    open: Vec<Container>,
}

enum Container {
    List(Vec<Value>),
    /// The members, and the key whose value comes next.
    Table(Map<String, Value>, Option<String>),
}

impl Builder {
    fn event(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        match event {
            Event::Scalar(text, style, ..) => {
                let is_key = matches!(self.open.last(), Some(Container::Table(_, None)));
                let value = match is_key {
                    true => Value::String(text.into_owned()),
                    false => scalar(&text, style),
                };
                self.add(value)
            }
            // A few bytes of aliases could stand for any amount of data.
            Event::Alias(_) => self.add(Value::Null),
            Event::SequenceStart(..) => self.start(Container::List(Vec::new())),
            Event::MappingStart(..) => self.start(Container::Table(Map::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Container::List(items)) => self.add(Value::Array(items)),
                Some(Container::Table(members, _)) => self.add(Value::Object(members)),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn start(&mut self, container: Container) -> Result<(), &'static str> {
        if self.open.len() == MAX_DEPTH {
            return Err("more than 32 lists and tables are nested");
        }
        self.open.push(container);
        Ok(())
    }

    fn add(&mut self, value: Value) -> Result<(), &'static str> {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Container::List(items)) => items.push(value),
            Some(Container::Table(members, next)) => match (next.take(), value) {
                (Some(name), value) => drop(members.insert(name, value)),
                (None, Value::String(name)) if members.contains_key(&name) => {
                    return Err("a key occurs twice in one table");
                }
                (None, Value::String(name)) => *next = Some(name),
                (None, _) => return Err("a key must be a text"),
            },
        }
        Ok(())
    }
}

/// Resolves a scalar by the core schema of YAML 1.2, without its numbers of other bases.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    let is_plain = matches!(style, ScalarStyle::Plain);
    match text {
        _ if !is_plain => Value::from(text),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        // A version such as 1.10, or a number such as 007, stays as it was written.
        _ => match text.parse::<serde_json::Number>() {
            Ok(number) if number.to_string() == text => Value::Number(number),
            _ => Value::from(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_front_matter_ends_with_a_line() {
        let text = "---\nname: tea\nlicense: [a, {b: c}]\ndescription: 'Makes \"tea\": hot.'\n---\nBody\n---\n";
        let (front, body) = split(text).unwrap();
        let expected = json!({"name": "tea", "license": ["a", {"b": "c"}], "description": "Makes \"tea\": hot."});
        assert_eq!((Value::Object(front), body), (expected.clone(), "Body\n---\n"));
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(Value::Object(split(&windows).unwrap().0), expected);
        let (front, _) = split("---\na: >\n  one\n  two\nb: {x: 0.5, y: 007, z: true}\nc: &k 1\nd: *k\n---\n").unwrap();
        let expected = json!({"a": "one two\n", "b": {"x": 0.5, "y": "007", "z": true}, "c": 1, "d": null});
        assert_eq!(Value::Object(front), expected);
        assert!(split("---\n---\n").unwrap().0.is_empty());
        let (front, body) = split("+++\nname = 'tea'\ntools = ['a']\n+++\nBody").unwrap();
        assert_eq!(
            (Value::Object(front), body),
            (json!({"name": "tea", "tools": ["a"]}), "Body")
        );
        assert_eq!(split("---\nname: tea\n...\nBody").unwrap().1, "Body");
    }

    #[test]
    fn mistakes_are_named() {
        let error = split("---\nname: tea\n").unwrap_err();
        assert!(error.contains("does not end"), "{error}");
        for broken in [
            "",
            "name: tea",
            "---x\n---\n",
            "---\n- a\n---\n",
            "---\n\nname: tea\n---\n",
        ] {
            let error = split(broken).unwrap_err();
            assert!(error.contains("must begin with front matter"), "{broken}: {error}");
        }
        let check = |yaml: &str, expected: &str| {
            let error = split(&format!("---\n{yaml}\n---\n")).unwrap_err();
            assert!(error.contains(expected), "{yaml}: {error}");
        };
        check("name: [", "not YAML: line");
        check("a: 1\na: 2", "line 3: a key occurs twice");
        check("? [a]\n: b", "a key must be a text");
        check(&format!("a: {}", "[".repeat(40)), "more than 32");
    }
}
