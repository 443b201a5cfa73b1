//! YAML documents.

mod scalar;
mod builder;

use saphyr_parser::{Marker, Parser, StrInput};

use self::builder::Builder;
use crate::{
    error::{DocumentError, ErrorKind},
    limits::Limits,
    node::{Node, Value},
    place::Place,
};

/// Reads a document.
pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Node, DocumentError> {
    let mut builder = Builder::new(limits);
    let mut parser: Parser<'_, StrInput<'_>> = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let kind = ErrorKind::Syntax(error.info().to_owned());
            DocumentError::of_text(place(*error.marker()), kind)
        })?;
        let place = place(span.start);
        builder
            .event(event, place)
            .map_err(|kind| DocumentError::new(place, builder.path(), kind))?;
    }
    let empty = || Node::new(Place::START, Value::Table(Vec::new()));
    Ok(builder.into_root().unwrap_or_else(empty))
}

fn place(marker: Marker) -> Place {
    Place::new(marker.line(), marker.col() + 1)
}
