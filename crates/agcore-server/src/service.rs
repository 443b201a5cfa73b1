//! [`Service`]: runs and sessions, without HTTP, and [`App`], with what requests need beside them.

mod billing;
mod agents;
mod active;
mod database;
mod leasing;
mod state;
mod owned;
mod hold;
mod streams;
mod start;
mod thread_parts;
mod cancel;
mod flow_run;
mod personal;
mod executor;
mod work;
mod upkeep;
mod schedules;
mod webhooks;
mod quotas;

pub use self::database::SERVER_HOLD;
pub(crate) use self::{
    agents::{AgentEntry, Agents, Work},
    billing::NewBilling,
    database::GuardedStore,
    leasing::Leasing,
    owned::{BilledSoFar, OwnedRun, OwnedThread},
    start::{
        AGENT, BranchPoint, GivenAnswers, agent_of, check_state,
        deliveries::{Accepted, HookRun},
        request::agent_named,
    },
    state::{Admission, Quotas, Schedules, Service, Webhooks, check_id, new_id},
    streams::StreamPermit,
    upkeep::FilePruning,
    webhooks::OwnedWebhook,
};

use std::sync::Arc;

use crate::{
    auth::{AdminAuthenticator, Authenticator},
    openapi::Description,
    settings::DoorSettings,
};

/// The state of all requests.
pub(crate) struct App {
    pub(crate) service: Arc<Service>,
    /// Without one, everybody is the actor `local`.
    pub(crate) authenticators: Vec<Arc<dyn Authenticator>>,
    /// Without one, there are no routes for administrators.
    pub(crate) administrators: Vec<Arc<dyn AdminAuthenticator>>,
    /// The origins of web pages that may use the server.
    pub(crate) origins: Vec<String>,
    pub(crate) description: Description,
    /// How the doors for other protocols than AG-UI behave.
    pub(crate) doors: DoorSettings,
}
