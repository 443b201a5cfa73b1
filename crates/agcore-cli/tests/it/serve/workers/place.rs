//! [`Place`]: the database of the processes, and what happens to it.

use super::worker::Worker;
use crate::{
    postgres::{Database, pooler::Pooler, server::OwnServer},
    support::Agcore,
};

/// Kinds of disturbances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Disturbance {
    /// A worker is stopped for longer than a lease, and continues.
    Stop,
    /// A worker is killed, and another one is started.
    Kill,
    /// A server is killed, and another one is started.
    KillServer,
    /// All connections to the database end.
    CutAll,
    /// The connections end on which workers renew their leases.
    CutRenewals,
    /// The database crashes, and starts again.
    Crash,
    /// The pooler ends, and starts again.
    RestartPooler,
}

/// The database of the processes.
#[derive(Default)]
pub(super) struct Place<'a> {
    /// The database on a PostgreSQL server, if it is not a file.
    pub(super) database: Option<&'a Database>,
    /// The server, if it belongs to the test.
    pub(super) server: Option<&'a OwnServer>,
    /// The pooler through which the processes reach the server.
    pub(super) pooler: Option<&'a Pooler>,
}

/// The workers that have runs, those with the most runs first.
const BUSY: &str = "
SELECT worker FROM agcore.runs
WHERE status IN ('queued', 'running') AND lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
GROUP BY worker ORDER BY count(*) DESC";

const OPEN_RUNS: &str = "
SELECT sessions.id, runs.status, epoch, attempts, worker, lease_until - now AS rest, not_before - now AS delay, input IS NULL AS is_empty
FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) AS clock,
    agcore.runs JOIN agcore.sessions USING (session)
WHERE runs.status IN ('queued', 'running', 'interrupted') ORDER BY run";

impl Place<'_> {
    /// Prints the runs that have not ended, for those who look for the reason.
    pub(super) fn print_open_runs(&self) {
        if let Some(database) = self.database {
            println!("open runs:\n{}", database.query(OPEN_RUNS));
        }
    }

    /// Has processes use the database.
    pub(super) fn prepare(&self, agcore: Agcore) -> Agcore {
        match (self.database, self.pooler) {
            (None, _) => agcore,
            (Some(database), None) => agcore.with("AGCORE_STORE", &database.url()),
            (Some(database), Some(pooler)) => agcore.with("AGCORE_STORE", &pooler.url(&database.url())),
        }
    }

    /// Returns the place of the worker that has the most runs, if that is known.
    pub(super) fn busiest(&self, workers: &[Worker]) -> Option<usize> {
        let names = self.database?.query(BUSY);
        let place = |name| workers.iter().position(|worker| worker.is(name));
        names.lines().find_map(place)
    }

    /// Returns what can be disturbed here.
    pub(super) fn disturbances(&self) -> Vec<Disturbance> {
        use Disturbance::{Crash, CutAll, CutRenewals, Kill, KillServer, RestartPooler, Stop};
        let mut all = vec![Stop, Kill, KillServer];
        if self.database.is_some() {
            all.extend([CutAll, CutRenewals]);
        }
        all.extend(self.server.map(|_| Crash));
        all.extend(self.pooler.map(|_| RestartPooler));
        all
    }

    /// Disturbs the database. Returns the number of connections that were cut, if these are what was looked for.
    pub(super) fn disturb(&self, disturbance: Disturbance) -> usize {
        match disturbance {
            Disturbance::CutAll => self.database.map_or(0, Database::cut_connections),
            Disturbance::CutRenewals => self.database.map_or(0, Database::cut_renewals),
            Disturbance::Crash => {
                self.server.into_iter().for_each(OwnServer::restart);
                0
            }
            Disturbance::RestartPooler => {
                self.pooler.into_iter().for_each(Pooler::restart);
                0
            }
            Disturbance::Stop | Disturbance::Kill | Disturbance::KillServer => 0,
        }
    }
}
