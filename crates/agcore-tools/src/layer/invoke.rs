//! [`Invoke`] and [`Layer`]: the two contracts of this room.

use std::{fmt, pin::Pin, sync::Arc};

use crate::{
    arguments::Arguments, context::ToolContext, error::ToolError, output::ToolOutput, registry::RegisteredTool,
};

/// A call that may run: its tool is found, its arguments are checked, it is permitted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedCall {
    /// The tool.
    pub tool: RegisteredTool,
    /// The arguments, as a person may have edited them.
    pub arguments: Arguments,
    /// The context of this call.
    pub context: ToolContext,
}

impl PreparedCall {
    /// A call of a tool.
    pub fn new(tool: RegisteredTool, arguments: Arguments, context: ToolContext) -> Self {
        Self {
            tool,
            arguments,
            context,
        }
    }
}

/// Runs calls.
pub trait Invoke: Send + Sync {
    /// Runs a call. Dropping the future gives it up.
    fn invoke(&self, call: &PreparedCall) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// Wraps something that runs calls.
pub trait Layer<S: Invoke> {
    /// What comes of it.
    type Invoke: Invoke;

    /// Wraps it.
    fn layer(&self, inner: S) -> Self::Invoke;
}

/// Anything that runs calls, its type forgotten.
#[derive(Clone)]
pub struct BoxInvoke(Arc<dyn DynInvoke>);

type BoxFuture<'a> = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send + 'a>>;

/// [`Invoke`] in a form that can be `dyn`.
trait DynInvoke: Send + Sync {
    fn invoke_boxed<'a>(&'a self, call: &'a PreparedCall) -> BoxFuture<'a>;
}

impl<S: Invoke> DynInvoke for S {
    fn invoke_boxed<'a>(&'a self, call: &'a PreparedCall) -> BoxFuture<'a> {
        Box::pin(self.invoke(call))
    }
}

impl BoxInvoke {
    /// Forgets the type.
    pub fn new(inner: impl Invoke + 'static) -> Self {
        Self(Arc::new(inner))
    }
}

impl Invoke for BoxInvoke {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        self.0.invoke_boxed(call).await
    }
}

impl fmt::Debug for BoxInvoke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxInvoke")
    }
}
