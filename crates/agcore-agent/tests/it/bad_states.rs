//! Suspended states of older versions, damaged ones, and sub-agents that never end.
#![allow(clippy::print_stdout, reason = "a random test reports its seed")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore_agent::{AgentBuilder, AgentConfig, AgentSpec, RuntimeBundle, SessionState, SubAgent};
use agcore_chat::{Answer, ChatResponse, Role, ToolCall};
use agcore_llm::{LlmProvider, provider_fn};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};
use serde_json::{Value, json};

use crate::stored::{ada, call};

/// Returns a bundle whose tool `pay` needs an approval, and the number of payments.
fn payments(model: &ScriptedProvider) -> (RuntimeBundle, Arc<AtomicUsize>) {
    let paid = Arc::new(AtomicUsize::new(0));
    let payments = Arc::clone(&paid);
    let pay = typed("pay", "Pays.", move |_: NoArguments| {
        payments.fetch_add(1, Ordering::Relaxed);
        async { Ok("paid") }
    });
    let bundle = AgentBuilder::new()
        .with_provider(model.clone())
        .with_clock(ManualClock::jumping())
        .with_tool(pay)
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
        .build()
        .unwrap();
    (bundle, paid)
}

/// Returns the saved state of a turn that waits for the approval of a payment.
async fn suspended() -> String {
    let model = ScriptedProvider::new([ScriptStep::calls([call("p", "pay")])]);
    let session = payments(&model).0.session("s", ada());
    assert_eq!(session.turn("Pay.").await.unwrap().questions().len(), 1);
    serde_json::to_string(&session.export().await).unwrap()
}

/// Approves everything that a saved state waits for. Returns the number of payments, and how it went.
async fn approve(state: SessionState) -> (usize, Result<String, String>) {
    let model = ScriptedProvider::new((0..4).map(|_| ScriptStep::text("It is paid.")));
    let (bundle, paid) = payments(&model);
    let result = async {
        let session = bundle.restore(state, ada())?;
        let questions = session.questions().await;
        let answers = questions
            .iter()
            .map(|question| (question.id.clone(), Answer::approve()));
        let outcome = session.resume(answers.collect::<Vec<_>>()).await?;
        Ok::<String, agcore_agent::AgentError>(outcome.text().into_owned())
    };
    let result = result.await.map_err(|error| error.to_string());
    (paid.load(Ordering::Relaxed), result)
}

#[tokio::test]
async fn a_suspended_turn_of_an_older_version_continues() {
    let saved = suspended().await;
    for version in 1..=3 {
        let mut state: Value = serde_json::from_str(&saved).unwrap();
        state["version"] = version.into();
        if version < 2 {
            // What that version did not write.
            state.as_object_mut().unwrap().remove("actor");
            state.as_object_mut().unwrap().remove("run_state");
        }
        let (paid, result) = approve(serde_json::from_value(state).unwrap()).await;
        assert_eq!((paid, result.as_deref()), (1, Ok("It is paid.")), "version {version}");
    }
}

#[tokio::test]
async fn a_saved_state_that_is_cut_is_an_error() {
    let saved = suspended().await;
    for end in (0..saved.len()).filter(|end| saved.is_char_boundary(*end)) {
        assert!(serde_json::from_str::<SessionState>(&saved[..end]).is_err(), "{end}");
    }
}

/// Any content of a state leads to an error or a session, and nothing is paid twice.
#[tokio::test]
async fn a_saved_state_that_was_changed_does_no_harm() {
    let saved = suspended().await;
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut refused, mut resumed) = (0, 0);
    for _ in 0..400 {
        let mut state: Value = serde_json::from_str(&saved).unwrap();
        change(&mut state, &mut random);
        let Ok(state) = serde_json::from_value::<SessionState>(state) else {
            refused += 1;
            continue;
        };
        let (paid, result) = approve(state).await;
        assert!(paid <= 1, "seed {seed}: {paid} payments");
        match result {
            Ok(_) => resumed += 1,
            Err(_) => refused += 1,
        }
    }
    // Some changes matter, and some do not. How many do is up to the seed.
    assert!(
        refused > 0 && resumed > 0,
        "seed {seed}: {refused} refused, {resumed} resumed"
    );
}

/// Replaces, removes or doubles a random part of a value.
fn change(value: &mut Value, random: &mut fastrand::Rng) {
    let deeper = random.u8(..4) > 0;
    match value {
        Value::Object(members) if deeper && !members.is_empty() => {
            let index = random.usize(..members.len());
            let name = members.keys().nth(index).unwrap().clone();
            if random.u8(..6) == 0 {
                members.remove(&name);
            } else {
                change(&mut members[&name], random);
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let index = random.usize(..items.len());
            if random.u8(..6) == 0 {
                let doubled = items[index].clone();
                items.push(doubled);
            } else {
                change(&mut items[index], random);
            }
        }
        _ => {
            let others = [
                json!(null),
                json!(0),
                json!(u64::MAX),
                json!("x"),
                json!([]),
                json!({}),
                json!(true),
            ];
            *value = others[random.usize(..others.len())].clone();
        }
    }
}

/// Returns an answer of the boss about what a sub-agent with this model returned.
async fn ask(model: impl LlmProvider + 'static, sub_agent: SubAgent) -> String {
    let session = AgentBuilder::new()
        .with_provider(model)
        .with_clock(ManualClock::jumping())
        .with_agent(AgentSpec::new("boss", "You lead."))
        .with_tool(typed("look", "Looks.", |_: NoArguments| async { Ok("nothing") }))
        .with_tool(sub_agent)
        .with_config(AgentConfig::new())
        .session()
        .unwrap();
    session.turn("Go.").await.unwrap().text().into_owned()
}

/// Answers the boss with the result of its call, and lets the sub-agent give other replies.
fn boss(sub_agent: impl Fn() -> ScriptedReply + Send + Sync + 'static) -> impl LlmProvider {
    provider_fn(move |request| {
        let messages = &request.request.messages;
        let is_boss = messages[0].text().starts_with("You lead.");
        let last = messages.last().unwrap();
        let reply = match (is_boss, last.role() == Role::Tool) {
            (true, true) => ScriptedReply::Text(last.text().into_owned()),
            (true, false) => ScriptedReply::Call(ToolCall::function("c", "ask_helper", r#"{"task": "Help."}"#)),
            (false, _) => sub_agent(),
        };
        async move {
            let mut response = ChatResponse::from_text("");
            response.choices[0].message = match reply {
                ScriptedReply::Text(text) => agcore_chat::AssistantMessage::new(text),
                ScriptedReply::Call(call) => agcore_chat::AssistantMessage::default().with_call(call),
                ScriptedReply::Never => std::future::pending().await,
            };
            Ok(response)
        }
    })
}

enum ScriptedReply {
    Text(String),
    Call(ToolCall),
    Never,
}

#[tokio::test]
async fn a_sub_agent_that_never_ends_is_stopped() {
    let helper = || SubAgent::new(AgentSpec::new("helper", "You help."), "Helps.");
    let hangs = ask(
        boss(|| ScriptedReply::Never),
        helper().with_timeout(Duration::from_secs(30)),
    )
    .await;
    assert!(hangs.contains("did not finish within 30s and was stopped"), "{hangs}");

    // It calls tools forever.
    let calls = AtomicUsize::new(0);
    let busy = boss(move || {
        let number = calls.fetch_add(1, Ordering::Relaxed);
        ScriptedReply::Call(ToolCall::function(format!("l{number}"), "look", "{}"))
    });
    let stopped = ask(busy, helper().with_max_tool_turns(3)).await;
    assert!(
        stopped.contains("the agent `helper` reached a limit before it had an answer"),
        "{stopped}"
    );
}
