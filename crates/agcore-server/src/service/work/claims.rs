//! Claiming runs, and executing them under their leases.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use agcore_session::{
    ClaimRequest, Claims, DeadLetter, EventFilter, Release, ReleaseReason, Run, RunChange, RunStatus, SessionError,
    SessionErrorKind,
};
use futures_util::FutureExt;

use crate::{
    lease::{HeldLease, Moment},
    log::{Feed, LogItem, RunLog},
    problem::ProblemCode,
    run::{RunInput, RunJob},
    service::{executor::Left, state::Service},
};

/// The pause after which a run is tried again that could not be opened.
const RETRY: Duration = Duration::from_secs(1);

/// The longest pause between two claims while the store fails, of a process whose claims are less frequent while no run is found.
const OUTAGE: Duration = Duration::from_secs(5);

/// The pause after which a run that waits for an answer to an earlier one is tried again, unless the answer ends it.
const HELD: Duration = Duration::from_secs(30);

/// A run that this process executes. When this is dropped, also by a panic, its lease is not renewed any more, and those who follow
/// the run read the rest from the store.
struct ExecutedHere<'a> {
    service: &'a Service,
    feed: Arc<Feed>,
    /// The number of the log of the feed.
    number: u64,
    log: Option<Arc<RunLog>>,
}

impl<'a> ExecutedHere<'a> {
    fn begin(service: &'a Service, feed: &Arc<Feed>) -> Self {
        Self {
            service,
            feed: Arc::clone(feed),
            number: feed.begin_here(),
            log: None,
        }
    }

    fn has_opened(&mut self, log: &Arc<RunLog>) {
        self.service.active.insert(Arc::clone(log));
        self.service.count_active();
        self.log = Some(Arc::clone(log));
    }
}

impl Drop for ExecutedHere<'_> {
    fn drop(&mut self) {
        if let Some(log) = &self.log {
            self.service.active.remove(log);
            self.service.count_active();
            // Of a turn that was dropped, nothing is written any more.
            log.end_flushing();
            log.set_hold(None);
        }
        self.feed.end_here(self.number);
        self.service.leasing.followed.note_move();
    }
}

impl Service {
    /// Claims runs and executes them, until the server stops.
    pub(crate) async fn claim_all(self: Arc<Self>) {
        let leasing = &self.leasing;
        let (poll, idle) = (leasing.settings.poll, leasing.idle_pause());
        let mut pause = poll;
        let mut holder = leasing.holder(&self.new_id("claim"));
        while !self.stopping.is_cancelled() && !self.parking.is_cancelled() {
            let free = leasing.slots.available_permits();
            if free > 0 && leasing.claims() {
                let asked = Moment::now(&*self.clock);
                match self.claim(&holder, free).await {
                    Ok(claims) => {
                        leasing.note_answer(asked.monotonic());
                        holder = leasing.holder(&self.new_id("claim"));
                        let found = claims.leases.len();
                        self.take(claims, asked).await;
                        pause = if found > 0 { poll } else { (pause * 2).min(idle) };
                    }
                    // The same holder asks again: the leases may have been given to it.
                    Err(error) => {
                        tracing::warn!(?error, "no runs were claimed; the next attempt is soon");
                        // When the store works again, the runs whose leases have expired meanwhile wait for no longer than others.
                        pause = (pause * 2).min(idle).min(OUTAGE);
                    }
                }
            }
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.parking.cancelled() => return,
                () = leasing.wake.notified() => pause = poll,
                () = self.clock.sleep(pause) => {}
            }
        }
    }

    async fn claim(&self, holder: &str, free: usize) -> Result<Claims, SessionError> {
        let settings = &self.leasing.settings;
        let mut request = ClaimRequest::new(holder, &*settings.name)
            .with_length(settings.lease)
            .with_limit(u32::try_from(free).unwrap_or(u32::MAX).min(1000))
            .with_max_attempts(settings.max_attempts);
        for tenant in &settings.tenants {
            request = request.with_tenant(tenant.as_str());
        }
        self.leasing.leases.claim(&request).await
    }

    /// Executes the runs of a claim, each in a task.
    async fn take(self: &Arc<Self>, claims: Claims, asked: Moment) {
        for lease in claims.leases {
            let Ok(slot) = Arc::clone(&self.leasing.slots).acquire_owned().await else {
                return;
            };
            let held = Arc::new(HeldLease::new(lease, Arc::clone(&self.clock), asked));
            let service = Arc::clone(self);
            self.tasks.spawn(async move {
                if AssertUnwindSafe(service.work_on(&held)).catch_unwind().await.is_err() {
                    // The hook of panics has reported it. Other runs continue, and this one is not tried for ever.
                    service.give_back(&held, ReleaseReason::Failed, Some(RETRY)).await;
                }
                drop(slot);
                service.leasing.wake();
            });
        }
        // After the leases, whose time runs.
        for dead in claims.dead {
            if let Err(error) = self.report_dead(&dead).await {
                // A process whose user follows the run does it.
                tracing::warn!(run = dead.run, ?error, "the end of a run was not stored");
            }
        }
    }

    /// Executes a run under its lease.
    async fn work_on(self: &Arc<Self>, held: &Arc<HeldLease>) {
        let lease = held.lease();
        let found = tokio::select! {
            () = held.over() => return,
            found = self.store().get_session(&lease.tenant, &lease.session) => found,
        };
        let found = match found {
            Ok(Some(found)) => found,
            // It was deleted.
            Ok(None) => return,
            Err(error) => return self.not_opened(held, &error).await,
        };
        let job = RunJob::new(found.owner, &*lease.session, &*lease.run);
        let feed = self.feed(&job);
        let mut here = ExecutedHere::begin(self, &feed);
        let opened = tokio::select! {
            () = held.over() => return,
            opened = self.open(job.clone(), found.end, &feed, held) => opened,
        };
        let left = match opened {
            Ok(log) => {
                here.has_opened(&log);
                self.take_cancel_request(&log, held).await;
                self.execute(&log).await
            }
            Err(error) => {
                drop(here);
                return self.not_opened(held, &error).await;
            }
        };
        let is_over = feed.is_over();
        if is_over {
            feed.close();
        }
        drop(here);
        match left {
            Left::Ended if is_over => {
                self.cancel_suspended(&job, &feed).await;
                self.refuse_suspended(&job, &feed).await;
                self.end_delays(&lease.tenant, &lease.session).await;
            }
            // It was deleted or has ended elsewhere, or its input cannot be read.
            Left::Ended => self.give_back(held, ReleaseReason::Failed, Some(RETRY)).await,
            Left::Lost => {}
            Left::Parked => self.give_back(held, ReleaseReason::GivenBack, None).await,
            Left::Held => {
                self.leasing.expect_delays();
                self.give_back(held, ReleaseReason::GivenBack, Some(HELD)).await;
            }
        }
        self.idle.notify_one();
        // Its new status may have caused messages.
        self.wake_webhooks();
    }

    /// Learns of a request to cancel a run that came between the claim and this moment: from here on, requests of users of this
    /// process find its log. The lease is asked regularly only if other processes can ask for it.
    async fn take_cancel_request(&self, log: &RunLog, held: &HeldLease) {
        if self.leasing.is_shared {
            return;
        }
        let lease = [held.lease().clone()];
        match self.leasing.leases.cancel_requests(&lease).await {
            Ok(wanted) if wanted == [true] => {
                log.feed.request_cancel();
                log.token.cancel();
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(run = log.job.run, ?error, "a request to cancel may be found later"),
        }
    }

    /// Gives up a run that waits for a person now, if it was to be cancelled before that.
    async fn cancel_suspended(self: &Arc<Self>, job: &RunJob, feed: &Feed) {
        if feed.outcome() != "interrupted" {
            return;
        }
        let found = self.stored_run(job, &job.run).await;
        let is_wanted = |run: &Run| run.status == RunStatus::Interrupted && run.lease.cancel_requested_at.is_some();
        if found.is_ok_and(|found| found.as_ref().is_some_and(is_wanted))
            && let Err(problem) = self.cancel(&job.actor, &job.thread, &job.run).await
        {
            tracing::warn!(run = job.run, %problem, "a run that waits for a person was not cancelled");
        }
    }

    /// Refuses the questions of a run that waits for a person now, if its client cannot answer them. The client may have left.
    async fn refuse_suspended(&self, job: &RunJob, feed: &Feed) {
        if feed.outcome() != "interrupted" {
            return;
        }
        let found = self.stored_run(job, &job.run).await;
        let Some(run) = found.ok().flatten().filter(|run| run.status == RunStatus::Interrupted) else {
            return;
        };
        let input = run
            .input
            .and_then(|input| serde_json::from_value::<RunInput>(input).ok());
        if input.is_some_and(|input| input.refuses)
            && let Err(problem) = self.refuse(job, None).await
            // A request that follows the run was faster.
            && !matches!(problem.code(), ProblemCode::AlreadyAnswered | ProblemCode::SessionBusy)
        {
            tracing::warn!(run = job.run, %problem, "the questions of a run were not refused");
        }
    }

    /// Opens the log of a run.
    async fn open(
        &self,
        job: RunJob,
        end: u64,
        feed: &Arc<Feed>,
        held: &Arc<HeldLease>,
    ) -> Result<Arc<RunLog>, SessionError> {
        let (tenant, thread) = job.session();
        let filter = EventFilter::new().with_run(&*job.run);
        let events = self.store().events(tenant, thread, &filter).await?;
        feed.publish(events.into_iter().map(LogItem::from));
        let log = Arc::new(self.new_log(job, end, Arc::clone(feed), Some(Arc::clone(held))));
        if held.lease().cancel_requested {
            log.feed.request_cancel();
        }
        if log.feed.is_cancel_requested() {
            log.token.cancel();
        }
        // A turn that continues expects that its run is running, which one that was queued again is not.
        let started = log
            .feed
            .is_restarted()
            .then(|| RunChange::new(&*log.job.run, RunStatus::Running));
        // Ends what the worker before has left open, such as a text.
        log.append(started.into_iter().collect(), Vec::new()).await?;
        Ok(log)
    }

    /// Leaves a run that cannot be opened to a later attempt. Their number is limited.
    async fn not_opened(self: &Arc<Self>, held: &HeldLease, error: &SessionError) {
        tracing::warn!(
            run = held.lease().run,
            ?error,
            "a run was not opened; it is tried again later"
        );
        self.give_back(held, ReleaseReason::Failed, Some(RETRY)).await;
    }

    /// Releases a lease, so that the run can be claimed again, after a delay if there is one. Tries again while the store fails,
    /// until the lease has expired.
    async fn give_back(self: &Arc<Self>, held: &HeldLease, reason: ReleaseReason, delay: Option<Duration>) {
        let lease = held.lease();
        let mut release = Release::new(reason);
        release.delay = delay;
        while let Err(error) = self.leasing.leases.release(lease, release).await {
            tracing::warn!(run = lease.run, ?error, "the lease of a run was not released yet");
            tokio::select! {
                // The next process takes the run over, or the lease expires.
                () = self.parking.cancelled() => return,
                () = held.over() => break,
                () = self.clock.sleep(RETRY) => {}
            }
        }
        let Some(delay) = delay else {
            self.announce_now().await;
            return;
        };
        let service = Arc::clone(self);
        self.tasks.spawn(async move {
            tokio::select! {
                () = service.stopping.cancelled() => {}
                () = service.parking.cancelled() => {}
                () = service.clock.sleep(delay) => service.leasing.wake(),
            }
        });
    }

    async fn report_dead(&self, dead: &DeadLetter) -> Result<(), SessionError> {
        let Some(session) = self.store().get_session(&dead.tenant, &dead.session).await? else {
            return Ok(());
        };
        let job = RunJob::new(session.owner, &*dead.session, &*dead.run);
        match self.stored_run(&job, &dead.run).await? {
            Some(run) => self.end_dead(&job, &run).await.map(drop),
            None => Err(SessionError::new(SessionErrorKind::NotFound, "the run does not exist")),
        }
    }
}
