//! [`ToolInvocation`]: a call that the application makes itself, and its result.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Text, ToolCall, ToolWork};
use futures_util::StreamExt;

use super::{
    batch::{BatchItem, batch},
    engine::{CallEnd, Engine, Settlement},
};
use crate::{
    arguments::Arguments,
    context::ToolContext,
    error::{ToolError, ToolErrorKind},
    layer::{BoxInvoke, Run, Statistics, Timeout},
    output::ToolOutput,
    registry::ToolRegistry,
    session::ToolSession,
};

/// The default timeout of a call.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// The default number of calls that run side by side.
pub(crate) const DEFAULT_MAX_CONCURRENCY: usize = 16;

/// A call that the application made itself, and its result.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolInvocation {
    /// The id of the call.
    pub call_id: Text,
    /// The name of the tool.
    pub name: Text,
    /// The arguments; empty if they could not be parsed.
    pub input: Arguments,
    /// The output of the tool, or why the call failed.
    pub result: Result<ToolOutput, ToolError>,
    /// How long the call ran, not counting the time it waited for other calls and for people.
    pub duration: Duration,
}

/// Options for calls that the application makes itself.
#[derive(Debug, Clone, Copy)]
#[must_use]
#[non_exhaustive]
pub struct InvokeOptions {
    /// The timeout of a call, by default 60 s. A tool's own timeout takes precedence; `None` means no timeout.
    pub timeout: Option<Duration>,
    /// The largest number of calls that run side by side, by default 16.
    pub max_concurrency: usize,
}

impl Default for InvokeOptions {
    fn default() -> Self {
        Self {
            timeout: Some(DEFAULT_TIMEOUT),
            max_concurrency: DEFAULT_MAX_CONCURRENCY,
        }
    }
}

impl InvokeOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the timeout of a call; `None` means no timeout.
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the largest number of calls that run side by side.
    pub fn with_max_concurrency(mut self, calls: usize) -> Self {
        self.max_concurrency = calls;
        self
    }
}

/// Calls that the application makes itself.
///
/// They are validated, timed and counted, and their panics are caught, but no permission is checked. Calls of a model
/// go through an [executor](crate::RegistryExecutor) instead.
impl ToolRegistry {
    /// Runs one call.
    ///
    /// Cancel safe: dropping the future cancels the call.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::ToolCall;
    /// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ToolError> {
    /// let tools = ToolRegistry::new();
    /// tools.register(typed("ping", "Pings.", |_: NoArguments| async { Ok("pong") }))?;
    ///
    /// let context = ToolContext::builder(Arc::new(SystemClock::new())).build();
    /// let done = tools.invoke(ToolCall::function("call_1", "ping", "{}"), &context).await;
    /// assert_eq!(done.result?.as_value(), Some(&"pong".into()));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn invoke(&self, call: impl Into<Arc<ToolCall>>, context: &ToolContext) -> ToolInvocation {
        let engine = self.engine(context, InvokeOptions::new());
        engine.settle(engine.caller(), ToolWork::new(call)).await.into()
    }

    /// Runs many calls, side by side where the [annotations](crate::ToolAnnotations) of their tools allow it. The
    /// results are in the order of the calls.
    ///
    /// Cancel safe: dropping the future cancels all calls that still run.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::ToolCall;
    /// use agcore_tools::{
    ///     InvokeOptions, SystemClock, ToolContext, ToolError, ToolErrorKind, ToolRegistry,
    ///     schemars::{self, JsonSchema},
    ///     typed,
    /// };
    ///
    /// #[derive(serde::Deserialize, JsonSchema)]
    /// struct Square {
    ///     number: i64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ToolError> {
    /// let tools = ToolRegistry::new();
    /// tools.register(typed("square", "Squares.", |args: Square| async move { Ok(args.number * args.number) }))?;
    ///
    /// let calls = [r#"{"number": 3}"#, r#"{"number": "three"}"#];
    /// let calls = calls.map(|arguments| ToolCall::function("call", "square", arguments));
    /// let context = ToolContext::builder(Arc::new(SystemClock::new())).build();
    /// let done = tools.invoke_all(calls, &context, InvokeOptions::new().with_max_concurrency(2)).await;
    /// assert_eq!(done[0].result.as_ref().unwrap().as_value(), Some(&9.into()));
    /// assert_eq!(done[1].result.as_ref().unwrap_err().kind(), ToolErrorKind::InvalidArguments);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn invoke_all(
        &self,
        calls: impl IntoIterator<Item = impl Into<Arc<ToolCall>>>,
        context: &ToolContext,
        options: InvokeOptions,
    ) -> Vec<ToolInvocation> {
        let engine = Arc::new(self.engine(context, options));
        let mut items = batch(engine, calls.into_iter().map(ToolWork::new));
        let mut done = Vec::new();
        while let Some(item) = items.next().await {
            match item {
                BatchItem::Progress { call_id, progress } => context.observe(&call_id, progress),
                BatchItem::Began { .. } | BatchItem::Waiting { .. } => {}
                BatchItem::Settled { index, settlement } => {
                    done.push((index, ToolInvocation::from(settlement)));
                }
            }
        }
        done.sort_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, invocation)| invocation).collect()
    }

    fn engine(&self, context: &ToolContext, options: InvokeOptions) -> Engine {
        Engine {
            snapshot: self.snapshot(),
            context: context.clone(),
            session: ToolSession::new(),
            gate: None,
            invoke: Statistics::new(BoxInvoke::new(Timeout::new(Run, options.timeout))),
            max_concurrency: options.max_concurrency,
        }
    }
}

impl From<Settlement> for ToolInvocation {
    fn from(settlement: Settlement) -> Self {
        let Settlement {
            call_id,
            name,
            arguments,
            end,
            duration,
            ..
        } = settlement;
        let result = match end {
            CallEnd::Output { output, .. } => Ok(output),
            CallEnd::Refused(error) | CallEnd::Failed(error) => Err(error),
            // Unreachable: only a gate or a resumed call asks a question here, and there is neither.
            CallEnd::Question(question) => Err(ToolError::new(ToolErrorKind::Other, question.prompt)),
            // Unreachable: no guard is passed on.
            CallEnd::Guarded(_) => Err(ToolError::new(ToolErrorKind::Other, "a guard refused the call")),
        };
        Self {
            call_id,
            name,
            input: arguments,
            result,
            duration,
        }
    }
}
