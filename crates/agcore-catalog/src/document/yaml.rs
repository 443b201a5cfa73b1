//! YAML documents.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput, Tag};

use super::node::{Member, Node, Place, Value};

/// The deepest nesting of lists and tables.
const MAX_DEPTH: usize = 64;

/// The largest number of values, with each alias counted as all values that it stands for.
const MAX_VALUES: usize = 2_000_000;

/// Reads a document, or returns what is wrong and where.
pub(super) fn parse(text: &str) -> Result<Node, (Place, String)> {
    let mut builder = Builder::default();
    let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| (place(*error.marker()), error.info().to_owned()))?;
        let place = place(span.start);
        builder.event(event, place).map_err(|problem| (place, problem))?;
    }
    let empty = || Node::new(Place::new(1, 1), Value::Table(Vec::new()));
    Ok(builder.root.unwrap_or_else(empty))
}

fn place(marker: Marker) -> Place {
    Place::new(marker.line(), marker.col() + 1)
}

#[derive(Default)]
struct Builder {
    root: Option<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, usize)>,
    values: usize,
}

struct Open {
    place: Place,
    anchor: usize,
    /// The number of values before it.
    before: usize,
    container: Container,
}

enum Container {
    List(Vec<Node>),
    Table(Members),
}

/// The members of a table that is being read.
#[derive(Default)]
struct Members {
    members: Vec<Member>,
    names: HashSet<String>,
    /// The key whose value is expected next.
    next: Option<(Place, String)>,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, place: Place) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                Err("a second document begins; write everything in one".to_owned())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref())?;
                self.count(1)?;
                self.add(Node::new(place, value), anchor, 1)
            }
            Event::Alias(anchor) => {
                let (node, size) = self
                    .anchors
                    .get(&anchor)
                    .ok_or("an alias refers to a value that contains it")?;
                let (node, size) = (node.clone(), *size);
                self.count(size)?;
                self.add(Node { place, ..node }, 0, size)
            }
            Event::SequenceStart(anchor, tag) => self.open(place, anchor, tag.as_deref(), Container::List(Vec::new())),
            Event::MappingStart(anchor, tag) => {
                self.open(place, anchor, tag.as_deref(), Container::Table(Members::default()))
            }
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

    fn open(&mut self, place: Place, anchor: usize, tag: Option<&Tag>, container: Container) -> Result<(), String> {
        if tag.is_some() {
            return Err("lists and tables cannot have tags; remove it".to_owned());
        }
        if self.open.len() == MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} lists and tables are nested"));
        }
        let before = self.values;
        self.count(1)?;
        self.open.push(Open {
            place,
            anchor,
            before,
            container,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.container {
            Container::List(items) => Value::List(items),
            Container::Table(table) => Value::Table(table.members),
        };
        let size = self.values - open.before;
        self.add(Node::new(open.place, value), open.anchor, size)
    }

    fn add(&mut self, node: Node, anchor: usize, size: usize) -> Result<(), String> {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.open.last_mut().map(|open| &mut open.container) {
            None => self.root = Some(node),
            Some(Container::List(items)) => items.push(node),
            Some(Container::Table(table)) => match (table.next.take(), node.value) {
                (Some((place, name)), value) => {
                    let node = Node::new(node.place, value);
                    table.members.push(Member { place, name, node });
                }
                (None, Value::Text(text)) if !table.names.insert(text.clone()) => {
                    return Err(format!("the key {text:?} occurs twice in one table"));
                }
                (None, Value::Text(text)) => table.next = Some((node.place, text)),
                (None, _) => return Err("a key must be a text; quote it".to_owned()),
            },
        }
        Ok(())
    }
}

/// Resolves a scalar by the core schema of YAML 1.2.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    match tag {
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => return Ok(Value::Text(text.to_owned())),
        Some(_) => return Err("the only tag that is supported is !!str; remove it".to_owned()),
        None => {}
    }
    if !matches!(style, ScalarStyle::Plain) {
        return Ok(Value::Text(text.to_owned()));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_number(text) => Value::Number(text.to_owned()),
        _ => Value::Text(text.to_owned()),
    })
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let is_part = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<f64>().is_ok()
        && digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && mantissa.split('.').all(is_part)
}
