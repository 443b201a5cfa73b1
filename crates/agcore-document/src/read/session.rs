//! [`Session`]: the problems that were found while a document is read.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
};

use crate::{
    error::{DocumentError, ErrorKind},
    node::{Member, Node},
    read::failure::Failure,
};

/// The problems that were found while a document is read.
///
/// A type ends with the first member that it does not know or that it lacks. To find more problems, such a member is noted and the
/// type is read again: without the members that it does not know, and with placeholders for those that it lacks.
#[derive(Default)]
pub(super) struct Session {
    is_collecting: bool,
    /// The problems of this attempt.
    errors: RefCell<Vec<DocumentError>>,
    /// The problems that further attempts do not find again.
    noted: RefCell<Vec<DocumentError>>,
    /// The notes about tables, by their addresses.
    tables: RefCell<HashMap<usize, Notes>>,
}

#[derive(Default)]
struct Notes {
    /// The members that it knows, if it has others.
    known: Option<HashSet<String>>,
    /// The members that it lacks.
    missing: Vec<String>,
}

/// Whether the problem of a table is noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noted {
    /// It cannot be noted.
    No,
    /// It is, and another attempt will come further.
    Now,
    /// It was noted before, and the type needs the member nevertheless.
    Before,
}

impl Session {
    /// Creates a session that ends with the first problem.
    pub(super) fn strict() -> Self {
        Self::default()
    }

    /// Creates a session that collects all problems.
    pub(super) fn collecting() -> Self {
        Self {
            is_collecting: true,
            ..Self::default()
        }
    }

    pub(super) fn is_collecting(&self) -> bool {
        self.is_collecting
    }

    pub(super) fn add(&self, error: DocumentError) {
        self.errors.borrow_mut().push(error);
    }

    /// Returns the number of problems of this attempt.
    pub(super) fn len(&self) -> usize {
        self.errors.borrow().len()
    }

    /// Forgets the problems that another attempt finds again.
    pub(super) fn truncate(&self, len: usize) {
        self.errors.borrow_mut().truncate(len);
    }

    /// Notes the problem of a table.
    pub(super) fn note(&self, failure: &Failure) -> Noted {
        let Some(table) = failure.table() else { return Noted::No };
        let mut tables = self.tables.borrow_mut();
        let notes = tables.entry(table).or_default();
        match failure.kind() {
            ErrorKind::MissingField(name) if notes.missing.contains(name) => Noted::Before,
            ErrorKind::MissingField(name) => {
                notes.missing.push(name.clone());
                self.noted.borrow_mut().extend(failure.to_error());
                Noted::Now
            }
            ErrorKind::UnknownField { .. } if notes.known.is_some() => Noted::Before,
            ErrorKind::UnknownField { known, .. } => {
                notes.known = Some(known.iter().cloned().collect());
                Noted::Now
            }
            _ => Noted::No,
        }
    }

    /// Notes the members of a table that are not known.
    pub(super) fn note_unknown(&self, error: DocumentError) {
        self.noted.borrow_mut().push(error);
    }

    /// Returns whether a member is known to be unknown.
    pub(super) fn is_unknown(&self, table: &Node, member: &Member) -> bool {
        let tables = self.tables.borrow();
        let known = tables.get(&address(table)).and_then(|notes| notes.known.as_ref());
        known.is_some_and(|known| !known.contains(&member.name))
    }

    /// Returns a member that a table is known to lack.
    pub(super) fn missing(&self, table: &Node, index: usize) -> Option<String> {
        let tables = self.tables.borrow();
        tables.get(&address(table))?.missing.get(index).cloned()
    }

    pub(super) fn into_errors(self) -> Vec<DocumentError> {
        let (mut errors, noted) = (self.noted.into_inner(), self.errors.into_inner());
        errors.extend(noted);
        errors
    }
}

/// Returns the key by which the nodes of a document are distinguished.
pub(super) fn address(node: &Node) -> usize {
    std::ptr::from_ref(node).addr()
}
