//! [`Snapshot`]: a flattened serializable value, which needs two growing buffers instead of a tree.
//!
//! Cells are stored in the order in which serde visits the values. The cell of a container stores where the container
//! ends, so parts can be skipped without reading them. A field is a cell for the name followed by the value.

use super::{
    data::{Data, Segment, View},
    tree::{Object, Value},
};

/// A scalar, the head of a container, or the name of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    Null,
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    /// Text or a field name in the text buffer.
    Text {
        start: u32,
        len: u32,
    },
    /// A static field name or variant name, as structs and enums have.
    Name(&'static str),
    Array(Extent),
    Object(Extent),
}

/// The number of parts of a container, and the index of the cell after the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    pub(super) parts: u32,
    pub(super) end: u32,
}

/// The initial capacity in cells. It suffices for most contexts without long lists.
const INITIAL_CELLS: usize = 64;

/// The initial capacity of the text buffer in bytes.
const INITIAL_TEXT: usize = 1024;

/// The number of parts that are searched in one step.
const PARTS_PER_STEP: usize = 16;

/// A flattened serializable value.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(super) cells: Vec<Cell>,
    pub(super) text: String,
}

/// A handle to a value inside a [`Snapshot`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnapshotRef<'v> {
    snapshot: &'v Snapshot,
    cell: usize,
}

impl Snapshot {
    pub(super) fn new() -> Self {
        Self {
            cells: Vec::with_capacity(INITIAL_CELLS),
            text: String::with_capacity(INITIAL_TEXT),
        }
    }

    /// Returns the root value.
    pub(crate) fn root(&self) -> SnapshotRef<'_> {
        SnapshotRef {
            snapshot: self,
            cell: 0,
        }
    }

    /// Returns the field name stored in a cell.
    pub(super) fn name(&self, cell: usize) -> &str {
        match self.cells.get(cell) {
            Some(Cell::Name(name)) => name,
            Some(&Cell::Text { start, len }) => self.slice(start, len),
            _ => "",
        }
    }

    fn slice(&self, start: u32, len: u32) -> &str {
        let start = start as usize;
        self.text.get(start..start + len as usize).unwrap_or_default()
    }
}

impl SnapshotRef<'_> {
    /// Converts the value into a tree.
    pub(crate) fn to_value(self) -> Value {
        match self.view() {
            View::Null => Value::Null,
            View::Bool(flag) => Value::Bool(flag),
            View::Integer(number) => Value::Integer(number),
            View::Unsigned(number) => Value::Unsigned(number),
            View::Float(number) => Value::Float(number),
            View::Text(text) => Value::String(text.to_owned()),
            View::Array(array) => array.parts().map(|(_, part)| part.to_value()).collect(),
            View::Object(object) => {
                let fields = object
                    .parts()
                    .map(|(name, part)| (name.unwrap_or_default(), part.to_value()));
                Value::Object(fields.collect::<Object>())
            }
        }
    }

    fn cell(self) -> Cell {
        self.snapshot.cells.get(self.cell).copied().unwrap_or(Cell::Null)
    }

    fn at(self, cell: usize) -> Self {
        Self { cell, ..self }
    }

    /// Returns the index of the cell after this value.
    fn end(self) -> usize {
        match self.cell() {
            Cell::Array(extent) | Cell::Object(extent) => extent.end as usize,
            _ => self.cell + 1,
        }
    }
}

impl<'v> Data<'v> for SnapshotRef<'v> {
    #[inline]
    fn view(self) -> View<'v, Self> {
        match self.cell() {
            Cell::Null => View::Null,
            Cell::Bool(flag) => View::Bool(flag),
            Cell::Integer(number) => View::Integer(number),
            Cell::Unsigned(number) => View::Unsigned(number),
            Cell::Float(number) => View::Float(number),
            Cell::Text { start, len } => View::Text(self.snapshot.slice(start, len)),
            Cell::Name(name) => View::Text(name),
            Cell::Array(_) => View::Array(self),
            Cell::Object(_) => View::Object(self),
        }
    }

    #[inline]
    fn part(self, segment: &Segment) -> Option<Self> {
        match self.cell() {
            Cell::Object(_) => {
                let mut fields = self.parts();
                fields
                    .find(|(name, _)| *name == Some(segment.name()))
                    .map(|(_, part)| part)
            }
            Cell::Array(_) => self.parts().nth(segment.index()?).map(|(_, part)| part),
            _ => None,
        }
    }

    #[inline]
    fn search_steps(self) -> u64 {
        u64::try_from(self.len() / PARTS_PER_STEP).unwrap_or(u64::MAX)
    }

    fn parts(self) -> impl Iterator<Item = (Option<&'v str>, Self)> {
        let (named, parts) = match self.cell() {
            Cell::Object(extent) => (true, extent.parts),
            Cell::Array(extent) => (false, extent.parts),
            _ => (false, 0),
        };
        let mut next = self.cell + 1;
        (0..parts).map(move |_| {
            let name = named.then(|| self.snapshot.name(next));
            let part = self.at(next + usize::from(named));
            next = part.end();
            (name, part)
        })
    }

    fn len(self) -> usize {
        match self.cell() {
            Cell::Array(extent) | Cell::Object(extent) => extent.parts as usize,
            _ => 0,
        }
    }
}
