//! Which sessions, runs and approvals a filter selects.

use agcore_chat::Actor;
use agcore_session::{ApprovalFilter, RunListFilter, SessionFilter, SpendingFilter, StoredMessage};

use super::conditions::{Conditions, Value, text};

/// Returns the place of a message among the bills of a run.
pub(crate) fn bill_order<'m>(session: &'m str, message: &StoredMessage) -> (&'m str, bool, u64) {
    (session, message.seq < 0, message.seq.unsigned_abs())
}

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
        if let Some(ids) = &filter.ids {
            all = all.and(Self::one_of("id", ids));
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

    /// Selects rows of `runs`, joined with `sessions`. The tenant and the user are those of the runs, whose index has the order of
    /// the list. Databases differ in how they look into the metadata, so the condition of an entry is an argument.
    pub(crate) fn run_list(filter: &RunListFilter, metadata: impl FnOnce(&str, &str) -> Self) -> Self {
        let owner = [text(&filter.owner.tenant), text(&filter.owner.user)];
        let mut all = Self::new("runs.tenant = ? AND runs.owner = ?", owner)
            .and(match &filter.owner.line {
                Some(line) => Self::new("sessions.line = ?", [text(line)]),
                None => Self::new("sessions.line IS NULL", []),
            })
            .and(Self::new("sessions.part_of IS NULL AND sessions.erased_at IS NULL", []));
        if let Some(status) = filter.status {
            all = all.and(Self::new("runs.status = ?", [text(status.as_str())]));
        }
        if let Some((name, value)) = &filter.metadata {
            all = all.and(metadata(name, value));
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

    /// Selects rows of `messages`, joined with `sessions`, that have model calls.
    pub(crate) fn spending(filter: &SpendingFilter, is_billed: &str) -> Self {
        let mut all = Self::tenant(&filter.tenant);
        if let Some(owner) = &filter.owner {
            all = all.and(Self::owner(owner));
        }
        let [since, until] = [filter.since, filter.until].map(|time| Value::Integer(time.as_millis()));
        // A session was changed last when its newest message was stored, or later.
        let times = "sessions.updated_at >= ? AND messages.created_at >= ? AND messages.created_at < ?";
        all = all
            .and(Self::new(times, [since.clone(), since, until]))
            .and(Self::new(is_billed, []));
        if let Some(after) = &filter.after {
            let place = [
                Value::Integer(after.created_at.as_millis()),
                text(&after.session),
                Value::Integer(after.seq),
            ];
            all = all.and(Self::new(
                "(messages.created_at, sessions.id, messages.seq) > (?, ?, ?)",
                place,
            ));
        }
        all
    }

    /// Selects the rows with one of these values in a column.
    fn one_of(column: &str, values: &[String]) -> Self {
        if values.is_empty() {
            return Self::new("FALSE", []);
        }
        let places = vec!["?"; values.len()].join(", ");
        Self::new(
            format!("{column} IN ({places})"),
            values.iter().map(|value| text(value)),
        )
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
