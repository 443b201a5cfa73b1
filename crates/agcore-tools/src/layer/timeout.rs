//! [`Timeout`]: ends calls that take too long.

use std::{pin::pin, time::Duration};

use futures_util::future::{Either, select};

use super::invoke::{Invoke, Layer, PreparedCall};
use crate::{context::ToolContext, error::ToolError, output::ToolOutput};

/// Adds a [`Timeout`].
#[derive(Debug, Clone, Copy)]
pub struct TimeoutLayer {
    limit: Option<Duration>,
}

impl TimeoutLayer {
    /// A limit for each call, or none; a tool's own limit stands over it.
    pub fn new(limit: Option<Duration>) -> Self {
        Self { limit }
    }
}

impl<S: Invoke> Layer<S> for TimeoutLayer {
    type Invoke = Timeout<S>;

    fn layer(&self, inner: S) -> Timeout<S> {
        Timeout {
            inner,
            limit: self.limit,
        }
    }
}

/// Ends calls that take too long, by the context's clock. The time in which a person is waited for does not count.
#[derive(Debug, Clone)]
pub struct Timeout<S> {
    inner: S,
    limit: Option<Duration>,
}

impl<S: Invoke> Invoke for Timeout<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let Some(limit) = call.tool.timeout().or(self.limit) else {
            return self.inner.invoke(call).await;
        };
        let work = pin!(self.inner.invoke(call));
        let out_of_time = pin!(out_of_time(&call.context, limit));
        match select(work, out_of_time).await {
            Either::Left((result, _)) => result,
            Either::Right(((), _)) => Err(ToolError::timeout(call.tool.name(), limit)),
        }
    }
}

/// Comes back when the call has worked so long.
async fn out_of_time(context: &ToolContext, limit: Duration) {
    let start = context.clock().monotonic();
    loop {
        context.pause_over().await;
        let worked = context.worked_since(start);
        let Some(left) = limit.checked_sub(worked).filter(|left| !left.is_zero()) else {
            return;
        };
        context.clock().sleep(left).await;
    }
}
