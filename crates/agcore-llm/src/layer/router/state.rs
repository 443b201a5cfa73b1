//! [`RouterState`]: what a router keeps over a restart.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::layer::key_pool::KeyPoolState;

/// What a router keeps over a restart: which keys rest until when, by route.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RouterState {
    /// The state of each route's keys.
    #[serde(default)]
    pub routes: BTreeMap<String, KeyPoolState>,
}

impl RouterState {
    pub(super) fn new(routes: BTreeMap<String, KeyPoolState>) -> Self {
        Self { routes }
    }
}
