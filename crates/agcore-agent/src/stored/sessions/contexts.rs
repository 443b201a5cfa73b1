//! The rows of contexts: their ids and metadata, and how they are deleted.

use std::{collections::BTreeSet, sync::Arc};

use agcore_session::{NewSession, Session};
use serde_json::Value;

use super::StoredSessions;
use crate::{
    agent::Agent,
    durable::{ContextRecord, SideRecord as _},
    error::AgentError,
};

/// The name of the metadata of a session that is a context of another one. The value is the name of the context.
pub const CONTEXT_METADATA: &str = "context";

/// The name of the metadata of a session that has contexts.
const OWNER_METADATA: &str = "has_contexts";

/// Returns the id of the session that keeps a context.
pub(crate) fn context_id(session: &str, name: &str) -> String {
    format!("{session}/{name}")
}

impl StoredSessions {
    /// Returns these sessions, for one that has contexts.
    pub(crate) fn with_contexts(mut self) -> Self {
        self.metadata.insert(OWNER_METADATA.to_owned(), Value::Bool(true));
        self
    }

    /// Returns the default agent.
    pub(crate) fn default_agent(&self) -> Arc<dyn Agent> {
        Arc::clone(&self.bundle.parts().agent) as Arc<dyn Agent>
    }

    /// Checks that the store can keep a session with this id.
    pub(crate) fn check_id(&self, id: &str) -> Result<(), AgentError> {
        let new = NewSession::new(id).with_owner((*self.actor).clone());
        Ok(new.check()?)
    }

    /// Deletes a session, if it exists.
    pub(crate) async fn delete_row(&self, id: &str) -> Result<(), AgentError> {
        if self.get(id).await?.is_some() {
            self.store.delete_session(&self.actor.tenant, id).await?;
        }
        Ok(())
    }

    /// Deletes all contexts that a session has ever had.
    pub(super) async fn delete_contexts_of(&self, session: &Session) -> Result<(), AgentError> {
        if !session.metadata.contains_key(OWNER_METADATA) {
            return Ok(());
        }
        let entries = self.store.read(&session.stream(), 1).await?;
        // Records that cannot be read must not keep the session from being deleted.
        let records = entries
            .into_iter()
            .filter_map(|entry| ContextRecord::read_all(vec![entry]).ok());
        let names: BTreeSet<String> = records
            .flatten()
            .map(|record| match record {
                ContextRecord::Created { name }
                | ContextRecord::Current { name }
                | ContextRecord::Destroyed { name } => name,
            })
            .collect();
        for name in names {
            self.delete_row(&context_id(&session.id, &name)).await?;
        }
        Ok(())
    }
}
