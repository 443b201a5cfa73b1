//! Conditions of claims, which are those of [`RunTurn`](agcore_session::RunTurn) and [`LeaseState`](agcore_session::LeaseState).

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
