//! Concurrent turns and readers of a session, and sessions that outlive a process.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use agcore_agent::{
    AgentBuilder, AgentConfig, AgentError, AgentErrorKind, AgentSession, AgentSpec, AgentTurn, BusyPolicy,
    RuntimeBundle, SessionState,
};
use agcore_chat::{Answer, Clock, ToolCall};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{PermissionRules, Rule, RuleState, SuspendingApprover, ToolRegistry, typed};
use async_trait::async_trait;
use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;

const fn send<T: Send>() {}
const fn shared<T: Send + Sync + std::fmt::Debug>() {}

const _: () = {
    shared::<AgentBuilder>();
    shared::<AgentConfig>();
    shared::<AgentError>();
    shared::<AgentSession>();
    shared::<AgentSpec>();
    shared::<RuntimeBundle>();
    shared::<SessionState>();
    send::<AgentTurn>();
};

fn session(provider: &ScriptedProvider, policy: BusyPolicy) -> AgentSession {
    let bundle = AgentBuilder::new().with_provider(provider.clone());
    let bundle = bundle
        .with_config(AgentConfig::new().with_busy(policy))
        .build()
        .unwrap();
    bundle.session("s-1", AgentSpec::new("ada", "Be Ada."))
}

#[tokio::test]
async fn readers_do_not_make_a_session_busy() {
    let provider = ScriptedProvider::new([ScriptStep::text("half").then_hang(), ScriptStep::text("Fine.")]);
    let session = session(&provider, BusyPolicy::Refuse);
    let mut turn = session.turn("One").stream();
    turn.next().await.unwrap();
    let mut look = Box::pin(session.usage());
    assert!((&mut look).now_or_never().is_none(), "it waits for the turn");
    drop(turn);
    // The reader is next in line, but no turn runs.
    let (outcome, usage) = tokio::join!(session.turn("Two"), look);
    assert_eq!(
        (outcome.unwrap().text().as_ref(), usage.calls),
        ("Fine.", 1),
        "the dropped call had been sent"
    );
}

#[tokio::test]
async fn the_newest_turn_interrupts_all_before_it() {
    let provider = ScriptedProvider::new([ScriptStep::text("half").then_hang(), ScriptStep::text("Third.")]);
    let session = session(&provider, BusyPolicy::Interrupt);
    let mut first = session.turn("One").stream();
    first.next().await.unwrap();
    let (one, two, three) = tokio::join!(first.finish(), session.turn("Two"), session.turn("Three"));
    assert!(one.unwrap_err().is_cancelled());
    assert!(two.unwrap_err().is_cancelled(), "it was interrupted before it ran");
    assert_eq!(three.unwrap().text(), "Third.");
    provider.assert_done();
}

/// The clock of a process that started later than another one.
#[derive(Debug)]
struct LaterClock {
    own: ManualClock,
    later: Duration,
}

#[async_trait]
impl Clock for LaterClock {
    fn now(&self) -> SystemTime {
        self.own.now() + self.later
    }
    fn monotonic(&self) -> Duration {
        self.own.monotonic()
    }
    async fn sleep(&self, duration: Duration) {
        self.own.sleep(duration).await;
    }
}

#[tokio::test]
async fn a_session_ages_while_it_is_only_stored() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hi."), ScriptStep::text("Hi.")]);
    let bundle = |clock: Arc<dyn Clock>| {
        let config = AgentConfig::new().with_session_ttl(Duration::from_secs(60));
        let builder = AgentBuilder::new().with_provider(provider.clone()).with_clock(clock);
        builder.with_config(config).build().unwrap()
    };
    let clock = Arc::new(ManualClock::new());
    let first = bundle(Arc::clone(&clock) as _).session("s", AgentSpec::new("ada", ""));
    first.turn("One").await.unwrap();
    clock.advance(Duration::from_secs(40));
    let saved = serde_json::to_string(&first.export().await).unwrap();

    let clock = Arc::new(LaterClock {
        own: ManualClock::new(),
        later: Duration::from_secs(50),
    });
    let second = bundle(Arc::clone(&clock) as _)
        .restore(serde_json::from_str(&saved).unwrap(), first.agent())
        .unwrap();
    second.turn("Two").await.unwrap();
    clock.own.advance(Duration::from_secs(10));
    let error = second.turn("Three").await.unwrap_err();
    assert!(
        error.kind() == AgentErrorKind::LimitReached && error.message().contains("session_ttl"),
        "{error:?}"
    );
}

#[derive(Deserialize, JsonSchema)]
struct Say {
    text: String,
}

#[tokio::test]
async fn another_agent_takes_over_with_the_next_turn() {
    let calls = ScriptStep::calls([ToolCall::function("c", "say", r#"{"text":"yes"}"#)]);
    let provider = ScriptedProvider::new([calls, ScriptStep::text("Said."), ScriptStep::text("Bo here.")]);
    let tools = ToolRegistry::new();
    tools
        .register(typed("say", "Says it.", async |say: Say| Ok(say.text)))
        .unwrap();
    let bundle = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_tools(tools)
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "say")))
        .with_approver(SuspendingApprover)
        .build()
        .unwrap();
    let session = bundle.session("s", AgentSpec::new("ada", "Be Ada."));
    let outcome = session.turn("Go").await.unwrap();
    // Bo has no tools: the waiting call belongs to Ada.
    session.switch_agent(Arc::new(AgentSpec::new("bo", "Be Bo.").with_tools::<&str>([])));
    assert_eq!(session.agent().name(), "bo");
    session
        .resume([(outcome.questions()[0].id.clone(), Answer::approve())])
        .await
        .unwrap();
    session.turn("Who?").await.unwrap();
    let prompts: Vec<_> = provider
        .requests()
        .iter()
        .map(|request| request.messages[0].text().into_owned())
        .collect();
    assert_eq!(prompts, ["Be Ada.", "Be Ada.", "Be Bo."]);
    assert_eq!(session.messages().await[2].text(), "yes");
}
