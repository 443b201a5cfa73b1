//! [`Timeout`]: ends calls that take too long.

use std::{pin::pin, time::Duration};

use futures_util::future::{Either, select};

use super::invoke::{Invoke, PreparedCall};
use crate::{context::ToolContext, error::ToolError, output::ToolOutput};

/// A layer that ends calls that take too long, as measured by the clock of the context.
///
/// The time a call waits for a person does not count. A timeout set at the
/// [registration](crate::Registration::with_timeout) of a tool takes precedence over that of the layer.
#[derive(Debug, Clone)]
pub struct Timeout<S> {
    inner: S,
    limit: Option<Duration>,
}

impl<S> Timeout<S> {
    /// Wraps `inner`. With `None`, only tools with their own timeout are limited.
    pub fn new(inner: S, limit: Option<Duration>) -> Self {
        Self { inner, limit }
    }
}

impl<S: Invoke> Invoke for Timeout<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let Some(limit) = call.tool.timeout().or(self.limit) else {
            return self.inner.invoke(call).await;
        };
        let work = pin!(self.inner.invoke(call));
        let expired = pin!(expired(&call.context, limit));
        match select(work, expired).await {
            Either::Left((result, _)) => result,
            Either::Right(((), _)) => Err(ToolError::timeout(call.tool.name(), limit)),
        }
    }
}

/// Waits until the call has worked for `limit`, not counting the time it waits for people.
async fn expired(context: &ToolContext, limit: Duration) {
    let start = context.clock().monotonic();
    loop {
        context.resumed().await;
        let worked = context.worked_since(start);
        let Some(left) = limit.checked_sub(worked).filter(|left| !left.is_zero()) else {
            return;
        };
        context.clock().sleep(left).await;
    }
}
