//! `/agents`: the agents in files, and chatting with one of them.

use std::sync::Arc;

use agcore_terminal::render::sanitized_line;

use crate::command::chat::{conversation::Conversation, session::file_agent};
use crate::{exit::Failure, project_list::agent_list};

/// Lists the agents, or continues the conversation with the one of this name.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) fn agents(conversation: &mut Conversation, name: &str) -> Result<(), Failure> {
    let screen = conversation.screen;
    if name.is_empty() {
        let unusable = conversation.tools.unusable.iter();
        let unusable: String = unusable.map(|problem| sanitized_line(problem) + "\n").collect();
        return screen.list(&(agent_list(&conversation.tools.project) + &unusable));
    }
    let mut agent = match file_agent(&conversation.tools.project, name, &conversation.project_instructions) {
        Ok(agent) => agent,
        Err(failure) => return screen.error(&failure.to_string()),
    };
    if agent.request.0.model.is_empty() {
        agent = agent.with_model(conversation.model.as_str());
    }
    let model = agent.request.0.model.clone();
    conversation.agent = agent;
    conversation.session.switch_agent(Arc::new(conversation.agent.clone()));
    conversation.use_model(&model);
    screen.note(&format!(
        "The agent {} answers from now on, with {}. Conversation kept.",
        sanitized_line(name),
        sanitized_line(&model)
    ))
}
