//! A budget that is kept elsewhere: all agents that work for a turn draw from it.

use std::sync::{Arc, Mutex};

use agcore_agent::{AgentBuilder, AgentConfig, AgentErrorKind, AgentSpec, SubAgent, TeamLimits};
use agcore_chat::{Fault, FaultKind, ToolCall};
use agcore_cycle::{
    Budget, SharedBudget, Spent,
    budget::{BudgetSource, DrawError, Resource},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use async_trait::async_trait;

use crate::stored::store;

/// A budget of calls of models.
#[derive(Debug, Default)]
struct Calls {
    limit: u64,
    drawn: Mutex<u64>,
    fault: Mutex<Option<Fault>>,
}

#[async_trait]
impl BudgetSource for Calls {
    fn currency(&self) -> Option<Arc<str>> {
        None
    }

    fn limits_replies(&self) -> bool {
        false
    }

    async fn draw(&self, spent: &Spent, in_flight: &Spent, wanted: &[Spent]) -> Result<usize, DrawError> {
        if let Some(fault) = self.fault.lock().unwrap().take() {
            return Err(DrawError::Failed(fault));
        }
        let Some(wanted) = wanted.first() else {
            return Ok(0);
        };
        *self.drawn.lock().unwrap() += 1;
        let calls = spent.model_calls + in_flight.model_calls + wanted.model_calls;
        if calls <= self.limit {
            return Ok(0);
        }
        Err(DrawError::Short {
            resource: Resource::ModelCalls,
            message: "no calls are left for today".to_owned(),
            is_temporary: false,
        })
    }
}

fn calls(limit: u64) -> Arc<Calls> {
    let calls = Calls {
        limit,
        ..Calls::default()
    };
    Arc::new(calls)
}

fn ask(id: &str, agent: &str) -> ToolCall {
    ToolCall::function(id, format!("ask_{agent}"), r#"{"task": "Look into it."}"#)
}

/// Returns a team whose clerk works with the bundle of the team, and whose guest has one of its own.
fn team(model: &ScriptedProvider) -> AgentBuilder {
    let guests = AgentBuilder::new()
        .with_provider(model.clone())
        .with_clock(ManualClock::jumping());
    let guest = SubAgent::new(AgentSpec::new("guest", "You visit."), "Visits.");
    AgentBuilder::new()
        .with_provider(model.clone())
        .with_clock(ManualClock::jumping())
        .with_agent(AgentSpec::new("boss", "You lead."))
        .with_tool(SubAgent::new(AgentSpec::new("clerk", "You count."), "Counts."))
        .with_tool(guest.with_bundle(guests.build().unwrap()))
}

fn script() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::calls([ask("c1", "clerk")]),
        ScriptStep::text("Three."),
        ScriptStep::calls([ask("c2", "guest")]),
        ScriptStep::text("Nice."),
        ScriptStep::text("Three, nice."),
    ])
}

#[tokio::test]
async fn sub_agents_draw_from_the_budget_of_the_turn() {
    for has_team_budget in [false, true] {
        let (model, source) = (script(), calls(5));
        let budget = SharedBudget::new(Arc::clone(&source) as _);
        let mut team = team(&model);
        if has_team_budget {
            let limits = TeamLimits::new().with_budget(Budget::new().with_model_calls(10));
            team = team.with_config(AgentConfig::new().with_team(limits));
        }
        let bundle = team.build().unwrap().with_shared_budget(budget.clone());
        let outcome = bundle.new_session().turn("How many?").await.unwrap();
        assert_eq!(outcome.text(), "Three, nice.");
        assert_eq!((*source.drawn.lock().unwrap(), budget.spent().model_calls), (5, 5));
    }
}

#[tokio::test]
async fn a_sub_agent_without_budget_fails_with_its_turn() {
    let (model, source) = (script(), calls(3));
    let budget = SharedBudget::new(source as _);
    let bundle = team(&model).build().unwrap().with_shared_budget(budget.clone());
    let error = bundle.new_session().turn("How many?").await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::LimitReached);
    assert!(error.to_string().contains("no calls are left for today"), "{error}");
    assert_eq!((model.unused(), budget.spent().model_calls), (2, 3));
}

#[tokio::test]
async fn stored_sessions_and_contexts_draw_as_well() {
    let model = ScriptedProvider::new([ScriptStep::text("Yes."), ScriptStep::text("No.")]);
    let source = calls(2);
    let budget = SharedBudget::new(Arc::clone(&source) as _);
    let builder = AgentBuilder::new()
        .with_provider(model.clone())
        .with_clock(ManualClock::jumping());
    let bundle = builder
        .with_session_store(store())
        .build()
        .unwrap()
        .with_shared_budget(budget.clone());
    let sessions = bundle.stored_sessions().unwrap();
    let spec = || AgentSpec::new("a", "You answer.");
    sessions
        .create("s1", spec())
        .await
        .unwrap()
        .turn("Is it?")
        .await
        .unwrap();
    let contexts = sessions.create_contexts("s2", "main", spec()).await.unwrap();
    contexts.current().turn("Is it?").await.unwrap();
    let error = contexts.current().turn("Really?").await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::LimitReached);
    assert_eq!((*source.drawn.lock().unwrap(), budget.spent().model_calls), (3, 2));
}

#[tokio::test]
async fn a_source_that_is_away_leaves_a_stored_turn_to_be_resumed() {
    let model = ScriptedProvider::new([ScriptStep::text("Yes.")]);
    let source = calls(1);
    let away = Fault::new(FaultKind::Storage, "the database is away").with_retryable(true);
    *source.fault.lock().unwrap() = Some(away);
    let budget = SharedBudget::new(source as _);
    let builder = AgentBuilder::new()
        .with_provider(model.clone())
        .with_clock(ManualClock::jumping());
    let bundle = builder
        .with_session_store(store())
        .build()
        .unwrap()
        .with_shared_budget(budget);
    let sessions = bundle.stored_sessions().unwrap();
    let session = sessions.create("s1", AgentSpec::new("a", "You answer.")).await.unwrap();
    let error = session.turn("Is it?").await.unwrap_err();
    assert!(error.is_retryable(), "{error:?}");
    assert_eq!(session.resume([]).await.unwrap().text(), "Yes.");
    assert_eq!(model.unused(), 0);
}
