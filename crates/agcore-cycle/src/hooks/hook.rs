//! [`Hook`]: the points of a turn at which the application can intervene.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ToolCall, ToolResult};
use async_trait::async_trait;

use super::{
    context::HookContext,
    verdict::{RequestVerdict, ResultVerdict, ToolVerdict, TurnVerdict},
};

/// The application's own code around model calls, tool calls and turns. By default, every method does nothing.
///
/// The [module documentation](crate::hooks) lists when each method is called and what happens when a hook fails.
///
/// A hook that redacts what tools return and records how turns end:
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use agcore_chat::{ToolCall, ToolResult};
/// use agcore_cycle::{Hook, HookContext, Hooks, ResultVerdict, hooks::HookBounds};
/// use agcore_llm::SystemClock;
///
/// #[derive(Default)]
/// struct Redact {
///     log: Mutex<Vec<String>>,
/// }
///
/// #[async_trait::async_trait]
/// impl Hook for Redact {
///     async fn post_tool(&self, _: &HookContext<'_>, _: &ToolCall, result: &ToolResult) -> ResultVerdict {
///         let text = result.content.text();
///         match text.contains("secret") {
///             true => ResultVerdict::Replace(text.replace("secret", "***")),
///             false => ResultVerdict::Continue,
///         }
///     }
///
///     async fn turn_end(&self, context: &HookContext<'_>) {
///         let end = context.error.map_or("ok", |fault| fault.kind.as_str());
///         self.log.lock().unwrap().push(format!("turn {}: {end}", context.turn));
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let redact = Arc::new(Redact::default());
/// let hooks = Hooks::new([redact.clone() as Arc<dyn Hook>]);
///
/// // The agent loop calls the hooks. Here they are called directly.
/// let (clock, token) = (SystemClock::new(), Default::default());
/// let bounds = HookBounds::new(&clock, &token);
/// let context = HookContext::new("librarian");
/// let call = ToolCall::function("call_1", "read", "{}");
/// let result = hooks.post_tool(&context, &bounds, &call, ToolResult::new("the secret word")).await.unwrap();
/// assert_eq!(result.content.text(), "the *** word");
///
/// hooks.turn_end(&context, &bounds).await;
/// assert_eq!(*redact.log.lock().unwrap(), ["turn 0: ok"]);
/// # });
/// ```
#[async_trait]
pub trait Hook: Send + Sync {
    /// Returns the name of the hook, for logs.
    fn name(&self) -> &str {
        std::any::type_name::<Self>()
    }

    /// Returns whether a failure of the hook blocks what it was asked about.
    ///
    /// If such a hook panics or exceeds its timeout, the turn, request, call or result is blocked. Any other hook is skipped.
    /// Guardrails return `true`; for observers it makes no difference.
    fn fails_closed(&self) -> bool {
        false
    }

    /// Returns how long each of the hook's methods may take. With `None`, the timeout of
    /// [`Hooks::with_timeout`](crate::Hooks::with_timeout) applies.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// Called before a turn starts, with its input. Can block the turn.
    async fn turn_start(&self, _context: &HookContext<'_>) -> TurnVerdict {
        TurnVerdict::Continue
    }

    /// Called when a turn that started has ended, whether it succeeded or not.
    ///
    /// Dropping the future or stream of a turn cannot wait for hooks. Such a turn is still open: it ends, and this method is
    /// called, when the next turn starts.
    async fn turn_end(&self, _context: &HookContext<'_>) {}

    /// Called before a request is sent, for a reply or for a summary of the older part of the conversation; see
    /// [`HookContext::purpose`]. Can replace or block the request. A replaced request does not enter the history.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::{ChatRequest, ChatResponse};
    /// use agcore_cycle::{Hook, HookContext, Hooks, LlmCycle, RequestVerdict};
    /// use agcore_llm::{SystemClock, provider_fn};
    ///
    /// /// Limits the length of every reply.
    /// struct ShortReplies;
    ///
    /// #[async_trait::async_trait]
    /// impl Hook for ShortReplies {
    ///     async fn pre_request(&self, _: &HookContext<'_>, request: &Arc<ChatRequest>) -> RequestVerdict {
    ///         let request = ChatRequest::clone(request).with_max_tokens(100);
    ///         RequestVerdict::Replace(Arc::new(request))
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let provider = provider_fn(|call| async move {
    ///     Ok(ChatResponse::from_text(format!("{:?}", call.request.token_limit())))
    /// });
    /// let hooks = Hooks::new([Arc::new(ShortReplies) as Arc<dyn Hook>]);
    /// let mut cycle = LlmCycle::new(provider, SystemClock::new()).with_hooks(hooks);
    /// assert_eq!(cycle.turn("Hello").await?.text(), "Some(100)");
    /// # Ok::<(), agcore_cycle::CycleError>(())
    /// # }).unwrap();
    /// ```
    async fn pre_request(&self, _context: &HookContext<'_>, _request: &Arc<ChatRequest>) -> RequestVerdict {
        RequestVerdict::Continue
    }

    /// Called when an attempt succeeded, with the response and the duration.
    async fn post_request(&self, _context: &HookContext<'_>) {}

    /// Called when an attempt failed, with the error.
    async fn on_error(&self, _context: &HookContext<'_>) {}

    /// Called before another attempt, with the error of the last one and the number of the next.
    async fn on_retry(&self, _context: &HookContext<'_>) {}

    /// Called before a tool runs. Can block the call or replace its arguments, which are then validated like any others. If a
    /// call resumes after a person's answer, the method is called again, with the call as the model made it.
    ///
    /// If a person edits the arguments, the method is called once more, with the edited ones, before the tool runs. It
    /// can block the call then, but no longer replace the arguments: the call ends with an error instead of running
    /// with arguments that were not approved.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::ToolCall;
    /// use agcore_cycle::{
    ///     Hook, HookContext, Hooks, ToolVerdict,
    ///     hooks::{HookBounds, HookStop},
    /// };
    /// use agcore_llm::SystemClock;
    ///
    /// /// Keeps tools away from hidden files.
    /// struct NoHiddenFiles;
    ///
    /// #[async_trait::async_trait]
    /// impl Hook for NoHiddenFiles {
    ///     async fn pre_tool(&self, _: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
    ///         match call.raw_input().contains("\"/.") {
    ///             true => ToolVerdict::Block("hidden files are off limits".to_owned()),
    ///             false => ToolVerdict::Continue,
    ///         }
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let hooks = Hooks::new([Arc::new(NoHiddenFiles) as Arc<dyn Hook>]);
    /// let (clock, token) = (SystemClock::new(), Default::default());
    /// let bounds = HookBounds::new(&clock, &token);
    /// let call = Arc::new(ToolCall::function("call_1", "read", r#"{"path": "/.ssh/id"}"#));
    /// let stop = hooks.pre_tool(&HookContext::new("librarian"), &bounds, call).await.unwrap_err();
    /// assert_eq!(stop, HookStop::Blocked("hidden files are off limits".to_owned()));
    /// # });
    /// ```
    async fn pre_tool(&self, _context: &HookContext<'_>, _call: &ToolCall) -> ToolVerdict {
        ToolVerdict::Continue
    }

    /// Called when a tool has run, whether it succeeded or not. Can replace the text of the result before the model or an
    /// observer sees it. `call` is the call that ran, with the arguments that hooks have set or a person has edited.
    async fn post_tool(&self, _context: &HookContext<'_>, _call: &ToolCall, _result: &ToolResult) -> ResultVerdict {
        ResultVerdict::Continue
    }

    /// Called when a step of a plan was completed, failed or skipped; see [`HookContext::plan_step`] and
    /// [`HookContext::plan_step_end`].
    ///
    /// Turns of the loop have no plan, so they never call this. Code that carries out plans calls it through
    /// [`Hooks::plan_step`](crate::Hooks::plan_step).
    async fn plan_step(&self, _context: &HookContext<'_>) {}
}

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
