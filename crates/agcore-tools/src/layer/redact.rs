//! [`Redact`]: takes secrets out of what tools give back.

use std::{borrow::Cow, fmt, sync::Arc};

use agcore_chat::{Content, ContentPart};
use serde_json::Value;

use super::invoke::{Invoke, Layer, PreparedCall};
use crate::{
    error::ToolError,
    output::{OutputBody, ToolOutput},
};

/// Takes secrets out of a text. Any `Fn(&str) -> Cow<str>` is one.
pub trait Redactor: Send + Sync {
    /// The text without its secrets; borrowed when there was none.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str>;
}

impl<F: Fn(&str) -> Cow<'_, str> + Send + Sync> Redactor for F {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self(text)
    }
}

/// Adds a [`Redact`].
#[derive(Clone)]
pub struct RedactLayer {
    redactor: Arc<dyn Redactor>,
}

impl RedactLayer {
    /// Redacts with this.
    pub fn new(redactor: Arc<dyn Redactor>) -> Self {
        Self { redactor }
    }
}

impl<S: Invoke> Layer<S> for RedactLayer {
    type Invoke = Redact<S>;

    fn layer(&self, inner: S) -> Redact<S> {
        Redact {
            inner,
            redactor: Arc::clone(&self.redactor),
        }
    }
}

impl fmt::Debug for RedactLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RedactLayer")
    }
}

/// Takes secrets out of all text of an output (strings inside JSON included, keys not) and of what the model is told of
/// an error.
#[derive(Clone)]
pub struct Redact<S> {
    inner: S,
    redactor: Arc<dyn Redactor>,
}

impl<S: Invoke> Invoke for Redact<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        match self.inner.invoke(call).await {
            Ok(mut output) => {
                self.output(&mut output);
                Ok(output)
            }
            Err(error) => Err(self.error(error)),
        }
    }
}

impl<S> Redact<S> {
    fn output(&self, output: &mut ToolOutput) {
        match &mut output.body {
            OutputBody::Value(value) => self.value(value),
            OutputBody::Rich { content, structured } => {
                self.content(content);
                structured.iter_mut().for_each(|value| self.value(value));
            }
            OutputBody::Divert { content, data } => {
                self.content(content);
                self.value(data);
            }
            OutputBody::AwaitingInput(request) => self.text(&mut request.prompt),
            OutputBody::Stream(_) => {}
        }
        output
            .ui_hints
            .iter_mut()
            .chain(&mut output.metadata)
            .for_each(|value| self.value(value));
    }

    fn content(&self, content: &mut Content) {
        match content {
            Content::Text(text) => self.text(text),
            Content::Parts(parts) => {
                for part in parts {
                    if let ContentPart::Text(part) = part {
                        self.text(&mut part.text);
                    }
                }
            }
        }
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.value(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.redactor.redact(text) {
            *text = clean;
        }
    }

    fn error(&self, error: ToolError) -> ToolError {
        let clean = match self.redactor.redact(&error.model_text()) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => return error,
        };
        error.with_model_text(clean)
    }
}

impl<S> fmt::Debug for Redact<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redact")
    }
}
