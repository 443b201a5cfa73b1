//! [`Invoke`]: the contract of layers, and [`BoxInvoke`], its type-erased form.

use std::{fmt, pin::Pin, sync::Arc};

use tokio::sync::OwnedMutexGuard;

use crate::{
    arguments::Arguments, context::ToolContext, error::ToolError, output::ToolOutput, registry::RegisteredTool,
};

/// A call that is ready to run: its tool exists, its arguments are valid, and it is permitted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedCall {
    /// The tool.
    pub tool: RegisteredTool,
    /// The arguments, including edits by a person.
    pub arguments: Arguments,
    /// The context of this call.
    pub context: ToolContext,
    /// The lock of the tool's concurrency key. The code that runs the tool holds a share of it until the tool has
    /// stopped, which may be after the call has ended.
    permit: Option<Arc<OwnedMutexGuard<()>>>,
}

impl PreparedCall {
    /// Creates a call of a tool.
    pub fn new(tool: RegisteredTool, arguments: Arguments, context: ToolContext) -> Self {
        Self {
            tool,
            arguments,
            context,
            permit: None,
        }
    }

    /// Holds the lock of the tool's concurrency key as long as this call or a clone of it exists.
    pub(crate) fn hold(&mut self, permit: OwnedMutexGuard<()>) {
        self.permit = Some(Arc::new(permit));
    }
}

/// Runs calls. See [the module documentation](super) for an example.
pub trait Invoke: Send + Sync {
    /// Runs a call. Dropping the future abandons the call.
    ///
    /// # Errors
    /// Why the call failed.
    fn invoke(&self, call: &PreparedCall) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// A type-erased [`Invoke`]. Cheap to clone. Each one in a stack costs every call an allocation.
#[derive(Clone)]
pub struct BoxInvoke(Arc<dyn DynInvoke>);

type BoxFuture<'a> = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send + 'a>>;

/// The dyn-compatible form of [`Invoke`].
trait DynInvoke: Send + Sync {
    fn invoke_boxed<'a>(&'a self, call: &'a PreparedCall) -> BoxFuture<'a>;
}

impl<S: Invoke> DynInvoke for S {
    fn invoke_boxed<'a>(&'a self, call: &'a PreparedCall) -> BoxFuture<'a> {
        Box::pin(self.invoke(call))
    }
}

impl BoxInvoke {
    /// Erases the type of `inner`.
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
