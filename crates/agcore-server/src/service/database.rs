//! The database of a server: [`GuardedStore`], the store that only the service can use, and [`DatabaseHold`], the right to use it,
//! which one server has at a time.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_session::{Hold, SessionStore};

use crate::error::ServerError;

/// The name of the hold of the server that uses a store. Take it to keep servers away, for example to restore a backup.
pub const SERVER_HOLD: &str = "server";

/// The store of sessions. Only the service can use it: routes have to ask for what belongs to their user.
pub(crate) struct GuardedStore(Arc<dyn SessionStore>);

/// The right to use the database, once the server has it.
#[derive(Default)]
pub(crate) struct DatabaseHold(Mutex<Option<Hold>>);

impl GuardedStore {
    pub(crate) fn new(store: Arc<dyn SessionStore>) -> Self {
        Self(store)
    }

    /// Returns the store, for what runs on behalf of the owner of a thread.
    pub(super) fn store(&self) -> &Arc<dyn SessionStore> {
        &self.0
    }
}

impl DatabaseHold {
    /// Takes the database, alone or with other servers that share its runs, unless this server has it already.
    ///
    /// # Errors
    /// `InUse` if another server has it in the other way, and errors of the store.
    pub(crate) async fn take(&self, store: &dyn SessionStore, is_shared: bool) -> Result<(), ServerError> {
        if self.is_taken() {
            return Ok(());
        }
        let taken = match is_shared {
            true => store.hold_shared(SERVER_HOLD).await,
            false => store.hold(SERVER_HOLD).await,
        };
        let hold = taken.map_err(|error| match error.holder() {
            Some(holder) => ServerError::InUse(holder.clone()),
            None => ServerError::Store(error),
        })?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(hold);
        Ok(())
    }

    /// Releases it when the result is dropped.
    pub(crate) fn keep(&self) -> Option<Hold> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_taken(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
