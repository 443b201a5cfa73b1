//! YAML documents.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};
use serde_json::{Map, Number, Value};

use super::places::{Place, Places, Wrong};

/// The deepest nesting of lists and tables.
const MAX_DEPTH: usize = 64;

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<(Value, Places), Wrong> {
    let mut builder = Builder::default();
    let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| Wrong {
            place: place(*error.marker()),
            member: String::new(),
            problem: error.info().to_owned(),
        })?;
        let place = place(span.start);
        builder.event(event, place).map_err(|problem| Wrong {
            place,
            member: builder.path(),
            problem,
        })?;
    }
    let value = builder.root.unwrap_or_else(|| Value::Object(Map::new()));
    Ok((value, builder.places))
}

fn place(marker: Marker) -> Place {
    Place::new(marker.line(), marker.col() + 1)
}

#[derive(Default)]
struct Builder {
    root: Option<Value>,
    open: Vec<Open>,
    places: Places,
}

/// A list or a table that is being read.
struct Open {
    path: String,
    container: Container,
}

enum Container {
    List(Vec<Value>),
    Table {
        members: Map<String, Value>,
        /// The key whose value is expected next.
        key: Option<String>,
    },
}

impl Builder {
    fn event(&mut self, event: Event<'_>, place: Place) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                Err("a second document begins; write everything in one".to_owned())
            }
            Event::Alias(_) => Err("aliases are not supported; repeat the value".to_owned()),
            Event::Scalar(_, _, _, Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                Err("tags are not supported; remove it".to_owned())
            }
            Event::Scalar(text, style, ..) => self.scalar(&text, style, place),
            Event::SequenceStart(..) => self.open(place, Container::List(Vec::new())),
            Event::MappingStart(..) => self.open(
                place,
                Container::Table {
                    members: Map::new(),
                    key: None,
                },
            ),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, place: Place) -> Result<(), String> {
        let path = self.open.last().map(|open| open.path.clone()).unwrap_or_default();
        if let Some(Open {
            container: Container::Table { members, key },
            ..
        }) = self.open.last_mut()
            && key.is_none()
        {
            if members.contains_key(text) {
                return Err(format!("the key {text:?} occurs twice in one table"));
            }
            *key = Some(text.to_owned());
            self.places.add(Places::member(&path, text), place);
            return Ok(());
        }
        self.note_element(place);
        self.add(scalar(text, style))
    }

    fn open(&mut self, place: Place, container: Container) -> Result<(), String> {
        if self.open.len() == MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} lists and tables are nested"));
        }
        if matches!(
            self.open.last().map(|open| &open.container),
            Some(Container::Table { key: None, .. })
        ) {
            return Err("a key must be a text; quote it".to_owned());
        }
        self.note_element(place);
        let path = self.path();
        self.open.push(Open { path, container });
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let value = match self.open.pop().map(|open| open.container) {
            Some(Container::List(items)) => Value::Array(items),
            Some(Container::Table { members, .. }) => Value::Object(members),
            None => return Ok(()),
        };
        self.add(value)
    }

    fn add(&mut self, value: Value) -> Result<(), String> {
        match self.open.last_mut().map(|open| &mut open.container) {
            None => self.root = Some(value),
            Some(Container::List(items)) => items.push(value),
            Some(Container::Table { members, key }) => {
                let key = key.take().ok_or("a key must be a text; quote it")?;
                members.insert(key, value);
            }
        }
        Ok(())
    }

    /// Notes the place of the next element of a list. Members of tables have those of their keys.
    fn note_element(&mut self, place: Place) {
        if matches!(self.open.last().map(|open| &open.container), Some(Container::List(_))) {
            let path = self.path();
            self.places.add(path, place);
        }
    }

    /// Returns the path of the value that comes next.
    fn path(&self) -> String {
        match self.open.last() {
            None => String::new(),
            Some(Open { path, container }) => match container {
                Container::List(items) => Places::element(path, items.len()),
                Container::Table { key, .. } => match key {
                    Some(key) => Places::member(path, key),
                    None => path.clone(),
                },
            },
        }
    }
}

/// Resolves a scalar by the core schema of YAML 1.2.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if !matches!(style, ScalarStyle::Plain) {
        return text.into();
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => number_of(text).unwrap_or_else(|| text.into()),
    }
}

fn number_of(text: &str) -> Option<Value> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    if let Ok(number) = text.trim_start_matches('+').parse::<i64>() {
        return Some(number.into());
    }
    text.parse().ok().and_then(Number::from_f64).map(Value::Number)
}
