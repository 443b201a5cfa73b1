//! [`Fields`]: the members of an object, read one by one with errors that name them.

use serde_json::{Map, Value};

use super::limits::RequestLimits;
use crate::error::ApiError;

/// The members of an object that are not read yet.
pub(super) struct Fields {
    path: String,
    members: Map<String, Value>,
}

impl Fields {
    /// Parses the body of a request.
    pub(super) fn of_body(body: &[u8], limits: &RequestLimits) -> Result<Self, ApiError> {
        if body.len() > limits.max_bytes {
            let (bytes, max) = (body.len(), limits.max_bytes);
            let message = format!("the body has {bytes} bytes, and {max} are allowed; send fewer or shorter messages");
            return Err(ApiError::too_large("", message));
        }
        let value: Value = serde_json::from_slice(body).map_err(|error| {
            // Only the place: the message may quote the body.
            let (line, column) = (error.line(), error.column());
            let message = format!("the body is not JSON (line {line}, column {column}); send an object");
            ApiError::new(400, "invalid_body", message)
        })?;
        Self::of(value, "")
    }

    /// Reads an object at a path.
    pub(super) fn of(value: Value, path: impl Into<String>) -> Result<Self, ApiError> {
        let path = path.into();
        match value {
            Value::Object(members) => Ok(Self { path, members }),
            _ => Err(ApiError::invalid(path, "must be an object")),
        }
    }

    /// Returns the path of a member.
    pub(super) fn path(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    pub(super) fn invalid(&self, name: &str, rule: &str) -> ApiError {
        ApiError::invalid(self.path(name), rule)
    }

    /// Removes a member; `null` is the same as none.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.members.remove(name).filter(|value| !value.is_null())
    }

    pub(super) fn optional_text(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.invalid(name, "must be a text")),
        }
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String, ApiError> {
        let text = self.optional_text(name)?;
        text.ok_or_else(|| self.invalid(name, "is missing; it must be a text"))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(self.invalid(name, "must be true or false")),
        }
    }

    pub(super) fn object(&mut self, name: &str) -> Result<Option<Self>, ApiError> {
        let path = self.path(name);
        self.take(name).map(|value| Self::of(value, path)).transpose()
    }

    pub(super) fn array(&mut self, name: &str, max: usize) -> Result<Vec<Value>, ApiError> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) if items.len() > max => {
                let path = self.path(name);
                let message = format!("`{path}` has {} items, and {max} are allowed; send fewer", items.len());
                Err(ApiError::too_large(&path, message))
            }
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.invalid(name, "must be an array")),
        }
    }

    /// Refuses a member that would change the answer, unless its value is harmless.
    pub(super) fn refuse(&mut self, name: &str, reason: &str, is_harmless: fn(&Value) -> bool) -> Result<(), ApiError> {
        match self.take(name) {
            Some(value) if !is_harmless(&value) => Err(ApiError::unsupported(&self.path(name), reason)),
            _ => Ok(()),
        }
    }
}

/// Returns whether a value is `false`, 0, or has no content.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) => false,
    }
}
