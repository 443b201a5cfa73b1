//! [`Offer`]: the tools of a server at one point in time, ready to be listed and called.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agcore_tools::{ExecutorBuilder, RegistryExecutor, ToolContext, ToolPolicy, ToolSettings, ToolSnapshot};
use rmcp::model::Tool;

use super::kept::Keep;
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
    pub(super) fn new(
        snapshot: Arc<ToolSnapshot>,
        context: ToolContext,
        policy: ToolPolicy,
        settings: &ToolSettings,
    ) -> Self {
        let executor = ExecutorBuilder::new(Arc::clone(&snapshot), context)
            .with_policy(policy)
            .with_settings(settings)
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
    /// Returns the offer of a snapshot, which `make` makes unless it was the latest.
    pub(super) fn get(&self, snapshot: Arc<ToolSnapshot>, make: impl FnOnce(Arc<ToolSnapshot>) -> Offer) -> Arc<Offer> {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some(offer) if Arc::ptr_eq(&offer.snapshot, &snapshot) => Arc::clone(offer),
            _ => Arc::clone(latest.insert(Arc::new(make(snapshot)))),
        }
    }
}

impl Clone for LatestOffer {
    fn clone(&self) -> Self {
        Self::default()
    }
}
