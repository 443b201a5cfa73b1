//! Counting runs, and the conditions of claims: those of [`RunTurn`](agcore_session::RunTurn) and
//! [`LeaseState`](agcore_session::LeaseState).

use agcore_session::RunCounts;

use super::row::SqlRow;

/// Returns the condition of runs that wait for a worker, as in the index of the table.
pub(crate) fn waiting(runs: &str) -> String {
    format!(
        "{runs}.holder IS NULL AND {runs}.status IN ('queued', 'running') AND ({runs}.status = 'queued' OR {runs}.epoch > 0)"
    )
}

/// Returns the condition of runs that a worker has or had last, as in the index of the table.
pub(crate) fn held(runs: &str) -> String {
    format!("{runs}.holder IS NOT NULL AND {runs}.status IN ('queued', 'running')")
}

/// The condition of runs that wait for a worker or have one, with `runs_open` as the index.
pub(crate) const COUNTED: &str =
    "status IN ('queued', 'running', 'interrupted') AND status <> 'interrupted' AND (status = 'queued' OR epoch > 0)";

/// Returns the statement that lets the runs of a session be claimed at once that were released with a delay.
pub(crate) fn end_delays([tenant, session]: [&str; 2]) -> String {
    let waiting = waiting("runs");
    format!(
        "UPDATE runs SET not_before = NULL \
         WHERE session = (SELECT session FROM sessions WHERE tenant = {tenant} AND id = {session}) \
             AND {waiting} AND epoch > 0 AND not_before IS NOT NULL"
    )
}

/// Returns the query that counts these runs: all, and those of the tenant, the user and the line of business whose placeholders
/// these are.
pub(crate) fn count_runs([tenant, user, line]: [&str; 3]) -> String {
    let (waiting, held) = (waiting("runs"), held("runs"));
    format!(
        "SELECT count(*) AS total, count(*) FILTER (WHERE sessions.tenant = {tenant}) AS of_tenant, \
             count(*) FILTER (WHERE sessions.tenant = {tenant} AND sessions.\"user\" = {user} \
                 AND sessions.line IS NOT DISTINCT FROM {line}) AS of_user \
         FROM (SELECT session FROM runs WHERE {waiting} UNION ALL SELECT session FROM runs WHERE {held}) AS counted \
             JOIN sessions USING (session)"
    )
}

/// Reads the result of [`count_runs`].
pub(crate) fn read_counts<R: SqlRow>(row: &R) -> Result<RunCounts, R::Error> {
    Ok(RunCounts {
        total: row.count("total")?,
        tenant: row.count("of_tenant")?,
        user: row.count("of_user")?,
    })
}

/// Returns the condition of runs whose time before which no worker takes them has come.
pub(crate) fn ready(runs: &str, now: &str) -> String {
    format!("({runs}.not_before IS NULL OR {runs}.not_before <= {now})")
}

/// Returns the condition of runs that have their turn in their session: no other run of the session has a holder, those that have
/// started come before the others, and older ones before newer ones.
pub(crate) fn has_turn(runs: &str, now: &str) -> String {
    let is_ready = ready("other", now);
    // `runs_open` is the index.
    format!(
        "NOT EXISTS (SELECT 1 FROM runs AS other \
         WHERE other.session = {runs}.session AND other.run <> {runs}.run \
             AND other.status IN ('queued', 'running', 'interrupted') AND other.status <> 'interrupted' \
             AND (other.holder IS NOT NULL OR CASE other.status \
                 WHEN 'running' THEN {runs}.status = 'queued' OR other.run < {runs}.run \
                 ELSE {runs}.status = 'queued' AND other.run < {runs}.run AND {is_ready} END))"
    )
}

/// Returns a common table expression with the tenants whose runs wait, found by one look into the index for each. Its last row is
/// null.
pub(crate) fn waiting_tenants() -> String {
    let (first, next) = (waiting("runs"), waiting("later"));
    format!(
        "tenants (tenant) AS (\
         SELECT (SELECT runs.tenant FROM runs WHERE {first} ORDER BY runs.tenant LIMIT 1) \
         UNION ALL \
         SELECT (SELECT later.tenant FROM runs AS later WHERE {next} AND later.tenant > tenants.tenant \
             ORDER BY later.tenant LIMIT 1) \
         FROM tenants WHERE tenants.tenant IS NOT NULL)"
    )
}
