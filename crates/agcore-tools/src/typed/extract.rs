//! [`FromContext`]: what a typed tool's function may take beside its arguments.

use std::{any::type_name, fmt, ops::Deref, sync::Arc};

use crate::{
    context::ToolContext,
    error::{ToolError, ToolErrorKind},
};

/// Something that a typed tool's function takes from the context, beside its arguments.
pub trait FromContext: Sized + Send {
    /// Whether the context has it; asked when an executor is built.
    ///
    /// # Errors
    /// What is missing.
    fn check(context: &ToolContext) -> Result<(), ToolError>;

    /// Takes it.
    ///
    /// # Errors
    /// What is missing.
    fn take(context: &ToolContext) -> Result<Self, ToolError>;
}

/// A value that the application put into the context with
/// [`ToolContextBuilder::state`](crate::ToolContextBuilder::state).
///
/// A tool that takes it cannot be given to a session whose context lacks it: building the executor fails.
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

    fn take(context: &ToolContext) -> Result<Self, ToolError> {
        context.extension().map(Self).ok_or_else(missing::<T>)
    }
}

fn missing<T>() -> ToolError {
    ToolError::new(
        ToolErrorKind::Config,
        format!(
            "the context holds no {0}; add one with ToolContextBuilder::state::<{0}>",
            type_name::<T>()
        ),
    )
    .with_model_text("the tool is not set up correctly")
}

/// The whole context.
impl FromContext for ToolContext {
    fn check(_: &ToolContext) -> Result<(), ToolError> {
        Ok(())
    }

    fn take(context: &ToolContext) -> Result<Self, ToolError> {
        Ok(context.clone())
    }
}
