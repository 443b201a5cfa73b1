//! The table of the documents of sessions.

use agcore_session::{DocumentChange, SessionDocument};

use super::{Cell, Column, Table};
use crate::sql::row::SqlRow;

/// The documents of sessions, at most one for each.
pub(crate) const DOCUMENTS: Table<SessionDocument> = Table {
    name: "documents",
    key: &[],
    columns: &[
        Column::changing("version", |document| Cell::Integer(document.version.cast_signed())),
        Column::changing("change", |document| Cell::Text(document.change.as_deref())),
        Column::changing("updated_at", |document| Cell::Integer(document.updated_at.as_millis())),
        Column::changing_json("value", |document| Cell::json(Some(&document.value))),
    ],
};

/// Reads a row of [`DOCUMENTS`].
pub(crate) fn read_document<R: SqlRow>(row: &R) -> Result<SessionDocument, R::Error> {
    let change = DocumentChange::new(row.json("value")?);
    // Without a base, there is no conflict.
    let document = change.apply(None, row.time("updated_at")?);
    let mut document = document.map_err(|error| R::damaged("version", error.to_string()))?;
    document.version = row.count("version")?;
    document.change = row.optional_text("change")?;
    Ok(document)
}
