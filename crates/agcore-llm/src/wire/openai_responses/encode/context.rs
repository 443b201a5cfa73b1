//! [`Context`]: what every part of the writer needs to know.

use std::collections::BTreeSet;

use agcore_chat::{AssistantMessage, CallInput, ChatRequest, Message};
use serde::ser::Error;

use crate::wire::{call_ids::CallIdForm, unique_call_ids::UniqueCallIds};

/// The longest `call_id` that OpenAI takes, in bytes.
const LONGEST_CALL_ID: usize = 64;

/// Ids that are not too long; others are mapped, the same way in every request.
const SHORT_ID: CallIdForm = CallIdForm {
    fits: |id| (1..=LONGEST_CALL_ID).contains(&id.len()),
    spell: |number| format!("call_{number:016x}"),
};

/// What is worked out once for the whole request.
pub(super) struct Context<'a> {
    pub(super) call_ids: UniqueCallIds<'a>,
    /// Ids of calls of custom tools, whose results are items of another type.
    custom_calls: BTreeSet<&'a str>,
    /// Whether the server keeps no items, so that reasoning must come back in its encrypted form.
    pub(super) is_stateless: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(request: &'a ChatRequest) -> Self {
        let said = request.messages.iter().filter_map(|message| message.as_assistant());
        let custom = said
            .flat_map(AssistantMessage::tool_calls)
            .filter(|call| matches!(call.input, CallInput::Text(_)));
        Self {
            call_ids: UniqueCallIds::new(SHORT_ID, &request.messages),
            custom_calls: custom.map(|call| call.id.as_str()).collect(),
            is_stateless: request.store == Some(false),
        }
    }

    /// Whether the call of this id is of a custom tool.
    pub(super) fn is_custom(&self, id: &str) -> bool {
        self.custom_calls.contains(id)
    }
}

/// Refuses something by name.
pub(super) fn refuse<E: Error>(what: &str, advice: &str) -> E {
    E::custom(format_args!("the Responses API does not take {what}: {advice}"))
}

/// Refuses the name of a participant.
pub(super) fn refuse_name<E: Error>(name: Option<&str>) -> Result<(), E> {
    let advice = "leave it out, or tell it in the text";
    name.map_or(Ok(()), |_| Err(refuse("the `name` of a participant", advice)))
}

/// Refuses messages of a role.
pub(super) fn refuse_role<E: Error>(message: &Message, advice: &str) -> E {
    refuse(&format!("messages of the role `{}`", message.role()), advice)
}
