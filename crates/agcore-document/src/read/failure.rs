//! [`Failure`]: why a type refuses a value, before its place is known.

use std::fmt;

use serde::de::{self, Unexpected};

use crate::{
    document_path::DocumentPath,
    error::{DocumentError, ErrorKind, Expected, Found},
    place::Place,
};

/// The reason a type refuses a value, and its place as soon as that is known.
#[derive(Debug)]
pub(super) struct Failure(Box<Content>);

#[derive(Debug)]
struct Content {
    kind: ErrorKind,
    at: Option<(Place, DocumentPath)>,
    /// The table that has an unknown member, or that lacks one.
    table: Option<usize>,
}

impl Failure {
    pub(super) fn new(kind: ErrorKind) -> Self {
        let (at, table) = (None, None);
        Self(Box::new(Content { kind, at, table }))
    }

    pub(super) fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the address of the table that has an unknown member, or that lacks one.
    pub(super) fn table(&self) -> Option<usize> {
        self.0.table
    }

    /// Sets the place and the path, unless it is that of a part.
    pub(super) fn at(mut self, place: Place, path: impl FnOnce() -> DocumentPath) -> Self {
        self.0.at.get_or_insert_with(|| (place, path()));
        self
    }

    /// Like [`at`](Self::at), for a table.
    pub(super) fn at_table(mut self, table: usize, place: Place, path: impl FnOnce() -> DocumentPath) -> Self {
        if self.0.at.is_none() {
            self.0.table = Some(table);
        }
        self.at(place, path)
    }

    /// Returns the problem, if its place is known.
    pub(super) fn to_error(&self) -> Option<DocumentError> {
        let (place, path) = self.0.at.clone()?;
        Some(DocumentError::new(place, path, self.0.kind.clone()))
    }

    /// Returns the problem of a value at this place, unless it is about a part of it.
    pub(super) fn into_error(self, place: Place, path: impl FnOnce() -> DocumentPath) -> DocumentError {
        let Content { kind, at, .. } = *self.0;
        let (place, path) = at.unwrap_or_else(|| (place, path()));
        DocumentError::new(place, path, kind)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.kind.fmt(f)
    }
}

impl std::error::Error for Failure {}

fn names(known: &[&str]) -> Vec<String> {
    known.iter().map(|&name| name.to_owned()).collect()
}

impl de::Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(ErrorKind::Refused(message.to_string()))
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(ErrorKind::WrongType {
            expected: Expected::Other(expected.to_string()),
            found: Found::of_unexpected(&unexpected),
        })
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(ErrorKind::OutOfRange {
            expected: Expected::Other(expected.to_string()),
            found: Found::of_unexpected(&unexpected),
        })
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        Self::new(ErrorKind::OutOfRange {
            expected: Expected::Other(expected.to_string()),
            found: Found::Other(format!("a list of {length}")),
        })
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        Self::new(ErrorKind::UnknownName {
            name: name.to_owned(),
            known: names(known),
        })
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        Self::new(ErrorKind::UnknownField {
            name: name.to_owned(),
            known: names(known),
        })
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(ErrorKind::MissingField(name.to_owned()))
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new(ErrorKind::DuplicateKey(name.to_owned()))
    }
}
