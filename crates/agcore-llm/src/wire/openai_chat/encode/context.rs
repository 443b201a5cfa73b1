//! [`Context`]: what every part of the writer needs to know.

use agcore_chat::{ChatRequest, Message};
use serde::ser::{Error, SerializeMap};
use serde_json::Value;

use super::{nine_letters::NINE_ALPHANUMERIC, written_tools::WrittenTools};
use crate::{
    dialect::{CallIdRule, Dialect},
    wire::call_ids::CallIds,
};

/// The dialect, and what is worked out once for the whole request.
pub(super) struct Context<'a> {
    pub(super) dialect: &'a Dialect,
    pub(super) written_tools: &'a WrittenTools,
    pub(super) call_ids: CallIds<'a>,
    /// Whether the model thinks in this conversation, as far as the request shows it.
    pub(super) is_thinking: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        dialect: &'a Dialect,
        written_tools: &'a WrittenTools,
        request: &'a ChatRequest,
        model: &str,
    ) -> Self {
        let is_thinking = dialect.reasoning.required_with_calls && thinks(dialect, request, model);
        Self {
            dialect,
            written_tools,
            call_ids: match dialect.tools.call_ids {
                CallIdRule::Any => CallIds::as_given(),
                CallIdRule::NineAlphanumeric => CallIds::mapped(NINE_ALPHANUMERIC, &request.messages),
            },
            is_thinking,
        }
    }

    /// Refuses something by name.
    pub(super) fn refuse<E: Error>(&self, what: &str, advice: &str) -> E {
        E::custom(format_args!("{} does not take {what}: {advice}", self.dialect.name))
    }

    /// Writes the name of a participant.
    pub(super) fn write_name<S: SerializeMap>(&self, name: Option<&str>, map: &mut S) -> Result<(), S::Error> {
        match name {
            Some(_) if !self.dialect.content.names => {
                let advice = "leave it out, or tell it in the text";
                Err(self.refuse("the `name` of a participant", advice))
            }
            Some(name) => map.serialize_entry("name", name),
            None => Ok(()),
        }
    }
}

/// Whether a model that may think does: its name says so, it was told to, or it did before.
fn thinks(dialect: &Dialect, request: &ChatRequest, model: &str) -> bool {
    let switch = request
        .extra_body
        .get("thinking")
        .and_then(|thinking| thinking.get("type"));
    match switch.and_then(Value::as_str) {
        Some("disabled") => return false,
        Some("enabled") => return true,
        _ => {}
    }
    let is_off = request.reasoning_effort.as_deref() == Some("none");
    let says_so = dialect
        .reasoning
        .thinking_models
        .iter()
        .any(|part| model.contains(part));
    let has_thought = |message: &Message| message.as_assistant().is_some_and(|said| !said.reasoning().is_empty());
    !is_off && (says_so || request.messages.iter().any(|message| has_thought(message)))
}
