//! [`FromContext`]: parameters of a typed tool's function that are extracted from the context.

use std::{any::type_name, fmt, ops::Deref, sync::Arc};

use crate::{
    context::ToolContext,
    error::{ToolError, ToolErrorKind},
};

/// A parameter of a typed tool's function that is extracted from the context rather than given by the model.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::ToolCall;
/// use agcore_tools::{Actor, FromContext, NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
///
/// /// The user that the run belongs to.
/// struct User(String);
///
/// impl FromContext for User {
///     fn check(context: &ToolContext) -> Result<(), ToolError> {
///         Self::from_context(context).map(drop)
///     }
///
///     fn from_context(context: &ToolContext) -> Result<Self, ToolError> {
///         Ok(Self(context.actor().user.to_string()))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("whoami", "Returns the user.", |_: NoArguments, user: User| async move { Ok(user.0) }))?;
///
/// let context = ToolContext::builder(Arc::new(SystemClock::new())).with_actor(Actor::user("ann")).build();
/// let done = tools.invoke(ToolCall::function("call_1", "whoami", "{}"), &context).await;
/// assert_eq!(done.result?.as_value(), Some(&"ann".into()));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be extracted from the context of a tool",
    label = "this does not implement `FromContext`",
    note = "use `State<{Self}>` for a value that was added with `with_state`, or `ToolContext` for the whole context; an \
            argument that the model provides must be part of the first parameter"
)]
pub trait FromContext: Sized + Send {
    /// Checks that the context contains the value. Called when an executor is built, and when an agent is built, which is
    /// before there is a session: check values of the application only, not the actor or the session.
    ///
    /// # Errors
    /// What is missing.
    fn check(context: &ToolContext) -> Result<(), ToolError>;

    /// Extracts the value.
    ///
    /// # Errors
    /// What is missing.
    fn from_context(context: &ToolContext) -> Result<Self, ToolError>;
}

/// A value that the application added to the context with
/// [`ToolContextBuilder::with_state`](crate::ToolContextBuilder::with_state).
///
/// If the context lacks the value, building an executor for the tool fails.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{NoArguments, State, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
///
/// struct Inventory {
///     apples: u32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("apples", "Counts apples.", |_: NoArguments, inventory: State<Inventory>| async move {
///     Ok(inventory.apples)
/// }))?;
///
/// let builder = ToolContext::builder(Arc::new(SystemClock::new()));
/// assert!(tools.executor(builder.clone().build()).build().is_err());
///
/// let executor = tools.executor(builder.with_state(Inventory { apples: 3 }).build()).build()?;
/// let call = ToolCall::function("call_1", "apples", "{}");
/// assert_eq!(executor.settle(ToolWork::new(call)).await.0, ToolOutcome::done("3"));
/// # Ok(())
/// # }
/// ```
pub struct State<T>(pub Arc<T>);

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&self.0).finish()
    }
}

impl<T: Send + Sync + 'static> FromContext for State<T> {
    fn check(context: &ToolContext) -> Result<(), ToolError> {
        if context.extensions().contains::<T>() {
            Ok(())
        } else {
            Err(missing::<T>())
        }
    }

    fn from_context(context: &ToolContext) -> Result<Self, ToolError> {
        context.extension().map(Self).ok_or_else(missing::<T>)
    }
}

fn missing<T>() -> ToolError {
    ToolError::new(
        ToolErrorKind::Config,
        format!(
            "it needs a value of type {0} that was not set; add one with `with_state` when you build the agent or the tool context",
            type_name::<T>()
        ),
    )
    .with_model_text("the tool is not configured correctly")
}

/// Extracts the whole context.
impl FromContext for ToolContext {
    fn check(_: &ToolContext) -> Result<(), ToolError> {
        Ok(())
    }

    fn from_context(context: &ToolContext) -> Result<Self, ToolError> {
        Ok(context.clone())
    }
}
