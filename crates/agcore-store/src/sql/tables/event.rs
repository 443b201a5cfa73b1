//! The table of events.

use agcore_session::{NewEvent, StoredEvent};
use serde_json::Value;

use crate::sql::row::SqlRow;

/// Reads a row with all columns of an event.
pub(crate) fn read_event<R: SqlRow>(row: &R) -> Result<StoredEvent, R::Error> {
    let event = NewEvent::new(row.text("run")?, row.text("kind")?, row.json::<Value>("data")?);
    Ok(event.store(row.count("seq")?, row.time("created_at")?))
}
