//! The layers of the system prompt. Those that change least come first, so that prompt caches hit.

use std::time::SystemTime;

use crate::{
    agent::Agent,
    config::AgentConfig,
    skills::{Skills, USE_SKILL},
};

/// Returns the system prompt of a turn: base, profile, agent, skills, tools that can be loaded, and environment, separated by empty
/// lines. `None` if all are empty. An agent that does not see the tool for skills does not see their list either.
pub(crate) fn system_prompt(
    config: &AgentConfig,
    agent: &dyn Agent,
    skills: &Skills,
    loadable: Option<&str>,
    now: SystemTime,
) -> Option<String> {
    let sees_skills = agent
        .tool_names()
        .is_none_or(|names| names.iter().any(|name| *name == USE_SKILL));
    let layers = [
        config.base_prompt.clone(),
        config.profile_block.clone(),
        Some(agent.system_prompt()),
        skills.prompt().filter(|_| sees_skills),
        loadable.map(str::to_owned),
        config.environment.as_ref().map(|environment| environment.text(now)),
    ];
    let layers = layers.into_iter().flatten().filter(|layer| !layer.trim().is_empty());
    layers.reduce(|prompt, layer| prompt + "\n\n" + &layer)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{AgentSpec, Environment};

    #[test]
    fn keeps_the_order_of_layers_and_skips_empty_ones() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600 - 3600);
        let environment = Environment::new()
            .with_time_zone("Asia/Shanghai", 8 * 3600)
            .with_locale("zh-CN");
        let config = AgentConfig::new()
            .with_base_prompt("Base.")
            .with_environment(environment);
        let prompt = |config: &AgentConfig, agent: &str| {
            system_prompt(config, &AgentSpec::new("a", agent), &Skills::default(), None, now)
        };
        let expected = "Base.\n\nAgent.\n\nDate: 2026-01-01 (Asia/Shanghai)\nLocale: zh-CN";
        assert_eq!(prompt(&config, "Agent.").as_deref(), Some(expected));
        assert_eq!(
            prompt(&AgentConfig::new().with_profile_block("P"), "A").as_deref(),
            Some("P\n\nA")
        );
        assert_eq!(prompt(&AgentConfig::new(), "  "), None);
    }
}
