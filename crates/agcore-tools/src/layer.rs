//! Layers around the execution of a call: timeout, redaction, offloading and truncation of results, audit, statistics,
//! and custom ones.
//!
//! Something that runs a call implements [`Invoke`]. A layer is an [`Invoke`] that wraps another one, which it receives
//! as the first argument of its constructor, in the same way as the layers around a model in agcore-llm. An
//! [executor](crate::ExecutorBuilder) builds this stack, from the inside out: [`Run`] (the tool itself), [`Timeout`],
//! [`Redact`], [`Offload`], custom layers, [`Limit`], [`EscapeControls`], [`Truncate`], [`TraceContent`]
//! if it is enabled, [`Audit`], [`Statistics`]. One stack serves all tools of the executor; the [`PreparedCall`] names the tool.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
//! use agcore_tools::{
//!     NoArguments, SystemClock, ToolContext, ToolError, ToolOutput, ToolRegistry,
//!     layer::{Invoke, PreparedCall},
//!     typed,
//! };
//!
//! /// Names the tool in front of each error.
//! struct NameErrors<S>(S);
//!
//! impl<S: Invoke> Invoke for NameErrors<S> {
//!     async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
//!         let result = self.0.invoke(call).await;
//!         result.map_err(|error| ToolError::new(error.kind(), format!("{}: {error}", call.tool.name())))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ToolError> {
//! let tools = ToolRegistry::new();
//! tools.register(typed("save", "Saves.", |_: NoArguments| async { Err::<(), _>("the disk is full".into()) }))?;
//!
//! let context = ToolContext::builder(Arc::new(SystemClock::new())).build();
//! let executor = tools.executor(context).with_layer(NameErrors).build()?;
//!
//! let call = ToolCall::function("call_1", "save", "{}");
//! assert_eq!(executor.settle(ToolWork::new(call)).await.0, ToolOutcome::error("save: the disk is full"));
//! # Ok(())
//! # }
//! ```

mod audit;
mod escape;
mod invoke;
mod limit;
mod offload;
mod redact;
mod run;
mod statistics;
mod timeout;
mod trace_content;
mod truncate;

pub use self::{
    audit::Audit,
    escape::EscapeControls,
    invoke::{BoxInvoke, Invoke, PreparedCall},
    limit::{Limit, MAX_TOOL_DATA_BYTES, MAX_TOOL_MEDIA_BYTES},
    offload::{Artifact, ArtifactStore, InMemoryArtifacts, Offload, OffloadSettings},
    redact::Redact,
    run::Run,
    statistics::Statistics,
    timeout::Timeout,
    trace_content::TraceContent,
    truncate::Truncate,
};
pub use agcore_chat::redact::{Redactor, redactor_fn};
