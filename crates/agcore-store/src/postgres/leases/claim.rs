//! Claims.

use std::sync::{LazyLock, atomic::Ordering};

use agcore_session::{ClaimRequest, Claims, Lease, LeaseState, RunStatus, Timestamp};
use sqlx::{Row, postgres::PgRow};

use super::{dead::Exhausted, renewal::millis};
use crate::{
    error::{StoreError, StoreErrorKind},
    postgres::{PostgresStore, connection::statement::Statement, error::convert, query::NOW},
    sql::{leases, row::SqlRow},
};

const ATTEMPT: &str = "cannot claim runs";

/// The number of times that a claim is tried when another one has taken a run of the same session meanwhile.
const TRIES: u32 = 5;

/// The number of runs that a claim reads beyond those that it wants, because other claims have locked some.
const SPARE: u32 = 16;

/// Makes other claims wait. Two claims that count the runs of a tenant at the same time could exceed its ceiling together.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('agcore claims ' || current_schema(), 0))";

/// Values: the holder, the worker, the length of the lease, the number of runs, the tenants, the attempts, whether other claims
/// wait, and the number of runs to read.
static CLAIM: LazyLock<String> = LazyLock::new(|| {
    let (waiting, held, tenants) = (leases::waiting("runs"), leases::held("runs"), leases::waiting_tenants());
    let (ready, has_turn) = (leases::ready("runs", "now"), leases::has_turn("runs", "now"));
    let is_selected = |tenant: &str| format!("($5::text[] IS NULL OR {tenant} = ANY ($5))");
    let (of_waiting, of_held) = (is_selected("tenants.tenant"), is_selected("held.tenant"));
    format!(
        "WITH RECURSIVE clock AS MATERIALIZED (SELECT {NOW} AS now),
         gate AS MATERIALIZED (
             SELECT $7 OR NOT EXISTS (SELECT 1 FROM run_shares WHERE ceiling IS NOT NULL) AS is_open
         ),
         held AS MATERIALIZED (
             SELECT run, runs.tenant, due, lease_until, attempts, holder, {ready} AS is_ready FROM clock, runs WHERE {held}
         ),
         mine AS MATERIALIZED (SELECT run FROM held, clock WHERE holder = $1 AND lease_until > now),
         loads AS MATERIALIZED (
             SELECT held.tenant, count(*) AS held FROM held, clock WHERE lease_until > now GROUP BY held.tenant
         ),
         {tenants},
         firsts AS MATERIALIZED (
             SELECT tenants.tenant
             FROM clock CROSS JOIN tenants CROSS JOIN LATERAL (
                 SELECT due FROM runs WHERE runs.tenant = tenants.tenant AND {waiting} AND {ready} AND {has_turn}
                 ORDER BY due, run LIMIT 1
             ) AS first
             LEFT JOIN loads ON loads.tenant = tenants.tenant LEFT JOIN run_shares ON run_shares.tenant = tenants.tenant
             WHERE tenants.tenant IS NOT NULL AND {of_waiting}
             ORDER BY (coalesce(loads.held, 0) + 1)::float8 / coalesce(weight, 1), due LIMIT $8
         ),
         candidates AS MATERIALIZED (
             SELECT next.run, firsts.tenant, next.due, next.attempts
             FROM clock CROSS JOIN firsts CROSS JOIN LATERAL (
                 SELECT run, due, attempts FROM runs
                 WHERE runs.tenant = firsts.tenant AND {waiting} AND {ready} AND {has_turn} ORDER BY due, run LIMIT $8
             ) AS next
             UNION ALL
             SELECT held.run, held.tenant, due, attempts FROM held, clock WHERE lease_until <= now AND is_ready AND {of_held}
         ),
         ranked AS MATERIALIZED (
             SELECT run, due, coalesce(weight, 1) AS weight, ceiling,
                 coalesce(loads.held, 0) + row_number() OVER (PARTITION BY candidates.tenant ORDER BY due, run) AS place
             FROM candidates LEFT JOIN loads ON loads.tenant = candidates.tenant
                 LEFT JOIN run_shares ON run_shares.tenant = candidates.tenant
             WHERE attempts < $6
         ),
         ordered AS MATERIALIZED (
             SELECT run, due, place::float8 / weight AS place FROM ranked
             WHERE place <= coalesce(ceiling, place) AND (SELECT is_open FROM gate) AND NOT EXISTS (SELECT 1 FROM mine)
             ORDER BY 3, due, run LIMIT $8
         ),
         picked AS MATERIALIZED (
             SELECT runs.run, ordered.due, ordered.place
             FROM clock, ordered JOIN runs ON runs.run = ordered.run
             WHERE runs.status IN ('queued', 'running') AND (runs.holder IS NULL OR runs.lease_until <= now) AND {ready}
             ORDER BY 3, 2, 1 LIMIT $4
             FOR UPDATE OF runs SKIP LOCKED
         ),
         claimed AS (
             UPDATE runs SET holder = $1, worker = $2, lease_until = now + $3, epoch = epoch + 1, attempts = attempts + 1
             FROM picked, clock WHERE runs.run = picked.run
             RETURNING runs.run, runs.session, runs.id, runs.status, runs.epoch, runs.attempts, runs.lease_until,
                 runs.cancel_requested_at, picked.place, picked.due
         ),
         found AS (
             SELECT 'lease' AS what, session, id, status, epoch, attempts, lease_until, cancel_requested_at, place, due
             FROM claimed
             UNION ALL
             SELECT 'lease', session, id, status, epoch, attempts, lease_until, cancel_requested_at, 0, due
             FROM runs WHERE run IN (SELECT run FROM mine)
             UNION ALL
             SELECT 'exhausted', session, id, status, epoch, attempts, lease_until, cancel_requested_at, 0, due
             FROM runs WHERE run IN (SELECT run FROM candidates WHERE attempts >= $6)
         )
         SELECT what, tenant, sessions.id AS session_id, found.id, found.status, epoch, attempts, lease_until,
             cancel_requested_at, now, place, due
         FROM clock, found JOIN sessions USING (session)
         UNION ALL
         SELECT 'closed', '', '', '', 'queued', 0, 0, NULL, NULL, 0, 0, 0 FROM gate WHERE NOT is_open
         ORDER BY place, due"
    )
});

/// A row of the answer to a claim.
enum Found {
    Lease(Lease),
    /// A run that was claimed too often.
    Exhausted(Exhausted),
    /// Some tenants have ceilings, so that others have to wait for this claim.
    Closed,
}

impl PostgresStore {
    /// Gives runs to a worker.
    pub(super) async fn claim_runs(&self, request: &ClaimRequest) -> Result<Claims, StoreError> {
        let mut claims = Claims::default();
        loop {
            let (leases, exhausted) = self.try_claims(request).await?;
            let before = claims.dead.len();
            for exhausted in &exhausted {
                claims.dead.extend(self.bury(exhausted, request.max_attempts).await?);
            }
            // Without those that failed, there may be others.
            if !leases.is_empty() || claims.dead.len() == before {
                claims.leases = leases;
                return Ok(claims);
            }
        }
    }

    /// Claims, again if another claim has taken a run of the same session at this moment.
    async fn try_claims(&self, request: &ClaimRequest) -> Result<(Vec<Lease>, Vec<Exhausted>), StoreError> {
        for _ in 1..TRIES {
            match self.claim_once(request).await {
                // The index of the holders of sessions has refused it.
                Err(error) if error.kind() == StoreErrorKind::InvalidState => {}
                done => return done,
            }
        }
        let last = self.claim_once(request).await;
        last.map_err(|error| match error.kind() {
            StoreErrorKind::InvalidState => {
                let reason = format!("{ATTEMPT}: other workers were faster again and again; try again");
                StoreError::with_source(StoreErrorKind::Unavailable, reason, error)
            }
            _ => error,
        })
    }

    async fn claim_once(&self, request: &ClaimRequest) -> Result<(Vec<Lease>, Vec<Exhausted>), StoreError> {
        let has_ceilings = &self.0.has_ceilings;
        let mut found = Vec::new();
        if !has_ceilings.load(Ordering::Relaxed) {
            found = self
                .select(ATTEMPT, claiming(request, false), |row| read(row, request))
                .await?;
        }
        if has_ceilings.load(Ordering::Relaxed) || found.iter().any(|found| matches!(found, Found::Closed)) {
            found = self.claim_alone(request).await?;
        }
        let (mut leases, mut exhausted) = (Vec::new(), Vec::new());
        for found in found {
            match found {
                Found::Lease(lease) => leases.push(lease),
                Found::Exhausted(run) => exhausted.push(run),
                Found::Closed => {}
            }
        }
        Ok((leases, exhausted))
    }

    /// Claims while other claims wait. The statement after the lock sees what they have claimed.
    async fn claim_alone(&self, request: &ClaimRequest) -> Result<Vec<Found>, StoreError> {
        let mut transaction = self.statements().begin(ATTEMPT).await?;
        let claimed = async {
            transaction.execute(ATTEMPT, sqlx::query(LOCK)).await?;
            transaction.rows(ATTEMPT, claiming(request, true)).await
        };
        let claimed = claimed.await;
        let rows = transaction.end(ATTEMPT, claimed).await?;
        self.0.has_ceilings.store(true, Ordering::Relaxed);
        let read = rows.iter().map(|row| read(row, request)).collect::<Result<_, _>>();
        read.map_err(|error| convert(ATTEMPT, error))
    }
}

fn claiming<'q>(request: &'q ClaimRequest, is_alone: bool) -> Statement<'q> {
    let tenants: Vec<&str> = request.tenants.iter().map(|tenant| &**tenant).collect();
    let sql: &'static str = &CLAIM;
    sqlx::query(sql)
        .bind(&request.holder)
        .bind(&request.worker)
        .bind(millis(request.length))
        .bind(i64::from(request.limit))
        .bind(Some(tenants).filter(|tenants| !tenants.is_empty()))
        .bind(i64::from(request.max_attempts))
        .bind(is_alone)
        .bind(i64::from(request.limit.saturating_add(SPARE)))
}

fn read(row: &PgRow, request: &ClaimRequest) -> Result<Found, sqlx::Error> {
    let [tenant, session, run] = [row.text("tenant")?, row.text("session_id")?, row.text("id")?];
    match row.try_get("what")? {
        "closed" => Ok(Found::Closed),
        "exhausted" => Ok(Found::Exhausted(Exhausted { tenant, session, run })),
        _ => {
            let mut state = LeaseState::default();
            state.epoch = row.count("epoch")?;
            state.attempts = u32::try_from(row.count("attempts")?).unwrap_or(u32::MAX);
            state.lease_until = row.optional_time("lease_until")?;
            state.cancel_requested_at = row.optional_time("cancel_requested_at")?;
            let status = row.named("status", RunStatus::from_name)?;
            let (now, key): (Timestamp, _) = (row.time("now")?, (tenant, session, run));
            Ok(Found::Lease(Lease::new(key, (status, &state), request.length, now)))
        }
    }
}
