//! [`Hooks`]: the registered hooks, run one after the other.

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
#[derive(Clone, Default)]
pub struct Hooks {
    hooks: Arc<[Arc<dyn Hook>]>,
    timeout: Option<Duration>,
}

impl Hooks {
    /// These hooks.
    pub fn new(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Self {
        Self {
            hooks: hooks.into_iter().collect(),
            timeout: None,
        }
    }

    /// Sets how long each hook may take at each point where it does not [say](Hook::timeout) so itself. Without it, a hook
    /// is ended by its turn alone.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Asks whether a turn may begin.
    ///
    /// # Errors
    /// What the first hook says that does not let it.
    pub async fn turn_start(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) -> Result<(), HookStop> {
        for hook in self.each() {
            let verdict = self.ask(hook, bounds, async { hook.turn_start(context).await });
            if let Some(TurnVerdict::Block(reason)) = verdict.await? {
                return Err(HookStop::Blocked(reason));
            }
        }
        Ok(())
    }

    /// Tells that a turn has ended.
    pub async fn turn_end(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) {
        for hook in self.each() {
            self.tell(hook, bounds, async { hook.turn_end(context).await }).await;
        }
    }

    /// Gives the request that shall be sent.
    ///
    /// # Errors
    /// What the first hook says that does not let it.
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

    /// Tells that an attempt was answered.
    pub async fn post_request(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) {
        for hook in self.each() {
            self.tell(hook, bounds, async { hook.post_request(context).await })
                .await;
        }
    }

    /// Tells that an attempt failed.
    pub async fn on_error(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) {
        for hook in self.each() {
            self.tell(hook, bounds, async { hook.on_error(context).await }).await;
        }
    }

    /// Tells that another attempt will be made.
    pub async fn on_retry(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) {
        for hook in self.each() {
            self.tell(hook, bounds, async { hook.on_retry(context).await }).await;
        }
    }

    /// Gives the call that shall run.
    ///
    /// # Errors
    /// What the first hook says that does not let it; the reason is for the model.
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
                        "a tool that takes text got no arguments"
                    ),
                },
                Some(ToolVerdict::Block(reason)) => return Err(HookStop::Blocked(reason)),
                Some(ToolVerdict::Continue) | None => {}
            }
        }
        Ok(call)
    }

    /// Gives the result that shall be told; an error where a hook that fails closed could not see it.
    ///
    /// # Errors
    /// [`HookStop::Cancelled`] and [`HookStop::OutOfTime`]: the result was not seen by all, and nobody may tell it.
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

    /// Tells that a step of a plan is over.
    pub async fn plan_step(&self, context: &HookContext<'_>, bounds: &HookBounds<'_>) {
        for hook in self.each() {
            self.tell(hook, bounds, async { hook.plan_step(context).await }).await;
        }
    }

    /// What a hook says; nothing when it failed and may be passed over.
    /// Not the shared pointers: asked through one, a hook's future would be boxed twice.
    fn each(&self) -> impl Iterator<Item = &dyn Hook> {
        self.hooks.iter().map(|hook| &**hook)
    }

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
                tracing::warn!(hook = hook.name(), ?stop, "a hook did not answer before its turn was over");
                return Err(stop);
            }
            failure = self.too_long(hook, bounds) => failure,
        };
        failure.log(hook);
        if hook.fails_closed() {
            Err(HookStop::Blocked(failure.reason()))
        } else {
            Ok(None)
        }
    }

    /// Lets a hook know.
    async fn tell(&self, hook: &dyn Hook, bounds: &HookBounds<'_>, told: impl Future<Output = ()> + Send) {
        let failure = tokio::select! {
            biased;
            told = guarded(told) => match told {
                Ok(()) => return,
                Err(failure) => failure,
            },
            () = bounds.grace_over() => Failure::TooLong,
            failure = self.too_long(hook, bounds) => failure,
        };
        failure.log(hook);
    }

    /// Ends when the hook has had its time.
    async fn too_long(&self, hook: &dyn Hook, bounds: &HookBounds<'_>) -> Failure {
        match hook.timeout().or(self.timeout) {
            Some(timeout) => bounds.clock.sleep(timeout).await,
            None => std::future::pending().await,
        }
        Failure::TooLong
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

/// How a hook came to nothing.
enum Failure {
    /// With this message.
    Panicked(String),
    TooLong,
}

impl Failure {
    fn log(&self, hook: &dyn Hook) {
        let (hook, closed) = (hook.name(), hook.fails_closed());
        match self {
            Self::Panicked(message) => tracing::error!(hook, closed, message, "a hook panicked"),
            Self::TooLong => tracing::error!(hook, closed, "a hook took too long and was ended"),
        }
    }

    /// For whoever is blocked by it: a model, a caller. Neither the hook's name nor its message is their business.
    fn reason(&self) -> String {
        let how = match self {
            Self::Panicked(_) => "failed",
            Self::TooLong => "took too long",
        };
        format!("A check {how}, and nothing may pass without it.")
    }
}

/// What a hook says, unless it panics.
async fn guarded<T>(said: impl Future<Output = T> + Send) -> Result<T, Failure> {
    let said = AssertUnwindSafe(said).catch_unwind().await;
    said.map_err(|panic| Failure::Panicked(panic_message(&*panic).to_owned()))
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
