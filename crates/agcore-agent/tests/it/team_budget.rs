//! The spending of sub-agents before their turn was suspended or interrupted counts when it continues.

use std::sync::Arc;

use agcore_agent::{
    AgentBuilder, AgentConfig, AgentSession, AgentSpec, RuntimeBundle, SubAgent, TeamLimits, session_spent,
};
use agcore_chat::{Answer, Question, ToolCall};
use agcore_cycle::{Budget, SharedBudget, TurnOutcome, budget::LimitedSource};
use agcore_session::{InMemorySessionStore, SessionStore};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};

use crate::stored::{call, store};

fn ask(id: &str, agent: &str) -> ToolCall {
    ToolCall::function(id, format!("ask_{agent}"), r#"{"task": "Look into it."}"#)
}

fn boss() -> AgentSpec {
    AgentSpec::new("boss", "You lead.")
}

/// Returns a team whose sub-agents may make two model calls together in a turn. One asks another one.
fn team(model: &ScriptedProvider, store: Option<Arc<InMemorySessionStore>>) -> RuntimeBundle {
    let limits = TeamLimits::new().with_budget(Budget::new().with_model_calls(2));
    let builder = AgentBuilder::new()
        .with_provider(model.clone())
        .with_clock(ManualClock::jumping())
        .with_agent(boss())
        .with_tool(typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }))
        .with_tool(SubAgent::new(AgentSpec::new("clerk", "You pay."), "Pays bills."))
        .with_tool(SubAgent::new(AgentSpec::new("lead", "You ask the clerk."), "Leads."))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
        .with_config(AgentConfig::new().with_team(limits));
    match store {
        Some(store) => builder
            .with_session_store(store as Arc<dyn SessionStore>)
            .build()
            .unwrap(),
        None => builder.build().unwrap(),
    }
}

/// The clerk asks for an approval with its first call of the model, and answers with its second. A third call does not fit.
fn steps() -> [ScriptStep; 4] {
    [
        ScriptStep::calls([ask("c", "clerk")]),
        ScriptStep::calls([call("p", "pay")]),
        ScriptStep::calls([call("q", "pay")]),
        ScriptStep::text("The clerk has no budget."),
    ]
}

fn question(outcome: &TurnOutcome) -> Question {
    let [question] = outcome.questions() else {
        panic!("{outcome:?}")
    };
    question.clone()
}

async fn approve(session: &AgentSession, question: &Question) -> TurnOutcome {
    session
        .resume([(question.id.clone(), Answer::approve())])
        .await
        .unwrap()
}

/// Returns the result of the call that asked a sub-agent.
async fn result(session: &AgentSession) -> String {
    let messages = session.messages().await;
    let mut results = messages
        .iter()
        .filter(|message| message.role() == agcore_chat::Role::Tool);
    results.next_back().unwrap().text().into_owned()
}

/// Answers two questions, `reopened` before each, and checks that the third call of the model is refused.
async fn check(model: &ScriptedProvider, session: AgentSession, reopened: impl AsyncFn(AgentSession) -> AgentSession) {
    let first = question(&session.turn("Pay.").await.unwrap());
    let session = reopened(session).await;
    let second = question(&approve(&session, &first).await);
    let session = reopened(session).await;
    let outcome = approve(&session, &second).await;
    assert_eq!(outcome.text(), "The clerk has no budget.");
    let result = result(&session).await;
    assert!(result.contains("reached a limit"), "{result}");
    model.assert_done();

    // The next turn begins with the whole budget.
    for step in [
        ScriptStep::calls([ask("d", "clerk")]),
        ScriptStep::text("Nothing to pay."),
        ScriptStep::text("Fine."),
    ] {
        model.push(step);
    }
    assert_eq!(session.turn("And now?").await.unwrap().text(), "Fine.");
}

#[tokio::test]
async fn of_a_turn_that_is_suspended_in_one_process() {
    let model = ScriptedProvider::new(steps());
    let session = team(&model, None).new_session();
    check(&model, session, async |session| session).await;
}

#[tokio::test]
async fn of_a_turn_that_is_saved_and_restored() {
    let model = ScriptedProvider::new(steps());
    let bundle = team(&model, None);
    check(&model, bundle.new_session(), async |session| {
        let saved = serde_json::to_string(&session.export().await).unwrap();
        bundle.restore(serde_json::from_str(&saved).unwrap(), boss()).unwrap()
    })
    .await;
}

#[tokio::test]
async fn of_a_turn_that_is_stored() {
    let model = ScriptedProvider::new(steps());
    let bundle = team(&model, Some(store()));
    let sessions = bundle.stored_sessions().unwrap();
    let session = sessions.create("s", boss()).await.unwrap();
    check(&model, session, async |session| {
        let id = session.id().to_owned();
        drop(session);
        sessions.open(&id, boss()).await.unwrap()
    })
    .await;
}

/// The future is dropped while the lead waits for its second reply, after a sub-agent of its own has finished.
#[tokio::test]
async fn of_a_turn_that_was_interrupted_below_a_sub_agent() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ask("l", "lead")]),
        ScriptStep::calls([ask("c", "clerk")]),
        ScriptStep::text("Nothing to pay."),
        ScriptStep::hang(),
    ]);
    // Three calls of sub-agents were admitted here, and none is left for the lead in the process that continues.
    let limits =
        |calls| AgentConfig::new().with_team(TeamLimits::new().with_budget(Budget::new().with_model_calls(calls)));
    let bundle = |model: &ScriptedProvider, store: &Arc<InMemorySessionStore>, calls| {
        AgentBuilder::new()
            .with_provider(model.clone())
            .with_agent(boss())
            .with_tool(SubAgent::new(AgentSpec::new("clerk", "You pay."), "Pays bills."))
            .with_tool(SubAgent::new(AgentSpec::new("lead", "You ask."), "Leads."))
            .with_config(limits(calls))
            .with_session_store(Arc::clone(store))
            .build()
            .unwrap()
    };
    let store = store();
    let sessions = bundle(&model, &store, 3).stored_sessions().unwrap();
    let session = sessions.create("s", boss()).await.unwrap();
    let running = tokio::spawn({
        let session = session.clone();
        async move { session.turn("Go.").await }
    });
    while model.requests().len() < 4 {
        tokio::task::yield_now().await;
    }
    running.abort();
    drop(running.await);
    drop(session);

    let model = ScriptedProvider::new([ScriptStep::text("The lead has no budget.")]);
    let sessions = bundle(&model, &store, 2).stored_sessions().unwrap();
    let session = sessions.open("s", boss()).await.unwrap();
    assert!(session.is_interrupted().await);
    assert_eq!(session.resume([]).await.unwrap().text(), "The lead has no budget.");
    let result = result(&session).await;
    assert!(result.contains("reached a limit"), "{result}");
}

#[tokio::test]
async fn what_a_turn_has_spent_is_known_with_its_sub_agents() {
    let model = ScriptedProvider::new([
        ScriptStep::calls([ask("c", "clerk")]),
        ScriptStep::calls([call("p", "pay")]),
        ScriptStep::text("Paid."),
        ScriptStep::text("All bills are paid."),
        ScriptStep::text("Again."),
    ]);
    let store = store();
    // Without any budget, nothing is counted.
    let unlimited = LimitedSource::new("it", Budget::new(), Arc::new(ManualClock::jumping()));
    let bundle = team(&model, Some(Arc::clone(&store)));
    let bundle = bundle.with_shared_budget(SharedBudget::new(Arc::new(unlimited)));
    let sessions = bundle.stored_sessions().unwrap();
    let session = sessions.create("s", boss()).await.unwrap();
    let calls = async |session: &AgentSession| session.turn_spent().await.unwrap().model_calls;
    let all = async |id: &str| session_spent(&*store, "local", id).await.unwrap().model_calls;
    assert_eq!((calls(&session).await, all("s").await, all("t").await), (0, 0, 0));
    let outcome = session.turn("Pay the bills.").await.unwrap();
    assert_eq!((calls(&session).await, all("s").await), (2, 2));

    // In another process.
    let session = sessions.open("s", boss()).await.unwrap();
    assert_eq!(calls(&session).await, 2);
    approve(&session, &question(&outcome)).await;
    assert_eq!((calls(&session).await, all("s").await), (4, 4));
    session.turn("Once more.").await.unwrap();
    assert_eq!((calls(&session).await, all("s").await), (1, 5));
    assert_eq!(session.spent().await.model_calls, 3, "without the sub-agents");
}
