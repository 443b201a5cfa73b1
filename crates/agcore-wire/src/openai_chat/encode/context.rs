//! [`Context`]: data that every part of the encoder needs.

use agcore_chat::{ChatRequest, Message, VendorData};
use serde::ser::{Error, SerializeMap};
use serde_json::Value;

use super::tool_cache::ToolCache;
use crate::{
    dialect::{CallIdRule, Dialect},
    encode::{
        call_ids::{CallIdFormat, CallIds},
        refusal::Refusal,
    },
};

/// The characters of a generated id.
const ID_CHARACTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The length of an id.
const ID_LENGTH: usize = 9;

/// Nine letters or digits, the format of ids that Mistral accepts.
const NINE_ALPHANUMERIC: CallIdFormat = CallIdFormat {
    accepts: is_nine_alphanumeric,
    generate: generate_id,
};

/// The dialect, and the values that are computed once per request.
pub(super) struct Context<'a> {
    pub(super) dialect: &'a Dialect,
    pub(super) tool_cache: &'a ToolCache,
    pub(super) call_ids: CallIds<'a>,
    /// Whether the model is thinking in this conversation, judging by the request.
    pub(super) is_thinking: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(dialect: &'a Dialect, tool_cache: &'a ToolCache, request: &'a ChatRequest, model: &str) -> Self {
        let matters = dialect.reasoning.required_with_calls || !dialect.tools.required_while_thinking;
        let is_thinking = matters && is_thinking(dialect, request, model);
        Self {
            dialect,
            tool_cache,
            call_ids: match dialect.tools.call_ids {
                CallIdRule::Any => CallIds::unchanged(),
                CallIdRule::NineAlphanumeric => CallIds::new(NINE_ALPHANUMERIC, &request.messages),
            },
            is_thinking,
        }
    }

    /// Returns an error about a feature that the vendor does not support, with advice on what to do instead.
    pub(super) fn refuse<E: Error>(&self, name: &str, what: &str, advice: &str) -> E {
        self.refuse_value(name, "", what, advice)
    }

    /// Returns an error about a value that the vendor does not support, with the nearest one that it does support.
    pub(super) fn refuse_value<E: Error>(&self, name: &str, nearest: &str, what: &str, advice: &str) -> E {
        let message = &format!("{} does not support {what}: {advice}", self.dialect.name);
        E::custom(Refusal { name, nearest, message })
    }

    /// Writes the name of a participant.
    pub(super) fn write_name<S: SerializeMap>(&self, name: Option<&str>, map: &mut S) -> Result<(), S::Error> {
        match name {
            Some(_) if !self.dialect.content.names => {
                let advice = "leave it out, or put it into the text";
                Err(self.refuse("name", "the `name` of a participant", advice))
            }
            Some(name) => map.serialize_entry("name", name),
            None => Ok(()),
        }
    }
}

/// Returns whether data belongs to the vendor, or is not marked with a vendor at all.
pub(super) fn belongs_to_vendor(context: &Context<'_>, vendor: Option<&VendorData>) -> bool {
    vendor.is_none_or(|data| data.vendor == context.dialect.name)
}

/// Returns the data that must be sent back to this vendor. Data of other vendors is never sent.
pub(super) fn vendor_data<'a>(context: &Context<'_>, vendor: Option<&'a VendorData>) -> Option<&'a Value> {
    vendor
        .filter(|data| data.vendor == context.dialect.name)
        .map(|data| &data.data)
}

/// Returns whether a model is thinking: because of its name, because the request enables it, or because it did before.
fn is_thinking(dialect: &Dialect, request: &ChatRequest, model: &str) -> bool {
    let switch = request
        .extra_body
        .get("thinking")
        .and_then(|thinking| thinking.get("type"));
    match switch.and_then(Value::as_str) {
        Some("disabled") => return false,
        Some("enabled") => return true,
        _ => {}
    }
    if let Some(enabled) = request.extra_body.get("enable_thinking").and_then(Value::as_bool) {
        return enabled;
    }
    let is_disabled = request.reasoning_effort.as_deref() == Some("none");
    let has_thinking_name = dialect
        .reasoning
        .thinking_models
        .iter()
        .any(|part| model.contains(part));
    let has_thought = |message: &Message| {
        message
            .as_assistant()
            .is_some_and(|message| !message.reasoning().is_empty())
    };
    !is_disabled && (has_thinking_name || request.messages.iter().any(|message| has_thought(message)))
}

fn is_nine_alphanumeric(id: &str) -> bool {
    id.len() == ID_LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn generate_id(mut number: u64) -> String {
    let mut text = String::with_capacity(ID_LENGTH);
    for _ in 0..ID_LENGTH {
        text.push(char::from(ID_CHARACTERS[(number % 62) as usize]));
        number /= 62;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generates_acceptable_ids() {
        for number in [0, 1, 61, 62, u64::MAX] {
            assert!(is_nine_alphanumeric(&generate_id(number)), "{}", generate_id(number));
        }
        assert_ne!(generate_id(1), generate_id(2));
        assert!(!is_nine_alphanumeric("call_abcd") && !is_nine_alphanumeric("abcDEF12"));
    }
}
