//! The tables of messages and events, which are only added to.

use agcore_chat::Money;
use agcore_session::{MessageRole, NewEvent, NewMessage, StoredEvent, StoredMessage, Visibility};
use serde_json::Value;

use crate::sql::row::SqlRow;

/// Reads a row with all columns of a message but its type, which the metadata states as well. The cost is in millionths.
pub(crate) fn read_message<R: SqlRow>(row: &R) -> Result<StoredMessage, R::Error> {
    let role = row.named("role", MessageRole::from_name)?;
    let content = row.optional_prose("content")?.unwrap_or_default();
    let mut message = NewMessage::new(row.text("id")?, role, content);
    let mask = row.number("visibility_mask")?;
    let visibility = u8::try_from(mask).ok().and_then(Visibility::from_mask);
    message.visibility =
        visibility.ok_or_else(|| R::damaged("visibility_mask", format!("{mask} is not a known mask")))?;
    if let Some(metadata) = row.optional_json("metadata")? {
        let set = message.set_stored_metadata(metadata);
        set.map_err(|error| R::damaged("metadata", error.to_string()))?;
    }
    message.run = row.optional_text("run")?;
    message.usage = row.optional_json("usage")?;
    if let Some(micros) = row.optional_number("cost")? {
        message.cost = Some(Money::from_micros(micros, row.text("currency")?));
    }
    message.profile_version = row.optional_prose("profile_version")?;
    Ok(message.store(row.number("seq")?, row.time("created_at")?))
}

/// Reads a row with all columns of an event.
pub(crate) fn read_event<R: SqlRow>(row: &R) -> Result<StoredEvent, R::Error> {
    let event = NewEvent::new(row.text("run")?, row.text("kind")?, row.json::<Value>("data")?);
    Ok(event.store(row.count("seq")?, row.time("created_at")?))
}
