//! Tools for LLM agents: typed tools, a registry, validation, permissions and approvals.
//!
//! A [tool](BaseTool) is usually created from a function with the attribute `#[tool]` (feature `macros`), or from a closure
//! with [`typed()`]. A [`ToolRegistry`] holds the tools of
//! an application. An [executor](RegistryExecutor) runs the calls of a model's reply: it validates the arguments,
//! decides by the [rules](permission) and the [`Approver`] of a [`ToolPolicy`] whether each call may run, and passes it
//! through the [layers](layer).
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::{ToolCall, ToolOutcome, ToolWork};
//! use agcore_tools::{SystemClock, ToolContext, ToolRegistry, schemars::{self, JsonSchema}, typed};
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
//! let context = ToolContext::builder(Arc::new(SystemClock::new())).with_session_id("session_1").build();
//! let executor = tools.executor(context).build()?;
//!
//! let call = ToolCall::function("call_1", "add", r#"{"a": 2, "b": 3}"#);
//! let (outcome, _) = executor.settle(ToolWork::new(call)).await;
//! assert_eq!(outcome, ToolOutcome::done("5"));
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `macros` | The attribute `#[tool]`, which turns a function into a tool and its documentation into descriptions. |
//! | `schema` | `SchemaValidator` and `Registration::with_full_validation`: all keywords and drafts of JSON Schema, where a program asks for them. Otherwise a small validator enforces the usual keywords. |
//!
//! <!-- /features -->

mod error;
mod arguments;
mod panic;
mod context;
mod output;
pub mod permission;
mod tool;
mod client_tool;
mod typed;
mod schema;
mod registry;
mod grants;
mod approval;
mod audit;
mod session;
mod policy;
mod rule_check;
pub mod layer;
mod execute;
mod executor;

/// The attribute for `async` methods in implementations of traits such as [`Approver`] and [`BaseTool`].
pub use ::async_trait::async_trait;
/// Makes a struct or enum usable as an argument of a tool, without a dependency on serde or schemars.
#[cfg(feature = "macros")]
pub use agcore_tools_macros::arguments;
/// Makes a struct or enum usable as the type of a typed answer, without a dependency on serde or schemars.
#[cfg(feature = "macros")]
pub use agcore_tools_macros::output;
/// Turns a function into a tool. Its doc comment and those on its parameters become descriptions.
#[cfg(feature = "macros")]
pub use agcore_tools_macros::tool;
#[cfg(feature = "schema")]
pub use schema::SchemaValidator;
/// The crate with the `JsonSchema` derive macro for the arguments of typed tools.
pub use schemars;

pub use agcore_chat::{Actor, SystemClock, ToolAnnotations};
pub use {
    approval::{Approval, ApprovalRequest, Approver, SuspendingApprover},
    arguments::Arguments,
    audit::{AuditEvent, AuditOutcome, AuditRecord, AuditSink, Decider},
    client_tool::ClientTool,
    context::{Extensions, InputAnswer, ProgressSender, RunState, ToolContext, ToolContextBuilder},
    error::{ToolError, ToolErrorKind},
    execute::{InvokeOptions, ToolInvocation},
    executor::{ExecutorBuilder, MAX_TOOL_RESULT_BYTES, RegistryExecutor, ToolSettings},
    grants::{Grant, GrantCondition, GrantStore, GrantedArgument, InMemoryGrants},
    output::{
        InputRequest, IntoToolOutput, OutputBody, OutputItem, OutputStream, ShortenedText, TextStructure, ToolOutput,
        numbered_lines, shortened,
    },
    permission::{
        config::PermissionConfig,
        decide::PermissionRules,
        kind::Permission,
        rule::{Rule, RuleState},
    },
    policy::ToolPolicy,
    registry::{
        IntoRegistration, RegisteredTool, Registration, RegistryChange, ToolRegistry, ToolSnapshot, ToolStatistics,
        ToolView,
    },
    rule_check::{RuleProblem, RuleProblemKind},
    session::{MAX_LOADED_TOOLS, ToolSession},
    tool::BaseTool,
    typed::{FromContext, NoArguments, State, ToolFunction, Typed, typed},
};

/// Items for the code that the macros generate. Not meant to be used directly.
#[doc(hidden)]
pub mod __private {
    pub use serde;

    pub use crate::{
        error::IntoToolError,
        typed::{Argument, Member, Plain, Returned},
    };
}

/// Compiles the example of the README.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../README.md")]
struct Readme;
