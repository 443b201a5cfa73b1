//! [`Path`]: the way from the document to a value, while it is read.

use crate::document_path::{DocumentPath, Step};

/// The way from the document to a value, from the inside to the outside.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Item(&'p Path<'p>, usize),
    Member(&'p Path<'p>, &'p str),
}

impl Path<'_> {
    /// Returns the steps from the outside to the inside.
    pub(super) fn owned(self) -> DocumentPath {
        let (outer, step) = match self {
            Self::Root => return DocumentPath::default(),
            Self::Item(outer, index) => (outer, Step::Item(index)),
            Self::Member(outer, name) => (outer, Step::Member(name.to_owned())),
        };
        let mut path = outer.owned();
        path.push(step);
        path
    }
}
