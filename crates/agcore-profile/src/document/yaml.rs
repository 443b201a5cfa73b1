//! YAML as JSON values.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, StrInput, Tag};
use serde_json::{Map, Number, Value};

/// The deepest nesting of lists and tables.
const MAX_DEPTH: usize = 64;

/// The largest number of values, with each alias counted as all values that it stands for.
const MAX_VALUES: usize = 200_000;

/// Reads one document.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let mut builder = Builder::default();
    let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error: ScanError| at(error.info(), *error.marker()))?;
        builder.event(event).map_err(|problem| at(&problem, span.start))?;
    }
    Ok(builder.root.unwrap_or(Value::Null))
}

fn at(problem: &str, marker: Marker) -> String {
    format!("{problem} in line {}, column {}", marker.line(), marker.col() + 1)
}

#[derive(Default)]
struct Builder {
    root: Option<Value>,
    open: Vec<Open>,
    anchors: HashMap<usize, (Value, usize)>,
    values: usize,
}

struct Open {
    anchor: usize,
    /// The number of values before it.
    before: usize,
    container: Container,
}

enum Container {
    List(Vec<Value>),
    Table(Map<String, Value>, Option<String>),
}

impl Builder {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                Err("a second document begins; write everything in one".to_owned())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref())?;
                self.count(1)?;
                self.add(value, anchor, 1)
            }
            Event::Alias(anchor) => {
                let (value, size) = self
                    .anchors
                    .get(&anchor)
                    .ok_or("an alias refers to a value that contains it")?;
                let (value, size) = (value.clone(), *size);
                self.count(size)?;
                self.add(value, 0, size)
            }
            Event::SequenceStart(anchor, tag) => self.open(anchor, tag.as_deref(), Container::List(Vec::new())),
            Event::MappingStart(anchor, tag) => self.open(anchor, tag.as_deref(), Container::Table(Map::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            _ => Ok(()),
        }
    }

    fn count(&mut self, values: usize) -> Result<(), String> {
        self.values = self.values.saturating_add(values);
        match self.values > MAX_VALUES {
            true => Err(format!(
                "more than {MAX_VALUES} values; split the document, or use fewer aliases"
            )),
            false => Ok(()),
        }
    }

    fn open(&mut self, anchor: usize, tag: Option<&Tag>, container: Container) -> Result<(), String> {
        if tag.is_some() {
            return Err("lists and tables cannot have tags; remove it".to_owned());
        }
        if self.open.len() == MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} lists and tables are nested"));
        }
        let before = self.values;
        self.count(1)?;
        self.open.push(Open {
            anchor,
            before,
            container,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.container {
            Container::List(items) => Value::Array(items),
            Container::Table(members, _) => Value::Object(members),
        };
        let size = self.values - open.before;
        self.add(value, open.anchor, size)
    }

    fn add(&mut self, value: Value, anchor: usize, size: usize) -> Result<(), String> {
        if anchor != 0 {
            self.anchors.insert(anchor, (value.clone(), size));
        }
        match self.open.last_mut().map(|open| &mut open.container) {
            None => self.root = Some(value),
            Some(Container::List(items)) => items.push(value),
            Some(Container::Table(members, name @ None)) => match value {
                Value::String(text) if members.contains_key(&text) => {
                    return Err(format!("the key {text:?} occurs twice in one table"));
                }
                Value::String(text) => *name = Some(text),
                _ => return Err("a key must be a text; quote it".to_owned()),
            },
            Some(Container::Table(members, name @ Some(_))) => {
                members.insert(name.take().unwrap_or_default(), value);
            }
        }
        Ok(())
    }
}

/// Resolves a scalar by the core schema of YAML 1.2.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    match tag {
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => return Ok(text.into()),
        Some(_) => return Err("the only tag that is supported is !!str; remove it".to_owned()),
        None => {}
    }
    if !matches!(style, ScalarStyle::Plain) {
        return Ok(text.into());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(true.into()),
        "false" | "False" | "FALSE" => return Ok(false.into()),
        _ => {}
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
        && digits.contains(|digit: char| digit.is_ascii_digit());
    if !is_number {
        return Ok(text.into());
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    if let Ok(whole) = unsigned.parse::<i64>() {
        return Ok(whole.into());
    }
    if let Ok(whole) = unsigned.parse::<u64>() {
        return Ok(whole.into());
    }
    let number = unsigned.parse::<f64>().ok().and_then(Number::from_f64);
    Ok(number.map_or_else(|| text.into(), Value::Number))
}
