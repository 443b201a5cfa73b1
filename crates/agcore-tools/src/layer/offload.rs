//! [`Offload`]: keeps large results elsewhere; the model gets a handle and a preview.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{Content, Text};
use async_trait::async_trait;

use super::invoke::{Invoke, Layer, PreparedCall};
use crate::{
    clip::head,
    error::{ToolError, ToolErrorKind},
    output::{OutputBody, ToolOutput, text_len, text_of},
};

/// A large result on its way out of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// The session's id.
    pub session_id: Text,
    /// The call that made it.
    pub call_id: Text,
    /// The tool that made it.
    pub tool: Text,
    /// `text/plain` or `application/json`.
    pub media_type: &'static str,
    /// The whole text.
    pub text: String,
}

/// Keeps large results.
#[async_trait]
pub trait ArtifactStore: Send + Sync {
    /// Keeps an artifact; gives back the handle by which a tool of the application can read it again.
    ///
    /// # Errors
    /// When it cannot be kept; the result is cut instead.
    async fn put(&self, artifact: &Artifact) -> Result<String, ToolError>;
}

/// Adds an [`Offload`].
#[derive(Clone)]
pub struct OffloadLayer {
    store: Arc<dyn ArtifactStore>,
    over: usize,
    preview: usize,
}

impl OffloadLayer {
    /// Results of more than 16 KiB go to the store, with a preview of 2 KiB.
    pub fn new(store: Arc<dyn ArtifactStore>) -> Self {
        Self {
            store,
            over: 16 * 1024,
            preview: 2 * 1024,
        }
    }

    /// Sets above how many bytes of text a result goes to the store.
    #[must_use]
    pub fn with_over(mut self, bytes: usize) -> Self {
        self.over = bytes;
        self
    }

    /// Sets how many bytes of it the model sees.
    #[must_use]
    pub fn with_preview(mut self, bytes: usize) -> Self {
        self.preview = bytes;
        self
    }
}

impl<S: Invoke> Layer<S> for OffloadLayer {
    type Invoke = Offload<S>;

    fn layer(&self, inner: S) -> Offload<S> {
        Offload {
            inner,
            settings: self.clone(),
        }
    }
}

impl fmt::Debug for OffloadLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OffloadLayer")
            .field("over", &self.over)
            .field("preview", &self.preview)
            .finish_non_exhaustive()
    }
}

/// Keeps large text results (plain text and JSON values) in a store. Rich content passes as it is.
#[derive(Debug, Clone)]
pub struct Offload<S> {
    inner: S,
    settings: OffloadLayer,
}

impl<S: Invoke> Invoke for Offload<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let mut output = self.inner.invoke(call).await?;
        output.body = self.offload(call, output.body).await;
        Ok(output)
    }
}

impl<S> Offload<S> {
    async fn offload(&self, call: &PreparedCall, body: OutputBody) -> OutputBody {
        let (text, media_type) = match body {
            OutputBody::Value(value) if text_len(&value) <= self.settings.over => {
                return OutputBody::Value(value);
            }
            OutputBody::Value(value) if value.is_string() => (text_of(value), "text/plain"),
            OutputBody::Value(value) => (text_of(value), "application/json"),
            OutputBody::Rich {
                content: Content::Text(text),
                structured,
            } if text.len() <= self.settings.over => {
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
                tracing::warn!(tool = %artifact.tool, %error, "a large result could not be kept and will be cut");
                OutputBody::Value(artifact.text.into())
            }
        }
    }

    fn preview(&self, text: &str, handle: &str) -> String {
        let shown = head(text, self.settings.preview);
        format!(
            "{shown}\n[the first {} of {} bytes; the whole is kept as {handle}]",
            shown.len(),
            text.len()
        )
    }
}

/// Keeps artifacts in memory, for tests and short runs.
#[derive(Debug, Default)]
pub struct InMemoryArtifacts(Mutex<HashMap<String, Artifact>>);

impl InMemoryArtifacts {
    /// No artifacts.
    pub fn new() -> Self {
        Self::default()
    }

    /// An artifact by its handle.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, handle: &str) -> Result<Artifact, ToolError> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = || {
            ToolError::new(
                ToolErrorKind::ExecutionFailed,
                format!("there is no artifact {handle:?}"),
            )
        };
        kept.get(handle).cloned().ok_or_else(missing)
    }
}

#[async_trait]
impl ArtifactStore for InMemoryArtifacts {
    async fn put(&self, artifact: &Artifact) -> Result<String, ToolError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = format!("artifact-{}", kept.len() + 1);
        kept.insert(handle.clone(), artifact.clone());
        Ok(handle)
    }
}
