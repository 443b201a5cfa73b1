//! The cost of a claim and of a renewal, by the number of runs that workers have, and of tenants that wait.

use std::{slice, sync::Arc, time::Duration};

use agcore_session::{Actor, ClaimRequest, Commit, Lease, NewSession, RunChange, RunStatus};
use agcore_testkit::clock::ManualClock;

use crate::{
    Fallible,
    measure::cpu,
    subject::{Kind, Subject},
};

/// The numbers of runs that workers have.
const HELD: [u32; 4] = [0, 250, 1_000, 4_000];

/// The claims and renewals of each kind.
const ROUNDS: u32 = 200;

/// The numbers of tenants whose runs wait.
const WAITING: [u32; 4] = [1, 10, 50, 200];

/// Measures with empty stores of this kind, and prints tables.
///
/// # Errors
/// When the store fails.
pub(crate) async fn print(kind: Kind) -> Fallible {
    beside_held_runs(kind).await?;
    beside_waiting_tenants(kind).await
}

async fn beside_held_runs(kind: Kind) -> Fallible {
    println!(
        "\n| CPU time beside held runs, µs | claim that finds nothing | claim of a run | renewal of a lease |\n|---|---|---|---|"
    );
    let mut store = Measured::open(kind).await?;
    let mut held = 0;
    for wanted in HELD {
        while held < wanted {
            store.queue("acme").await?;
            held += u32::try_from(store.claim().await?.len())?;
        }
        let begin = cpu();
        for _ in 0..ROUNDS {
            store.claim().await?;
        }
        let empty = micros(begin);
        for _ in 0..ROUNDS {
            store.queue("acme").await?;
        }
        let (begin, mut own) = (cpu(), Vec::new());
        for _ in 0..ROUNDS {
            own.extend(store.claim().await?);
        }
        let (found, begin) = (micros(begin), cpu());
        for lease in &own {
            store.subject.leases.renew(slice::from_ref(lease)).await?;
        }
        let renewed = micros(begin);
        for lease in &own {
            store
                .subject
                .store
                .delete_session(&lease.tenant, &lease.session)
                .await?;
        }
        println!("| {held} | {empty:.0} | {found:.0} | {renewed:.0} |");
    }
    Ok(())
}

async fn beside_waiting_tenants(kind: Kind) -> Fallible {
    println!("\n| CPU time beside waiting tenants, µs | claim of a run |\n|---|---|");
    for tenants in WAITING {
        let mut store = Measured::open(kind).await?;
        for number in 0..tenants.max(ROUNDS) * 2 {
            store.queue(&format!("tenant-{}", number % tenants)).await?;
        }
        let begin = cpu();
        for _ in 0..ROUNDS {
            store.claim().await?;
        }
        println!("| {tenants} | {:.0} |", micros(begin));
    }
    Ok(())
}

/// Returns the mean CPU time of a round since a time.
fn micros(begin: Duration) -> f64 {
    cpu().saturating_sub(begin).as_secs_f64() * 1e6 / f64::from(ROUNDS)
}

/// A store whose calls are measured.
struct Measured {
    subject: Subject,
    /// The number of sessions and claims.
    count: u32,
}

impl Measured {
    async fn open(kind: Kind) -> Fallible<Self> {
        let subject = Subject::open(kind, Arc::new(ManualClock::new()) as _).await?;
        Ok(Self { subject, count: 0 })
    }

    async fn queue(&mut self, tenant: &str) -> Fallible {
        self.count += 1;
        let id = format!("session-{}", self.count);
        let session = NewSession::new(&*id).with_owner(Actor::new(tenant, "user"));
        let run = Commit::new().with_run(RunChange::new("run", RunStatus::Queued));
        self.subject.store.create(session).await?;
        self.subject.store.commit(tenant, &id, 0, run).await?;
        Ok(())
    }

    /// Claims a run.
    async fn claim(&mut self) -> Fallible<Vec<Lease>> {
        self.count += 1;
        let request = ClaimRequest::new(format!("claim-{}", self.count), "worker");
        Ok(self.subject.leases.claim(&request).await?.leases)
    }
}
