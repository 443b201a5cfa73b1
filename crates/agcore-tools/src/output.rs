//! [`ToolOutput`]: what a tool gives back.

use std::{fmt, pin::Pin};

use agcore_chat::{Content, ContentPart};
use futures_core::Stream;
use serde::Serialize;
use serde_json::Value;

use crate::error::{ToolError, ToolErrorKind};

/// What a tool gives back.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolOutput {
    /// What it is.
    pub body: OutputBody,
    /// How to show it, for a front end; never sent to the model. Kept only of tools that say, by
    /// [`ToolAnnotations::stable_display`](crate::ToolAnnotations::stable_display), that these hints keep their form.
    pub ui_hints: Option<Box<Value>>,
    /// Whatever the application wants to know; never sent to the model.
    pub metadata: Option<Box<Value>>,
}

/// The shapes of a tool's output.
#[derive(Debug)]
#[non_exhaustive]
pub enum OutputBody {
    /// A JSON value. The model gets a string as it is, anything else as compact JSON.
    Value(Value),
    /// Text, images, files, and perhaps the same as structured JSON for programs.
    Rich {
        /// What the model gets.
        content: Content,
        /// The same for programs, where there is one; goes to observers.
        structured: Option<Box<Value>>,
    },
    /// Parts that come one by one, and a last output.
    Stream(OutputStream),
    /// The call cannot go on before a person or another agent has answered.
    AwaitingInput(Box<InputRequest>),
    /// The call ends the turn: another agent takes over.
    Divert {
        /// What the model would have been told, for the history.
        content: Content,
        /// What the layer above needs to know.
        data: Box<Value>,
    },
}

/// What a tool needs to know from a person or another agent before it goes on.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InputRequest {
    /// The question.
    pub prompt: String,
    /// JSON Schema of the answer, where it has a form.
    pub schema: Option<Value>,
    /// What the tool wants back beside the answer; must not hold secrets, for it is saved with the question.
    pub context: Value,
}

impl InputRequest {
    /// A question in words.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            schema: None,
            context: Value::Null,
        }
    }

    /// Adds a JSON Schema of the answer.
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Adds what the tool wants back beside the answer.
    pub fn with_context(mut self, context: Value) -> Self {
        self.context = context;
        self
    }
}

/// Parts of an output, and the whole at the end.
pub struct OutputStream(Pin<Box<dyn Stream<Item = Result<OutputItem, ToolError>> + Send>>);

/// One item of an [`OutputStream`].
#[derive(Debug)]
#[non_exhaustive]
pub enum OutputItem {
    /// A part; observers get it as progress, the model does not.
    Part(Value),
    /// The output itself; nothing after it is read. It must not be a stream again.
    Final(Box<ToolOutput>),
}

impl OutputItem {
    /// The output itself.
    pub fn last(output: impl Into<ToolOutput>) -> Self {
        Self::Final(Box::new(output.into()))
    }
}

impl OutputStream {
    /// The parts of a stream.
    pub fn new(items: impl Stream<Item = Result<OutputItem, ToolError>> + Send + 'static) -> Self {
        Self(Box::pin(items))
    }

    /// Reads to the end, giving each part away.
    ///
    /// # Errors
    /// The stream's own error; or that it ended without an output, or with another stream.
    pub(crate) async fn finish(mut self, mut part: impl FnMut(Value)) -> Result<ToolOutput, ToolError> {
        loop {
            match std::future::poll_fn(|cx| self.0.as_mut().poll_next(cx)).await {
                Some(Ok(OutputItem::Part(value))) => part(value),
                Some(Ok(OutputItem::Final(output))) => {
                    return match output.body {
                        OutputBody::Stream(_) => Err(misuse("the tool's output stream ended with another stream")),
                        _ => Ok(*output),
                    };
                }
                Some(Err(error)) => return Err(error),
                None => return Err(misuse("the tool's output stream ended without an output")),
            }
        }
    }
}

fn misuse(message: &str) -> ToolError {
    ToolError::new(ToolErrorKind::ExecutionFailed, message)
}

impl fmt::Debug for OutputStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutputStream")
    }
}

impl ToolOutput {
    /// An output of this body.
    pub fn new(body: OutputBody) -> Self {
        Self {
            body,
            ui_hints: None,
            metadata: None,
        }
    }

    /// Text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(OutputBody::Value(Value::String(text.into())))
    }

    /// A JSON value.
    pub fn value(value: impl Into<Value>) -> Self {
        Self::new(OutputBody::Value(value.into()))
    }

    /// Anything that can be written as JSON.
    ///
    /// # Errors
    /// When it cannot: a map with keys that are no strings.
    pub fn json(value: &impl Serialize) -> Result<Self, ToolError> {
        Ok(Self::value(serde_json::to_value(value)?))
    }

    /// Text, images, files.
    pub fn content(content: impl Into<Content>) -> Self {
        Self::new(OutputBody::Rich {
            content: content.into(),
            structured: None,
        })
    }

    /// Text, images, files for the model, and the same for programs.
    pub fn content_and_value(content: impl Into<Content>, structured: Value) -> Self {
        Self::new(OutputBody::Rich {
            content: content.into(),
            structured: Some(Box::new(structured)),
        })
    }

    /// Parts that come one by one, and a last output.
    pub fn stream(items: impl Stream<Item = Result<OutputItem, ToolError>> + Send + 'static) -> Self {
        Self::new(OutputBody::Stream(OutputStream::new(items)))
    }

    /// The call cannot go on before this is answered. The answer comes with the next call of the tool, in
    /// [`ToolContext::answer`](crate::ToolContext::answer).
    pub fn awaiting_input(request: InputRequest) -> Self {
        Self::new(OutputBody::AwaitingInput(Box::new(request)))
    }

    /// The call ends the turn: another agent takes over.
    pub fn divert(content: impl Into<Content>, data: Value) -> Self {
        Self::new(OutputBody::Divert {
            content: content.into(),
            data: Box::new(data),
        })
    }

    /// Adds hints of how to show it.
    pub fn with_ui_hints(mut self, hints: Value) -> Self {
        self.ui_hints = Some(Box::new(hints));
        self
    }

    /// Adds what the application wants to know.
    pub fn with_metadata(mut self, metadata: Value) -> Self {
        self.metadata = Some(Box::new(metadata));
        self
    }

    /// The JSON value, where the output is one or carries one.
    pub fn as_value(&self) -> Option<&Value> {
        match &self.body {
            OutputBody::Value(value) => Some(value),
            OutputBody::Rich { structured, .. } => structured.as_deref(),
            _ => None,
        }
    }

    /// What the model gets: text, or parts. None for what is no answer yet.
    pub fn into_content(self) -> Option<Content> {
        match self.body {
            OutputBody::Value(value) => Some(Content::Text(text_of(value))),
            OutputBody::Rich { content, .. } | OutputBody::Divert { content, .. } => Some(content),
            OutputBody::Stream(_) | OutputBody::AwaitingInput(_) => None,
        }
    }
}

/// A string as it is, anything else as compact JSON.
pub(crate) fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// How long [`text_of`] is, in bytes, without writing it down.
pub(crate) fn text_len(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    if let Value::String(text) = value {
        return text.len();
    }
    let mut count = Count(0);
    // Neither the counter nor a value that is JSON already can fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        Self::value(value)
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<Content> for ToolOutput {
    fn from(content: Content) -> Self {
        Self::content(content)
    }
}

impl From<ContentPart> for ToolOutput {
    fn from(part: ContentPart) -> Self {
        Self::content(part)
    }
}

/// What a typed tool's function may give back: a [`ToolOutput`], or anything that can be written as JSON.
pub trait IntoToolOutput {
    /// The output.
    ///
    /// # Errors
    /// When the value cannot be written as JSON.
    fn into_output(self) -> Result<ToolOutput, ToolError>;
}

impl IntoToolOutput for ToolOutput {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl<T: Serialize> IntoToolOutput for T {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&self)
    }
}
