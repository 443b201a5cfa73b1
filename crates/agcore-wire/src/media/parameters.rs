//! Parameters of requests: those that a form cannot express, and the object of DashScope.

use serde_json::{Map, Value};

use crate::{
    encode::{invalid_request, refusal::Refusal},
    error::LlmError,
};

/// The path of DashScope's models that reply at once, whatever they make.
pub(super) const DASHSCOPE_PATH: &str = "/services/aigc/multimodal-generation/generation";

/// Refuses a parameter that the form cannot express.
pub(super) fn refuse(name: &str, is_set: bool) -> Result<(), LlmError> {
    if !is_set {
        return Ok(());
    }
    let message =
        format!("the API has no parameter for `{name}`: leave it out, or use extra_body if this server has one");
    let (nearest, message) = ("", message.as_str());
    Err(invalid_request(Refusal { name, nearest, message }.to_string()))
}

/// The members of an object that may be absent.
#[derive(Debug, Default)]
pub(super) struct Parameters(Map<String, Value>);

impl Parameters {
    /// Sets a member if there is a value.
    pub(super) fn set(&mut self, name: &str, value: Option<impl Into<Value>>) {
        self.0.extend(value.map(|value| (name.to_owned(), value.into())));
    }

    /// Returns the object unless it is empty.
    pub(super) fn into_object(self) -> Option<Map<String, Value>> {
        (!self.0.is_empty()).then_some(self.0)
    }
}
