//! [`Settings`]: the tools of a server, and everything else that it offers.

use std::sync::Arc;

use agcore_tools::{SystemClock, ToolContext, ToolContextBuilder, ToolPolicy, ToolRegistry, ToolSettings};

use super::{
    offer::{LatestOffer, Offer},
    request_state::{Sealer, StateKey},
    source::{PromptSource, ResourceSource},
};
use crate::identity::Identity;

/// The tools of a server, and everything else that it offers.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) registry: ToolRegistry,
    pub(crate) identity: Identity,
    pub(crate) instructions: Option<String>,
    pub(crate) policy: ToolPolicy,
    pub(crate) context: ToolContextBuilder,
    pub(crate) calls: ToolSettings,
    /// Seals the state of requests without a session.
    pub(super) state_key: Option<StateKey>,
    pub(crate) prompts: Option<Arc<dyn PromptSource>>,
    pub(crate) resources: Option<Arc<dyn ResourceSource>>,
    latest_offer: LatestOffer,
}

impl Settings {
    pub(crate) fn new(registry: ToolRegistry) -> Self {
        Self {
            registry,
            identity: Identity::default(),
            instructions: None,
            policy: ToolPolicy::default(),
            context: ToolContext::builder(Arc::new(SystemClock::new())),
            calls: ToolSettings::default(),
            state_key: None,
            prompts: None,
            resources: None,
            latest_offer: LatestOffer::default(),
        }
    }

    /// Returns the current tools.
    pub(super) fn offer(&self) -> Arc<Offer> {
        self.latest_offer.get(self.registry.snapshot(), |snapshot| {
            Offer::new(snapshot, self.context.clone().build(), self.policy.clone(), &self.calls)
        })
    }

    /// Returns what seals the state of requests, with the clock of the calls.
    pub(super) fn sealer(&self) -> Sealer {
        Sealer {
            key: self.state_key.clone(),
            clock: Arc::clone(self.context.clone().build().clock()),
        }
    }
}
