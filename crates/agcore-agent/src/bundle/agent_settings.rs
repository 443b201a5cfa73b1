//! [`AgentSettings`]: the settings of turns, shared by all sessions whose agents have the same prompt and parameters.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_chat::{ChatRequest, Message};
use agcore_cycle::CycleSettings;

use crate::config::AgentConfig;

/// The number of agents whose settings are remembered.
const REMEMBERED: usize = 8;

/// The settings of the turns of a bundle.
pub(crate) struct AgentSettings {
    /// Those of a session that had no turn yet.
    base: Arc<CycleSettings>,
    /// The newest ones of different agents.
    newest: Mutex<Vec<Arc<CycleSettings>>>,
}

/// The settings that an agent adds.
pub(crate) struct AgentPart<'a> {
    pub(crate) name: &'a str,
    pub(crate) prompt: Option<String>,
    pub(crate) request: &'a ChatRequest,
}

impl AgentPart<'_> {
    /// Returns whether the settings contain this.
    pub(crate) fn is_in(&self, settings: &CycleSettings) -> bool {
        let has_prompt = match (&self.prompt, settings.prelude.as_slice()) {
            (None, []) => true,
            (Some(prompt), [message]) => message.text() == *prompt,
            _ => false,
        };
        has_prompt && *settings.agent == *self.name && settings.request == *self.request
    }
}

impl AgentSettings {
    pub(crate) fn new(config: &AgentConfig) -> Self {
        let base = CycleSettings::new()
            .with_limits(config.limits.clone())
            .with_compaction(config.compaction.clone())
            .with_budgets(config.budgets.clone());
        Self {
            base: Arc::new(base),
            newest: Mutex::default(),
        }
    }

    /// Returns the settings of a session before its first turn.
    pub(crate) fn base(&self) -> Arc<CycleSettings> {
        Arc::clone(&self.base)
    }

    /// Returns the settings with what an agent adds to them.
    pub(crate) fn with(&self, part: AgentPart<'_>) -> Arc<CycleSettings> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = newest.iter().find(|known| part.is_in(known)) {
            return Arc::clone(known);
        }
        let AgentPart { name, prompt, request } = part;
        let settings = CycleSettings::clone(&self.base)
            .with_agent(name)
            .with_prelude(prompt.map(Message::system))
            .with_request(request.clone());
        let settings = Arc::new(settings);
        if newest.len() == REMEMBERED {
            newest.remove(0);
        }
        newest.push(Arc::clone(&settings));
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the settings of an agent.
    fn of(settings: &AgentSettings, name: &str, prompt: Option<&str>, model: &str) -> Arc<CycleSettings> {
        settings.with(AgentPart {
            name,
            prompt: prompt.map(str::to_owned),
            request: &ChatRequest::default().with_model(model),
        })
    }

    #[test]
    fn equal_agents_share_their_settings_and_others_do_not() {
        let settings = AgentSettings::new(&AgentConfig::new());
        let first = of(&settings, "a", Some("Be brief."), "m");
        assert_eq!(first.prelude[0].text(), "Be brief.");
        assert!(Arc::ptr_eq(&first, &of(&settings, "a", Some("Be brief."), "m")));
        for (name, prompt, model) in [
            ("b", Some("Be brief."), "m"),
            ("a", Some("Be kind."), "m"),
            ("a", None, "m"),
            ("a", Some("Be brief."), "n"),
        ] {
            let other = of(&settings, name, prompt, model);
            assert!(!Arc::ptr_eq(&first, &other));
            assert_eq!(
                other
                    .prelude
                    .first()
                    .map(|message| message.text().into_owned())
                    .as_deref(),
                prompt
            );
            assert_eq!(other.request.model, model);
        }
        // The oldest are forgotten.
        (0..REMEMBERED).for_each(|number| drop(of(&settings, "a", None, &number.to_string())));
        assert!(!Arc::ptr_eq(&first, &of(&settings, "a", Some("Be brief."), "m")));
        assert_eq!(settings.newest.lock().unwrap().len(), REMEMBERED);
    }
}
