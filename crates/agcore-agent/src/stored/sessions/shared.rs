//! The stored sessions of a bundle.

use std::sync::Arc;

use agcore_session::SessionStore;
use serde_json::Map;

use super::{StoredSessions, settings::PATIENCE};
use crate::{
    bundle::{Parts, RuntimeBundle, SessionSettings},
    error::AgentError,
};

impl RuntimeBundle {
    /// Returns the sessions of the actor [`local`](agcore_chat::Actor::local) in the store of the bundle.
    ///
    /// # Errors
    /// [`InvalidConfig`](crate::AgentErrorKind::InvalidConfig) if the bundle was built without a
    /// [store](crate::AgentBuilder::with_session_store).
    pub fn stored_sessions(&self) -> Result<StoredSessions, AgentError> {
        let store = self.parts().store.clone().ok_or_else(AgentError::no_store)?;
        let sessions = self.stored_sessions_in(store);
        Ok(match &self.parts().sessions {
            Some(settings) => sessions.with_settings(settings),
            None => sessions,
        })
    }

    /// Returns the sessions of the actor [`local`](agcore_chat::Actor::local) in a store, whatever the store of the bundle is.
    pub fn stored_sessions_in(&self, store: Arc<dyn SessionStore>) -> StoredSessions {
        StoredSessions {
            bundle: self.clone(),
            store,
            actor: Arc::default(),
            metadata: Map::new(),
            whole: None,
            keeps_events: false,
            log: None,
            biller: None,
            billing: None,
            patience: PATIENCE,
        }
    }

    /// Returns a bundle whose [stored sessions](Self::stored_sessions) are like these: in their store, of their actor, with their
    /// metadata, events and costs. The agents of flows work in the stored sessions of their bundle.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_agent::agent;
    /// use agcore_chat::Actor;
    /// # use agcore_llm::SystemClock;
    /// use agcore_session::InMemorySessionStore;
    /// # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    ///
    /// # let model = ScriptedProvider::new([ScriptStep::text("Hello")]);
    /// # let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    /// let bundle = agent(model).build()?;
    /// let sessions = bundle.stored_sessions_in(store).with_actor(Actor::new("acme", "ann"));
    /// assert!(bundle.stored_sessions().is_err());
    /// assert!(bundle.with_stored_sessions(&sessions).stored_sessions().is_ok());
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// ```
    #[must_use]
    pub fn with_stored_sessions(&self, sessions: &StoredSessions) -> Self {
        let settings = SessionSettings {
            actor: Arc::clone(&sessions.actor),
            metadata: sessions.metadata.clone(),
            keeps_events: sessions.keeps_events,
            log: sessions.log.clone(),
            biller: sessions.biller.clone(),
            billing: sessions.billing.clone(),
            patience: sessions.patience,
        };
        Self::new(Parts {
            store: Some(Arc::clone(&sessions.store)),
            sessions: Some(Arc::new(settings)),
            ..self.parts().clone()
        })
    }
}

impl StoredSessions {
    pub(super) fn with_settings(self, settings: &SessionSettings) -> Self {
        let SessionSettings {
            actor,
            metadata,
            keeps_events,
            log,
            biller,
            billing,
            patience,
        } = settings.clone();
        Self {
            actor,
            metadata,
            keeps_events,
            log,
            biller,
            billing,
            patience,
            ..self
        }
    }
}
