//! Messages in their table.

use agcore_session::{MessageFilter, MessageMetadata, MessagePart, StoredMessage, Visibility};
use rusqlite::{Connection, named_params, params};

use super::row::KEY;
use crate::{
    error::{StoreError, StoreErrorKind},
    sql::tables::read_message,
    sqlite::rows::{execute, limit, number, select},
};

/// Writes a message. Refuses one whose id is known.
pub(super) fn insert(connection: &Connection, session: i64, message: &StoredMessage) -> Result<(), StoreError> {
    let sql = "INSERT INTO messages
               (session, seq, id, role, type, visibility_mask, run, cost, currency, profile_version, created_at, usage,
                metadata, content)
               VALUES (:session, :seq, :id, :role, :type, :visibility_mask, :run, :cost, :currency, :profile_version,
                       :created_at, :usage, :metadata, :content)
               ON CONFLICT (session, id) DO NOTHING";
    let attempt = "cannot write the message";
    let metadata = message.metadata.as_ref();
    let unwritable = |error| StoreError::with_source(StoreErrorKind::Serialization, attempt, error);
    let params = named_params! {
        ":session": session,
        ":seq": message.seq,
        ":id": message.id,
        ":role": message.role.as_str(),
        ":type": metadata.map(MessageMetadata::type_name),
        ":visibility_mask": message.visibility.mask(),
        ":run": message.run,
        ":cost": message.cost.as_ref().map(|cost| cost.micros),
        ":currency": message.cost.as_ref().map(|cost| &*cost.currency),
        ":profile_version": message.profile_version,
        ":created_at": message.created_at.as_millis(),
        ":usage": message.usage.as_ref().map(serde_json::to_string).transpose().map_err(unwritable)?,
        ":metadata": message.stored_metadata().map_err(unwritable)?,
        ":content": message.content,
    };
    if execute(connection, attempt, sql, params)? == 0 {
        return Err(StoreError::new(
            StoreErrorKind::AlreadyExists,
            format!("the session has a message `{}` already", message.id),
        ));
    }
    Ok(())
}

pub(super) fn list(
    connection: &Connection,
    tenant: &str,
    session: &str,
    filter: &MessageFilter,
) -> Result<Vec<StoredMessage>, StoreError> {
    let (after, before) = (number(filter.after), filter.before.map_or(i64::MAX, number));
    let is_audit = filter.part == MessagePart::Audit;
    let (low, high) = if is_audit { (-before, -after) } else { (after, before) };
    // Audit messages are listed downwards; the last ones are found in the opposite order of the list.
    let order = if is_audit == filter.is_last { "ASC" } else { "DESC" };
    let visible = match filter.visibility {
        Visibility::HISTORY => "AND visibility_mask IN (1, 3)",
        Visibility::CONTEXT => "AND visibility_mask IN (2, 3)",
        Visibility::EVERYWHERE => "AND visibility_mask = 3",
        _ => "",
    };
    let of_run = if filter.run.is_some() {
        "AND run = ?6"
    } else {
        "AND ?6 IS NULL"
    };
    let sql = format!(
        "SELECT seq, id, role, visibility_mask, run, cost, currency, profile_version, created_at, usage, metadata, content
         FROM messages WHERE session = {KEY} AND seq > ?3 AND seq < ?4 {visible} {of_run} ORDER BY seq {order} LIMIT ?5"
    );
    let params = params![tenant, session, low, high, limit(filter.limit), filter.run];
    let mut messages = select(connection, "cannot read the messages", &sql, params, |row| {
        read_message(row)
    })?;
    if filter.is_last {
        messages.reverse();
    }
    Ok(messages)
}
