//! YAML documents without anchors, aliases and tags: a flow file is written by hand, and an alias could stand for any amount of
//! data.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, StrInput};

use super::node::{Member, Node, Place, Value};

/// The deepest nesting of lists and tables.
const MAX_DEPTH: usize = 32;

/// Reads a document, or returns what is wrong and where.
pub(super) fn parse(text: &str) -> Result<Node, (Place, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder::default();
    let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| (place(*error.marker()), error.info().to_owned()))?;
        let place = place(span.start);
        builder
            .event(event, place)
            .map_err(|problem| (place, problem.to_owned()))?;
    }
    let start = Place { line: 1, column: 1 };
    builder.root.ok_or_else(|| (start, "the file is empty".to_owned()))
}

fn place(marker: Marker) -> Place {
    Place {
        line: marker.line(),
        column: marker.col() + 1,
    }
}

#[derive(Default)]
struct Builder {
    root: Option<Node>,
    open: Vec<(Place, Container)>,
}

enum Container {
    List(Vec<Node>),
    /// The members, and the key whose value comes next.
    Table(Vec<Member>, Option<(Place, String)>),
}

impl Builder {
    fn event(&mut self, event: Event<'_>, place: Place) -> Result<(), &'static str> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => Err("a second document begins; write everything in one"),
            Event::Scalar(_, _, anchor, ref tag) if anchor != 0 || tag.is_some() => Err(NO_EXTRAS),
            Event::SequenceStart(anchor, ref tag) | Event::MappingStart(anchor, ref tag)
                if anchor != 0 || tag.is_some() =>
            {
                Err(NO_EXTRAS)
            }
            Event::Alias(_) => Err(NO_EXTRAS),
            Event::Scalar(text, style, ..) => self.add(Node {
                place,
                value: scalar(&text, style),
            }),
            Event::SequenceStart(..) => self.open(place, Container::List(Vec::new())),
            Event::MappingStart(..) => self.open(place, Container::Table(Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            _ => Ok(()),
        }
    }

    fn open(&mut self, place: Place, container: Container) -> Result<(), &'static str> {
        if self.open.len() == MAX_DEPTH {
            return Err("more than 32 lists and tables are nested");
        }
        self.open.push((place, container));
        Ok(())
    }

    fn close(&mut self) -> Result<(), &'static str> {
        let Some((place, container)) = self.open.pop() else {
            return Ok(());
        };
        let value = match container {
            Container::List(items) => Value::List(items),
            Container::Table(members, _) => Value::Table(members),
        };
        self.add(Node { place, value })
    }

    fn add(&mut self, node: Node) -> Result<(), &'static str> {
        match self.open.last_mut().map(|(_, container)| container) {
            None => self.root = Some(node),
            Some(Container::List(items)) => items.push(node),
            Some(Container::Table(members, next)) => match (next.take(), node.value) {
                (Some((place, name)), value) => {
                    let node = Node {
                        place: node.place,
                        value,
                    };
                    members.push(Member { place, name, node });
                }
                (None, Value::Text(name)) if members.iter().any(|member| member.name == name) => {
                    return Err("this key occurs twice in one table");
                }
                (None, Value::Text(name)) => *next = Some((node.place, name)),
                (None, _) => return Err("a key must be a text; quote it"),
            },
        }
        Ok(())
    }
}

const NO_EXTRAS: &str = "anchors, aliases and tags are not supported; write the value itself";

/// Resolves a scalar by the core schema of YAML 1.2.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if !matches!(style, ScalarStyle::Plain) {
        return Value::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Value::Plain(text.to_owned()),
        _ if text.parse::<f64>().is_ok() && text.starts_with(|first: char| "+-.0123456789".contains(first)) => {
            Value::Plain(text.to_owned())
        }
        _ => Value::Text(text.to_owned()),
    }
}
