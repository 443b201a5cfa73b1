//! [`JsonBody`]: the body of a request for a model that does not chat.

use agcore_chat::Extra;
use serde_json::{Map, Value};

use crate::{
    encode::{extra_headers, invalid_request},
    error::LlmError,
    wire::WireRequest,
};

/// The members of a body.
#[derive(Debug)]
pub(crate) struct JsonBody(Map<String, Value>);

impl JsonBody {
    /// Creates a body that names the model.
    pub(crate) fn new(model: &str) -> Self {
        Self(Map::from_iter([("model".to_owned(), Value::from(model))]))
    }

    /// Sets a member.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Sets a member if there is a value.
    pub(crate) fn set_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    /// Adds the extra members and creates a POST request. An object in `extra` is merged into a member of the same name, for
    /// DashScope's `parameters`.
    pub(crate) fn post(
        mut self,
        path: &str,
        extra: &Extra,
        headers: &[(String, String)],
    ) -> Result<WireRequest, LlmError> {
        for (name, value) in extra.iter() {
            match (self.0.get_mut(name.as_str()), value) {
                (Some(Value::Object(members)), Value::Object(more)) => members.extend(more.clone()),
                _ => self.set(name, value.clone()),
            }
        }
        let bytes = serde_json::to_vec(&self.0).map_err(|error| invalid_request(error.to_string()))?;
        let mut request = WireRequest::post(path, bytes);
        extra_headers::add(&mut request.headers, headers).map_err(invalid_request)?;
        Ok(request)
    }
}
