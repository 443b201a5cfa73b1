//! Conditions that select what is older than a retention allows.

use agcore_memory::{Timestamp, session::Retention};

use super::conditions::{Conditions, Value};

/// Holds for a session in which a run is going on or a person is asked. The session is that of a table.
fn needed(table: &str) -> String {
    format!(
        "EXISTS (SELECT 1 FROM runs AS open_runs WHERE open_runs.session = {table}.session
                 AND open_runs.status IN ('queued', 'running', 'interrupted'))
         OR EXISTS (SELECT 1 FROM approvals WHERE approvals.session = {table}.session AND approvals.status = 'open')"
    )
}

impl Conditions {
    /// Selects the rows of `sessions` that are to be erased.
    pub(crate) fn old_sessions(retention: &Retention, now: Timestamp) -> Self {
        let newer = "SELECT 1 FROM sessions AS newer
                     WHERE newer.tenant = sessions.tenant AND newer.\"user\" = sessions.\"user\" AND newer.erased_at IS NULL
                     AND (newer.updated_at, newer.id) > (sessions.updated_at, sessions.id)";
        let age = retention
            .sessions
            .map(|age| before("sessions.updated_at", Retention::before(age, now)));
        let count = retention.sessions_per_user.map(|count| beyond(newer, count));
        Self::any([age, count]).and_if_any(Self::new(
            format!(
                "sessions.erased_at IS NULL AND sessions.status <> 'running' AND NOT ({})",
                needed("sessions")
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
                needed("runs")
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
