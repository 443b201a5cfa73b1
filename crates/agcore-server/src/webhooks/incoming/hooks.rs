//! [`Hooks`]: the hooks of a server.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::hook::IncomingHook;

/// The hooks of a server.
pub(crate) struct Hooks {
    all: HashMap<String, Arc<IncomingHook>>,
    /// The places for deliveries that are received.
    places: Arc<Semaphore>,
}

impl Hooks {
    /// Keeps hooks, which receive at most this number of deliveries at a time.
    pub(crate) fn new(hooks: Vec<IncomingHook>, places: usize) -> Self {
        let all = hooks.into_iter().map(|hook| (hook.id.clone(), Arc::new(hook)));
        Self {
            all: all.collect(),
            places: Arc::new(Semaphore::new(places.max(1))),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Arc<IncomingHook>> {
        self.all.get(id)
    }

    /// Returns whether threads with this id belong to a hook: only its deliveries start them.
    pub(crate) fn reserve(&self, thread: &str) -> bool {
        let named = thread.strip_prefix("hook-").and_then(|rest| rest.split_once(':'));
        named.is_some_and(|(id, _)| self.all.contains_key(id))
    }

    /// Returns any hook, whose check takes the time of a check.
    pub(crate) fn any(&self) -> Option<&Arc<IncomingHook>> {
        self.all.values().next()
    }

    /// Takes a place for a delivery; `None` if all are taken.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }
}
