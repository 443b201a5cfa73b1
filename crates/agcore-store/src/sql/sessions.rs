//! Which sessions, runs and approvals a filter selects.

use agcore_chat::Actor;
use agcore_session::{ApprovalFilter, RunListFilter, SessionFilter};

use super::conditions::{Conditions, Value, text};

/// Selects rows of `runs` that are not over.
pub(crate) const OPEN_RUNS: &str = "status IN ('queued', 'running', 'interrupted')";

impl Conditions {
    /// Selects rows of `sessions`.
    pub(crate) fn sessions(filter: &SessionFilter) -> Self {
        let mut all = Self::tenant(&filter.tenant);
        if let Some(owner) = &filter.owner {
            all = all.and(Self::owner(owner));
        }
        if let Some(status) = filter.status {
            all = all.and(Self::new("status = ?", [text(status.as_str())]));
        }
        if let Some(whole) = &filter.part_of {
            let key = "SELECT whole.session FROM sessions AS whole WHERE whole.tenant = ? AND whole.id = ?";
            all = all.and(Self::new(
                format!("part_of = ({key})"),
                [text(&filter.tenant), text(whole)],
            ));
        }
        if !filter.includes_erased {
            all = all.and(Self::new("erased_at IS NULL", []));
        }
        if let Some(after) = &filter.after {
            let place = [Value::Integer(after.updated_at.as_millis()), text(&after.id)];
            all = all.and(Self::new("(updated_at, id) < (?, ?)", place));
        }
        all
    }

    /// Selects rows of `approvals`, joined with `sessions`.
    pub(crate) fn approvals(filter: &ApprovalFilter) -> Self {
        let mut all = Self::tenant(&filter.tenant);
        if let Some(owner) = &filter.owner {
            all = all.and(Self::owner(owner));
        }
        if let Some(session) = &filter.session {
            all = all.and(Self::new("sessions.id = ?", [text(session)]));
        }
        if let Some(status) = filter.status {
            // As a part of the text, so that the index of open questions can be used.
            all = all.and(Self::new(format!("approvals.status = '{}'", status.as_str()), []));
        }
        if let Some(after) = &filter.after {
            let place = [
                Value::Integer(after.asked_at.as_millis()),
                text(&after.session),
                text(&after.id),
            ];
            all = all.and(Self::new("(asked_at, sessions.id, approvals.id) > (?, ?, ?)", place));
        }
        all
    }

    /// Selects rows of `runs`, joined with `sessions`. The tenant is that of the runs, whose index has the order of the list.
    pub(crate) fn run_list(filter: &RunListFilter) -> Self {
        let owner = [text(&filter.owner.tenant), text(&filter.owner.user)];
        let mut all = Self::new("runs.tenant = ? AND sessions.\"user\" = ?", owner)
            .and(match &filter.owner.line {
                Some(line) => Self::new("sessions.line = ?", [text(line)]),
                None => Self::new("sessions.line IS NULL", []),
            })
            .and(Self::new("sessions.part_of IS NULL AND sessions.erased_at IS NULL", []));
        if let Some(status) = filter.status {
            all = all.and(Self::new("runs.status = ?", [text(status.as_str())]));
        }
        if let Some((name, value)) = &filter.metadata {
            all = all.and(Self::new("sessions.metadata ->> ? = ?", [text(name), text(value)]));
        }
        if let Some(after) = &filter.after {
            let place = [
                Value::Integer(after.created_at.as_millis()),
                text(&after.session),
                text(&after.run),
            ];
            // The first condition is one for the index.
            all = all.and(Self::new("runs.created_at <= ?", [place[0].clone()]));
            all = all.and(Self::new("(runs.created_at, sessions.id, runs.id) < (?, ?, ?)", place));
        }
        all
    }

    /// Selects what belongs to an owner, whose tenant may be another one than that of a filter.
    pub(super) fn owner(owner: &Actor) -> Self {
        let values = [text(&owner.tenant), text(&owner.user)];
        Self::new("tenant = ? AND \"user\" = ?", values).and(match &owner.line {
            Some(line) => Self::new("line = ?", [text(line)]),
            None => Self::new("line IS NULL", []),
        })
    }
}
