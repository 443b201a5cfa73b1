//! [`Hooks`]: the registered hooks, which run one after the other.

use std::{any::Any, fmt, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use agcore_chat::{CallInput, ChatRequest, ToolCall, ToolResult};
use futures_util::FutureExt;

use super::{
    bounds::{HookBounds, HookStop},
    context::HookContext,
    hook::Hook,
    verdict::{RequestVerdict, ResultVerdict, ToolVerdict, TurnVerdict},
};

/// Hooks in the order of registration. Cheap to clone.
///
/// ```
/// use std::{sync::Arc, time::Duration};
///
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::{CycleErrorKind, Hook, HookContext, Hooks, LlmCycle, TurnVerdict};
/// use agcore_llm::provider_fn;
/// use agcore_testkit::clock::ManualClock;
///
/// /// Asks a service that never answers.
/// struct Unreachable;
///
/// #[async_trait::async_trait]
/// impl Hook for Unreachable {
///     async fn turn_start(&self, _: &HookContext<'_>) -> TurnVerdict {
///         std::future::pending().await
///     }
///
///     fn fails_closed(&self) -> bool {
///         true
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Hello.")) });
/// let hooks = Hooks::new([Arc::new(Unreachable) as Arc<dyn Hook>]).with_timeout(Duration::from_secs(5));
/// let mut cycle = LlmCycle::new(provider, ManualClock::jumping()).with_hooks(hooks);
///
/// let error = cycle.turn("Hello").await.unwrap_err();
/// assert_eq!(error.kind(), CycleErrorKind::HookBlocked);
/// # });
/// ```
#[derive(Clone, Default)]
pub struct Hooks {
    hooks: Arc<[Arc<dyn Hook>]>,
    timeout: Option<Duration>,
}

impl Hooks {
    /// Creates a list of hooks.
    pub fn new(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Self {
        Self {
            hooks: hooks.into_iter().collect(),
            timeout: None,
        }
    }

    /// Sets how long each hook may take at each point, unless it has its own [`timeout`](Hook::timeout). Without a timeout,
    /// only the end of the turn stops a hook.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Adds a hook that is asked before all others, so that they see its changes.
    #[must_use]
    pub fn with_first(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks = std::iter::once(hook).chain(self.hooks.iter().cloned()).collect();
        self
    }

    /// Returns whether there are no hooks.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Asks the hooks whether a turn may start.
    ///
    /// # Errors
    /// [`HookStop`] of the first hook that blocks the turn, or whose verdict cannot be awaited.
    pub async fn turn_start(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) -> Result<(), HookStop> {
        for hook in self.each() {
            let verdict = self.ask(hook, bounds, async { hook.turn_start(context).await });
            if let Some(TurnVerdict::Block(reason)) = verdict.await? {
                return Err(HookStop::Blocked(reason));
            }
        }
        Ok(())
    }

    /// Notifies the hooks that a turn has ended.
    pub async fn turn_end(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) {
        for hook in self.each() {
            self.notify(hook, bounds, async { hook.turn_end(context).await }).await;
        }
    }

    /// Asks the hooks about a request and returns the one to send.
    ///
    /// # Errors
    /// [`HookStop`] of the first hook that blocks the request, or whose verdict cannot be awaited.
    pub async fn pre_request(
        &self,
        context: &HookContext<'_>,
        bounds: &HookBounds<'_>,
        mut request: Arc<ChatRequest>,
    ) -> Result<Arc<ChatRequest>, HookStop> {
        for hook in self.each() {
            let verdict = self.ask(hook, bounds, async { hook.pre_request(context, &request).await });
            match verdict.await? {
                Some(RequestVerdict::Replace(other)) => request = other,
                Some(RequestVerdict::Block(reason)) => return Err(HookStop::Blocked(reason)),
                Some(RequestVerdict::Continue) | None => {}
            }
        }
        Ok(request)
    }

    /// Notifies the hooks that an attempt succeeded.
    pub async fn post_request(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) {
        for hook in self.each() {
            self.notify(hook, bounds, async { hook.post_request(context).await })
                .await;
        }
    }

    /// Notifies the hooks that an attempt failed.
    pub async fn on_error(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) {
        for hook in self.each() {
            self.notify(hook, bounds, async { hook.on_error(context).await }).await;
        }
    }

    /// Notifies the hooks that another attempt follows.
    pub async fn on_retry(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) {
        for hook in self.each() {
            self.notify(hook, bounds, async { hook.on_retry(context).await }).await;
        }
    }

    /// Asks the hooks about a tool call and returns the one to run.
    ///
    /// # Errors
    /// [`HookStop`] of the first hook that blocks the call, or whose verdict cannot be awaited. The reason is for the model.
    pub async fn pre_tool(
        &self,
        context: &HookContext<'_>,
        bounds: &HookBounds<'_>,
        mut call: Arc<ToolCall>,
    ) -> Result<Arc<ToolCall>, HookStop> {
        for hook in self.each() {
            let verdict = self.ask(hook, bounds, async { hook.pre_tool(context, &call).await });
            match verdict.await? {
                Some(ToolVerdict::Replace(arguments)) => match &mut Arc::make_mut(&mut call).input {
                    CallInput::Arguments(raw) => *raw = arguments.into(),
                    _ => tracing::warn!(
                        hook = hook.name(),
                        tool = call.name,
                        "ignored replaced arguments: the input of this tool is text"
                    ),
                },
                Some(ToolVerdict::Block(reason)) => return Err(HookStop::Blocked(reason)),
                Some(ToolVerdict::Continue) | None => {}
            }
        }
        Ok(call)
    }

    /// Asks the hooks about a tool result and returns the one to use. If a hook that fails closed could not inspect it, that is
    /// an error result.
    ///
    /// # Errors
    /// [`HookStop::Cancelled`] and [`HookStop::OutOfTime`]: some hooks have not inspected the result, so it must not be used.
    pub async fn post_tool(
        &self,
        context: &HookContext<'_>,
        bounds: &HookBounds<'_>,
        call: &ToolCall,
        mut result: ToolResult,
    ) -> Result<ToolResult, HookStop> {
        for hook in self.each() {
            let verdict = self.ask(hook, bounds, async { hook.post_tool(context, call, &result).await });
            match verdict.await {
                Ok(Some(ResultVerdict::Replace(text))) => {
                    result.content = text.into();
                    result.display = None;
                }
                Ok(Some(ResultVerdict::Continue) | None) => {}
                Err(HookStop::Blocked(reason)) => result = ToolResult::error(reason),
                Err(stop) => return Err(stop),
            }
        }
        Ok(result)
    }

    /// Notifies the hooks that a step of a plan has ended.
    pub async fn plan_step(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) {
        for hook in self.each() {
            self.notify(hook, bounds, async { hook.plan_step(context).await }).await;
        }
    }

    /// Returns plain references, because calls through the shared pointers would box each future twice.
    fn each(&self) -> impl Iterator<Item = &dyn Hook> {
        self.hooks.iter().map(|hook| &**hook)
    }

    /// Waits for the verdict of a hook. Returns `None` if the hook failed and is skipped.
    async fn ask<T>(
        &self,
        hook: &dyn Hook,
        bounds: &HookBounds<'_>,
        verdict: impl Future<Output = T> + Send,
    ) -> Result<Option<T>, HookStop> {
        let failure = tokio::select! {
            biased;
            verdict = guarded(verdict) => match verdict {
                Ok(verdict) => return Ok(Some(verdict)),
                Err(failure) => failure,
            },
            stop = bounds.stop() => {
                tracing::warn!(hook = hook.name(), ?stop, "a hook did not return a verdict before its turn was over");
                return Err(stop);
            }
            failure = self.timed_out(hook, bounds) => failure,
        };
        failure.log(hook);
        if hook.fails_closed() {
            Err(HookStop::Blocked(failure.reason()))
        } else {
            Ok(None)
        }
    }

    /// Waits for a hook that is only notified.
    async fn notify(&self, hook: &dyn Hook, bounds: &HookBounds<'_>, notified: impl Future<Output = ()> + Send) {
        let failure = tokio::select! {
            biased;
            notified = guarded(notified) => match notified {
                Ok(()) => return,
                Err(failure) => failure,
            },
            () = bounds.grace_over() => Failure::TimedOut,
            failure = self.timed_out(hook, bounds) => failure,
        };
        failure.log(hook);
    }

    /// Completes when the timeout of a hook has elapsed.
    async fn timed_out(&self, hook: &dyn Hook, bounds: &HookBounds<'_>) -> Failure {
        match hook.timeout().or(self.timeout) {
            Some(timeout) => bounds.clock.sleep(timeout).await,
            None => std::future::pending().await,
        }
        Failure::TimedOut
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.hooks.iter().map(Hook::name).collect();
        f.debug_struct("Hooks")
            .field("hooks", &names)
            .field("timeout", &self.timeout)
            .finish()
    }
}

/// The way a hook failed.
enum Failure {
    /// It panicked with this message.
    Panicked(String),
    TimedOut,
}

impl Failure {
    fn log(&self, hook: &dyn Hook) {
        let (hook, closed) = (hook.name(), hook.fails_closed());
        match self {
            Self::Panicked(message) => tracing::error!(hook, closed, message, "a hook panicked"),
            Self::TimedOut => tracing::error!(hook, closed, "a hook exceeded its timeout"),
        }
    }

    /// Returns the reason for the model or the caller. It reveals neither the name of the hook nor the panic message.
    fn reason(&self) -> String {
        let failure = match self {
            Self::Panicked(_) => "failed",
            Self::TimedOut => "took too long",
        };
        format!("A required check {failure}, so this was blocked.")
    }
}

/// Runs a hook and catches its panics.
async fn guarded<T>(hook: impl Future<Output = T> + Send) -> Result<T, Failure> {
    let output = AssertUnwindSafe(hook).catch_unwind().await;
    output.map_err(|panic| Failure::Panicked(panic_message(&*panic).to_owned()))
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
