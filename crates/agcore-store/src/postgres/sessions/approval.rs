//! Approvals in their table.

use agcore_chat::{Actor, Timestamp};
use agcore_session::{Approval, ApprovalChange, ApprovalStatus, NewApproval};
use serde_json::Value;
use sqlx::{Error, Row, postgres::PgRow};

use super::run;
use crate::{
    error::StoreError,
    postgres::{
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        rows::{json, named, optional_json, optional_time, time},
    },
};

/// The columns that [`read`] reads.
macro_rules! APPROVAL {
    () => {
        "approvals.id AS approval_id, run, call_id, approvals.status AS approval_status, answered_by_tenant, \
         answered_by_user, answered_by_line, asked_at, closed_at, question::text AS question, answer::text AS answer"
    };
}

pub(super) use APPROVAL;

/// Writes a question, an answer or a withdrawal. Returns the approval, and whether something was changed.
pub(super) async fn change(
    transaction: &mut Transaction<'_>,
    (key, session): (i64, &str),
    change: ApprovalChange,
    now: Timestamp,
) -> Result<(Approval, bool), StoreError> {
    if let ApprovalChange::Ask(new) = &change {
        run::check(transaction, key, &new.run).await?;
    }
    let attempt = "cannot write the approval";
    let sql = concat!("SELECT ", APPROVAL!(), " FROM approvals WHERE session = $1 AND id = $2");
    let found = transaction
        .row(attempt, sqlx::query(sql).bind(key).bind(change.id()))
        .await?;
    let known = found.map(|row| read(&row, session)).transpose();
    let known = known.map_err(|error| convert(attempt, error))?;
    let approval = change.apply(session, known.clone(), now)?;
    if known.as_ref() == Some(&approval) {
        return Ok((approval, false));
    }
    write(transaction, attempt, key, &approval).await?;
    Ok((approval, true))
}

async fn write(
    transaction: &mut Transaction<'_>,
    attempt: &str,
    key: i64,
    approval: &Approval,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO approvals
               (session, id, run, call_id, status, answered_by_tenant, answered_by_user, answered_by_line, asked_at,
                closed_at, question, answer)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::json, $12::json)
               ON CONFLICT (session, id) DO UPDATE
               SET status = excluded.status, answered_by_tenant = excluded.answered_by_tenant,
                   answered_by_user = excluded.answered_by_user, answered_by_line = excluded.answered_by_line,
                   closed_at = excluded.closed_at, answer = excluded.answer";
    let by = approval.answered_by.as_ref();
    let statement = sqlx::query(sql)
        .bind(key)
        .bind(&approval.id)
        .bind(&approval.run)
        .bind(&approval.call_id)
        .bind(approval.status.as_str())
        .bind(by.map(|by| &*by.tenant))
        .bind(by.map(|by| &*by.user))
        .bind(by.and_then(|by| by.line.as_deref()))
        .bind(approval.asked_at.as_millis())
        .bind(approval.closed_at.map(Timestamp::as_millis))
        .bind(approval.question.to_string())
        .bind(approval.answer.as_ref().map(Value::to_string));
    transaction.execute(attempt, statement).await.map(drop)
}

pub(super) fn read(row: &PgRow, session: &str) -> Result<Approval, Error> {
    let (id, run): (String, String) = (row.try_get("approval_id")?, row.try_get("run")?);
    let mut new = NewApproval::new(id, run, json(row, "question")?);
    new.call_id = row.try_get("call_id")?;
    let mut approval = new.ask(session, time(row, "asked_at")?);
    approval.status = named(row, "approval_status", ApprovalStatus::from_name)?;
    approval.answer = optional_json(row, "answer")?;
    if let Some(tenant) = row.try_get::<Option<String>, _>("answered_by_tenant")? {
        let by = Actor::new(tenant, row.try_get::<String, _>("answered_by_user")?);
        let line: Option<String> = row.try_get("answered_by_line")?;
        approval.answered_by = Some(line.into_iter().fold(by, Actor::with_line));
    }
    approval.closed_at = optional_time(row, "closed_at")?;
    Ok(approval)
}
