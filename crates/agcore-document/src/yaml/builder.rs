//! [`Builder`]: builds a tree of nodes from the events of the parser.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Tag};

use super::scalar::scalar;
use crate::{
    document_path::{DocumentPath, Step},
    error::ErrorKind,
    limits::Limits,
    node::{Member, Node, Value, bytes_of},
    place::Place,
};

/// The problem of a key that is not a text.
const NO_TEXT: ErrorKind = ErrorKind::Unsupported("a key must be a text; quote it");

/// Builds a tree of nodes.
pub(super) struct Builder<'l> {
    limits: &'l Limits,
    root: Option<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchor>,
    /// The sizes that were read, with aliases.
    size: Size,
    /// The values that are kept for aliases.
    kept: Size,
}

/// The value of an anchor.
struct Anchor {
    node: Node,
    size: Size,
}

/// The size of a value.
#[derive(Clone, Copy, Default)]
struct Size {
    values: usize,
    bytes: usize,
}

/// A list or a table that is being read.
struct Open {
    place: Place,
    anchor: usize,
    /// The sizes that were read before it.
    before: Size,
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

impl Size {
    fn add(&mut self, more: Self, limits: &Limits) -> Result<(), ErrorKind> {
        self.values = self.values.saturating_add(more.values);
        self.bytes = self.bytes.saturating_add(more.bytes);
        match (self.values > limits.max_values, self.bytes > limits.max_bytes) {
            (true, _) => Err(too_large("values", limits.max_values)),
            (_, true) => Err(too_large("bytes", limits.max_bytes)),
            _ => Ok(()),
        }
    }
}

impl<'l> Builder<'l> {
    pub(super) fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            root: None,
            open: Vec::new(),
            anchors: HashMap::new(),
            size: Size::default(),
            kept: Size::default(),
        }
    }

    pub(super) fn into_root(self) -> Option<Node> {
        self.root
    }

    pub(super) fn event(&mut self, event: Event<'_>, place: Place) -> Result<(), ErrorKind> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => Err(ErrorKind::Unsupported(
                "a second document begins; write everything in one",
            )),
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref())?;
                let size = Size {
                    values: usize::from(!self.is_key()),
                    bytes: bytes_of(&value),
                };
                self.count(size)?;
                self.add(Node::new(place, value), anchor, size)
            }
            Event::Alias(anchor) => {
                let Some(anchor) = self.anchors.get(&anchor) else {
                    return Err(ErrorKind::Unsupported("an alias refers to a value that contains it"));
                };
                // The value is copied only if the copy is within the limits.
                self.check_depth(depth_of(&anchor.node))?;
                let size = anchor.size;
                self.size.add(size, self.limits)?;
                let node = anchor.node.clone();
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

    /// Returns whether the next value is a key.
    fn is_key(&self) -> bool {
        let container = self.open.last().map(|open| &open.container);
        matches!(container, Some(Container::Table(Members { next: None, .. })))
    }

    fn count(&mut self, size: Size) -> Result<(), ErrorKind> {
        self.size.add(size, self.limits)
    }

    fn check_depth(&self, more: usize) -> Result<(), ErrorKind> {
        let deepest = self.limits.max_depth;
        match self.open.len() + more > deepest {
            true => Err(ErrorKind::TooDeep(deepest)),
            false => Ok(()),
        }
    }

    fn open(&mut self, place: Place, anchor: usize, tag: Option<&Tag>, container: Container) -> Result<(), ErrorKind> {
        if tag.is_some() {
            return Err(ErrorKind::Unsupported("lists and tables cannot have tags; remove it"));
        }
        if self.is_key() {
            return Err(NO_TEXT);
        }
        self.check_depth(1)?;
        let before = self.size;
        self.count(Size { values: 1, bytes: 0 })?;
        self.open.push(Open {
            place,
            anchor,
            before,
            container,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), ErrorKind> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.container {
            Container::List(items) => Value::List(items),
            Container::Table(table) => Value::Table(table.members),
        };
        let size = Size {
            values: self.size.values - open.before.values,
            bytes: self.size.bytes - open.before.bytes,
        };
        self.add(Node::new(open.place, value), open.anchor, size)
    }

    fn add(&mut self, node: Node, anchor: usize, size: Size) -> Result<(), ErrorKind> {
        if anchor != 0 {
            self.kept.add(size, self.limits)?;
            let node = node.clone();
            self.anchors.insert(anchor, Anchor { node, size });
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
                    return Err(ErrorKind::DuplicateKey(text));
                }
                (None, Value::Text(text)) => table.next = Some((node.place, text)),
                (None, _) => return Err(NO_TEXT),
            },
        }
        Ok(())
    }

    /// Returns the path of the value that comes next.
    pub(super) fn path(&self) -> DocumentPath {
        let step = |open: &Open| match &open.container {
            Container::List(items) => Some(Step::Item(items.len())),
            Container::Table(table) => table.next.as_ref().map(|(_, name)| Step::Member(name.clone())),
        };
        self.open.iter().map_while(step).collect()
    }
}

fn too_large(unit: &'static str, most: usize) -> ErrorKind {
    ErrorKind::TooLarge { unit, most }
}

/// Returns how many lists and tables of a value are inside of each other.
fn depth_of(node: &Node) -> usize {
    match &node.value {
        Value::List(items) => 1 + items.iter().map(depth_of).max().unwrap_or_default(),
        Value::Table(members) => {
            1 + members
                .iter()
                .map(|member| depth_of(&member.node))
                .max()
                .unwrap_or_default()
        }
        _ => 0,
    }
}
