//! [`Service`]: what all requests and runs share.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use agcore_agent::{CONTEXT_METADATA, StoredSessions, TurnLog};
use agcore_agui::EncoderSettings;
use agcore_chat::{Actor, Biller, Clock};
use agcore_flow_files::NODE_METADATA;
use agcore_llm::Random;
use agcore_schedule::ScheduleStore;
use agcore_session::{
    CheckpointStore, Run, RunFilter, RunScope, Session, SessionError, SessionErrorKind, SessionStore,
    quota::{QuotaDefaults, QuotaStore},
};
use agcore_webhook::WebhookStore;
use tokio::sync::{Mutex, Notify};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument;

use super::{
    active::Active,
    agents::{Agents, ServedAgent},
    billing::NewBilling,
    database::{DatabaseHold, GuardedStore},
    leasing::Leasing,
};
use crate::{
    files::Files,
    lease::HeldLease,
    log::{Feed, FlushQueue, Flusher, LogContext, RunLog},
    problem::{Problem, ProblemCode},
    run::RunJob,
    settings::{BusyPolicy, Limits},
    stored::SharedCatalog,
    telemetry::Metrics,
    webhooks::{Hooks, WebhookSender},
};

/// The longest time for which a probe waits for the database.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs and sessions, without HTTP.
pub(crate) struct Service {
    pub(crate) agents: Agents,
    pub(crate) guarded: GuardedStore,
    /// The right to use the store.
    pub(crate) database: DatabaseHold,
    /// The same store, for the checkpoints of flows.
    pub(crate) checkpoints: Option<Arc<dyn CheckpointStore>>,
    /// The files that users have uploaded, if the server keeps them.
    pub(crate) files: Option<Files>,
    /// The schedules of users, if the server keeps them.
    pub(crate) schedules: Option<Schedules>,
    /// The webhooks of users, if the server keeps them.
    pub(crate) webhooks: Option<Webhooks>,
    /// The quotas of tenants and users, if the server has some.
    pub(crate) quotas: Option<Quotas>,
    /// The hooks with which other programs start runs.
    pub(crate) hooks: Hooks,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Random,
    pub(crate) limits: Limits,
    pub(crate) encoder: EncoderSettings,
    /// The models and their vendors.
    pub(crate) catalog: Option<SharedCatalog>,
    /// Whether agents and flows know the stored profiles of users.
    pub(crate) uses_profiles: bool,
    /// Computes what messages cost.
    pub(crate) biller: Option<Arc<dyn Biller>>,
    /// The billing of new threads.
    pub(crate) billing: NewBilling,
    pub(crate) busy: BusyPolicy,
    pub(crate) metrics: Metrics,
    pub(crate) leasing: Leasing,
    pub(crate) active: Active,
    /// Takes logs with previews.
    pub(crate) flushes: FlushQueue,
    pub(crate) flusher: Mutex<Flusher>,
    /// Only one request at a time changes which runs a session has.
    pub(crate) admission: Admission,
    /// Cancelled when the server takes no more requests.
    pub(crate) stopping: CancellationToken,
    /// Cancelled when runs that are still active are left to the next process.
    pub(crate) parking: CancellationToken,
    pub(crate) tasks: TaskTracker,
    /// Notified when a run has ended.
    pub(crate) idle: Notify,
}

/// The schedules of a server, if it keeps some.
pub(crate) struct Schedules {
    pub(super) store: Arc<dyn ScheduleStore>,
    /// Notified when a schedule may be due earlier than the next regular check.
    pub(super) changed: Notify,
}

impl Schedules {
    pub(crate) fn new(store: Arc<dyn ScheduleStore>) -> Self {
        Self {
            store,
            changed: Notify::new(),
        }
    }
}

/// The webhooks of a server, if it keeps some.
pub(crate) struct Webhooks {
    pub(super) store: Arc<dyn WebhookStore>,
    pub(super) sender: Arc<dyn WebhookSender>,
    /// Notified when a message may be due earlier than the next regular check.
    pub(super) changed: Notify,
    /// The number of messages that are being sent.
    pub(super) in_flight: AtomicUsize,
}

impl Webhooks {
    pub(crate) fn new((store, sender): (Arc<dyn WebhookStore>, Arc<dyn WebhookSender>)) -> Self {
        Self {
            store,
            sender,
            changed: Notify::new(),
            in_flight: AtomicUsize::new(0),
        }
    }
}

/// The quotas of tenants and users, if a server has some.
pub(crate) struct Quotas {
    pub(super) store: Arc<dyn QuotaStore>,
    /// The quotas of each tenant, unless it has its own.
    pub(super) defaults: QuotaDefaults,
}

impl Quotas {
    pub(crate) fn new(store: Arc<dyn QuotaStore>, defaults: QuotaDefaults) -> Self {
        Self { store, defaults }
    }
}

/// A lock for each session that is in use.
#[derive(Default)]
pub(crate) struct Admission(std::sync::Mutex<HashMap<(String, String), SessionLock>>);

/// Held by the request that changes which runs a session has.
type SessionLock = Arc<Mutex<()>>;

impl Admission {
    /// Returns the lock of a session.
    pub(crate) fn of(&self, actor: &Actor, thread: &str) -> Arc<Mutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if locks.len() > 1024 {
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        }
        let key = (actor.tenant.to_string(), thread.to_owned());
        Arc::clone(locks.entry(key).or_default())
    }

    /// Returns the lock of the files of a user.
    pub(crate) fn of_files(&self, actor: &Actor) -> Arc<Mutex<()>> {
        // No id of a thread has control characters.
        let line = actor.line.as_deref().unwrap_or_default();
        self.of(actor, &format!("\0{}\0{line}", actor.user))
    }
}

impl Service {
    /// Returns the store, for what runs on behalf of the owner of a thread.
    pub(super) fn store(&self) -> &Arc<dyn SessionStore> {
        self.guarded.store()
    }

    /// Returns the sessions of an agent that write to a log, with what they cost.
    pub(super) fn sessions_of(&self, agent: &ServedAgent, log: &Arc<RunLog>) -> StoredSessions {
        let mut bundle = agent.bundle.clone();
        if let Some(budget) = log.budget() {
            bundle = bundle.with_shared_budget(budget);
        }
        if let Some(check) = log.stop_check() {
            bundle = bundle.with_stop_check(check);
        }
        let sessions = bundle.stored_sessions_in(Arc::clone(&log.store));
        // A run waits until the database works again: ending it would not help.
        let sessions = sessions
            .with_actor(log.job.actor.clone())
            .with_turn_log(Arc::clone(log) as Arc<dyn TurnLog>)
            .with_store_patience(Duration::MAX);
        match &self.biller {
            Some(biller) => sessions.with_biller(Arc::clone(biller)),
            None => sessions,
        }
    }

    /// Carries out what a client has asked for, also if the client leaves meanwhile: a run must not be stored and then forgotten.
    ///
    /// # Errors
    /// That of the work.
    pub(crate) async fn carry_out<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Problem>> + Send + 'static,
    ) -> Result<T, Problem> {
        let result = self.tasks.spawn(work.in_current_span()).await;
        result.unwrap_or_else(|error| {
            tracing::error!(%error, "a request was not carried out");
            Err(Problem::new(
                ProblemCode::Internal,
                "the request failed; the log of the server has the reason",
            ))
        })
    }

    /// Checks that the server takes requests and reaches its store.
    ///
    /// # Errors
    /// `shutting_down`, and `store_unavailable` if the store does not answer in time.
    pub(crate) async fn ready(&self) -> Result<(), Problem> {
        if self.stopping.is_cancelled() {
            return Err(Problem::new(ProblemCode::ShuttingDown, "the server is shutting down"));
        }
        Ok(self.check_store().await?)
    }

    /// Checks that the store answers.
    ///
    /// # Errors
    /// When it does not, or not in time.
    async fn check_store(&self) -> Result<(), SessionError> {
        tokio::select! {
            biased;
            found = self.store().get_session("server", "ready") => found.map(drop),
            () = self.clock.sleep(READY_TIMEOUT) => {
                Err(SessionError::new(SessionErrorKind::Unavailable, "the database does not answer in time"))
            }
        }
    }

    /// Returns a run of the thread of a job, as it is stored.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn stored_run(&self, job: &RunJob, run: &str) -> Result<Option<Run>, SessionError> {
        let (tenant, thread) = job.session();
        let filter = RunFilter::new().with_id(run);
        Ok(self.store().runs(tenant, thread, &filter).await?.pop())
    }

    /// Returns the log of a run whose session ends at `end`, with its feed, and under a lease if the runs are shared.
    pub(super) fn new_log(&self, job: RunJob, end: u64, feed: Arc<Feed>, lease: Option<Arc<HeldLease>>) -> RunLog {
        let context = LogContext {
            store: Arc::clone(self.store()),
            clock: Arc::clone(&self.clock),
            settings: self.encoder,
            flushes: self.flushes.clone(),
            parked: self.leasing.draining.token(),
        };
        RunLog::new(job, context, end, feed, lease)
    }

    /// Returns a new id.
    pub(crate) fn new_id(&self, prefix: &str) -> String {
        new_id(prefix, &*self.clock, &self.random)
    }
}

/// Returns a new id.
pub(crate) fn new_id(prefix: &str, clock: &dyn Clock, random: &Random) -> String {
    let since = clock.now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    let random = || format!("{:.12}", random());
    let digits: String = [random(), random()]
        .concat()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    format!("{prefix}-{millis:x}-{digits}")
}

/// Returns whether a session is a thread of a client. The agents of flows work in sessions of their own, and so do contexts. These
/// are parts of their thread, unless an older version has created them.
pub(super) fn is_thread(session: &Session) -> bool {
    let hidden = [NODE_METADATA, CONTEXT_METADATA];
    session.part_of.is_none() && hidden.iter().all(|name| !session.metadata.contains_key(*name))
}

/// Checks an id that a client has chosen.
///
/// # Errors
/// `invalid_request` if it is empty, too long or has control characters.
pub(crate) fn check_id(what: &str, id: &str) -> Result<(), Problem> {
    if id.is_empty() || id.len() > 256 || id.chars().any(char::is_control) {
        return Err(Problem::invalid(format!(
            "the id of the {what} must have 1 to 256 bytes and no control characters"
        )));
    }
    Ok(())
}

impl From<SessionError> for Problem {
    fn from(error: SessionError) -> Self {
        match error.kind() {
            SessionErrorKind::NotFound => Self::unknown("thread"),
            SessionErrorKind::InvalidInput => Self::invalid(error.message()),
            SessionErrorKind::Held => Self::new(
                ProblemCode::SessionBusy,
                "the thread is in use by another program; try again when its turn has ended",
            ),
            SessionErrorKind::Fenced => Self::new(
                ProblemCode::SessionBusy,
                "the run belongs to another worker; read the thread again to see what it does",
            ),
            SessionErrorKind::StaleDocument { found } => Self::state_changed(found),
            SessionErrorKind::TooManyRuns(scope) => Self::new(
                match scope {
                    RunScope::Total => ProblemCode::QueueFull,
                    RunScope::Tenant | RunScope::User => ProblemCode::TooManyRuns,
                },
                match scope {
                    RunScope::Total => "the server has as many runs as allowed; try again when others have ended",
                    RunScope::Tenant => {
                        "the users of your tenant have as many active runs as allowed; try again when some have ended"
                    }
                    RunScope::User => "you have as many active runs as allowed; wait until one has ended",
                },
            ),
            SessionErrorKind::Unavailable | SessionErrorKind::Storage | SessionErrorKind::Conflict { .. } => {
                tracing::warn!(?error, "the store failed");
                Self::new(
                    ProblemCode::StoreUnavailable,
                    "the database cannot be used at the moment; try again later",
                )
            }
            _ => {
                tracing::error!(?error, "a request failed");
                Self::new(
                    ProblemCode::Internal,
                    "the request failed; the log of the server has the reason",
                )
            }
        }
    }
}
