//! Tenants, dead letters and workers, for administrators.

use std::sync::Arc;

use agcore_chat::{Actor, Text};
use agcore_session::{
    DeadLetter, DeadLetterCursor, DeadLetterFilter, HeldRun, Hold, Run, SessionError, SessionErrorKind, TenantRuns,
    TenantShare, Worker, id,
};

use crate::{
    log::{RestartError, restart},
    problem::{Problem, ProblemCode},
    run::RunJob,
    service::state::Service,
};

/// The most processes, and runs of a process, that are listed.
const LISTED: u64 = 1000;

/// A dead letter. Only this request changes the runs of its thread.
struct Admitted {
    job: RunJob,
    run: Run,
    _guard: tokio::sync::OwnedMutexGuard<()>,
    _hold: Hold,
}

impl Service {
    /// Returns tenants after one, in the order of their names, and the name after which the next page begins. `only` are the
    /// tenants of the administrator, if these are not all.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn tenants(
        &self,
        only: &[Text],
        after: Option<String>,
        limit: u64,
    ) -> Result<(Vec<TenantRuns>, Option<String>), Problem> {
        if only.is_empty() {
            let found = self.store().tenants(after.as_deref(), limit).await?;
            let is_full = found.len() as u64 >= limit;
            let next = found.last().filter(|_| is_full).map(|tenant| tenant.tenant.to_string());
            return Ok((found, next));
        }
        let is_later = |tenant: &&Text| after.as_deref().is_none_or(|after| ***tenant > *after);
        let mut names: Vec<&Text> = only.iter().filter(is_later).collect();
        names.sort_unstable();
        names.dedup();
        let size = usize::try_from(limit).unwrap_or(usize::MAX).min(names.len());
        let next = (size < names.len()).then(|| names[size.saturating_sub(1)].to_string());
        let mut found = Vec::new();
        for name in &names[..size] {
            found.extend(self.store().tenant(name).await?);
        }
        Ok((found, next))
    }

    /// Returns a tenant.
    ///
    /// # Errors
    /// `not_found` if it has neither sessions nor a share.
    pub(crate) async fn tenant(&self, tenant: &str) -> Result<TenantRuns, Problem> {
        let found = self.store().tenant(tenant).await?;
        found.ok_or_else(|| Problem::unknown("tenant"))
    }

    /// Sets the share of a tenant.
    ///
    /// # Errors
    /// `invalid_request` if the share or the tenant is not acceptable.
    pub(crate) async fn set_share(&self, tenant: &str, share: TenantShare) -> Result<(), Problem> {
        self.leasing.leases.set_share(tenant, share).await?;
        self.leasing.wake();
        Ok(())
    }

    /// Deletes the share of a tenant.
    ///
    /// # Errors
    /// `not_found` if it has none.
    pub(crate) async fn delete_share(&self, tenant: &str) -> Result<(), Problem> {
        if !self.store().delete_share(tenant).await? {
            return Err(Problem::unknown("share"));
        }
        self.leasing.wake();
        Ok(())
    }

    /// Returns a page of the dead letters of a tenant, the oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn dead_letters(
        &self,
        tenant: &str,
        after: Option<DeadLetterCursor>,
        limit: u64,
    ) -> Result<Vec<DeadLetter>, Problem> {
        let mut filter = DeadLetterFilter::new(tenant).with_limit(limit);
        filter.after = after;
        Ok(self.store().dead_letter_page(&filter).await?)
    }

    /// Returns a dead letter, with its run and its user.
    ///
    /// # Errors
    /// `not_found` if there is none.
    pub(crate) async fn dead_letter(
        &self,
        tenant: &str,
        thread: &str,
        run: &str,
    ) -> Result<(DeadLetter, Run, Actor), Problem> {
        let (job, run) = self.run_of_any(tenant, thread, run).await?;
        let letter = letter_of(&job, &run).ok_or_else(|| Problem::unknown("dead letter"))?;
        Ok((letter, run, job.actor))
    }

    /// Queues a dead letter again. Only the first of several requests does.
    ///
    /// # Errors
    /// `not_found` if there is no such run, `not_dead_letter` if it is not one, `session_busy` if the thread has continued
    /// without it or is being changed, and errors of the store.
    pub(crate) async fn restart_dead(&self, tenant: &str, thread: &str, run: &str) -> Result<Run, Problem> {
        let dead = self.admit_dead(tenant, thread, run).await?;
        restart(&**self.store(), (tenant, thread, run)).await?;
        drop(dead);
        self.end_delays(tenant, thread).await;
        self.leasing.offer();
        tracing::info!(tenant, run, "a run that has ended its workers was queued again");
        Ok(self.run_of_any(tenant, thread, run).await?.1)
    }

    /// Discards a dead letter. Its run stays failed.
    ///
    /// # Errors
    /// As [`restart_dead`](Self::restart_dead).
    pub(crate) async fn discard_dead(&self, tenant: &str, thread: &str, run: &str) -> Result<(), Problem> {
        let dead = self.admit_dead(tenant, thread, run).await?;
        // Those who follow the run learn why it has failed.
        if !self.end_dead(&dead.job, &dead.run).await? {
            return Err(busy());
        }
        let discarded = self.store().discard_dead_letter(tenant, thread, run).await;
        discarded.map_err(not_dead)
    }

    /// Returns the processes that execute runs.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn workers(&self) -> Result<Vec<Worker>, Problem> {
        Ok(self.store().workers(LISTED).await?)
    }

    /// Returns a process with the runs that it has.
    ///
    /// # Errors
    /// `not_found` if there is no such process.
    pub(crate) async fn worker(&self, worker: &str) -> Result<(Worker, Vec<HeldRun>), Problem> {
        let mut all = self.workers().await?.into_iter();
        let found = all.find(|known| known.id == worker);
        let found = found.ok_or_else(|| Problem::unknown("worker"))?;
        let held = self.store().held_runs(&id::prefix([worker]), LISTED).await?;
        Ok((found, held))
    }

    /// Asks a process to claim no more runs, or takes that back.
    ///
    /// # Errors
    /// `not_found` if there is no such process.
    pub(crate) async fn drain_worker(self: &Arc<Self>, worker: &str, drains: bool) -> Result<Worker, Problem> {
        let found = self.store().drain_worker(worker, drains).await?;
        let found = found.ok_or_else(|| Problem::unknown("worker"))?;
        if worker == self.leasing.process {
            self.follow_drain(drains);
        }
        Ok(found)
    }

    /// Takes the right to change which runs the thread of a dead letter has.
    async fn admit_dead(&self, tenant: &str, thread: &str, run: &str) -> Result<Admitted, Problem> {
        let (job, _) = self.run_of_any(tenant, thread, run).await?;
        let guard = self.admission.of(&job.actor, thread).lock_owned().await;
        let hold = self.admission_to(&job.actor, thread).await?;
        let (job, run) = self.run_of_any(tenant, thread, run).await?;
        if letter_of(&job, &run).is_none() {
            return Err(not_dead(DeadLetter::refuse(&run.id)));
        }
        Ok(Admitted {
            job,
            run,
            _guard: guard,
            _hold: hold,
        })
    }

    /// Returns a run of any user of a tenant.
    async fn run_of_any(&self, tenant: &str, thread: &str, run: &str) -> Result<(RunJob, Run), Problem> {
        let unknown = || Problem::unknown("run");
        let session = self.store().get_session(tenant, thread).await?.ok_or_else(unknown)?;
        let job = RunJob::new(session.owner, thread, run);
        let found = self.stored_run(&job, run).await?.ok_or_else(unknown)?;
        Ok((job, found))
    }
}

/// Returns the dead letter of a run, if it is one.
fn letter_of(job: &RunJob, run: &Run) -> Option<DeadLetter> {
    let (tenant, thread) = job.session();
    let lease = &run.lease;
    let at = lease.dead_at?;
    Some(DeadLetter::new(
        (tenant, thread, &*run.id),
        lease.attempts,
        lease.worker.clone(),
        at,
    ))
}

fn not_dead(error: SessionError) -> Problem {
    match error.kind() {
        SessionErrorKind::InvalidState => Problem::new(ProblemCode::NotDeadLetter, error.message()),
        SessionErrorKind::NotFound => Problem::unknown("run"),
        _ => error.into(),
    }
}

impl From<RestartError> for Problem {
    fn from(error: RestartError) -> Self {
        match error {
            RestartError::NotFound => Self::unknown("run"),
            RestartError::NotDead => Self::new(ProblemCode::NotDeadLetter, error.to_string()),
            RestartError::Continued => Self::new(ProblemCode::SessionBusy, error.to_string()),
            RestartError::Busy => busy(),
            RestartError::Store(error) => error.into(),
        }
    }
}

fn busy() -> Problem {
    let detail = "another process stores the end of the run at this moment; try again";
    Problem::new(ProblemCode::SessionBusy, detail)
}
