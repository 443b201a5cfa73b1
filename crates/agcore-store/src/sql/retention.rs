//! Conditions that select data older than a retention allows.

use agcore_chat::Timestamp;
use agcore_session::Retention;

use super::conditions::{Conditions, Value};

/// The session that contains the session of a row of `runs` as a part, or that session itself.
const WHOLE_OF_RUN: &str =
    "(SELECT coalesce(own.part_of, own.session) FROM sessions AS own WHERE own.session = runs.session)";

/// Selects a column of a session and its parts.
fn members(column: &str, whole: &str) -> String {
    format!(
        "SELECT {column} FROM sessions AS member
         WHERE (member.session = {whole} OR member.part_of = {whole})"
    )
}

/// Holds for a session if a run is going on or a person is asked, in itself or in one of its parts.
fn needed(whole: &str) -> String {
    let members = members("member.session", whole);
    format!(
        "EXISTS (SELECT 1 FROM runs AS open_runs WHERE open_runs.session IN ({members})
                 AND open_runs.status IN ('queued', 'running', 'interrupted'))
         OR EXISTS (SELECT 1 FROM approvals WHERE approvals.session IN ({members}) AND approvals.status = 'open')"
    )
}

/// Selects the sessions of the same user that were changed after the one of a row, itself or in one of their parts.
fn newer() -> String {
    let all = members("max(member.updated_at)", "sessions.session");
    let changed = format!("{all} AND member.erased_at IS NULL");
    let whole_id = "coalesce((SELECT whole.id FROM sessions AS whole WHERE whole.session = newer.part_of), newer.id)";
    format!(
        "SELECT DISTINCT coalesce(newer.part_of, newer.session) FROM sessions AS newer
         WHERE newer.tenant = sessions.tenant AND newer.\"user\" = sessions.\"user\" AND newer.erased_at IS NULL
         AND newer.updated_at >= ({changed}) AND (newer.updated_at, {whole_id}) > (({changed}), sessions.id)"
    )
}

impl Conditions {
    /// Selects the rows of `sessions` that are to be erased.
    pub(crate) fn old_sessions(retention: &Retention, now: Timestamp) -> Self {
        let age = retention.sessions.map(|age| {
            let cutoff = Retention::before(age, now);
            let young = "EXISTS (SELECT 1 FROM sessions AS part WHERE part.part_of = sessions.session
                                 AND part.erased_at IS NULL AND part.updated_at >= ?)";
            before("sessions.updated_at", cutoff).and_not(Self::new(young, [Value::Integer(cutoff.as_millis())]))
        });
        let count = retention.sessions_per_user.map(|count| beyond(&newer(), count));
        Self::any([age, count]).and_if_any(Self::new(
            format!(
                "sessions.part_of IS NULL AND sessions.erased_at IS NULL
                 AND NOT EXISTS ({} AND member.status = 'running') AND NOT ({})",
                members("1", "sessions.session"),
                needed("sessions.session")
            ),
            [],
        ))
    }

    /// Selects the rows of `runs` that are to be deleted.
    pub(crate) fn old_runs(retention: &Retention, now: Timestamp) -> Self {
        let newer = "SELECT 1 FROM runs AS newer WHERE newer.session = runs.session AND newer.run > runs.run";
        let age = retention
            .runs
            .map(|age| before("runs.updated_at", Retention::before(age, now)));
        let count = retention.runs_per_session.map(|count| beyond(newer, count));
        Self::any([age, count]).and_if_any(Self::settled())
    }

    /// Selects the rows of `runs` whose events are to be deleted.
    pub(crate) fn runs_with_old_events(retention: &Retention, now: Timestamp) -> Self {
        let age = retention
            .events
            .map(|age| before("runs.updated_at", Retention::before(age, now)));
        Self::any([age]).and_if_any(Self::settled())
    }

    /// Selects the rows of `messages` that are to lose their content.
    pub(crate) fn old_audit(retention: &Retention, now: Timestamp) -> Self {
        let age = retention
            .audit
            .map(|age| before("messages.created_at", Retention::before(age, now)));
        Self::any([age]).and_if_any(Self::new("messages.seq < 0 AND messages.content <> ''", []))
    }

    /// Selects the rows of `runs` that nothing needs any more.
    fn settled() -> Self {
        Self::new(
            format!(
                "runs.status IN ('completed', 'failed', 'cancelled') AND NOT ({})",
                needed(WHOLE_OF_RUN)
            ),
            [],
        )
    }

    /// Selects what both select, which is nothing for certain if this condition selects nothing.
    fn and_if_any(self, other: Self) -> Self {
        if self.is_never() { self } else { self.and(other) }
    }

    /// Selects what one of several conditions selects. Without conditions, nothing is selected.
    fn any(conditions: impl IntoIterator<Item = Option<Self>>) -> Self {
        let conditions = conditions.into_iter().flatten();
        let all = conditions.reduce(|one, other| {
            let sql = format!("({}) OR ({})", one.sql(), other.sql());
            Self::new(sql, one.values().iter().chain(other.values()).cloned())
        });
        all.unwrap_or_else(|| Self::new("FALSE", []))
    }
}

fn before(column: &str, time: Timestamp) -> Conditions {
    Conditions::new(format!("{column} < ?"), [Value::Integer(time.as_millis())])
}

/// Selects rows for which a query returns at least this many.
fn beyond(newer: &str, count: u64) -> Conditions {
    match count.checked_sub(1) {
        Some(offset) => {
            let offset = i64::try_from(offset).unwrap_or(i64::MAX);
            Conditions::new(
                format!("({newer} LIMIT 1 OFFSET ?) IS NOT NULL"),
                [Value::Integer(offset)],
            )
        }
        None => Conditions::new("TRUE", []),
    }
}
