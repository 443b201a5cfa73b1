//! Messages in their table.

use agcore_session::{MessageFilter, MessageMetadata, MessagePart, StoredMessage, Visibility};
use serde::Serialize;
use sqlx::Row;

use crate::{
    error::{StoreError, StoreErrorKind},
    postgres::{
        connection::{
            statement::{FetchRow, Statement},
            transaction::Transaction,
        },
        error::{convert, unwritable},
        query::{number, statement},
        text::{self, lookup},
    },
};

const ATTEMPT: &str = "cannot write the messages";

/// Inserts messages from columns.
const INSERT: &str = "
    INSERT INTO messages (session, seq, id, role, type, visibility_mask, run, cost, currency, profile_version, created_at,
                          usage, metadata, content)
    SELECT $1, seq, id, role, type, visibility_mask, run, cost::numeric * 0.000001, currency, profile_version, created_at,
           usage::json, metadata::json, content
    FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::bigint[], $9::text[],
                $10::text[], $11::bigint[], $12::text[], $13::text[], $14::text[])
         AS new (seq, id, role, type, visibility_mask, run, cost, currency, profile_version, created_at, usage, metadata,
                 content)";

/// Writes messages. Refuses one whose id is known.
pub(super) async fn insert(
    transaction: &mut Transaction<'_>,
    session: i64,
    messages: &[StoredMessage],
) -> Result<(), StoreError> {
    let ids = column(messages, |message| message.id.as_str());
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(exists(twice[0]));
    }
    let known = sqlx::query("SELECT id FROM messages WHERE session = $1 AND id = ANY($2) LIMIT 1");
    if let Some(row) = transaction.row(ATTEMPT, known.bind(session).bind(&ids)).await? {
        return Err(exists(row.try_get(0).map_err(|error| convert(ATTEMPT, error))?));
    }
    let metadata = |message: &StoredMessage| {
        message
            .stored_metadata()
            .map_err(|error| unwritable("the message", error))
    };
    let usage = |message: &StoredMessage| message.usage.as_ref().map(json).transpose();
    let cost = |message: &StoredMessage| message.cost.as_ref().map(|cost| cost.micros);
    let statement = sqlx::query(INSERT)
        .bind(session)
        .bind(column(messages, |message| message.seq))
        .bind(ids)
        .bind(column(messages, |message| message.role.as_str()))
        .bind(column(messages, |message| {
            message.metadata.as_ref().map(MessageMetadata::type_name)
        }))
        .bind(column(messages, |message| i16::from(message.visibility.mask())))
        .bind(column(messages, |message| message.run.as_deref()))
        .bind(column(messages, cost))
        .bind(column(messages, |message| {
            message.cost.as_ref().map(|cost| &*cost.currency)
        }))
        .bind(column(messages, |message| {
            message.profile_version.as_deref().map(text::encode)
        }))
        .bind(column(messages, |message| message.created_at.as_millis()))
        .bind(messages.iter().map(usage).collect::<Result<Vec<_>, _>>()?)
        .bind(messages.iter().map(metadata).collect::<Result<Vec<_>, _>>()?)
        .bind(column(messages, |message| text::encode(&message.content)));
    transaction.execute(ATTEMPT, statement).await.map(drop)
}

fn column<'m, T>(messages: &'m [StoredMessage], member: impl Fn(&'m StoredMessage) -> T) -> Vec<T> {
    messages.iter().map(member).collect()
}

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| unwritable("the message", error))
}

#[cold]
fn exists(id: &str) -> StoreError {
    StoreError::new(
        StoreErrorKind::AlreadyExists,
        format!("the session has a message `{id}` already"),
    )
}

/// Returns the statement that selects the messages of a filter. If the filter wants the last ones, they are in the opposite
/// order.
pub(super) fn listing<'q>(tenant: &'q str, session: &'q str, filter: &'q MessageFilter) -> Statement<'q> {
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
        "run = $6"
    } else {
        "$6::text IS NULL"
    };
    let sql = format!(
        concat!(
            "SELECT seq, id, role, visibility_mask::bigint AS visibility_mask, run, (cost * 1000000)::bigint AS cost, currency, profile_version, \
             created_at, usage::text AS usage, metadata::text AS metadata, content FROM messages WHERE session = ",
            super::row::KEY!(),
            " AND seq > $3 AND seq < $4 {} AND {} ORDER BY seq {} LIMIT $5"
        ),
        visible, of_run, order
    );
    let statement = statement(sql).bind(lookup(tenant)).bind(lookup(session));
    let statement = statement.bind(low).bind(high).bind(filter.limit.map(number));
    statement.bind(filter.run.as_deref())
}
