//! [`Holds`]: who holds what in the memory of the process.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::Timestamp;

use crate::{
    error::SessionError,
    hold::{Hold, HoldGuard, Holder},
};

/// The holders by the names of what they hold. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Holds(Arc<Mutex<HashMap<String, Holder>>>);

/// Gives a hold back.
struct Guard {
    holds: Holds,
    name: String,
}

impl Holds {
    pub(super) fn take(&self, name: &str, now: Timestamp) -> Result<Hold, SessionError> {
        match self.lock().entry(name.to_owned()) {
            Entry::Occupied(held) => Err(SessionError::held(name, held.get().clone())),
            Entry::Vacant(free) => {
                free.insert(Holder::new("this process", now));
                Ok(Hold::new(Guard {
                    holds: self.clone(),
                    name: name.to_owned(),
                }))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Holder>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HoldGuard for Guard {
    fn is_lost(&self) -> bool {
        false
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.holds.lock().remove(&self.name);
    }
}
