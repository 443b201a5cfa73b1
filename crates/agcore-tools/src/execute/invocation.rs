//! [`ToolInvocation`]: a call of the application's own, and how it went.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Text, ToolCall, ToolWork};
use futures_util::StreamExt;

use super::{
    batch::{BatchItem, batch},
    engine::{End, Engine, Settlement},
};
use crate::{
    arguments::Arguments,
    context::ToolContext,
    error::{ToolError, ToolErrorKind},
    layer::{BoxInvoke, Layer, Run, StatisticsLayer, TimeoutLayer},
    output::ToolOutput,
    registry::ToolRegistry,
};

/// How long a call may take when nothing else is said.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
/// How many calls run side by side when nothing else is said.
pub(crate) const AT_A_TIME: usize = 16;

/// A call and how it went.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolInvocation {
    /// The call's id.
    pub call_id: Text,
    /// The tool's name.
    pub name: Text,
    /// The arguments; empty when they could not be read.
    pub input: Arguments,
    /// What came of it.
    pub result: Result<ToolOutput, ToolError>,
    /// How long it ran, waiting for its turn and for people not counted.
    pub duration: Duration,
}

/// How an application makes calls of its own.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct InvokeOptions {
    /// How long a call may take, by default 60 s; a tool's own limit stands over it.
    pub timeout: Option<Duration>,
    /// How many calls run side by side at most, by default 16.
    pub most_at_a_time: usize,
}

impl Default for InvokeOptions {
    fn default() -> Self {
        Self {
            timeout: Some(TIMEOUT),
            most_at_a_time: AT_A_TIME,
        }
    }
}

impl InvokeOptions {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long a call may take; none is for ever.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many calls run side by side at most.
    #[must_use]
    pub fn with_most_at_a_time(mut self, most: usize) -> Self {
        self.most_at_a_time = most;
        self
    }
}

/// Calls of the application's own. They are checked, timed, counted, and no panic escapes them, but no permission is
/// asked: calls of a model go through an [executor](crate::RegistryExecutor).
impl ToolRegistry {
    /// Makes one call.
    ///
    /// Cancel safe: dropping the future gives the call up.
    pub async fn invoke(&self, call: impl Into<Arc<ToolCall>>, context: &ToolContext) -> ToolInvocation {
        self.engine(context, InvokeOptions::new())
            .settle(ToolWork::new(call))
            .await
            .into()
    }

    /// Makes many calls, side by side as far as their tools' [annotations](crate::ToolAnnotations) allow. The results
    /// stand in the order of the calls.
    ///
    /// Cancel safe: dropping the future gives up all calls that still run.
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
                BatchItem::Progress { call_id, progress } => context.tell(&call_id, progress),
                BatchItem::Settled { place, settlement } => {
                    done.push((place, ToolInvocation::from(settlement)));
                }
            }
        }
        done.sort_by_key(|(place, _)| *place);
        done.into_iter().map(|(_, invocation)| invocation).collect()
    }

    fn engine(&self, context: &ToolContext, options: InvokeOptions) -> Engine {
        Engine {
            snapshot: self.snapshot(),
            context: context.clone(),
            gate: None,
            invoke: BoxInvoke::new(StatisticsLayer.layer(TimeoutLayer::new(options.timeout).layer(Run))),
            most_at_a_time: options.most_at_a_time,
        }
    }
}

impl From<Box<Settlement>> for ToolInvocation {
    fn from(settlement: Box<Settlement>) -> Self {
        let Settlement {
            call_id,
            name,
            arguments,
            end,
            duration,
        } = *settlement;
        let result = match end {
            End::Output { output, .. } => Ok(output),
            End::Failed(error) => Err(error),
            // Only a gate, or the answer to a question, leads here.
            End::Asked(question) => Err(ToolError::new(ToolErrorKind::Other, question.prompt)),
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
