//! Hooks: the effects and inputs of each point, hooks that panic, and hooks that hang.

mod failing;
mod hanging;
mod points;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{ChatRequest, Message, ToolCall, ToolResult};
use agcore_cycle::{Hook, HookContext, Hooks, LlmCycle, RequestVerdict, ResultVerdict, ToolVerdict, TurnVerdict};
use agcore_llm::{
    LlmError, LlmErrorKind,
    layer::retry::{Retry, RetryPolicy},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use async_trait::async_trait;
use tokio::sync::Notify;

use crate::support::call;

/// The action of a [`TestHook`] at its point.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Action {
    #[default]
    Nothing,
    Block,
    Replace,
    Panic,
    Hang,
}

/// Records every point with its name, and acts at one of them.
#[derive(Clone, Default)]
struct TestHook {
    name: &'static str,
    at: &'static str,
    action: Action,
    closed: bool,
    timeout: Option<Duration>,
    log: Arc<Mutex<Vec<String>>>,
    hangs: Arc<Notify>,
}

impl TestHook {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    fn at(mut self, point: &'static str, action: Action) -> Self {
        (self.at, self.action) = (point, action);
        self
    }

    fn closed(mut self) -> Self {
        self.closed = true;
        self
    }

    /// Creates another hook with the same log.
    fn with_same_log(&self, name: &'static str) -> Self {
        Self {
            log: Arc::clone(&self.log),
            ..Self::new(name)
        }
    }

    fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    async fn point(&self, point: &str, seen: &str) -> Action {
        let name = self.name;
        self.log
            .lock()
            .unwrap()
            .push(format!("{name} {point} {seen}").trim().to_owned());
        if self.at != point {
            return Action::Nothing;
        }
        match self.action {
            Action::Panic => panic!("on purpose"),
            Action::Hang => {
                self.hangs.notify_one();
                std::future::pending().await
            }
            action => action,
        }
    }

    fn blocked(&self) -> String {
        format!("blocked by {}", self.name)
    }
}

#[async_trait]
impl Hook for TestHook {
    fn name(&self) -> &str {
        self.name
    }

    fn fails_closed(&self) -> bool {
        self.closed
    }

    fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    async fn turn_start(&self, context: &HookContext<'_>) -> TurnVerdict {
        let input: Vec<_> = context.input.iter().map(|message| message.text()).collect();
        match self.point("turn_start", &input.join("+")).await {
            Action::Block => TurnVerdict::Block(self.blocked()),
            _ => TurnVerdict::Continue,
        }
    }

    async fn turn_end(&self, context: &HookContext<'_>) {
        let response = context.response.map(|response| response.text().into_owned());
        let error = context.error.map(|fault| fault.message.clone());
        self.point("turn_end", &response.or(error).unwrap_or_default()).await;
    }

    async fn pre_request(&self, context: &HookContext<'_>, request: &Arc<ChatRequest>) -> RequestVerdict {
        let last = request.messages.last().unwrap();
        let seen = format!("{:?} {}", context.purpose.unwrap(), last.text());
        match self.point("pre_request", &seen).await {
            Action::Block => RequestVerdict::Block(self.blocked()),
            Action::Replace => {
                let mut other = ChatRequest::clone(request);
                *other.messages.last_mut().unwrap() = Arc::new(Message::user(format!("[{}]", last.text())));
                RequestVerdict::Replace(Arc::new(other))
            }
            _ => RequestVerdict::Continue,
        }
    }

    async fn post_request(&self, context: &HookContext<'_>) {
        let sent = context.request.unwrap().messages.last().unwrap().text();
        let seen = format!(
            "{:?} {sent} -> {}",
            context.purpose.unwrap(),
            context.response.unwrap().text()
        );
        self.point("post_request", &seen).await;
    }

    async fn on_error(&self, context: &HookContext<'_>) {
        self.point("on_error", &context.error.unwrap().message).await;
    }

    async fn on_retry(&self, context: &HookContext<'_>) {
        self.point("on_retry", &context.attempt.to_string()).await;
    }

    async fn pre_tool(&self, _: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
        match self.point("pre_tool", call.raw_input()).await {
            Action::Block => ToolVerdict::Block(self.blocked()),
            Action::Replace => {
                let mut arguments = call.arguments().cloned().unwrap_or_default();
                arguments.insert("by".to_owned(), self.name.into());
                ToolVerdict::Replace(arguments)
            }
            _ => ToolVerdict::Continue,
        }
    }

    async fn post_tool(&self, _: &HookContext<'_>, call: &ToolCall, result: &ToolResult) -> ResultVerdict {
        let seen = format!("{} -> {}", call.raw_input(), result.content.text());
        match self.point("post_tool", &seen).await {
            Action::Replace => ResultVerdict::Replace(format!("[{}]", result.content.text())),
            _ => ResultVerdict::Continue,
        }
    }

    async fn plan_step(&self, context: &HookContext<'_>) {
        let seen = format!("{:?} {:?}", context.plan_step.unwrap(), context.plan_step_end.unwrap());
        self.point("plan_step", &seen).await;
    }
}

fn hooks(test_hooks: impl IntoIterator<Item = TestHook>) -> Hooks {
    Hooks::new(test_hooks.into_iter().map(|hook| Arc::new(hook) as Arc<dyn Hook>))
}

fn jumping() -> Arc<ManualClock> {
    Arc::new(ManualClock::jumping())
}

/// Creates a cycle that reaches all points: the first attempt fails and is retried, the second returns a call, the third a text.
fn cycle_of_all_points(clock: &Arc<ManualClock>, hooks: Hooks) -> (LlmCycle, ScriptedProvider) {
    let provider = ScriptedProvider::new([
        ScriptStep::error(LlmError::new(LlmErrorKind::Server, "no")),
        ScriptStep::calls([call("a", "add", "{}")]),
        ScriptStep::text("Done."),
    ]);
    // Attempts have a separate clock, so that the clock of the cycle shows only the waits for hooks.
    let retry = Retry::new(
        provider.clone(),
        RetryPolicy::new(),
        Arc::new(ManualClock::jumping()),
        Arc::new(|| 0.0),
    );
    let cycle = LlmCycle::new(Arc::new(retry), Arc::clone(clock));
    (cycle.with_hooks(hooks), provider)
}
