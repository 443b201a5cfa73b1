//! [`parse`]: reads a document.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Marker, Parser, StrInput, Tag};

use crate::{
    node::{Member, Node, Place, Value},
    scalar::scalar,
};

/// The problem of a key that is not a text.
const NO_TEXT: &str = "a key must be a text; quote it";

/// The limits of a document.
///
/// ```
/// use agcore_yaml::{Limits, parse};
///
/// let limits = Limits::default().without_aliases();
/// assert!(parse("a: &x 1\nb: *x", &limits).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The deepest nesting of lists and tables.
    pub max_depth: usize,
    /// The largest number of values, with each alias counted as all values that it stands for.
    pub max_values: usize,
    /// Whether values can be repeated by their anchors.
    pub has_aliases: bool,
}

/// Allows a depth of 64, two million values, and aliases.
impl Default for Limits {
    fn default() -> Self {
        Self {
            max_depth: 64,
            max_values: 2_000_000,
            has_aliases: true,
        }
    }
}

impl Limits {
    /// Sets the deepest nesting of lists and tables.
    #[must_use]
    pub fn with_max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth;
        self
    }

    /// Sets the largest number of values.
    #[must_use]
    pub fn with_max_values(mut self, values: usize) -> Self {
        self.max_values = values;
        self
    }

    /// Refuses aliases.
    #[must_use]
    pub fn without_aliases(mut self) -> Self {
        self.has_aliases = false;
        self
    }
}

/// A problem of a document, and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
#[non_exhaustive]
pub struct YamlError {
    /// The place.
    pub place: Place,
    /// The problem, and what to do.
    pub problem: String,
    /// The member that contains the place, such as `cases[0].expect`; empty for the document itself.
    pub member: String,
}

/// Reads a document. Returns `None` if it is empty. A byte order mark at its start is skipped.
///
/// # Errors
/// Fails with the first thing that is not valid YAML, that is not supported, or that exceeds a limit.
pub fn parse(text: &str, limits: &Limits) -> Result<Option<Node>, YamlError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder {
        limits,
        root: None,
        open: Vec::new(),
        anchors: HashMap::new(),
        values: 0,
    };
    let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| YamlError {
            place: place(*error.marker()),
            problem: error.info().to_owned(),
            member: String::new(),
        })?;
        let place = place(span.start);
        builder.event(event, place).map_err(|problem| YamlError {
            place,
            problem,
            member: builder.path(),
        })?;
    }
    Ok(builder.root)
}

fn place(marker: Marker) -> Place {
    Place::new(marker.line(), marker.col() + 1)
}

struct Builder<'l> {
    limits: &'l Limits,
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

impl Builder<'_> {
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
            Event::Alias(_) if !self.limits.has_aliases => {
                Err("aliases are not supported; repeat the value".to_owned())
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
        let most = self.limits.max_values;
        match self.values > most {
            true => Err(format!(
                "more than {most} values; split the document, or use fewer aliases"
            )),
            false => Ok(()),
        }
    }

    fn open(&mut self, place: Place, anchor: usize, tag: Option<&Tag>, container: Container) -> Result<(), String> {
        if tag.is_some() {
            return Err("lists and tables cannot have tags; remove it".to_owned());
        }
        if let Some(Container::Table(Members { next: None, .. })) = self.open.last().map(|open| &open.container) {
            return Err(NO_TEXT.to_owned());
        }
        let deepest = self.limits.max_depth;
        if self.open.len() >= deepest {
            return Err(format!("more than {deepest} lists and tables are nested"));
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
        if anchor != 0 && self.limits.has_aliases {
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
                (None, _) => return Err(NO_TEXT.to_owned()),
            },
        }
        Ok(())
    }

    /// Returns the path of the value that comes next.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match &open.container {
                Container::List(items) => path += &format!("[{}]", items.len()),
                Container::Table(table) => {
                    let Some((_, name)) = &table.next else { break };
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path += name;
                }
            }
        }
        path
    }
}
