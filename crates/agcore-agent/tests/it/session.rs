//! Sessions: history, layers, tools and permissions, busy sessions, limits, suspension, saving.

use std::{sync::Arc, time::Duration};

use agcore_agent::{
    AgentBuilder, AgentConfig, AgentErrorKind, AgentSession, AgentSpec, BusyPolicy, RuntimeBundle, SessionState,
};
use agcore_chat::{Answer, Clock, EventKind, Message, ToolCall, ToolEvent, validate_messages};
use agcore_cycle::machine::Limits;
use agcore_llm::{LlmError, LlmErrorKind, layer::retry::RetryPolicy};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{
    NoArguments, Permission, Rule, RuleState, State, SuspendingApprover, ToolContext, ToolRegistry, typed,
};
use futures_util::{FutureExt, StreamExt};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Say {
    /// The text to say.
    text: String,
}

fn tools() -> ToolRegistry {
    let tools = ToolRegistry::new();
    tools
        .register(typed("say", "Says it.", |say: Say| async move { Ok(say.text) }))
        .unwrap();
    let wipe = typed("wipe", "Deletes.", |say: Say| async move {
        Ok(format!("wiped {}", say.text))
    });
    tools.register(wipe.with_permissions([Permission::Delete])).unwrap();
    tools
}

fn builder(provider: &ScriptedProvider) -> AgentBuilder {
    AgentBuilder::new()
        .with_provider(provider.clone())
        .with_clock(ManualClock::jumping())
        .with_tools(tools())
}

fn session(bundle: &RuntimeBundle) -> AgentSession {
    bundle.session("s-1", AgentSpec::new("ada", "Be Ada."))
}

fn call(name: &str, arguments: &str) -> ScriptStep {
    ScriptStep::calls([ToolCall::function("c1", name, arguments)])
}

async fn texts(session: &AgentSession) -> Vec<String> {
    session
        .messages()
        .await
        .iter()
        .map(|message| format!("{}: {}", message.role(), message.text()))
        .collect()
}

#[tokio::test]
async fn turns_remember_earlier_turns_and_the_history_contains_no_system_prompt() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi."), ScriptStep::text("Hi again.")]);
    let bundle = builder(&provider)
        .with_config(AgentConfig::new().with_base_prompt("Base."))
        .build()
        .unwrap();
    let session = session(&bundle);
    session.turn("Hello").await.unwrap();
    session.turn("Hello again").await.unwrap();
    let sent: Vec<String> = provider.requests()[1]
        .messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert_eq!(sent, ["Base.\n\nBe Ada.", "Hello", "Hi.", "Hello again"]);
    assert_eq!(
        texts(&session).await,
        [
            "user: Hello",
            "assistant: Hi.",
            "user: Hello again",
            "assistant: Hi again."
        ]
    );
    assert_eq!(
        (session.usage().await.calls, session.usage().await.usage.total()),
        (2, Some(30))
    );
}

#[tokio::test]
async fn the_model_of_the_agent_overrides_the_one_of_the_provider() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let bundle = builder(&provider).build().unwrap();
    let spec = AgentSpec::new("ada", "").with_model("special");
    bundle.session("s", Arc::new(spec)).turn("Hello").await.unwrap();
    assert_eq!(provider.requests()[0].model, "special");
}

#[tokio::test]
async fn an_agent_cannot_call_hidden_tools() {
    let provider = ScriptedProvider::new([call("wipe", r#"{"text":"x"}"#), ScriptStep::text("Ok.")]);
    let bundle = builder(&provider)
        .with_permissions(agcore_tools::PermissionConfig::new().with_denied([]))
        .build()
        .unwrap();
    let session = bundle.session("s", AgentSpec::new("ada", "").with_tools(["say"]));
    session.turn("Go").await.unwrap();
    let offered: Vec<_> = provider.requests()[0]
        .tools
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect();
    assert_eq!(offered, ["say"]);
    let result = texts(&session).await;
    assert!(
        result[2].starts_with("tool: ") && !result[2].contains("wiped"),
        "{result:?}"
    );
}

#[tokio::test]
async fn denies_without_an_approver() {
    let provider = ScriptedProvider::new([call("wipe", r#"{"text":"x"}"#), ScriptStep::text("Ok.")]);
    let session = session(&builder(&provider).build().unwrap());
    session.turn("Go").await.unwrap();
    assert!(!texts(&session).await[2].contains("wiped"));
}

#[tokio::test]
async fn saved_state_contains_questions_history_and_usage() {
    let provider = ScriptedProvider::new([call("say", r#"{"text":"yes"}"#), ScriptStep::text("Said.")]);
    let rules = agcore_tools::PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "say"));
    let bundle = builder(&provider)
        .with_permissions(rules)
        .with_approver(SuspendingApprover)
        .build()
        .unwrap();
    let first = session(&bundle);
    let outcome = first.turn("Go").await.unwrap();
    let question = outcome.questions()[0].id.clone();
    let saved = serde_json::to_string(&first.export().await).unwrap();
    drop(first);

    let state: SessionState = serde_json::from_str(&saved).unwrap();
    let second = bundle
        .restore(state, Arc::new(AgentSpec::new("ada", "Be Ada.")))
        .unwrap();
    let outcome = second.resume([(question, Answer::approve())]).await.unwrap();
    assert_eq!(outcome.text(), "Said.");
    assert_eq!(texts(&second).await[2], "tool: yes");
    assert_eq!(second.usage().await.calls, 2);
    let newer = saved.replacen("\"version\":3", "\"version\":9", 1);
    let error = bundle
        .restore(serde_json::from_str(&newer).unwrap(), second.agent())
        .unwrap_err();
    assert!(error.to_string().contains("version 9"), "{error}");
}

#[tokio::test]
async fn a_second_turn_on_a_busy_session_is_refused_queued_or_interrupts() {
    // Refused.
    let provider = ScriptedProvider::new([ScriptStep::text("half").then_hang(), ScriptStep::text("Fine.")]);
    let session_of = |policy| {
        let config = AgentConfig::new().with_busy(policy);
        session(&builder(&provider).with_config(config).build().unwrap())
    };
    let busy = session_of(BusyPolicy::Refuse);
    let mut first = busy.turn("One").stream();
    first.next().await.unwrap();
    let error = busy.turn("Two").await.unwrap_err();
    assert!(
        error.kind() == AgentErrorKind::Busy && error.is_retryable(),
        "{error:?}"
    );
    assert!(error.to_string().contains("busy with another turn"), "{error}");
    drop(first);
    busy.turn("Three").await.unwrap();
    assert_eq!(texts(&busy).await, ["user: Three", "assistant: Fine."]);

    // Queued: the second turn runs after the first.
    provider.push(ScriptStep::text("First."));
    provider.push(ScriptStep::text("Second."));
    let queued = session_of(BusyPolicy::Queue);
    let (one, two) = tokio::join!(queued.turn("One"), queued.turn("Two"));
    assert_eq!(
        (one.unwrap().text().as_ref(), two.unwrap().text().as_ref()),
        ("First.", "Second.")
    );
    assert_eq!(texts(&queued).await.len(), 4);

    // Interrupting: the first turn is cancelled.
    provider.push(ScriptStep::text("half").then_hang());
    provider.push(ScriptStep::text("Second."));
    let rude = session_of(BusyPolicy::Interrupt);
    let mut first = rude.turn("One").stream();
    first.next().await.unwrap();
    let (one, two) = tokio::join!(first.finish(), rude.turn("Two"));
    assert!(one.unwrap_err().is_cancelled());
    assert_eq!(two.unwrap().text(), "Second.");
    assert_eq!(texts(&rude).await, ["user: Two", "assistant: Second."]);
}

#[tokio::test]
async fn a_cancelled_turn_leaves_the_session_usable() {
    let provider = ScriptedProvider::new([ScriptStep::text("half").then_hang(), ScriptStep::text("Fine.")]);
    let session = session(&builder(&provider).build().unwrap());
    let mut turn = session.turn("One").stream();
    turn.next().await.unwrap();
    session.cancel();
    assert!(turn.finish().await.unwrap_err().is_cancelled());
    session.turn("Two").await.unwrap();
    validate_messages(&session.messages().await).unwrap();
}

/// A tool that is interrupted may have had effects, also if it still returns a result in the same moment.
#[tokio::test]
async fn the_outcomes_of_tools_that_a_cancellation_interrupts_are_unknown() {
    let tools = ToolRegistry::new();
    let watches = typed(
        "watches",
        "Ends when it is cancelled.",
        |_: NoArguments, context: ToolContext| async move {
            context.cancellation().cancelled().await;
            Ok("partial")
        },
    );
    tools.register(watches).unwrap();
    let hangs = typed("hangs", "Hangs.", |_: NoArguments| {
        std::future::pending::<Result<(), _>>()
    });
    tools.register(hangs).unwrap();
    let calls = ["watches", "hangs"].map(|name| ToolCall::function(name, name, "{}"));
    let provider = ScriptedProvider::new([ScriptStep::calls(calls)]);
    let bundle = AgentBuilder::new()
        .with_provider(provider)
        .with_tools(tools)
        .build()
        .unwrap();
    let session = bundle.new_session();
    let mut turn = session.turn("Go").stream();
    let mut started = 0;
    while started < 2 {
        started += usize::from(matches!(
            turn.next().await.unwrap().kind,
            EventKind::Tool(ToolEvent::Started { .. })
        ));
    }
    // The tools run, and the turn waits for them.
    assert!(turn.next().now_or_never().is_none());
    session.cancel();
    let error = turn.finish().await.unwrap_err();
    assert_eq!(error.message(), "the turn was cancelled");
    let messages = session.messages().await;
    let results: Vec<_> = messages
        .iter()
        .filter(|message| matches!(***message, Message::Tool(_)))
        .collect();
    assert_eq!(results.len(), 2);
    for result in results {
        assert!(result.text().contains("may or may not have taken effect"), "{result:?}");
    }
}

#[tokio::test]
async fn limits_take_effect() {
    let provider = ScriptedProvider::new([
        ScriptStep::text("Hi."),
        call("say", r#"{"text":"a"}"#),
        call("say", r#"{"text":"b"}"#),
    ]);
    let config = AgentConfig::new()
        .with_max_turns(2)
        .with_limits(Limits::new().with_max_tool_turns(1));
    let session = session(&builder(&provider).with_config(config).build().unwrap());
    session.turn("One").await.unwrap();
    let error = session.turn("Two").await.unwrap_err();
    assert!(
        error.kind() == AgentErrorKind::LimitReached && error.message().contains("max_tool_turns"),
        "{error:?}"
    );
    let error = session.turn("Three").await.unwrap_err();
    assert!(
        error.kind() == AgentErrorKind::LimitReached && error.message().contains("all 2 turns"),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_ttl_of_a_session_survives_a_restart() {
    let clock = Arc::new(ManualClock::new());
    let provider = ScriptedProvider::new([ScriptStep::text("Hi.")]);
    let bundle = builder(&provider)
        .with_clock(Arc::<ManualClock>::clone(&clock) as Arc<dyn Clock>)
        .with_config(AgentConfig::new().with_session_ttl(Duration::from_secs(60)))
        .build()
        .unwrap();
    let first = session(&bundle);
    first.turn("One").await.unwrap();
    clock.advance(Duration::from_secs(40));
    let second = bundle.restore(first.export().await, first.agent()).unwrap();
    clock.advance(Duration::from_secs(20));
    for old in [first, second] {
        let error = old.turn("Two").await.unwrap_err();
        assert!(
            error.kind() == AgentErrorKind::LimitReached && error.message().contains("session_ttl"),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn retries_failed_calls_according_to_the_settings() {
    let failing = || ScriptStep::error(LlmError::new(LlmErrorKind::Server, "no"));
    let provider = ScriptedProvider::new([failing(), ScriptStep::text("Hi."), failing()]);
    session(&builder(&provider).build().unwrap()).turn("One").await.unwrap();
    let config = AgentConfig::new().with_retry(RetryPolicy::never());
    let session = session(&builder(&provider).with_config(config).build().unwrap());
    let error = session.turn("One").await.unwrap_err();
    assert_eq!(error.llm_error().unwrap().kind(), LlmErrorKind::Server);
    assert!(error.is_retryable());
}

#[tokio::test]
async fn the_builder_names_the_missing_part() {
    let error = AgentBuilder::new().build().unwrap_err();
    assert!(
        error.kind() == AgentErrorKind::InvalidConfig && error.message().contains("`provider`"),
        "{error:?}"
    );
    let config = AgentConfig::new().with_max_turns(0);
    let error = builder(&ScriptedProvider::new([]))
        .with_config(config)
        .build()
        .unwrap_err();
    assert!(
        error.kind() == AgentErrorKind::InvalidConfig && error.message().contains("`max_turns`"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_missing_tool_state_fails_before_the_model_is_called() {
    let counting = |say: Say, State(prefix): State<String>| async move { Ok(format!("{prefix}{}", say.text)) };
    let provider = ScriptedProvider::new([call("say", r#"{"text":"x"}"#), ScriptStep::text("Ok.")]);
    // Registered only after the agent was built.
    let bundle = AgentBuilder::new().with_provider(provider.clone()).build().unwrap();
    bundle.tools().register(typed("say", "Says it.", counting)).unwrap();
    let error = session(&bundle).turn("Go").await.unwrap_err();
    assert!(error.kind() == AgentErrorKind::ToolFailure, "{error:?}");
    assert!(provider.requests().is_empty());
    let builder = AgentBuilder::new().with_provider(provider.clone());
    let builder = builder.with_state("> ".to_owned());
    let bundle = builder.with_tool(typed("say", "Says it.", counting)).build().unwrap();
    let session = session(&bundle);
    session.turn("Go").await.unwrap();
    assert_eq!(texts(&session).await[2], "tool: > x");
}

#[tokio::test]
async fn a_streamed_turn_owns_what_it_needs() {
    let provider = ScriptedProvider::new([ScriptStep::text("One two.")]);
    let turn = {
        let bundle = builder(&provider).build().unwrap();
        session(&bundle).turn("Go").stream()
    };
    let events = tokio::spawn(turn.map(|event| event.agent.to_string()).collect::<Vec<_>>())
        .await
        .unwrap();
    assert!(
        events.iter().all(|agent| agent == "ada") && events.len() >= 4,
        "{events:?}"
    );
    // Nothing happens before a stream is polled.
    let bundle = builder(&provider).build().unwrap();
    drop(session(&bundle).turn("Go").stream());
    assert!(session(&bundle).messages().now_or_never().unwrap().is_empty());
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn switching_the_agent_keeps_the_history() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi."), ScriptStep::text("Bo here.")]);
    let session = session(&builder(&provider).build().unwrap());
    session.turn("One").await.unwrap();
    session.switch_agent(Arc::new(AgentSpec::new("bo", "Be Bo.")));
    session.turn("Two").await.unwrap();
    let sent: Vec<String> = provider.requests()[1]
        .messages
        .iter()
        .map(|message| message.own_text().into_owned())
        .collect();
    assert_eq!(sent, ["Be Bo.", "One", "Hi.", "Two"]);
}
