//! [`Keep`]: a layer that keeps data of a call beside its outcome.

use std::{
    error::Error as _,
    sync::{Mutex, PoisonError},
};

use agcore_tools::{
    ToolError, ToolOutput,
    layer::{Invoke, PreparedCall},
};
use serde_json::Value;

use crate::error::McpError;

/// The place for the data of a call, in its context.
#[derive(Default)]
pub(super) struct KeptData(Mutex<Kept>);

/// Data that a call leaves beside its outcome.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) structured: Option<Value>,
    /// The error with which the request is answered, if the tool failed because of it.
    pub(super) refusal: Option<McpError>,
}

impl KeptData {
    pub(super) fn take(&self) -> Kept {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A layer that keeps the structured value of a result, and the cause of a failure.
pub(super) struct Keep<S>(S);

impl<S> Keep<S> {
    pub(super) fn new(inner: S) -> Self {
        Self(inner)
    }
}

impl<S: Invoke> Invoke for Keep<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let result = self.0.invoke(call).await;
        let mut kept = Kept::default();
        match &result {
            // Text is content only, unless the tool declares the form of its output.
            Ok(output) => {
                let value = output.as_value();
                let value = value.filter(|value| value.is_object() || call.tool.tool().output_schema().is_some());
                kept.structured = value.cloned();
            }
            Err(error) => {
                let cause = error.source().and_then(|cause| cause.downcast_ref::<McpError>());
                kept.refusal = cause.filter(|cause| cause.data().is_some()).cloned();
            }
        }
        if let Some(data) = call.context.extension::<KeptData>() {
            *data.0.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        }
        result
    }
}
