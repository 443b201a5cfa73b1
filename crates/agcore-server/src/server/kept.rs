//! The parts of a server beside sessions: files, schedules, webhooks, hooks and quotas, and who looks after them.

use std::sync::Arc;

use agcore_files::FileStorage;
use agcore_schedule::ScheduleStore;
use agcore_session::quota::{QuotaDefaults, QuotaStore};
use agcore_webhook::WebhookStore;

use super::ServerBuilder;
use crate::{
    auth::AdminAuthenticator,
    service::Quotas,
    settings::DoorSettings,
    webhooks::{IncomingHook, WebhookSender},
};

impl ServerBuilder {
    /// Adds metrics to those of `GET /metrics`: a function that returns them in the text form of OpenMetrics, without its end
    /// `# EOF`. That of the metrics of agents is `Histograms::to_text` of the crate `agcore-telemetry`.
    ///
    /// They name the agents, models and tools of all tenants. A server with [administrators](Self::with_administrators) does not
    /// show them to users; its [workers](crate::Server::work_and_report) show them, and exporters send them.
    pub fn with_metrics(mut self, text: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.metrics = Some(Arc::new(text));
        self
    }

    /// Keeps the files that users upload in a storage. Runs of flows name them in `forwardedProps.files`; give the flows the same
    /// storage with [`with_files`](agcore_flow_files::FileFlowBuilder::with_files). Without a storage, the server keeps no files.
    pub fn with_files(mut self, storage: Arc<dyn FileStorage>) -> Self {
        self.files = Some(storage);
        self
    }

    /// Keeps schedules in a store: users create them, and the server starts a run at each of their times. The store can be another
    /// one than that of [`with_store`](Self::with_store). Without one, the server keeps no schedules.
    ///
    /// Runs of schedules belong to the user who has created the schedule, and count for the same
    /// [`Limits`](crate::Limits). Flows are started in the mode for jobs, without a user who waits for the answer.
    pub fn with_schedules(mut self, store: Arc<dyn ScheduleStore>) -> Self {
        self.schedules = Some(store);
        self
    }

    /// Notifies other programs when runs end or wait for a person: users create webhooks, and the server sends the messages with a
    /// sender. Without this, the server keeps no webhooks.
    ///
    /// The store must be the one of [`with_store`](Self::with_store), which stores each message in the transaction of the run. That
    /// in the memory of the process learns of runs by `with_run_observer` of the store of sessions.
    pub fn with_webhooks(mut self, store: Arc<dyn WebhookStore>, sender: Arc<dyn WebhookSender>) -> Self {
        self.webhooks = Some((store, sender));
        self
    }

    /// Adds a hook: each delivery of another program at `POST /hooks/{id}` starts a run. Such requests need no other credentials
    /// than the signature, or the secret, that the hook asks for.
    ///
    /// Runs of hooks count for the [`Limits`](crate::Limits) and quotas of the owner of the hook. Flows are started in the mode for
    /// jobs, without a user who waits for the answer. Give all processes that share a store the same hooks.
    pub fn with_hook(mut self, hook: IncomingHook) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Limits the runs, calls, tokens and money of tenants and users within a minute, an hour, a day or a month, over all
    /// processes that use the same store. `defaults` are the quotas of each tenant, which those in the store replace. Without
    /// this, there are no such limits.
    ///
    /// A start is refused with `quota_exceeded` if a quota is used up. The highest cost of a call of a model is taken from the
    /// quotas before the call; if too little is left, the run fails with that reason. The store can be another one than that of
    /// [`with_store`](Self::with_store). Give all processes the same defaults. Quotas of money need the
    /// [prices](agcore_cycle::Budgets::with_price) of the models in the bundles: calls without a price are refused.
    pub fn with_quotas(mut self, store: Arc<dyn QuotaStore>, defaults: QuotaDefaults) -> Self {
        self.quotas = Some(Quotas::new(store, defaults));
        self
    }

    /// Adds a way in which administrators prove who they are, such as [`AdminTokens`](crate::AdminTokens). They look after tenants,
    /// workers, dead letters, quotas, schedules and webhooks with the routes below `/api/v1/admin`. Without one, the server has no
    /// such routes.
    ///
    /// Their credentials differ from those of users: each kind is refused by the routes of the other.
    pub fn with_administrators(mut self, authenticator: Arc<dyn AdminAuthenticator>) -> Self {
        self.administrators.push(authenticator);
        self
    }

    /// Sets how the APIs of OpenAI behave: what happens to calls that need the approval of a person, and whether clients see the
    /// work of an agent. They are always served.
    ///
    /// ```
    /// use agcore_server::{DoorApprovals, DoorSettings, Server};
    ///
    /// let doors = DoorSettings::new().with_approvals(DoorApprovals::Wait);
    /// let builder = Server::builder().with_doors(doors);
    /// ```
    pub fn with_doors(mut self, doors: DoorSettings) -> Self {
        self.doors = doors;
        self
    }
}
