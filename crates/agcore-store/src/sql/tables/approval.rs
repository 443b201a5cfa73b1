//! The table of approvals.

use agcore_chat::{Actor, Timestamp};
use agcore_session::{Approval, ApprovalStatus, NewApproval};

use super::{Cell, Column, Table};
use crate::sql::row::SqlRow;

/// The questions of runs, with their answers.
pub(crate) const APPROVALS: Table<Approval> = Table {
    name: "approvals",
    key: &["id"],
    columns: &[
        Column::fixed("id", |approval| Cell::text(&approval.id)),
        Column::fixed("run", |approval| Cell::text(&approval.run)),
        Column::fixed("call_id", |approval| Cell::Text(approval.call_id.as_deref())),
        Column::changing("status", |approval| Cell::text(approval.status.as_str())),
        Column::changing("answered_by_tenant", |approval| {
            Cell::Text(approval.answered_by.as_ref().map(|by| &*by.tenant))
        }),
        Column::changing("answered_by_user", |approval| {
            Cell::Text(approval.answered_by.as_ref().map(|by| &*by.user))
        }),
        Column::changing("answered_by_line", |approval| {
            Cell::Text(approval.answered_by.as_ref().and_then(|by| by.line.as_deref()))
        }),
        Column::fixed("asked_at", |approval| Cell::Integer(approval.asked_at.as_millis())),
        Column::changing("closed_at", |approval| {
            Cell::OptionalInteger(approval.closed_at.map(Timestamp::as_millis))
        }),
        Column::fixed_json("question", |approval| Cell::json(Some(&approval.question))),
        Column::changing_json("answer", |approval| Cell::json(approval.answer.as_ref())),
    ],
};

/// Reads a row of [`APPROVALS`], which belongs to this session.
pub(crate) fn read_approval<R: SqlRow>(row: &R, session: &str) -> Result<Approval, R::Error> {
    let mut new = NewApproval::new(row.text("id")?, row.text("run")?, row.json("question")?);
    new.call_id = row.optional_text("call_id")?;
    let mut approval = new.ask(session, row.time("asked_at")?);
    approval.status = row.named("status", ApprovalStatus::from_name)?;
    approval.answer = row.optional_json("answer")?;
    if let Some(tenant) = row.optional_text("answered_by_tenant")? {
        let by = Actor::new(tenant, row.text("answered_by_user")?);
        let line = row.optional_text("answered_by_line")?;
        approval.answered_by = Some(line.into_iter().fold(by, Actor::with_line));
    }
    approval.closed_at = row.optional_time("closed_at")?;
    Ok(approval)
}
