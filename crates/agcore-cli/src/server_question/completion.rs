//! [`Completer`]: completions that MCP servers ask for, by the provider and the model of a session.

use std::{fmt::Write as _, sync::Arc};

use agcore::{
    AgentSession, ChatRequest, LlmProvider, LlmProviderExt, Message,
    chat::{Content, ContentPart, StopSequence, UsageTracker},
    mcp::{SampleAnswer, SampleRequest},
};
use agcore_terminal::render::sanitized;

/// Answers requests of servers with the model of a session.
#[derive(Clone)]
pub(crate) struct Completer {
    provider: Arc<dyn LlmProvider>,
    /// A request without messages, with the settings of the agent.
    template: ChatRequest,
}

impl Completer {
    /// Creates a completer for the current agent of a session.
    pub(crate) fn of(session: &AgentSession) -> Self {
        Self {
            provider: Arc::clone(session.bundle().provider()),
            template: session.agent().request().into_owned(),
        }
    }

    /// Returns the name of the model.
    pub(crate) fn model(&self) -> &str {
        match self.template.model.as_str() {
            "" => self.provider.model(),
            model => model,
        }
    }

    /// Asks the model. Returns the answer, and the tokens that were used.
    ///
    /// # Errors
    /// Why there is no answer, in a sentence for the server.
    pub(crate) async fn complete(&self, request: &SampleRequest) -> Result<(SampleAnswer, UsageTracker), String> {
        let system = request.system_prompt.as_deref().map(Message::system).into_iter();
        let messages = system.chain(request.messages.iter().cloned());
        let mut call = self.template.clone();
        call.messages = messages.map(Arc::new).collect();
        let mut call = call.with_max_tokens(u64::from(request.max_tokens));
        if let Some(temperature) = request.temperature {
            call = call.with_temperature(f64::from(temperature));
        }
        if !request.stop_sequences.is_empty() {
            call.stop = Some(StopSequence::Many(request.stop_sequences.clone()));
        }
        // The reason may contain details of the user's account.
        let response = self.provider.chat(call).await;
        let response = response.map_err(|error| format!("the model did not answer: {:?}", error.kind()))?;
        let mut usage = UsageTracker::default();
        usage.record(response.usage.as_ref());
        let model = response.model.clone().unwrap_or_else(|| self.model().to_owned());
        Ok((SampleAnswer::new(response.text(), model), usage))
    }
}

/// Returns all that a server wants to send to the model.
pub(super) fn shown(request: &SampleRequest) -> String {
    let mut text = String::new();
    let mut part = |speaker: &str, content: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{speaker}: {}", sanitized(content));
    };
    if let Some(system) = &request.system_prompt {
        part("system", system);
    }
    for message in &request.messages {
        let speaker = if matches!(message, Message::User(_)) {
            "user"
        } else {
            "assistant"
        };
        part(speaker, &message.text());
        // The texts of all parts were shown.
        if let Message::User(user) = message
            && let Content::Parts(parts) = &user.content
        {
            let media = parts
                .iter()
                .filter(|part| !matches!(part, ContentPart::Text(_)))
                .count();
            if media > 0 {
                part(speaker, &format!("(images, sounds or files: {media})"));
            }
        }
    }
    text
}
