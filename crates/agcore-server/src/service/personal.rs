//! Agents that know the profiles of users.

use std::sync::Arc;

use agcore_agent::AgentSpec;
use agcore_chat::Actor;
use agcore_memory::{Journal, MemoryError, MemoryErrorKind};
use agcore_profile::{UserAgentContext, Uuid, build_global_system_prompt};

use super::state::Service;
use crate::stored::StoredProfiles;

impl Service {
    /// Returns an agent that knows who the user is, if the user has a profile that can be used.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn personal(&self, agent: &AgentSpec, user: &Actor) -> Result<AgentSpec, MemoryError> {
        let mut agent = agent.clone();
        if !self.uses_profiles {
            return Ok(agent);
        }
        let Ok(id) = Uuid::parse_str(&user.user) else {
            return Ok(agent);
        };
        let journal: Arc<dyn Journal> = Arc::new(Arc::clone(&self.store));
        let profiles = StoredProfiles::new(journal, Arc::clone(&self.clock), user.tenant.to_string());
        match profiles.get(id).await {
            Ok(None) => return Ok(agent),
            Ok(Some(_)) => {}
            Err(error) if error.kind() == MemoryErrorKind::Serialization => {
                tracing::warn!(?error, "the profile of the user is damaged and not used");
                return Ok(agent);
            }
            Err(error) => return Err(error),
        }
        let context = UserAgentContext::load(&profiles, id).await;
        let prompt = context
            .map_err(|error| error.to_string())
            .and_then(|context| build_global_system_prompt(&context).map_err(|error| error.to_string()));
        match prompt {
            Ok(prompt) => agent.system_prompt = format!("{prompt}\n\n{}", agent.system_prompt).trim_end().to_owned(),
            Err(error) => tracing::warn!(error, "the profile of the user cannot be used"),
        }
        Ok(agent)
    }
}
