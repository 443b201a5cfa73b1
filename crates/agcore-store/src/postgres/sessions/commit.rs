//! Commits.

use agcore_chat::Timestamp;
use agcore_session::{Commit, Committed, Session, StoredMessage};

use super::{
    approval, call, document, event, message,
    row::{Numbers, lock},
    run,
};
use crate::{
    error::StoreError,
    postgres::{
        connection::transaction::Transaction,
        journal,
        leases::{check_fence, check_limits, lock_limits},
        query::number,
        text,
    },
};

/// Writes a commit. The transaction must be rolled back if this fails.
pub(super) async fn commit(
    transaction: &mut Transaction<'_>,
    (tenant, id): (&str, &str),
    expected: u64,
    commit: Commit,
    now: Timestamp,
) -> Result<Committed, StoreError> {
    if commit.limits.is_some() {
        lock_limits(transaction).await?;
    }
    let stored = lock(transaction, tenant, id).await?;
    check_limits(transaction, &stored.session.owner, commit.limits).await?;
    let (key, mut last) = (stored.key, stored.last);
    check_fence(transaction, tenant, commit.fence.as_ref()).await?;
    let end = journal::append(transaction, &stored.session.stream(), expected, &commit.records).await?;
    if commit.is_empty() {
        return Ok(Committed::new(end, Vec::new(), Vec::new()));
    }
    let session = commit.apply(stored.session, now)?;
    for change in commit.runs {
        run::change(transaction, key, change, now).await?;
    }
    let messages: Vec<StoredMessage> = commit
        .messages
        .into_iter()
        .map(|new| {
            let seq = last.next_message(new.is_audit);
            new.store(seq, now)
        })
        .collect();
    if !messages.is_empty() {
        message::insert(transaction, key, &messages).await?;
    }
    let first = last.event + 1;
    if !commit.events.is_empty() {
        event::insert(transaction, key, first, &commit.events, now).await?;
        last.event += commit.events.len() as u64;
    }
    for change in commit.calls {
        call::change(transaction, key, change, now).await?;
    }
    for change in commit.approvals {
        approval::change(transaction, (key, id), change, now).await?;
    }
    if let Some(change) = commit.document {
        document::change(transaction, key, change, now).await?;
    }
    update(transaction, key, &session, last).await?;
    let messages = messages.iter().map(|message| message.seq).collect();
    Ok(Committed::new(end, messages, (first..=last.event).collect()))
}

impl Numbers {
    fn next_message(&mut self, is_audit: bool) -> i64 {
        if is_audit {
            self.audit += 1;
            -number(self.audit)
        } else {
            self.message += 1;
            number(self.message)
        }
    }
}

async fn update(
    transaction: &mut Transaction<'_>,
    key: i64,
    session: &Session,
    last: Numbers,
) -> Result<(), StoreError> {
    let sql = "UPDATE sessions
               SET status = $2, pending_tool_call_id = $3, error_id = $4, title = $5, updated_at = $6,
                   last_message = $7, last_audit = $8, last_event = $9
               WHERE session = $1";
    let statement = sqlx::query(sql)
        .bind(key)
        .bind(session.status.as_str())
        .bind(&session.pending_tool_call_id)
        .bind(&session.error_id)
        .bind(session.title.as_deref().map(text::encode))
        .bind(session.updated_at.as_millis())
        .bind(number(last.message))
        .bind(number(last.audit))
        .bind(number(last.event));
    transaction
        .execute("cannot write the session", statement)
        .await
        .map(drop)
}
