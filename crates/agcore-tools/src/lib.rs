//! Tools for LLM agents: typed tools, a registry, validation, permissions and approvals.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
//! use agcore_tools::{TokioClock, ToolContext, ToolRegistry, schemars::{self, JsonSchema}, typed};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     /// The first number.
//!     a: i64,
//!     /// The second number.
//!     b: i64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = ToolRegistry::new();
//! tools.register(typed("add", "Adds two numbers.", |args: Add| async move { Ok(args.a + args.b) }))?;
//!
//! let context = ToolContext::builder(Arc::new(TokioClock::new())).session_id("s1").build();
//! let executor = tools.executor(context).build()?;
//!
//! let call = ToolCall::function("call_1", "add", r#"{"a": 2, "b": 3}"#);
//! let (outcome, _) = executor.settle(ToolWork::new(call)).await;
//! assert_eq!(outcome, ToolOutcome::done("5"));
//! # Ok(())
//! # }
//! ```

mod clip;
mod error;
mod arguments;
mod panic;
mod clock;
mod context;
mod output;
pub mod permission;
mod tool;
mod typed;
mod schema;
mod registry;
mod grants;
mod approval;
mod audit;
mod session;
mod policy;
pub mod layer;
mod execute;
mod executor;

/// Makes a tool of the async function under it; its doc comment and those on its parameters become descriptions.
#[cfg(feature = "macros")]
pub use agcore_tools_macros::tool;
#[cfg(feature = "schema")]
pub use schema::SchemaValidator;
/// The crate whose `JsonSchema` typed tools derive.
pub use schemars;

pub use {
    approval::{Approval, ApprovalRequest, Approver, SuspendingApprover},
    arguments::Arguments,
    audit::{AuditEvent, AuditOutcome, AuditRecord, AuditSink, Decider},
    clock::TokioClock,
    context::{Extensions, InputAnswer, ProgressSender, RunState, ToolContext, ToolContextBuilder},
    error::{ToolError, ToolErrorKind},
    execute::{InvokeOptions, ToolInvocation},
    executor::{ExecutorBuilder, MAX_TOOL_RESULT_BYTES, RegistryExecutor},
    grants::{Grant, GrantStore, InMemoryGrants, SameArgument},
    layer::PreparedCall,
    output::{InputRequest, IntoToolOutput, OutputBody, OutputItem, OutputStream, ToolOutput},
    permission::{Permission, PermissionConfig, PermissionRules, Rule, RuleState},
    policy::ToolPolicy,
    registry::{RegisteredTool, Registration, RegistryChange, ToolRegistry, ToolSnapshot, ToolStatistics, ToolView},
    session::ToolSession,
    tool::{BaseTool, ToolAnnotations},
    typed::{FromContext, NoArguments, State, ToolFunction, Typed, typed},
};
