//! Building the requests of a turn.

use std::{borrow::Cow, sync::Arc};

use agcore_chat::{AllowedMode, ChatRequest, Message, ToolChoice};
use agcore_llm::LlmProviderExt;

use super::{
    compactor::{Compactor, RequestParts},
    environment::{Environment, Scene},
};
use crate::{
    machine::{Purpose, View},
    typed::OutputMode,
};

impl<'s> Scene<'s> {
    /// Builds the next request. The compactor has its messages.
    pub(super) fn request(&self, compactor: &mut Compactor<'_>, purpose: Purpose) -> Arc<ChatRequest> {
        let settings = self.environment.settings;
        let (view, mut saved) = (self.machine.view(), 0);
        let [older, added] = self.shown(view, &mut saved);
        let messages = compactor.messages([&settings.prelude, &older, &added], saved);
        let mut shared = Arc::new(settings.request.clone());
        let request = Arc::make_mut(&mut shared);
        request.messages = messages;
        self.leave_out_unreadable(request);
        self.offer_tools(purpose, request);
        if let (Some(typed), Some(expectation)) = (self.typed, self.machine.expectation()) {
            let must_answer = self.machine.is_last_round() || purpose == Purpose::WrapUp;
            typed.ask(expectation, self.environment.provider, must_answer, request);
        }
        shared
    }

    /// Returns the parts of the next request that have tokens.
    pub(super) fn request_parts(&self) -> RequestParts<'s> {
        let Environment { settings, options, .. } = self.environment;
        let [older, added] = self.shown(self.machine.view(), &mut 0);
        RequestParts {
            prelude: &settings.prelude,
            older,
            added,
            tools: options.tools.as_ref().map(|tools| tools.definitions()),
            output: match (self.typed, self.machine.expectation()) {
                (Some(typed), Some(_)) => typed.request_text(),
                _ => "",
            },
        }
    }

    /// Returns the older and the added messages as the model sees them, and adds up the tokens by which they are shorter.
    fn shown(&self, view: View<'s>, saved: &mut u64) -> [Cow<'s, [Arc<Message>]>; 2] {
        let mut parts = [Cow::Borrowed(view.older), Cow::Borrowed(view.added)];
        let Some(results) = &self.environment.options.results else {
            return parts;
        };
        for (part, messages) in parts.iter_mut().zip([view.older, view.added]) {
            let of_tools = messages
                .iter()
                .enumerate()
                .filter(|(_, message)| matches!(***message, Message::Tool(_)));
            for (at, shown) in of_tools.filter_map(|(at, message)| Some((at, results.shown(message)?))) {
                *saved = saved.saturating_add(shown.saved);
                part.to_mut()[at] = shown.message;
            }
        }
        parts
    }

    /// Adds the tools to a request, and the choice between them.
    fn offer_tools(&self, purpose: Purpose, request: &mut ChatRequest) {
        let Environment { settings, options, .. } = self.environment;
        let is_offered = purpose == Purpose::Reply || self.keeps_tools(purpose);
        request.tools = match &options.tools {
            Some(tools) if is_offered => tools.definitions(),
            _ => Arc::default(),
        };
        if request.tools.is_empty() {
            request.tool_choice = None;
        } else if purpose != Purpose::Reply {
            request.tool_choice = Some(ToolChoice::None);
        } else if self.machine.round() > 0 && !settings.keeps_tool_choice {
            // A model that must call a tool in every round can never answer.
            let is_forced = request.tool_choice.as_ref().is_some_and(forces_a_call);
            request.tool_choice.take_if(|_| is_forced);
        }
    }

    /// Returns whether a request in which no tool may be called still contains the tools, so that the beginning of the
    /// prompt, which contains them, stays in the provider's cache.
    fn keeps_tools(&self, purpose: Purpose) -> bool {
        if purpose != Purpose::WrapUp {
            return false;
        }
        let can = self.environment.provider.common_capabilities();
        let fits_answer = match self.machine.output_mode().filter(|_| self.machine.is_open()) {
            None | Some(OutputMode::Prompt) => true,
            Some(OutputMode::Native) => can.json_schema_with_tools,
            // The tool that carries the answer must be called.
            Some(OutputMode::Tool) => false,
        };
        fits_answer && can.none_tool_choice
    }
}

/// Returns whether a choice leaves the model no way to answer.
fn forces_a_call(choice: &ToolChoice) -> bool {
    match choice {
        ToolChoice::Required | ToolChoice::Function(_) | ToolChoice::Custom(_) => true,
        ToolChoice::Allowed { mode, .. } => *mode == AllowedMode::Required,
        _ => false,
    }
}
