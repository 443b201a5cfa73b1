//! Commits.

use agcore_chat::{Clock, Text, Timestamp};
use agcore_session::{Commit, Committed, Session};
use rusqlite::{Connection, named_params};

use super::{
    approval, document, event, message,
    row::{Numbers, find},
    run,
};
use crate::{
    error::StoreError,
    sqlite::{
        journal,
        leases::{check_fence, check_limits},
        rows::{execute, number},
    },
};

/// Writes a commit. The transaction is rolled back if this fails.
pub(super) fn commit(
    connection: &Connection,
    (tenant, id): (&str, &str),
    (expected, commit, now): (u64, Commit, Timestamp),
    clock: &dyn Clock,
) -> Result<Committed, StoreError> {
    let stored = find(connection, tenant, id)?;
    check_limits(connection, &stored.session.owner, commit.limits)?;
    check_fence(connection, tenant, commit.fence.as_ref(), clock)?;
    let (key, mut last) = (stored.key, stored.last);
    let end = journal::append(connection, &stored.session.stream(), expected, &commit.records)?;
    if commit.is_empty() {
        return Ok(Committed::new(end, Vec::new(), Vec::new()));
    }
    let session = commit.apply(stored.session, now)?;
    for change in commit.runs {
        run::change(connection, key, change, now)?;
    }
    let mut messages = Vec::with_capacity(commit.messages.len());
    for new in commit.messages {
        let seq = last.next_message(new.is_audit);
        message::insert(connection, key, &new.store(seq, now))?;
        messages.push(seq);
    }
    let mut events = Vec::with_capacity(commit.events.len());
    let mut known_run = Text::default();
    for new in commit.events {
        if new.run != known_run {
            run::check(connection, key, &new.run)?;
            known_run.clone_from(&new.run);
        }
        last.event += 1;
        event::insert(connection, key, last.event, &new, now)?;
        events.push(last.event);
    }
    for change in commit.calls {
        run::change_call(connection, key, change, now)?;
    }
    for change in commit.approvals {
        approval::change(connection, (key, id), change, now)?;
    }
    if let Some(change) = commit.document {
        document::change(connection, key, change, now)?;
    }
    if !events.is_empty() {
        event::number_last(connection, key, last.event)?;
    }
    update(connection, key, &session, last)?;
    Ok(Committed::new(end, messages, events))
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

fn update(connection: &Connection, key: i64, session: &Session, last: Numbers) -> Result<(), StoreError> {
    let sql = "UPDATE sessions
               SET status = :status, pending_tool_call_id = :pending_tool_call_id, error_id = :error_id, title = :title,
                   updated_at = :updated_at, last_message = :last_message, last_audit = :last_audit
               WHERE session = :session";
    let params = named_params! {
        ":session": key,
        ":status": session.status.as_str(),
        ":pending_tool_call_id": session.pending_tool_call_id,
        ":error_id": session.error_id,
        ":title": session.title,
        ":updated_at": session.updated_at.as_millis(),
        ":last_message": number(last.message),
        ":last_audit": number(last.audit),
    };
    execute(connection, "cannot write the session", sql, params).map(drop)
}
