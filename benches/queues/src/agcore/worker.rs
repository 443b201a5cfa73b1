//! [`Worker`]: claims, renewals and commits with the periods of agcore-server.

use std::{
    collections::BTreeMap,
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore_chat::SystemClock;
use agcore_session::{
    ClaimRequest, Claims, Commit, Lease, NewEvent, RunChange, RunLeases, RunStatus, SessionErrorKind, SessionWriter,
};
use agcore_store::postgres::{PostgresOptions, PostgresStore};
use serde_json::json;
use tokio::{
    sync::{Notify, Semaphore},
    time::{Instant, sleep},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{held::Held, open, run_of};
use crate::subject::{Fallible, Notice, Periods, Plan, Report, What};

/// The default length of leases in agcore-server.
const LEASE: Duration = Duration::from_secs(15);

/// The pause between two claims in agcore-server. It doubles while nothing is found.
const POLL: Duration = Duration::from_millis(250);

/// The pause between two claims because of announcements in agcore-server.
const FOLLOWING: Duration = Duration::from_millis(20);

/// The factor by which pauses grow at most.
const IDLE: u32 = 4;

/// A worker in this process. It asks for as many runs as it has free slots: at once when a slot becomes free, and after a pause
/// otherwise. Connections of their own renew the leases, as in agcore-server.
#[derive(Debug)]
pub struct Worker {
    shared: Arc<Shared>,
    tasks: TaskTracker,
}

struct Shared {
    store: PostgresStore,
    leases: PostgresStore,
    plan: Plan,
    report: Report,
    has_events: bool,
    length: Duration,
    slots: Arc<Semaphore>,
    wake: Notify,
    held: Mutex<BTreeMap<String, Arc<Held>>>,
    tasks: TaskTracker,
    claiming: CancellationToken,
    renewing: CancellationToken,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}

impl Worker {
    /// Opens connections and starts to claim.
    pub(super) async fn start(url: &str, plan: Plan, report: Report, has_events: bool) -> Fallible<Self> {
        let leases = PostgresOptions::new(url)?.directly();
        let length = match plan.periods {
            Periods::Default => LEASE,
            Periods::Lease(length) => length,
        };
        let shared = Arc::new(Shared {
            store: open(url, plan.connections() - 2).await?,
            leases: leases.open(Arc::new(SystemClock::new())).await?,
            slots: Arc::new(Semaphore::new(usize::try_from(plan.slots)?)),
            plan,
            report,
            has_events,
            length,
            wake: Notify::new(),
            held: Mutex::default(),
            tasks: TaskTracker::new(),
            claiming: CancellationToken::new(),
            renewing: CancellationToken::new(),
        });
        let tasks = TaskTracker::new();
        tasks.spawn(Arc::clone(&shared).claim_all());
        tasks.spawn(Arc::clone(&shared).follow_announcements());
        tasks.spawn(Arc::clone(&shared).renew_all());
        Ok(Self { shared, tasks })
    }

    /// Has the worker claim at once.
    pub(super) fn wake(&self) {
        self.shared.wake.notify_one();
    }

    /// Waits for the runs, and closes the connections.
    pub(super) async fn stop(self) {
        self.shared.claiming.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
        self.shared.renewing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.shared.store.clone().close().await;
        self.shared.leases.clone().close().await;
    }
}

impl Shared {
    async fn claim_all(self: Arc<Self>) {
        let mut pause = POLL;
        let mut number = 0;
        while !self.claiming.is_cancelled() {
            let free = self.slots.available_permits();
            if free > 0 {
                let asked = Instant::now();
                match self.claim(number, free).await {
                    Ok(claims) => {
                        number += 1;
                        let found = claims.leases.len();
                        self.take(claims, asked).await;
                        pause = if found > 0 { POLL } else { (pause * 2).min(POLL * IDLE) };
                    }
                    // The same holder asks again: the leases may have been given to it.
                    Err(error) => eprintln!("no runs were claimed: {error}"),
                }
            }
            tokio::select! {
                () = self.claiming.cancelled() => return,
                () = self.wake.notified() => pause = POLL,
                () = sleep(pause) => {}
            }
        }
    }

    /// Claims when other processes announce runs, as agcore-server does.
    async fn follow_announcements(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = self.claiming.cancelled() => return,
                heard = self.leases.announced() => match heard {
                    Ok(()) => self.wake.notify_one(),
                    Err(error) => eprintln!("announcements are not received: {error}"),
                }
            }
            sleep(FOLLOWING).await;
        }
    }

    async fn claim(&self, number: u64, free: usize) -> Fallible<Claims> {
        let holder = format!("{}-{}-{number}", self.plan.name, process::id());
        let request = ClaimRequest::new(holder, &*self.plan.name)
            .with_length(self.length)
            .with_limit(u32::try_from(free)?);
        Ok(self.leases.claim(&request).await?)
    }

    async fn take(self: &Arc<Self>, claims: Claims, asked: Instant) {
        for lease in claims.leases {
            let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else {
                return;
            };
            let (shared, held) = (Arc::clone(self), Arc::new(Held::new(lease, asked)));
            self.tasks.spawn(async move {
                let session = held.lease.session.clone();
                shared.held().insert(session.clone(), Arc::clone(&held));
                if let Err(error) = shared.work_on(&held).await {
                    eprintln!("a run has failed: {error}");
                }
                shared.held().remove(&session);
                drop(slot);
                shared.wake.notify_one();
            });
        }
    }

    /// Renews all leases again and again.
    async fn renew_all(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = self.renewing.cancelled() => return,
                () = sleep(self.length / 3) => {}
            }
            let held: Vec<Arc<Held>> = self.held().values().map(Arc::clone).collect();
            if held.is_empty() {
                continue;
            }
            let leases: Vec<Lease> = held.iter().map(|held| held.lease.clone()).collect();
            let asked = Instant::now();
            match self.leases.renew(&leases).await {
                Ok(renewals) => {
                    for (held, renewal) in held.iter().zip(renewals) {
                        held.renewed(renewal, asked);
                    }
                }
                Err(error) => eprintln!("leases were not renewed: {error}"),
            }
        }
    }

    /// Reads the input of a run, works, and stores the end.
    async fn work_on(&self, held: &Held) -> Fallible {
        let lease = &held.lease;
        let run = run_of(&self.store, &lease.session, &lease.run).await?;
        let number = run.input.as_ref().and_then(|input| input["number"].as_u64());
        let number = number.ok_or("a run has no number")?;
        let report = |what| (self.report)(Notice { what, number });
        if self.has_events {
            let start = RunChange::new(&*lease.run, RunStatus::Running);
            self.commit(lease, Commit::new().with_run(start), "run_started").await?;
        }
        report(What::Started);
        if !self.plan.work.is_zero() {
            tokio::select! {
                biased;
                () = held.over(), if self.plan.obeys => {
                    report(What::Stopped);
                    return Ok(());
                }
                () = sleep(self.plan.work) => {}
            }
        }
        report(if held.is_over() { What::EndedLate } else { What::Ended });
        let mut end = Commit::new();
        if !self.has_events {
            end = end.with_run(RunChange::new(&*lease.run, RunStatus::Running));
        }
        let outcome = json!({"worker": self.plan.name});
        end = end.with_run(RunChange::new(&*lease.run, RunStatus::Completed).with_outcome(outcome));
        match self.commit(lease, end, "run_finished").await? {
            true => report(What::Stored),
            false => report(What::Refused),
        }
        Ok(())
    }

    /// Writes under a lease. Returns whether that was possible.
    async fn commit(&self, lease: &Lease, mut commit: Commit, kind: &str) -> Fallible<bool> {
        if self.has_events {
            commit = commit.with_event(NewEvent::new(&*lease.run, kind, json!({"worker": self.plan.name})));
        }
        let commit = commit.with_fence(lease.fence());
        match self.store.commit(&lease.tenant, &lease.session, 0, commit).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == SessionErrorKind::Fenced => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Held>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
