//! [`Holds`]: who holds what in the memory of the process.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore_chat::Timestamp;

use crate::{
    error::SessionError,
    hold::{Hold, HoldGuard, Holder},
};

/// The holders by the names of what they hold. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Holds(Arc<Mutex<HashMap<String, Held>>>);

/// The holders of one name: those who share it, or the only one.
#[derive(Debug, Default)]
struct Held {
    is_shared: bool,
    holders: Vec<Holder>,
}

/// Gives a hold back.
struct Guard {
    holds: Holds,
    name: String,
    holder: Holder,
}

impl Holds {
    pub(super) fn take(&self, name: &str, is_shared: bool, now: Timestamp) -> Result<Hold, SessionError> {
        let mut all = self.lock();
        let held = all.entry(name.to_owned()).or_default();
        if let Some(holder) = held.holders.first()
            && !(is_shared && held.is_shared)
        {
            return Err(SessionError::held(name, holder.clone()));
        }
        let holder = Holder::new("this process", now);
        held.is_shared = is_shared;
        held.holders.push(holder.clone());
        Ok(Hold::new(Guard {
            holds: self.clone(),
            name: name.to_owned(),
            holder,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Held>> {
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
        let mut all = self.holds.lock();
        let Some(held) = all.get_mut(&self.name) else { return };
        // Holders of the same time are equal, so that it does not matter which of them is removed.
        if let Some(index) = held.holders.iter().position(|holder| *holder == self.holder) {
            held.holders.remove(index);
        }
        if held.holders.is_empty() {
            all.remove(&self.name);
        }
    }
}
