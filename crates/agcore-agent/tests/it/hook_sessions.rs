//! The session that hooks receive: that of the turn, also for the agents that it asks.

use std::sync::{Arc, Mutex};

use agcore_agent::{AgentBuilder, AgentSpec, SubAgent};
use agcore_chat::{SystemClock, ToolCall};
use agcore_cycle::{Hook, HookContext, TurnVerdict};
use agcore_session::InMemorySessionStore;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;

/// Notes the agent and the session of each turn.
#[derive(Debug, Default, Clone)]
struct Turns(Arc<Mutex<Vec<Turn>>>);

/// The agent of a turn and its session.
type Turn = (String, Option<String>);

#[async_trait]
impl Hook for Turns {
    async fn turn_start(&self, context: &HookContext<'_>) -> TurnVerdict {
        let turn = (context.agent.to_owned(), context.session.map(str::to_owned));
        self.0.lock().unwrap().push(turn);
        TurnVerdict::Continue
    }
}

fn ask(id: &str, agent: &str) -> ScriptStep {
    ScriptStep::calls([ToolCall::function(id, format!("ask_{agent}"), r#"{"task": "Go."}"#)])
}

#[tokio::test]
async fn agents_that_are_asked_have_the_session_that_asks() {
    for is_stored in [false, true] {
        let turns = Turns::default();
        let provider = ScriptedProvider::new([
            ask("a", "helper"),
            ask("b", "expert"),
            ScriptStep::text("Known."),
            ScriptStep::text("Helped."),
            ScriptStep::text("Done."),
        ]);
        let expert = SubAgent::new(AgentSpec::new("expert", ""), "Knows.");
        let helper = SubAgent::new(AgentSpec::new("helper", ""), "Helps.");
        let bundle = AgentBuilder::new()
            .with_provider(provider.clone())
            .with_tool(expert)
            .with_tool(helper)
            .with_hook(turns.clone())
            .with_session_store(InMemorySessionStore::new(SystemClock::shared()))
            .build()
            .unwrap();
        let boss = AgentSpec::new("boss", "You lead.");
        let session = match is_stored {
            true => bundle.stored_sessions().unwrap().create("s", boss).await.unwrap(),
            false => bundle.session("s", boss),
        };
        session.turn("Go.").await.unwrap();
        provider.assert_done();
        let seen = turns.0.lock().unwrap().clone();
        let expected = ["boss", "helper", "expert"].map(|agent| (agent.to_owned(), Some("s".to_owned())));
        assert_eq!(seen, expected, "stored: {is_stored}");
    }
}
