//! [`Server`]: serves agents over HTTP.

mod catalog;
mod console;
mod debug;
mod kept;
mod serve;
mod store_hold;
mod work;

use std::{sync::Arc, time::Duration};

use agcore_agent::{AgentSpec, RuntimeBundle};
use agcore_agui::EncoderSettings;
use agcore_chat::{Actor, Biller, Clock, SystemClock};
use agcore_files::FileStorage;
use agcore_flow_files::StoredContext;
use agcore_llm::{Random, system_random};
use agcore_schedule::ScheduleStore;
use agcore_session::{CheckpointStore, Retention, SessionStore};
use agcore_store::user_data::UserDataStore;
use agcore_webhook::WebhookStore;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    auth::{AdminAuthenticator, Authenticator},
    error::ServerError,
    files::{FileRetention, Files},
    flows::{FlowSetup, ServedFlow},
    log::Flusher,
    openapi::{Described, Description},
    routes,
    service::App,
    service::{
        Admission, AgentEntry, Agents, FilePruning, GuardedStore, Leasing, NewBilling, Quotas, Schedules, Service,
        Webhooks, Work, new_id,
    },
    settings::{BusyPolicy, DoorSettings, Limits, Sharing, Unfinished},
    stored::{SharedCatalog, StoredCatalog},
    telemetry::{Metrics, MetricsText},
    webhooks::{Hooks, IncomingHook, WebhookSender},
};

/// The pause between two removals of old rows.
const PRUNE_PAUSE: Duration = Duration::from_secs(60 * 60);

/// Serves agents over HTTP.
///
/// Runs continue when their clients disconnect. What clients see is stored before it is sent, so that clients and servers can
/// come back at any time.
pub struct Server {
    app: Arc<App>,
    retention: Retention,
    file_pruning: Option<FilePruning>,
    prune_pause: Duration,
    unfinished: Unfinished,
    stored_catalog: Option<(StoredCatalog, Duration)>,
    has_console: bool,
}

/// Collects the parts of a [`Server`].
#[must_use = "a builder does nothing until `build` is called"]
pub struct ServerBuilder {
    agents: Vec<AgentEntry>,
    store: Option<Arc<dyn SessionStore>>,
    checkpoints: Option<Arc<dyn CheckpointStore>>,
    files: Option<Arc<dyn FileStorage>>,
    schedules: Option<Arc<dyn ScheduleStore>>,
    webhooks: Option<(Arc<dyn WebhookStore>, Arc<dyn WebhookSender>)>,
    quotas: Option<Quotas>,
    hooks: Vec<IncomingHook>,
    authenticators: Vec<Arc<dyn Authenticator>>,
    administrators: Vec<Arc<dyn AdminAuthenticator>>,
    sharing: Option<Sharing>,
    origins: Vec<String>,
    doors: DoorSettings,
    limits: Limits,
    busy: BusyPolicy,
    encoder: EncoderSettings,
    catalog: Option<SharedCatalog>,
    stored_catalog: Option<(StoredCatalog, Duration)>,
    has_console: bool,
    uses_profiles: bool,
    biller: Option<Arc<dyn Biller>>,
    billing: NewBilling,
    retention: Retention,
    file_retention: Option<(FileRetention, Arc<dyn UserDataStore>)>,
    prune_pause: Duration,
    unfinished: Unfinished,
    metrics: Option<MetricsText>,
    clock: Arc<dyn Clock>,
    random: Random,
}

impl Server {
    /// Returns a builder.
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            agents: Vec::new(),
            store: None,
            checkpoints: None,
            files: None,
            schedules: None,
            webhooks: None,
            quotas: None,
            hooks: Vec::new(),
            authenticators: Vec::new(),
            administrators: Vec::new(),
            sharing: None,
            origins: Vec::new(),
            doors: DoorSettings::default(),
            limits: Limits::default(),
            busy: BusyPolicy::default(),
            encoder: EncoderSettings::default(),
            catalog: None,
            stored_catalog: None,
            has_console: false,
            uses_profiles: false,
            biller: None,
            billing: NewBilling::default(),
            retention: Retention::new(),
            file_retention: None,
            prune_pause: PRUNE_PAUSE,
            unfinished: Unfinished::default(),
            metrics: None,
            clock: Arc::new(SystemClock::new()),
            random: system_random(),
        }
    }

    /// Serves until `stop` is cancelled. Runs that an earlier process has left continue first.
    ///
    /// When `stop` is cancelled, no more connections are accepted and no more runs start. Those that are active have
    /// [some time](Limits::drain) to end; the others continue when a server starts with the same store. TLS is not part of this;
    /// put a reverse proxy in front of the server to use it beyond the machine.
    ///
    /// Dropping the future ends everything at once, like the end of the process.
    ///
    /// # Errors
    /// [`OpenAddress`](ServerError::OpenAddress) if other machines can reach the address and the server has no authenticator,
    /// [`InUse`](ServerError::InUse) if another server uses the store, [`TakenOver`](ServerError::TakenOver) if one has taken it
    /// over because the connection to the database was lost, [`Store`](ServerError::Store) if the runs of the last process cannot
    /// be read.
    pub async fn serve(&self, listener: TcpListener, stop: CancellationToken) -> Result<(), ServerError> {
        let address = listener.local_addr().map_err(ServerError::Listener)?;
        if self.app.authenticators.is_empty() && !address.ip().to_canonical().is_loopback() {
            return Err(ServerError::OpenAddress(address));
        }
        if !self
            .app
            .authenticators
            .iter()
            .all(|authenticator| authenticator.names_tenants())
        {
            tracing::warn!(
                "the credentials of users name no tenant, so all users share the tenant `local`; set the claim of the tenant if they belong to several customers"
            );
        }
        let hold = self.begin().await?;
        // Everything ends with this future.
        let guard = self.app.service.parking.clone().drop_guard();
        let router = routes::router(Arc::clone(&self.app), self.pages());
        let result = self.serve_while_held(router, listener, &stop, hold.as_ref()).await;
        drop(guard);
        drop(hold);
        result
    }

    /// Returns the document that describes the routes (OpenAPI 3.1), as JSON.
    pub fn openapi(&self) -> &str {
        &self.app.description.document
    }
}

impl ServerBuilder {
    /// Adds an agent that works in a bundle. The first agent is the default.
    ///
    /// Build the bundle with [`SuspendingApprover`](https://docs.rs/agcore-tools) to let clients answer questions: without it,
    /// tools that need an approval are denied. Its session store is not used.
    pub fn with_agent(mut self, name: impl Into<String>, bundle: RuntimeBundle, spec: AgentSpec) -> Self {
        let name = name.into();
        self.agents.push(AgentEntry::agent(name, bundle, spec));
        self
    }

    /// Adds a flow, which clients choose like an agent: that of a file, or a [`Flow`](agcore_flow::Flow) that was built in Rust.
    /// Its
    /// [checkpoints](Self::with_checkpoints) need a store.
    ///
    /// The server builds the flow of a file for each run: with the actor of the run, whose sessions it stores, and with the
    /// conversation of the thread as its [context](agcore_flow_files::FileFlowBuilder::with_context). Build the bundle as for an
    /// [agent](Self::with_agent).
    pub fn with_flow(mut self, name: impl Into<String>, flow: impl Into<ServedFlow>) -> Self {
        self.agents.push(AgentEntry::flow(name.into(), flow.into()));
        self
    }

    /// Sets the store of the checkpoints of flows, which must be the one of [`with_store`](Self::with_store).
    pub fn with_checkpoints(mut self, store: Arc<dyn CheckpointStore>) -> Self {
        self.checkpoints = Some(store);
        self
    }

    /// Sets the store of sessions, runs and events.
    pub fn with_store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// Adds a way in which clients prove who they are, such as a [`TokenStore`](crate::TokenStore). Without one, everybody is the
    /// actor [`local`](agcore_chat::Actor::local), and only clients on the same machine are served.
    pub fn with_authenticator(mut self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.authenticators.push(authenticator);
        self
    }

    /// Shares the runs of the store with other processes. Each accepts requests, executes runs, or does both. By default, one
    /// process has the store for itself.
    pub fn with_sharing(mut self, sharing: Sharing) -> Self {
        self.sharing = Some(sharing);
        self
    }

    /// Allows web pages of an origin, such as `https://app.example.org`. By default, only pages of the server itself are allowed.
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Sets the limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what happens to a run that is started on a thread with an active run.
    pub fn with_busy(mut self, policy: BusyPolicy) -> Self {
        self.busy = policy;
        self
    }

    /// Sets what events contain, such as costs.
    pub fn with_events(mut self, settings: EncoderSettings) -> Self {
        self.encoder = settings;
        self
    }

    /// Removes data that is older than a retention, when the server starts and once an hour. By default, everything is kept.
    ///
    /// The bill is always kept, and so is what a run or a question needs. A start that is repeated with the id of a run that was
    /// deleted is a new run.
    pub fn with_retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Deletes uploaded files that are older than a retention, together with other data that is too old. Also deletes the
    /// remains of uploads that did not end. `store` must be the one of [`with_store`](Self::with_store). Without
    /// [`with_files`](Self::with_files), nothing happens.
    pub fn with_file_retention(mut self, retention: FileRetention, store: Arc<dyn UserDataStore>) -> Self {
        self.file_retention = Some((retention, store));
        self
    }

    /// Sets the pause between two removals of the data that is older than the [retention](Self::with_retention).
    pub fn with_prune_pause(mut self, pause: Duration) -> Self {
        self.prune_pause = pause;
        self
    }

    /// Sets what happens to the runs that an earlier process has left unfinished. By default, they continue.
    pub fn with_unfinished(mut self, unfinished: Unfinished) -> Self {
        self.unfinished = unfinished;
        self
    }

    /// Sets the clock.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the source of random numbers, for ids.
    pub fn with_random(mut self, random: Random) -> Self {
        self.random = random;
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    /// When there is no agent or no store, two agents or hooks have the same name, a flow cannot be built, a hook does not fit the
    /// agents, or the runs of a shared store are to be cancelled.
    pub fn build(self) -> Result<Server, ServerError> {
        let store = self.store.clone().ok_or(ServerError::NoStore)?;
        self.check(&store)?;
        let description = self.description();
        let agents = Agents::new(self.agents)?;
        let hooks = agents.fit(self.hooks)?;
        let may_delay = may_delay(self.schedules.is_some(), self.busy, &hooks);
        let parking = CancellationToken::new();
        let process = (new_id("process", &*self.clock, &self.random), parking.clone());
        let (flushes, flusher) = Flusher::new(Arc::clone(&store), Arc::clone(&self.clock), self.limits.gather);
        let service = Service {
            agents,
            files: self
                .files
                .clone()
                .map(|files| Files::new(files, Arc::clone(&store), Arc::clone(&self.clock))),
            schedules: self.schedules.map(Schedules::new),
            webhooks: self.webhooks.map(Webhooks::new),
            quotas: self.quotas,
            hooks: Hooks::new(hooks, self.limits.max_deliveries),
            leasing: Leasing::new(Arc::clone(&store), process, self.sharing, &self.limits, may_delay),
            guarded: GuardedStore::new(store),
            database: Default::default(),
            checkpoints: self.checkpoints,
            clock: self.clock,
            random: self.random,
            limits: self.limits,
            encoder: self.encoder,
            catalog: self.catalog,
            uses_profiles: self.uses_profiles,
            biller: self.biller,
            billing: self.billing,
            busy: self.busy,
            metrics: Metrics::new(self.metrics),
            active: Default::default(),
            flushes,
            flusher: tokio::sync::Mutex::new(flusher),
            admission: Admission::default(),
            stopping: CancellationToken::new(),
            parking,
            tasks: TaskTracker::new(),
            idle: tokio::sync::Notify::new(),
        };
        Ok(Server {
            retention: self.retention,
            file_pruning: FilePruning::of(self.file_retention, self.files),
            prune_pause: self.prune_pause,
            unfinished: self.unfinished,
            stored_catalog: self.stored_catalog,
            has_console: self.has_console,
            app: Arc::new(App {
                service: Arc::new(service),
                description,
                authenticators: self.authenticators,
                administrators: self.administrators,
                origins: self.origins,
                doors: self.doors,
            }),
        })
    }

    /// Returns the description of the routes.
    fn description(&self) -> Description {
        routes::description(Described {
            needs_token: !self.authenticators.is_empty(),
            has_administrators: !self.administrators.is_empty(),
        })
    }

    /// Checks what settings require of each other, and builds each flow once, so that a flow that cannot be built is reported now
    /// and not by its first run.
    fn check(&self, store: &Arc<dyn SessionStore>) -> Result<(), ServerError> {
        if self.sharing.is_some() && self.unfinished == Unfinished::Cancel {
            return Err(ServerError::CancelShared);
        }
        for entry in &self.agents {
            if let Work::Flow(flow) = &entry.work {
                self.checkpoints.as_ref().ok_or(ServerError::NoCheckpoints)?;
                let setup = FlowSetup {
                    actor: Actor::local(),
                    clock: Arc::clone(&self.clock),
                    context: StoredContext::new(Arc::clone(store), ""),
                    sessions: None,
                    profile: None,
                };
                let built = flow.build(&setup);
                built.map_err(|error| ServerError::Flow(entry.name.clone(), error))?;
            }
        }
        Ok(())
    }
}

/// Returns whether runs may have to wait for their time or for other runs.
fn may_delay(has_schedules: bool, busy: BusyPolicy, hooks: &[IncomingHook]) -> bool {
    has_schedules || busy == BusyPolicy::Queue || hooks.iter().any(IncomingHook::may_wait)
}
