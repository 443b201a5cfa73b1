//! [`ToolFunction`]: the async functions that [`typed()`](crate::typed()) accepts.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::extract::FromContext;
use crate::{
    context::ToolContext,
    error::ToolError,
    output::{IntoToolOutput, ToolOutput},
};

/// An async function that [`typed()`](crate::typed()) can turn into a tool.
///
/// The first parameter is the tool's arguments, up to four more are [extracted from the context](FromContext). The
/// function returns `Result<R, ToolError>`, where `R` is a [`ToolOutput`] or any type that implements `Serialize`.
///
/// Implemented for all such functions and closures. Not meant to be implemented for other types.
#[diagnostic::on_unimplemented(
    message = "this function cannot be a tool",
    label = "not an async function with arguments that a model can provide",
    note = "the first parameter must be an owned type that derives both `serde::Deserialize` and \
            `agcore_tools::schemars::JsonSchema`: a struct with `String`, not `&str`",
    note = "up to four more parameters must implement `FromContext`, such as `State<T>` and `ToolContext`",
    note = "the function must be `async`, its future must be `Send`, and it must return `Result<T, ToolError>`, where `T` \
            implements `serde::Serialize`; convert other errors with `ToolError::from_error`"
)]
pub trait ToolFunction<Marker>: Send + Sync + 'static {
    /// The type of the tool's arguments.
    type Arguments: DeserializeOwned + JsonSchema + Send;

    /// Checks that the context contains everything the function extracts from it.
    ///
    /// # Errors
    /// What is missing.
    fn check_context(context: &ToolContext) -> Result<(), ToolError>;

    /// Calls the function.
    fn call(
        &self,
        arguments: Self::Arguments,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// The types that an argument of a function with the attribute `#[tool]` may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "this does not implement both `Deserialize` and `JsonSchema`",
    note = "write `#[arguments]`, from agcore-tools or from `agcore::tools`, above the declaration of `{Self}`, or \
            derive `serde::Deserialize` and `schemars::JsonSchema`, if your Cargo.toml has both crates"
)]
pub trait Argument {
    /// Exists for every type that implements the trait.
    const CHECK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Argument for T {}

/// The types that may occur in a type with the attribute `#[arguments]` or `#[output]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a type that a model writes",
    label = "this does not implement both `Deserialize` and `JsonSchema`",
    note = "write the attribute of the type around it, `#[output]` or `#[arguments]`, above the declaration of `{Self}`, or \
            derive `serde::Deserialize` and `schemars::JsonSchema`, if your Cargo.toml has both crates"
)]
pub trait Member {
    /// Exists for every type that implements the trait.
    const CHECK: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Member for T {}

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

            fn check_context(_context: &ToolContext) -> Result<(), ToolError> {
                $($part::check(_context)?;)*
                Ok(())
            }

            async fn call(&self, arguments: A, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
                let future = self(arguments, $($part::from_context(_context)?),*);
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
