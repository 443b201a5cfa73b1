//! [`Offer`]: the tools of a server at one point in time, ready to be listed and called.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agcore_tools::{ExecutorBuilder, RegistryExecutor, ToolSnapshot};
use rmcp::model::Tool;

use super::{call::Keep, settings::Settings};
use crate::convert;

/// The tools of a server at one point in time. All its clients share it, so that a call need not prepare anything.
pub(super) struct Offer {
    pub(super) snapshot: Arc<ToolSnapshot>,
    /// Runs calls; each brings its own context.
    pub(super) executor: RegistryExecutor,
    /// The tools as they are sent, in the order of the snapshot.
    sent: OnceLock<Vec<Tool>>,
}

impl Offer {
    fn new(settings: &Settings, snapshot: Arc<ToolSnapshot>) -> Self {
        let executor = ExecutorBuilder::new(Arc::clone(&snapshot), settings.context.clone().build())
            .with_policy(settings.policy.clone())
            .with_timeout(Some(settings.timeout))
            .with_layer(Keep::new)
            .build_unchecked();
        Self {
            snapshot,
            executor,
            sent: OnceLock::new(),
        }
    }

    /// Returns the tools as they are sent, in the order of their names.
    pub(super) fn tools(&self) -> &[Tool] {
        let convert = || self.snapshot.tools().iter().map(convert::sent_tool).collect();
        self.sent.get_or_init(convert)
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        let tools = self.tools();
        let found = tools.binary_search_by(|tool| tool.name.as_bytes().cmp(name.as_bytes()));
        found.ok().map(|index| &tools[index])
    }
}

/// The latest offer. A clone starts without one, because the settings beside it may be changed.
#[derive(Default)]
pub(super) struct LatestOffer(Mutex<Option<Arc<Offer>>>);

impl LatestOffer {
    /// Returns the offer of the current tools.
    pub(super) fn get(&self, settings: &Settings) -> Arc<Offer> {
        let snapshot = settings.registry.snapshot();
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some(offer) if Arc::ptr_eq(&offer.snapshot, &snapshot) => Arc::clone(offer),
            _ => Arc::clone(latest.insert(Arc::new(Offer::new(settings, snapshot)))),
        }
    }
}

impl Clone for LatestOffer {
    fn clone(&self) -> Self {
        Self::default()
    }
}
