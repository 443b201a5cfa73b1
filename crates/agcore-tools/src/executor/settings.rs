//! [`ToolSettings`]: the settings for tool calls.

use std::{fmt, sync::Arc, time::Duration};

use super::ExecutorBuilder;
use crate::layer::{BoxInvoke, Invoke, OffloadSettings, Redactor};

/// Settings for tool calls: timeout, concurrency, and the layers around each call. Agents and MCP servers take them, and apply
/// them to the executors that they build.
///
/// ```
/// use std::{borrow::Cow, sync::Arc, time::Duration};
///
/// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{
///     NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, ToolSettings, layer::Redactor, typed,
/// };
///
/// struct HidePin;
///
/// impl Redactor for HidePin {
///     fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
///         text.replace("1234", "****").into()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let settings = ToolSettings::new().with_timeout(Duration::from_secs(10)).with_redactor(HidePin);
///
/// let tools = ToolRegistry::new();
/// tools.register(typed("card", "Looks at the card.", |_: NoArguments| async { Ok("the PIN is 1234") }))?;
/// let context = ToolContext::builder(Arc::new(SystemClock::new())).build();
/// let executor = tools.executor(context).with_settings(&settings).build()?;
/// let call = ToolCall::function("call_1", "card", "{}");
/// assert_eq!(executor.settle(ToolWork::new(call)).await.0, ToolOutcome::done("the PIN is ****"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ToolSettings {
    /// The timeout of a call whose tool has none of its own.
    timeout: Timeout,
    /// The number of calls of a reply that run side by side; `None` means the default of the executor.
    max_concurrency: Option<usize>,
    redactor: Option<Arc<dyn Redactor>>,
    offload: Option<OffloadSettings>,
    layers: Vec<Layer>,
}

#[derive(Debug, Clone, Copy, Default)]
enum Timeout {
    #[default]
    Default,
    After(Duration),
    Never,
}

/// Wraps a layer around the layers below it, once for each executor, such as that of a turn.
type Layer = Arc<dyn Fn(BoxInvoke) -> BoxInvoke + Send + Sync>;

impl ToolSettings {
    /// Creates the default settings: a timeout of 60 s, 16 calls side by side, no additional layers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the timeout of a call. A tool's own timeout takes precedence. The time a call waits for people does not
    /// count.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Timeout::After(timeout);
        self
    }

    /// Removes the timeout of calls. The timeout of a tool still applies.
    #[must_use]
    pub fn without_timeout(mut self) -> Self {
        self.timeout = Timeout::Never;
        self
    }

    /// Sets the largest number of calls of a reply that run side by side.
    #[must_use]
    pub fn with_max_concurrency(mut self, calls: usize) -> Self {
        self.max_concurrency = Some(calls);
        self
    }

    /// Sets a redactor that removes secrets from results before the model and observers see them. See
    /// [`Redact`](crate::layer::Redact).
    #[must_use]
    pub fn with_redactor(mut self, redactor: impl Redactor + 'static) -> Self {
        self.redactor = Some(Arc::new(redactor));
        self
    }

    /// Stores large results outside the conversation. See [`Offload`](crate::layer::Offload).
    #[must_use]
    pub fn with_offload(mut self, settings: OffloadSettings) -> Self {
        self.offload = Some(settings);
        self
    }

    /// Adds a custom layer around those that were added before; `layer` is called once for each executor, such as that of a turn.
    /// See
    /// [`crate::layer`] for an example, and for the layers inside and outside of it.
    #[must_use]
    pub fn with_layer<S: Invoke + 'static>(mut self, layer: impl Fn(BoxInvoke) -> S + Send + Sync + 'static) -> Self {
        self.layers.push(Arc::new(move |inner| BoxInvoke::new(layer(inner))));
        self
    }

    /// Applies the settings to an executor.
    fn apply(&self, mut builder: ExecutorBuilder) -> ExecutorBuilder {
        match self.timeout {
            Timeout::Default => {}
            Timeout::After(timeout) => builder = builder.with_timeout(Some(timeout)),
            Timeout::Never => builder = builder.with_timeout(None),
        }
        if let Some(calls) = self.max_concurrency {
            builder = builder.with_max_concurrency(calls);
        }
        if let Some(redactor) = &self.redactor {
            builder = builder.with_redactor(Arc::clone(redactor));
        }
        if let Some(offload) = &self.offload {
            builder = builder.with_offload(offload.clone());
        }
        for layer in &self.layers {
            let layer = Arc::clone(layer);
            builder = builder.with_layer(move |inner| layer(inner));
        }
        builder
    }
}

impl ExecutorBuilder {
    /// Applies settings that several executors share. Layers are added around those that were added before.
    pub fn with_settings(self, settings: &ToolSettings) -> Self {
        settings.apply(self)
    }

    /// Sets whether arguments and results are recorded in the spans of calls, by default not. See
    /// [`TraceContent`](crate::layer::TraceContent).
    pub fn with_trace_content(mut self, content: bool) -> Self {
        self.trace_content = content;
        self
    }
}

impl fmt::Debug for ExecutorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorBuilder")
            .field("context", &self.context)
            .field("policy", &self.policy)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ToolSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSettings")
            .field("timeout", &self.timeout)
            .field("max_concurrency", &self.max_concurrency)
            .field("redactor", &self.redactor.is_some())
            .field("offload", &self.offload)
            .field("layers", &self.layers.len())
            .finish()
    }
}
