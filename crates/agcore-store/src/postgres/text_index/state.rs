//! [`State`]: the row of an index of texts.

use agcore_memory::knowledge::Position;
use sqlx::{Error, Row, postgres::PgRow};

use crate::postgres::rows::count;

/// The row of an index.
pub(super) struct State {
    pub(super) index: i64,
    pub(super) documents: i64,
    pub(super) length: f64,
    pub(super) next: i64,
    pub(super) position: Option<Position>,
}

impl State {
    pub(super) fn read(row: &PgRow) -> Result<Self, Error> {
        Ok(Self {
            index: row.try_get("text_index")?,
            documents: row.try_get("documents")?,
            length: row.try_get("length")?,
            next: row.try_get("next")?,
            position: position(row)?,
        })
    }
}

/// Returns the stored position of an index.
pub(in crate::postgres) fn position(row: &PgRow) -> Result<Option<Position>, Error> {
    let generation: Option<i64> = row.try_get("generation")?;
    if generation.is_none() {
        return Ok(None);
    }
    Ok(Some(Position::new(count(row, "generation")?, count(row, "change")?)))
}
