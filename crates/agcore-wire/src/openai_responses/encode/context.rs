//! [`Context`]: facts about the whole request that several parts of the encoder need.

use std::collections::BTreeSet;

use agcore_chat::{AssistantMessage, CallInput, ChatRequest};

use crate::encode::{call_ids::CallIdFormat, unique_call_ids::UniqueCallIds};

/// The maximum length of a `call_id`, in bytes.
const MAX_CALL_ID: usize = 64;

/// The call ids that the API accepts.
const ID_FORMAT: CallIdFormat = CallIdFormat {
    accepts: |id| (1..=MAX_CALL_ID).contains(&id.len()),
    generate: |number| format!("call_{number:016x}"),
};

/// Facts about the whole request, computed once.
pub(super) struct Context<'a> {
    pub(super) call_ids: UniqueCallIds<'a>,
    /// The ids of calls of custom tools, whose results are items of another type.
    custom_calls: BTreeSet<&'a str>,
    /// Whether the server does not store items, so that reasoning must be sent back in its encrypted form.
    pub(super) is_stateless: bool,
    /// Whether cache marks are sent, because the request sets options for them.
    pub(super) sends_marks: bool,
    /// Whether the server parses the arguments of calls, so that invalid ones must be wrapped.
    pub(super) parsed_arguments: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(request: &'a ChatRequest, parsed_arguments: bool) -> Self {
        let assistants = request.messages.iter().filter_map(|message| message.as_assistant());
        let custom = assistants
            .flat_map(AssistantMessage::tool_calls)
            .filter(|call| matches!(call.input, CallInput::Text(_)));
        Self {
            call_ids: UniqueCallIds::new(ID_FORMAT, &request.messages),
            custom_calls: custom.map(|call| call.id.as_str()).collect(),
            is_stateless: request.store == Some(false),
            sends_marks: request.extra_body.get("prompt_cache_options").is_some(),
            parsed_arguments,
        }
    }

    /// Returns whether the call with this id is a call of a custom tool.
    pub(super) fn is_custom(&self, id: &str) -> bool {
        self.custom_calls.contains(id)
    }
}
