//! [`ToolOutput`]: the output of a tool.

mod input_request;
mod shorten;
mod text;

use std::{fmt, pin::Pin};

use agcore_chat::{Content, ContentPart};
use futures_core::Stream;
use serde::Serialize;
use serde_json::Value;

pub(crate) use self::text::{Size, json_exceeds, json_prefix, text_exceeds, text_of};
pub use self::{
    input_request::InputRequest,
    shorten::{ShortenedText, TextStructure, numbered_lines, shortened},
};
use crate::error::ToolError;

/// The output of a tool.
///
/// A typed tool rarely needs it: its function may return anything that serializes. See [`IntoToolOutput`].
///
/// ```
/// use agcore_chat::{Content, ContentPart};
/// use agcore_tools::ToolOutput;
/// use serde_json::json;
///
/// // The model receives a string as it is, and any other value as compact JSON.
/// assert_eq!(ToolOutput::text("sunny").into_content(), Some(Content::from("sunny")));
/// let report = ToolOutput::value(json!({"sky": "clear"})).with_metadata(json!({"station": 7}));
/// assert_eq!(report.into_content(), Some(Content::from(r#"{"sky":"clear"}"#)));
///
/// let map = vec![ContentPart::text("Rome"), ContentPart::image_url("https://example.org/rome.png")];
/// let output = ToolOutput::content_and_value(map, json!({"zoom": 3}));
/// assert_eq!(output.as_value(), Some(&json!({"zoom": 3})));
/// ```
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct ToolOutput {
    /// The output itself.
    pub body: OutputBody,
    /// Hints for a front end on how to display the output; never sent to the model. Dropped unless the tool declares
    /// [`ToolAnnotations::stable_display`](crate::ToolAnnotations::stable_display).
    pub ui_hints: Option<Box<Value>>,
    /// Data for the application; never sent to the model.
    pub metadata: Option<Box<Value>>,
}

/// The shape of a tool's output.
#[derive(Debug)]
#[non_exhaustive]
pub enum OutputBody {
    /// A JSON value. The model receives a string as it is, and any other value as compact JSON.
    Value(Value),
    /// Text, images and files, optionally with a structured form for programs.
    Rich {
        /// The content for the model.
        content: Content,
        /// The structured form, if any. Only observers receive it.
        structured: Option<Box<Value>>,
    },
    /// Parts that arrive one by one, followed by the final output.
    Stream(OutputStream),
    /// The call cannot continue until a person or another agent answers.
    AwaitingInput(Box<InputRequest>),
    /// The call ends the turn with a handoff: another agent takes over.
    Divert {
        /// The result of the call in the history.
        content: Content,
        /// Data for the code that performs the handoff.
        data: Box<Value>,
    },
}

/// A stream of partial outputs that ends with the final output.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{Progress, ToolCall, ToolExecutor, ToolOutcome, ToolReport, ToolWork};
/// use agcore_tools::{NoArguments, OutputItem, SystemClock, ToolContext, ToolError, ToolOutput, ToolRegistry, typed};
/// use futures_util::{StreamExt, stream};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("count", "Counts.", |_: NoArguments| async {
///     let items = [OutputItem::Part(1.into()), OutputItem::Part(2.into()), OutputItem::final_output("1 and 2")];
///     Ok(ToolOutput::stream(stream::iter(items.map(Ok))))
/// }))?;
/// let executor = tools.executor(ToolContext::builder(Arc::new(SystemClock::new())).build()).build()?;
///
/// let call = ToolCall::function("call_1", "count", "{}");
/// let reports: Vec<_> = executor.execute(vec![ToolWork::new(call)]).collect().await;
/// assert!(matches!(&reports[0], ToolReport::Began { .. }));
/// assert!(matches!(&reports[1], ToolReport::Progress { progress, .. } if *progress == Progress::part(1.into())));
/// // The model sees only the final output.
/// assert!(matches!(&reports[3], ToolReport::Settled { outcome, .. } if *outcome == ToolOutcome::done("1 and 2")));
/// # Ok(())
/// # }
/// ```
pub struct OutputStream(Pin<Box<dyn Stream<Item = Result<OutputItem, ToolError>> + Send>>);

/// One item of an [`OutputStream`].
#[derive(Debug)]
#[non_exhaustive]
pub enum OutputItem {
    /// A partial output. Observers receive it as progress; the model never sees it.
    Part(Value),
    /// The final output. It must not be another stream; items after it are not read.
    Final(Box<ToolOutput>),
}

impl OutputItem {
    /// Creates a [`Final`](Self::Final) item.
    pub fn final_output(output: impl Into<ToolOutput>) -> Self {
        Self::Final(Box::new(output.into()))
    }
}

impl OutputStream {
    /// Creates an output stream from its items.
    pub fn new(items: impl Stream<Item = Result<OutputItem, ToolError>> + Send + 'static) -> Self {
        Self(Box::pin(items))
    }

    /// Reads the stream to its final output and passes each part to `part`.
    ///
    /// # Errors
    /// An error of the stream itself, or that it ended without a final output or with another stream.
    pub(crate) async fn finish(mut self, mut part: impl FnMut(Value)) -> Result<ToolOutput, ToolError> {
        loop {
            match std::future::poll_fn(|cx| self.0.as_mut().poll_next(cx)).await {
                Some(Ok(OutputItem::Part(value))) => part(value),
                Some(Ok(OutputItem::Final(output))) => {
                    return match output.body {
                        OutputBody::Stream(_) => {
                            Err(ToolError::failed("the tool's output stream ended with another stream"))
                        }
                        _ => Ok(*output),
                    };
                }
                Some(Err(error)) => return Err(error),
                None => {
                    return Err(ToolError::failed(
                        "the tool's output stream ended without a final output",
                    ));
                }
            }
        }
    }
}

impl fmt::Debug for OutputStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutputStream")
    }
}

impl ToolOutput {
    /// Creates an output without hints or metadata.
    pub fn new(body: OutputBody) -> Self {
        Self {
            body,
            ui_hints: None,
            metadata: None,
        }
    }

    /// Creates a text output.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(OutputBody::Value(Value::String(text.into())))
    }

    /// Creates an output from a JSON value.
    pub fn value(value: impl Into<Value>) -> Self {
        Self::new(OutputBody::Value(value.into()))
    }

    /// Creates an output by serializing a value.
    ///
    /// # Errors
    /// When the value cannot be serialized, such as a map whose keys are not strings.
    pub fn json(value: &impl Serialize) -> Result<Self, ToolError> {
        Ok(Self::value(serde_json::to_value(value)?))
    }

    /// Creates an output of text, images and files.
    pub fn content(content: impl Into<Content>) -> Self {
        Self::new(OutputBody::Rich {
            content: content.into(),
            structured: None,
        })
    }

    /// Creates an output of text, images and files for the model, with a structured form for programs.
    pub fn content_and_value(content: impl Into<Content>, structured: Value) -> Self {
        Self::new(OutputBody::Rich {
            content: content.into(),
            structured: Some(Box::new(structured)),
        })
    }

    /// Creates an output whose parts arrive one by one. See [`OutputStream`].
    pub fn stream(items: impl Stream<Item = Result<OutputItem, ToolError>> + Send + 'static) -> Self {
        Self::new(OutputBody::Stream(OutputStream::new(items)))
    }

    /// Suspends the call until the request is answered. See [`InputRequest`].
    pub fn awaiting_input(request: InputRequest) -> Self {
        Self::new(OutputBody::AwaitingInput(Box::new(request)))
    }

    /// Ends the turn with a handoff: another agent takes over.
    pub fn divert(content: impl Into<Content>, data: Value) -> Self {
        Self::new(OutputBody::Divert {
            content: content.into(),
            data: Box::new(data),
        })
    }

    /// Sets hints for a front end on how to display the output.
    pub fn with_ui_hints(mut self, hints: Value) -> Self {
        self.ui_hints = Some(Box::new(hints));
        self
    }

    /// Sets data for the application.
    pub fn with_metadata(mut self, metadata: Value) -> Self {
        self.metadata = Some(Box::new(metadata));
        self
    }

    /// Returns the JSON value, if the output is or carries one.
    pub fn as_value(&self) -> Option<&Value> {
        match &self.body {
            OutputBody::Value(value) => Some(value),
            OutputBody::Rich { structured, .. } => structured.as_deref(),
            _ => None,
        }
    }

    /// Removes the value, and returns whether there is a content that the model can use without it.
    pub(crate) fn remove_value(&mut self) -> bool {
        match &mut self.body {
            OutputBody::Rich { content, structured } if !content.is_empty() => {
                *structured = None;
                true
            }
            OutputBody::Value(Value::String(text)) if !text.trim().is_empty() => {
                let content = Content::Text(std::mem::take(text));
                self.body = OutputBody::Rich {
                    content,
                    structured: None,
                };
                true
            }
            _ => false,
        }
    }

    /// Converts the output into the content for the model. Returns `None` for a stream or a request for input, which
    /// are not results yet.
    pub fn into_content(self) -> Option<Content> {
        match self.body {
            OutputBody::Value(value) => Some(Content::Text(text_of(value))),
            OutputBody::Rich { content, .. } | OutputBody::Divert { content, .. } => Some(content),
            OutputBody::Stream(_) | OutputBody::AwaitingInput(_) => None,
        }
    }
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

/// The return values that a typed tool's function may have: a [`ToolOutput`], or any type that implements
/// [`Serialize`].
///
/// ```
/// use agcore_tools::{IntoToolOutput, ToolError};
/// let output = vec![1, 2].into_output()?;
/// assert_eq!(output.as_value(), Some(&serde_json::json!([1, 2])));
/// # Ok::<(), ToolError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "this value does not implement `serde::Serialize`",
    note = "a tool returns `T` or `Result<T, _>`, where `T` is a `ToolOutput` or implements `Serialize`: derive it with \
            `#[derive(serde::Serialize)]`, or convert the value into text or a `ToolOutput`"
)]
pub trait IntoToolOutput {
    /// Converts the value into an output.
    ///
    /// # Errors
    /// When the value cannot be serialized.
    fn into_output(self) -> Result<ToolOutput, ToolError>;
}

impl IntoToolOutput for ToolOutput {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> IntoToolOutput for T {
    fn into_output(self) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&self)
    }
}
