//! Renewing leases, giving them back, and asking for the end of a run.

use std::time::Duration;

use agcore_session::{CancelRequest, Lease, Release, ReleaseReason, Renewal, RunStatus};
use sqlx::{Row, postgres::PgRow};

use super::fence::permits;
use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        error::convert,
        query::{NOW, number, statement},
        text::lookup,
    },
    sql::{leases::COUNTED, row::SqlRow},
};

impl PostgresStore {
    pub(super) async fn renew_leases(&self, leases: &[Lease]) -> Result<Vec<Renewal>, StoreError> {
        let attempt = "cannot renew the leases";
        // Two renewals of the same runs, by a worker and its successor, lock them in the same order.
        let sql = format!(
            "WITH asked AS (
                 SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
                     WITH ORDINALITY AS asked (tenant, session_id, id, wanted, length, place)
             ), held AS (
                 SELECT runs.run, asked.length, asked.place
                 FROM asked JOIN sessions ON sessions.tenant = asked.tenant AND sessions.id = asked.session_id
                     JOIN runs ON runs.session = sessions.session AND runs.id = asked.id
                 WHERE runs.epoch = asked.wanted AND runs.status IN ('queued', 'running') AND runs.lease_until > {NOW}
                 ORDER BY runs.run FOR NO KEY UPDATE OF runs
             )
             UPDATE runs SET lease_until = {NOW} + held.length FROM held WHERE runs.run = held.run
             RETURNING held.place, held.length, cancel_requested_at IS NOT NULL AS is_unwanted"
        );
        let texts = |text: fn(&Lease) -> &str| leases.iter().map(|lease| lookup(text(lease))).collect::<Vec<_>>();
        let statement = statement(sql)
            .bind(texts(|lease| &lease.tenant))
            .bind(texts(|lease| &lease.session))
            .bind(texts(|lease| &lease.run))
            .bind(leases.iter().map(|lease| number(lease.epoch)).collect::<Vec<_>>())
            .bind(leases.iter().map(|lease| millis(lease.length)).collect::<Vec<_>>());
        let mut renewals = vec![Renewal::Lost; leases.len()];
        for (place, renewal) in self.select(attempt, statement, read_renewal).await? {
            if let Some(slot) = renewals.get_mut(place) {
                *slot = renewal;
            }
        }
        Ok(renewals)
    }

    /// Returns for each lease whether somebody has asked to cancel its run.
    pub(super) async fn unwanted_runs(&self, leases: &[Lease]) -> Result<Vec<bool>, StoreError> {
        let sql = format!(
            "SELECT asked.place
             FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
                 WITH ORDINALITY AS asked (tenant, session_id, id, wanted, place)
                 JOIN sessions ON sessions.tenant = asked.tenant AND sessions.id = asked.session_id
                 JOIN runs ON runs.session = sessions.session AND runs.id = asked.id
             WHERE runs.epoch = asked.wanted AND runs.status IN ('queued', 'running') AND runs.lease_until > {NOW}
                 AND cancel_requested_at IS NOT NULL"
        );
        let texts = |text: fn(&Lease) -> &str| leases.iter().map(|lease| lookup(text(lease))).collect::<Vec<_>>();
        let statement = statement(sql)
            .bind(texts(|lease| &lease.tenant))
            .bind(texts(|lease| &lease.session))
            .bind(texts(|lease| &lease.run))
            .bind(leases.iter().map(|lease| number(lease.epoch)).collect::<Vec<_>>());
        let mut unwanted = vec![false; leases.len()];
        let attempt = "cannot look for requests to cancel runs";
        for place in self.select(attempt, statement, |row| row.count("place")).await? {
            let place = usize::try_from(place).unwrap_or(usize::MAX).saturating_sub(1);
            if let Some(slot) = unwanted.get_mut(place) {
                *slot = true;
            }
        }
        Ok(unwanted)
    }

    pub(super) async fn release_lease(&self, lease: &Lease, release: Release) -> Result<bool, StoreError> {
        let sql = format!(
            "UPDATE runs SET holder = NULL, lease_until = NULL, not_before = {NOW} + $5::bigint,
                 attempts = greatest(attempts - $6, 0)
             WHERE session = (SELECT session FROM sessions WHERE tenant = $1 AND id = $2) AND id = $3 AND {}",
            permits("$4")
        );
        let given_back = i64::from(release.reason == ReleaseReason::GivenBack);
        let statement = statement(sql)
            .bind(lookup(&lease.tenant))
            .bind(lookup(&lease.session))
            .bind(lookup(&lease.run))
            .bind(number(lease.epoch))
            .bind(release.delay.map(millis))
            .bind(given_back);
        let released = self
            .statements()
            .execute("cannot give the lease back", statement)
            .await?;
        Ok(released > 0)
    }

    /// Takes all runs back from their workers. Returns their number.
    pub(super) async fn take_all_back(&self, cancels: bool) -> Result<u64, StoreError> {
        let sql = format!(
            "UPDATE runs SET holder = NULL, lease_until = NULL,
                 cancel_requested_at = CASE WHEN $1 THEN coalesce(cancel_requested_at, {NOW}) ELSE cancel_requested_at END
             WHERE {COUNTED}"
        );
        let statement = statement(sql).bind(cancels);
        self.statements().execute("cannot take the runs back", statement).await
    }

    /// Notes that somebody wants the run to end. Returns `None` if there is no such run.
    pub(super) async fn request_end(
        &self,
        [tenant, session, run]: [&str; 3],
    ) -> Result<Option<CancelRequest>, StoreError> {
        let attempt = "cannot ask for the end of the run";
        let sql = format!(
            "UPDATE runs SET cancel_requested_at = CASE WHEN status IN ('queued', 'running', 'interrupted')
                 THEN coalesce(cancel_requested_at, {NOW}) ELSE cancel_requested_at END
             WHERE session = (SELECT session FROM sessions WHERE tenant = $1 AND id = $2) AND id = $3
             RETURNING status, status IN ('queued', 'running') AND lease_until > {NOW} AS is_held"
        );
        let statement = statement(sql)
            .bind(lookup(tenant))
            .bind(lookup(session))
            .bind(lookup(run));
        let row = self.statements().row(attempt, statement).await?;
        let read = |row: &PgRow| {
            let status = row.named("status", RunStatus::from_name)?;
            let is_held: Option<bool> = row.try_get("is_held")?;
            Ok(match (status.is_over(), is_held) {
                (true, _) => CancelRequest::Over,
                (false, Some(true)) => CancelRequest::Held,
                (false, Some(false) | None) => CancelRequest::Free,
            })
        };
        let found = row.as_ref().map(read).transpose();
        found.map_err(|error| convert(attempt, error))
    }
}

/// Returns a duration in the unit of the tables.
pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Reads the answer to a renewal, and for which lease it is.
fn read_renewal(row: &PgRow) -> Result<(usize, Renewal), sqlx::Error> {
    let place = usize::try_from(row.count("place")?).unwrap_or(usize::MAX);
    let renewal = Renewal::Held {
        remaining: Duration::from_millis(row.count("length")?),
        cancel_requested: row.try_get("is_unwanted")?,
    };
    Ok((place.saturating_sub(1), renewal))
}
