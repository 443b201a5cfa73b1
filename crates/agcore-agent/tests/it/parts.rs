//! The parts that sessions pass to tools and models: settings, layers, the actor, values of a run.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_agent::{
    AgentBuilder, AgentConfig, AgentErrorKind, AgentSession, AgentSpec, BusyPolicy, RuntimeBundle, SessionState,
    ToolSettings, agent,
};
use agcore_chat::{Actor, Answer, ChatResponse, QuestionId, ToolCall};
use agcore_llm::provider_fn;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{
    NoArguments, PermissionRules, Rule, RuleState, State, SuspendingApprover, ToolContext, ToolError, ToolOutput,
    layer::{InMemoryArtifacts, Invoke, OffloadSettings, PreparedCall, Redactor},
    typed,
};
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::sync::Notify;

fn call(name: &str) -> ScriptStep {
    calls([name])
}

fn calls<const N: usize>(names: [&str; N]) -> ScriptStep {
    let calls = names.iter().enumerate();
    ScriptStep::calls(calls.map(|(at, name)| ToolCall::function(format!("call_{at}"), *name, "{}")))
}

fn done() -> ScriptStep {
    ScriptStep::text("Done.")
}

fn asking(builder: AgentBuilder, tool: &str) -> AgentBuilder {
    builder
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, tool)))
        .with_approver(SuspendingApprover)
}

async fn results(session: &AgentSession) -> Vec<String> {
    let messages = session.messages().await;
    let results = messages.iter().filter(|message| message.role().as_str() == "tool");
    results.map(|message| message.text().into_owned()).collect()
}

async fn question(session: &AgentSession) -> QuestionId {
    session.questions().await[0].id.clone()
}

struct HidePin;

impl Redactor for HidePin {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        text.replace("1234", "****").into()
    }
}

struct Shout<S>(S);

impl<S: Invoke> Invoke for Shout<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let output = self.0.invoke(call).await?;
        let text = output.as_value().and_then(Value::as_str).unwrap_or_default();
        Ok(text.to_uppercase().into())
    }
}

#[tokio::test(start_paused = true)]
async fn tool_settings_reach_every_call() {
    let pin = || {
        typed("pin", "Returns the PIN.", |_: NoArguments| async {
            Ok("the pin is 1234")
        })
    };
    let check = async |settings: ToolSettings, expected: &str| {
        let config = AgentConfig::new().with_tools(settings);
        let model = ScriptedProvider::new([call("pin"), done(), call("pin"), done()]);
        let session = agent(model).with_tool(pin()).with_config(config).session().unwrap();
        session.turn("Go").await.unwrap();
        session.turn("Again").await.unwrap();
        let results = results(&session).await;
        assert!(
            results.len() == 2 && results.iter().all(|text| text.contains(expected)),
            "{results:?}"
        );
    };
    check(ToolSettings::new(), "the pin is 1234").await;
    check(ToolSettings::new().with_redactor(HidePin), "the pin is ****").await;
    check(ToolSettings::new().with_layer(Shout), "THE PIN IS 1234").await;
    let store = Arc::new(InMemoryArtifacts::new());
    let offload = OffloadSettings::new(store).with_threshold(4).with_preview(3);
    check(ToolSettings::new().with_offload(offload), "the").await;
}

#[tokio::test(start_paused = true)]
async fn the_default_timeout_of_calls_can_be_changed() {
    let check = async |settings: ToolSettings, expected: &str| {
        let wait = typed("wait", "Waits.", |_: NoArguments| async {
            tokio::time::sleep(Duration::from_secs(90)).await;
            Ok("waited")
        });
        let config = AgentConfig::new().with_tools(settings);
        let model = ScriptedProvider::new([call("wait"), done()]);
        let session = agent(model).with_tool(wait).with_config(config).session().unwrap();
        session.turn("Go").await.unwrap();
        let results = results(&session).await;
        assert!(results[0].contains(expected), "{results:?}");
    };
    check(ToolSettings::new(), "did not finish within 60s").await;
    check(ToolSettings::new().with_timeout(Duration::from_secs(5)), "within 5s").await;
    check(ToolSettings::new().with_timeout(Duration::from_secs(100)), "waited").await;
    check(ToolSettings::new().without_timeout(), "waited").await;
}

#[tokio::test]
async fn the_number_of_concurrent_calls_can_be_limited() {
    let running = Arc::new(Mutex::new((0_u32, 0_u32)));
    let shared = Arc::clone(&running);
    let count = typed("count", "Counts.", move |_: NoArguments| {
        let running = Arc::clone(&shared);
        async move {
            {
                let mut counts = running.lock().unwrap();
                counts.0 += 1;
                counts.1 = counts.1.max(counts.0);
            }
            tokio::task::yield_now().await;
            running.lock().unwrap().0 -= 1;
            Ok("counted")
        }
    });
    let config = AgentConfig::new().with_tools(ToolSettings::new().with_max_concurrency(2));
    let model = ScriptedProvider::new([calls(["count"; 6]), done()]);
    let session = agent(model).with_tool(count).with_config(config).session().unwrap();
    session.turn("Go").await.unwrap();
    assert_eq!(results(&session).await.len(), 6);
    assert_eq!(running.lock().unwrap().1, 2);
}

/// A tool that adds one to a value of the run, and a tool that needs approval.
fn counting(model: &ScriptedProvider) -> RuntimeBundle {
    let next = typed("next", "Counts.", |_: NoArguments, context: ToolContext| async move {
        Ok(context.run_state().update("n", |n| {
            *n = json!(n.as_u64().unwrap_or(0) + 1);
            n.clone()
        }))
    });
    let ask = typed("ask", "Asks.", |_: NoArguments| async { Ok("asked") });
    let builder = asking(agent(model.clone()), "ask");
    builder.with_tool(next).with_tool(ask).build().unwrap()
}

#[tokio::test]
async fn values_of_a_run_survive_a_suspension_and_end_with_the_turn() {
    let model = ScriptedProvider::new([call("next"), call("ask"), call("next"), done(), call("next"), done()]);
    let bundle = counting(&model);
    let session = bundle.new_session();
    session.turn("Go").await.unwrap();
    let saved = serde_json::to_string(&session.export().await).unwrap();

    let session = bundle
        .restore(serde_json::from_str(&saved).unwrap(), bundle.agent().clone())
        .unwrap();
    session
        .resume([(question(&session).await, Answer::approve())])
        .await
        .unwrap();
    assert_eq!(results(&session).await, ["1", "asked", "2"]);

    session.turn("Again").await.unwrap();
    assert_eq!(
        results(&session).await.last().unwrap(),
        "1",
        "another turn starts without values"
    );
    let saved = serde_json::to_value(session.export().await).unwrap();
    assert_eq!(saved.get("run_state"), None);
}

#[tokio::test]
async fn tools_and_calls_of_the_model_know_the_actor() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let calls = Arc::clone(&seen);
    let model = provider_fn(move |call| {
        calls.lock().unwrap().push(call.actor().to_string());
        let results = call
            .request
            .messages
            .iter()
            .filter(|message| message.role().as_str() == "tool")
            .count();
        let call = ToolCall::function("call_1", "whoami", "{}");
        let reply = if results == 0 {
            ChatResponse::from_calls([call])
        } else {
            ChatResponse::from_text("Done.")
        };
        async move { Ok(reply) }
    });
    let whoami = typed(
        "whoami",
        "Returns the user.",
        |_: NoArguments, context: ToolContext| async move { Ok(context.actor().to_string()) },
    );
    let bundle = agent(model).with_tool(whoami).build().unwrap();

    let session = bundle
        .new_session()
        .with_actor(Actor::new("acme", "ann").with_line("support"));
    session.turn("Go").await.unwrap();
    assert_eq!(results(&session).await, ["acme/ann (support)"]);
    assert_eq!(*seen.lock().unwrap(), ["acme/ann (support)", "acme/ann (support)"]);

    // The owner is saved with the session.
    let saved = session.export().await;
    assert_eq!(saved.actor(), &*session.actor());
    let restored = bundle.restore(saved, bundle.agent().clone()).unwrap();
    assert_eq!(restored.actor(), session.actor());

    let anonymous = bundle.new_session();
    anonymous.turn("Go").await.unwrap();
    assert_eq!(results(&anonymous).await, ["local/local"]);
}

fn saved(version: u32, changes: &[(&str, Value)]) -> SessionState {
    let session = agent(ScriptedProvider::new([])).session().unwrap();
    let state = session.export().now_or_never().unwrap();
    let mut state = serde_json::to_value(state).unwrap();
    state["version"] = version.into();
    for (name, value) in changes {
        match value {
            Value::Null => drop(state.as_object_mut().unwrap().remove(*name)),
            value => state[*name] = value.clone(),
        }
    }
    serde_json::from_value(state).unwrap()
}

#[tokio::test]
async fn older_sessions_are_restored_and_newer_or_damaged_ones_are_not() {
    let bundle = agent(ScriptedProvider::new([])).build().unwrap();
    let restore = |state| bundle.restore(state, bundle.agent().clone());
    let old = restore(saved(1, &[("actor", Value::Null)])).unwrap();
    assert_eq!(*old.actor(), Actor::local());

    for (state, reason) in [
        (
            saved(4, &[]),
            "it has version 4, but this program reads versions 1 to 3",
        ),
        (saved(0, &[]), "it has version 0"),
        (saved(2, &[("made_ms", u64::MAX.into())]), "`made_ms` is in the future"),
        (
            saved(2, &[("made_ms", 9_999_999_999_999_u64.into())]),
            "`made_ms` is in the future",
        ),
    ] {
        let error = restore(state).unwrap_err();
        assert_eq!(error.kind(), AgentErrorKind::InvalidState);
        assert!(error.message().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn an_agent_with_an_unknown_tool_fails_before_the_model_is_called() {
    let pay = typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") });
    let model = ScriptedProvider::new([done()]);
    let bundle = agent(model.clone()).with_tool(pay).build().unwrap();
    let session = bundle.session("s", AgentSpec::new("clerk", "").with_tools(["payy"]));
    let error = session.turn("Go").await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
    assert_eq!(
        error.to_string(),
        "the agent `clerk` uses the tool `payy`, which is not registered; did you mean pay?"
    );
    assert!(model.requests().is_empty());
    // The session stays usable: the tool may be registered later.
    let late = typed("payy", "Pays twice.", |_: NoArguments| async { Ok("paid") });
    bundle.tools().register(late).unwrap();
    session.turn("Go").await.unwrap();
}

#[tokio::test]
async fn a_missing_state_is_reported_when_the_agent_is_built() {
    let tool = || {
        typed("say", "Says it.", |_: NoArguments, text: State<String>| async move {
            Ok(text.to_string())
        })
    };
    let error = agent(ScriptedProvider::new([])).with_tool(tool()).build().unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
    assert_eq!(
        error.to_string(),
        "the agent cannot be built: say cannot be used: it needs a value of type alloc::string::String that was not set; \
         add one with `with_state` when you build the agent or the tool context"
    );
    let builder = agent(ScriptedProvider::new([])).with_tool(tool());
    assert!(builder.with_state("hello".to_owned()).build().is_ok());
}

#[tokio::test]
async fn a_suspended_turn_can_be_given_up() {
    let model = ScriptedProvider::new([call("ask"), done()]);
    let bundle = counting(&model);
    let session = bundle.new_session();
    assert!(!session.is_suspended().await && !session.abandon_turn().await.unwrap());
    session.turn("Go").await.unwrap();
    assert!(session.is_suspended().await);
    let open = question(&session).await;

    assert!(session.abandon_turn().await.unwrap());
    assert!(!session.is_suspended().await && session.questions().await.is_empty());
    let results = results(&session).await;
    assert!(results.len() == 1 && !results[0].contains("unknown"), "{results:?}");
    let error = session.resume([(open, Answer::approve())]).await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidInput);
    session.turn("Go on").await.unwrap();
    model.assert_done();
}

#[tokio::test]
async fn an_answer_given_twice_does_not_interrupt_the_call_that_it_started() {
    let (started, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begins, end) = (Arc::clone(&started), Arc::clone(&go_on));
    let pay = typed("pay", "Pays.", move |_: NoArguments| {
        let (begins, end) = (Arc::clone(&begins), Arc::clone(&end));
        async move {
            begins.notify_one();
            end.notified().await;
            Ok("paid")
        }
    });
    let model = ScriptedProvider::new([call("pay"), done()]);
    let config = AgentConfig::new().with_busy(BusyPolicy::Interrupt);
    let builder = asking(agent(model).with_tool(pay).with_config(config), "pay");
    let session = builder.session().unwrap();
    session.turn("Go").await.unwrap();
    let id = question(&session).await;

    let first = tokio::spawn(session.resume([(id.clone(), Answer::approve())]).run());
    started.notified().await;
    let mut second = Box::pin(session.resume([(id, Answer::approve())]).run());
    assert!((&mut second).now_or_never().is_none(), "it waits for the first one");
    go_on.notify_one();
    assert_eq!(first.await.unwrap().unwrap().text(), "Done.");
    drop(second.await);
    assert_eq!(results(&session).await, ["paid"]);
}

#[test]
fn debug_output_is_the_sentence() {
    let error = AgentBuilder::new().build().unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(format!("{error:#?}").starts_with("AgentError {"));
}
