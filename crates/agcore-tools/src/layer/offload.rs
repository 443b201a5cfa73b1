//! [`Offload`]: stores large results elsewhere and gives the model a handle and a preview.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{Content, Text, text::prefix};
use async_trait::async_trait;

use super::invoke::{Invoke, PreparedCall};
use crate::{
    error::ToolError,
    output::{OutputBody, ToolOutput, text_exceeds, text_of},
};

/// A large result that is moved out of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// The id of the session.
    pub session_id: Text,
    /// The id of the call that produced the result.
    pub call_id: Text,
    /// The name of the tool that produced the result.
    pub tool: Text,
    /// `text/plain` or `application/json`.
    pub media_type: &'static str,
    /// The full text.
    pub text: String,
}

/// Stores large results.
#[async_trait]
pub trait ArtifactStore: Send + Sync {
    /// Stores an artifact and returns the handle with which a tool of the application can load it again.
    ///
    /// # Errors
    /// When the artifact cannot be stored. The result is truncated instead.
    async fn put(&self, artifact: &Artifact) -> Result<String, ToolError>;
}

/// The settings of [`Offload`]: where results are stored, and which.
#[derive(Clone)]
#[must_use]
pub struct OffloadSettings {
    store: Arc<dyn ArtifactStore>,
    threshold: usize,
    preview: usize,
}

impl OffloadSettings {
    /// Stores results of more than 16 KiB, with a preview of 2 KiB.
    pub fn new(store: Arc<dyn ArtifactStore>) -> Self {
        Self {
            store,
            threshold: 16 * 1024,
            preview: 2 * 1024,
        }
    }

    /// Sets the size, in bytes of text, above which a result is stored.
    pub fn with_threshold(mut self, bytes: usize) -> Self {
        self.threshold = bytes;
        self
    }

    /// Sets the size, in bytes, of the preview that the model sees.
    pub fn with_preview(mut self, bytes: usize) -> Self {
        self.preview = bytes;
        self
    }
}

impl fmt::Debug for OffloadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OffloadSettings")
            .field("threshold", &self.threshold)
            .field("preview", &self.preview)
            .finish_non_exhaustive()
    }
}

/// A layer that stores large text results (plain text and JSON values) in an [`ArtifactStore`]. Other content passes
/// unchanged.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{
///     NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry,
///     layer::{InMemoryArtifacts, OffloadSettings},
///     typed,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("log", "Returns the log.", |_: NoArguments| async { Ok("started\nconnected\nstopped\n") }))?;
///
/// let store = Arc::new(InMemoryArtifacts::new());
/// let executor = tools
///     .executor(ToolContext::builder(Arc::new(SystemClock::new())).build())
///     .with_offload(OffloadSettings::new(store.clone()).with_threshold(20).with_preview(7))
///     .build()?;
///
/// let call = ToolCall::function("call_1", "log", "{}");
/// let expected = "started\n[the first 7 of 26 bytes; the full result is stored as artifact-1]";
/// assert_eq!(executor.settle(ToolWork::new(call)).await.0, ToolOutcome::done(expected));
/// assert!(store.get("artifact-1")?.text.ends_with("stopped\n"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Offload<S> {
    inner: S,
    settings: OffloadSettings,
}

impl<S> Offload<S> {
    /// Wraps `inner`.
    pub fn new(inner: S, settings: OffloadSettings) -> Self {
        Self { inner, settings }
    }

    async fn offload(&self, call: &PreparedCall, body: OutputBody) -> OutputBody {
        let (text, media_type) = match body {
            OutputBody::Value(value) if !text_exceeds(&value, self.settings.threshold) => {
                return OutputBody::Value(value);
            }
            OutputBody::Value(value) if value.is_string() => (text_of(value), "text/plain"),
            OutputBody::Value(value) => (text_of(value), "application/json"),
            OutputBody::Rich {
                content: Content::Text(text),
                structured,
            } if text.len() <= self.settings.threshold => {
                return OutputBody::Rich {
                    content: Content::Text(text),
                    structured,
                };
            }
            OutputBody::Rich {
                content: Content::Text(text),
                structured: None,
            } => (text, "text/plain"),
            other => return other,
        };
        let artifact = Artifact {
            session_id: call.context.session_id().clone(),
            call_id: call.context.call_id().clone(),
            tool: call.tool.name().clone(),
            media_type,
            text,
        };
        match self.settings.store.put(&artifact).await {
            Ok(handle) => OutputBody::Value(self.preview(&artifact.text, &handle).into()),
            Err(error) => {
                tracing::warn!(tool = %artifact.tool, %error, "a large result could not be stored and will be truncated");
                OutputBody::Value(artifact.text.into())
            }
        }
    }

    fn preview(&self, text: &str, handle: &str) -> String {
        let shown = prefix(text, self.settings.preview);
        format!(
            "{shown}\n[the first {} of {} bytes; the full result is stored as {handle}]",
            shown.len(),
            text.len()
        )
    }
}

impl<S: Invoke> Invoke for Offload<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let mut output = self.inner.invoke(call).await?;
        output.body = self.offload(call, output.body).await;
        Ok(output)
    }
}

/// An [`ArtifactStore`] in memory, for tests and short runs.
#[derive(Debug, Default)]
pub struct InMemoryArtifacts(Mutex<HashMap<String, Artifact>>);

impl InMemoryArtifacts {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the artifact with a handle.
    ///
    /// # Errors
    /// When there is no such artifact.
    pub fn get(&self, handle: &str) -> Result<Artifact, ToolError> {
        let artifacts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = || ToolError::failed(format!("there is no artifact {handle:?}"));
        artifacts.get(handle).cloned().ok_or_else(missing)
    }
}

#[async_trait]
impl ArtifactStore for InMemoryArtifacts {
    async fn put(&self, artifact: &Artifact) -> Result<String, ToolError> {
        let mut artifacts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = format!("artifact-{}", artifacts.len() + 1);
        artifacts.insert(handle.clone(), artifact.clone());
        Ok(handle)
    }
}
