//! Approvals in their table.

use agcore_chat::{Actor, Timestamp};
use agcore_session::{Approval, ApprovalChange, ApprovalStatus, NewApproval};
use rusqlite::{Connection, Row, params};
use serde_json::Value;

use super::run;
use crate::{
    error::StoreError,
    sqlite::rows::{Json, execute, named, optional_json, optional_time, select_one, time},
};

pub(super) const COLUMNS: &str = "approvals.id AS approval_id, run, call_id, approvals.status AS approval_status, \
     answered_by_tenant, answered_by_user, answered_by_line, asked_at, closed_at, question, answer";

/// Writes a question, an answer or a withdrawal. Returns the approval, and whether something was changed.
pub(super) fn change(
    connection: &Connection,
    (key, session): (i64, &str),
    change: ApprovalChange,
    now: Timestamp,
) -> Result<(Approval, bool), StoreError> {
    if let ApprovalChange::Ask(new) = &change {
        run::check(connection, key, &new.run)?;
    }
    let sql = format!("SELECT {COLUMNS} FROM approvals WHERE session = ?1 AND id = ?2");
    let read = |row: &Row<'_>| read(row, session);
    let known = select_one(
        connection,
        "cannot read the approval",
        &sql,
        params![key, change.id()],
        read,
    )?;
    let approval = change.apply(session, known.clone(), now)?;
    if known.as_ref() == Some(&approval) {
        return Ok((approval, false));
    }
    write(connection, key, &approval)?;
    Ok((approval, true))
}

fn write(connection: &Connection, key: i64, approval: &Approval) -> Result<(), StoreError> {
    let sql = "INSERT INTO approvals
               (session, id, run, call_id, status, answered_by_tenant, answered_by_user, answered_by_line, asked_at,
                closed_at, question, answer)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
               ON CONFLICT (session, id) DO UPDATE
               SET status = excluded.status, answered_by_tenant = excluded.answered_by_tenant,
                   answered_by_user = excluded.answered_by_user, answered_by_line = excluded.answered_by_line,
                   closed_at = excluded.closed_at, answer = excluded.answer";
    let by = approval.answered_by.as_ref();
    let params = params![
        key,
        approval.id,
        approval.run,
        approval.call_id,
        approval.status.as_str(),
        by.map(|by| &*by.tenant),
        by.map(|by| &*by.user),
        by.and_then(|by| by.line.as_deref()),
        approval.asked_at.as_millis(),
        approval.closed_at.map(Timestamp::as_millis),
        approval.question.to_string(),
        approval.answer.as_ref().map(Value::to_string),
    ];
    execute(connection, "cannot write the approval", sql, params).map(drop)
}

pub(super) fn read(row: &Row<'_>, session: &str) -> rusqlite::Result<Approval> {
    let Json(question) = row.get("question")?;
    let mut new = NewApproval::new(
        row.get::<_, String>("approval_id")?,
        row.get::<_, String>("run")?,
        question,
    );
    new.call_id = row.get("call_id")?;
    let mut approval = new.ask(session, time(row, "asked_at")?);
    approval.status = named(row, "approval_status", ApprovalStatus::from_name)?;
    approval.answer = optional_json(row, "answer")?;
    if let Some(tenant) = row.get::<_, Option<String>>("answered_by_tenant")? {
        let by = Actor::new(tenant, row.get::<_, String>("answered_by_user")?);
        let line: Option<String> = row.get("answered_by_line")?;
        approval.answered_by = Some(line.into_iter().fold(by, Actor::with_line));
    }
    approval.closed_at = optional_time(row, "closed_at")?;
    Ok(approval)
}
