//! [`Hook`]: the application's own code at the edges of model calls, tool calls and turns. The place for guardrails.
//!
//! Hooks run in the order of registration. A hook that panics is logged and passed over; it does not take the run down.

mod context;
mod runner;

pub use context::HookContext;
pub use runner::Hooks;

use std::sync::Arc;

use agcore_chat::{ChatRequest, ToolCall, ToolResult};
use async_trait::async_trait;
use serde_json::{Map, Value};

/// The application's own code at the edges of a run. Every method does nothing by default.
#[async_trait]
pub trait Hook: Send + Sync {
    /// Its name in logs.
    fn name(&self) -> &str {
        std::any::type_name::<Self>()
    }

    /// A turn begins; it may be refused.
    async fn turn_start(&self, _context: &HookContext<'_>) -> TurnVerdict {
        TurnVerdict::Continue
    }

    /// A turn that began has ended, for better or worse.
    async fn turn_end(&self, _context: &HookContext<'_>) {}

    /// A request is about to go out; it may be replaced or refused. A replaced request is not history.
    async fn pre_request(&self, _context: &HookContext<'_>, _request: &Arc<ChatRequest>) -> RequestVerdict {
        RequestVerdict::Continue
    }

    /// An attempt was answered; the context has the response and the duration.
    async fn post_request(&self, _context: &HookContext<'_>) {}

    /// An attempt failed; the context has the error.
    async fn on_error(&self, _context: &HookContext<'_>) {}

    /// Another attempt will be made; the context has the error of the last one and the number of the next.
    async fn on_retry(&self, _context: &HookContext<'_>) {}

    /// A tool is about to run; it may be refused, or given other arguments, which are checked like any others.
    async fn pre_tool(&self, _context: &HookContext<'_>, _call: &ToolCall) -> ToolVerdict {
        ToolVerdict::Continue
    }

    /// A tool has a result; its text may be replaced before anybody sees it.
    async fn post_tool(&self, _context: &HookContext<'_>, _call: &ToolCall, _result: &ToolResult) -> ResultVerdict {
        ResultVerdict::Continue
    }

    /// A step of a plan was completed, failed or skipped.
    async fn plan_step(&self, _context: &HookContext<'_>) {}
}

/// A shared hook is a hook.
#[async_trait]
impl<H: Hook + ?Sized> Hook for Arc<H> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn turn_start(&self, context: &HookContext<'_>) -> TurnVerdict {
        (**self).turn_start(context).await
    }

    async fn turn_end(&self, context: &HookContext<'_>) {
        (**self).turn_end(context).await;
    }

    async fn pre_request(&self, context: &HookContext<'_>, request: &Arc<ChatRequest>) -> RequestVerdict {
        (**self).pre_request(context, request).await
    }

    async fn post_request(&self, context: &HookContext<'_>) {
        (**self).post_request(context).await;
    }

    async fn on_error(&self, context: &HookContext<'_>) {
        (**self).on_error(context).await;
    }

    async fn on_retry(&self, context: &HookContext<'_>) {
        (**self).on_retry(context).await;
    }

    async fn pre_tool(&self, context: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
        (**self).pre_tool(context, call).await
    }

    async fn post_tool(&self, context: &HookContext<'_>, call: &ToolCall, result: &ToolResult) -> ResultVerdict {
        (**self).post_tool(context, call, result).await
    }

    async fn plan_step(&self, context: &HookContext<'_>) {
        (**self).plan_step(context).await;
    }
}

/// What [`Hook::turn_start`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnVerdict {
    /// Go on.
    Continue,
    /// The turn does not begin; the reason is told to the caller.
    Block(String),
}

/// What [`Hook::pre_request`] says.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestVerdict {
    /// Go on.
    Continue,
    /// Send this instead; later hooks see it.
    Replace(Arc<ChatRequest>),
    /// Send nothing; the turn ends with the reason.
    Block(String),
}

/// What [`Hook::pre_tool`] says.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolVerdict {
    /// Go on.
    Continue,
    /// Run it with these arguments; later hooks see them.
    Replace(Map<String, Value>),
    /// Do not run it; the model is told the reason.
    Block(String),
}

/// What [`Hook::post_tool`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultVerdict {
    /// Go on.
    Continue,
    /// The result is this text instead; later hooks see it.
    Replace(String),
}
