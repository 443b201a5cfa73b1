//! [`Hook`]: the points of a run at which the application has a say.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ToolCall, ToolResult};
use async_trait::async_trait;

use super::{
    context::HookContext,
    verdict::{RequestVerdict, ResultVerdict, ToolVerdict, TurnVerdict},
};

/// The application's own code at the edges of a run. Every method does nothing by default.
#[async_trait]
pub trait Hook: Send + Sync {
    /// Its name in logs.
    fn name(&self) -> &str {
        std::any::type_name::<Self>()
    }

    /// Whether nothing may pass without its word. When such a hook panics or runs out of its time, what it was asked about
    /// is blocked; any other hook is passed over. A guardrail says `true`, an observer does not care.
    fn fails_closed(&self) -> bool {
        false
    }

    /// How long each of its methods may take; `None` leaves that to [`Hooks::with_timeout`](super::Hooks::with_timeout).
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// A turn begins; it may be refused. The context has the turn's input.
    async fn turn_start(&self, _context: &HookContext<'_>) -> TurnVerdict {
        TurnVerdict::Continue
    }

    /// A turn that began has ended, for better or worse.
    async fn turn_end(&self, _context: &HookContext<'_>) {}

    /// A request is about to go out, for a reply or for a summary of the older part of the conversation: the context says
    /// which. It may be replaced or refused. A replaced request is not history.
    async fn pre_request(&self, _context: &HookContext<'_>, _request: &Arc<ChatRequest>) -> RequestVerdict {
        RequestVerdict::Continue
    }

    /// An attempt was answered; the context has the response and the duration.
    async fn post_request(&self, _context: &HookContext<'_>) {}

    /// An attempt failed; the context has the error.
    async fn on_error(&self, _context: &HookContext<'_>) {}

    /// Another attempt will be made; the context has the error of the last one and the number of the next.
    async fn on_retry(&self, _context: &HookContext<'_>) {}

    /// A tool is about to run; it may be refused, or given other arguments, which are checked like any others. A call that
    /// goes on after a person's answer comes here again, as the model made it.
    async fn pre_tool(&self, _context: &HookContext<'_>, _call: &ToolCall) -> ToolVerdict {
        ToolVerdict::Continue
    }

    /// A tool that ran has a result, good or bad; its text may be replaced before anybody sees it. The call is the one that
    /// ran, with the arguments that hooks gave it.
    async fn post_tool(&self, _context: &HookContext<'_>, _call: &ToolCall, _result: &ToolResult) -> ResultVerdict {
        ResultVerdict::Continue
    }

    /// A step of a plan was completed, failed or skipped; the context says which step and how it ended.
    async fn plan_step(&self, _context: &HookContext<'_>) {}
}

/// A shared hook is a hook.
#[async_trait]
impl<H: Hook + ?Sized> Hook for Arc<H> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn fails_closed(&self) -> bool {
        (**self).fails_closed()
    }

    fn timeout(&self) -> Option<Duration> {
        (**self).timeout()
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
