//! The model with which a session continues: the one that answered last, or that was to answer if nothing did.

use agcore::{AgentSpec, session::Session};
use agcore_args::ChatArgs;
use agcore_settings::Settings;
use agcore_terminal::render::sanitized_line;

use super::{conversation::Conversation, session::model_of};

use crate::{
    exit::Failure,
    sessions::{Answered, Sessions},
};

/// Returns the agent that continues a session: with the model that answered last, if it is one of the same provider. What the
/// options or the file of the agent name has precedence. In flows, each agent has its own model.
///
/// # Errors
/// When the database cannot be read.
pub(super) async fn continued(
    agent: AgentSpec,
    (args, settings): (&ChatArgs, &Settings),
    sessions: &Sessions,
    selected: Option<&Session>,
) -> Result<AgentSpec, Failure> {
    let options = &args.settings;
    let is_chosen = options.model.is_some()
        || options.server.provider.is_some()
        || options.server.base_url.is_some()
        || !agent.request.0.model.is_empty();
    let (Some(session), false, None) = (selected, is_chosen, sessions.flow_options()) else {
        return Ok(agent);
    };
    match sessions.last_answer(&session.id).await? {
        Some(Answered { provider, model })
            if provider == settings.provider.name() && model != model_of(&agent, settings) =>
        {
            Ok(agent.with_model(model))
        }
        _ => Ok(agent),
    }
}

/// Switches to the model that answered last in the session of a conversation, unless the file of the agent names one. Reports a
/// switch, and a model of another provider.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn switch_to_last(conversation: &mut Conversation) -> Result<(), Failure> {
    let agent = conversation.tools.project.agent(&conversation.agent.name);
    if agent.is_some_and(|agent| !agent.request.0.model.is_empty()) {
        return Ok(());
    }
    match last_answer(conversation).await {
        Some(Answered { provider, model })
            if provider == conversation.chats.provider.name() && model != conversation.model =>
        {
            conversation.switch_model(&model);
            conversation.screen.note(&format!("Model: {}", sanitized_line(&model)))
        }
        _ => Ok(()),
    }
}

/// Reports how to continue with a model of another provider, if such a model answered last.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn note_other_provider(conversation: &Conversation) -> Result<(), Failure> {
    match last_answer(conversation).await {
        Some(answered) if answered.provider != conversation.chats.provider.name() => {
            let last = format!("{}:{}", answered.provider, answered.model);
            let last = sanitized_line(&last);
            conversation.screen.note(&format!(
                "{last} answered last, and {} answers now. To continue with the former, start the chat with --model {last}",
                sanitized_line(&conversation.model)
            ))
        }
        _ => Ok(()),
    }
}

/// Returns what answered last. A session that cannot be read has an error of its own.
async fn last_answer(conversation: &Conversation) -> Option<Answered> {
    let sessions = &conversation.chats.sessions;
    sessions.last_answer(conversation.session.id()).await.ok().flatten()
}
