//! [`ToolFunction`]: which async functions make a typed tool.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::extract::FromContext;
use crate::{
    context::ToolContext,
    error::ToolError,
    output::{IntoToolOutput, ToolOutput},
};

/// An async function that makes a typed tool: its first argument is the tool's arguments, up to four more come
/// [from the context](FromContext); it gives back `Result<R, ToolError>`, `R` a [`ToolOutput`] or anything
/// serializable.
///
/// Implemented for all such functions and closures; not meant to be implemented elsewhere.
pub trait ToolFunction<Marker>: Send + Sync + 'static {
    /// The tool's arguments.
    type Arguments: DeserializeOwned + JsonSchema + Send;

    /// Whether the context has all that the function takes.
    ///
    /// # Errors
    /// What is missing.
    fn check(context: &ToolContext) -> Result<(), ToolError>;

    /// Calls the function.
    fn call(
        &self,
        arguments: Self::Arguments,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

macro_rules! tool_function {
    ($($part:ident),*) => {
        impl<F, Fut, R, A, $($part),*> ToolFunction<(A, $($part),*)> for F
        where
            F: Fn(A, $($part),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Result<R, ToolError>> + Send,
            R: IntoToolOutput,
            A: DeserializeOwned + JsonSchema + Send,
            $($part: FromContext,)*
        {
            type Arguments = A;

            fn check(_context: &ToolContext) -> Result<(), ToolError> {
                $($part::check(_context)?;)*
                Ok(())
            }

            async fn call(&self, arguments: A, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
                let future = self(arguments, $($part::take(_context)?),*);
                future.await?.into_output()
            }
        }
    };
}
tool_function!();
tool_function!(P1);
tool_function!(P1, P2);
tool_function!(P1, P2, P3);
tool_function!(P1, P2, P3, P4);
