//! Prompt caching on the Messages API: each round reads from the cache what the round before has written.

use std::sync::Arc;

use agcore_chat::{Message, Tool, ToolDefinition, ToolExecutor, ToolOutcome, ToolReports, ToolWork};
use agcore_cycle::{
    LlmCycle, TurnOptions,
    machine::{Begin, Limits},
};
use agcore_llm::ProviderConfig;
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{Answer, Behavior, MockServer, PromptCache, RecordedRequest, Reply, Script, TokenUsage, ToolCall},
};
use serde_json::json;

use crate::support::FnExecutor;

const ROUNDS: usize = 20;

/// Tools with a schema.
#[derive(Debug)]
struct Tools(Arc<FnExecutor>);

impl ToolExecutor for Tools {
    fn definitions(&self) -> Arc<[Tool]> {
        let schema = json!({"type": "object", "properties": {"page": {"type": "integer"}}});
        ["read", "look"]
            .map(|name| Tool::from(ToolDefinition::new(name, "A tool.", schema.clone())))
            .into()
    }

    fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
        self.0.execute(work)
    }
}

/// Returns the replies of a turn. Some rounds have more calls than the blocks among which the vendor looks for a prefix.
fn replies() -> Script {
    let rounds = (0..ROUNDS).map(|round| {
        let calls = (0..if round % 4 == 3 { 15 } else { 1 + round % 3 }).map(|at| {
            let id = format!("toolu_{round}_{at}");
            ToolCall::new(["read", "look"][at % 2], &json!({ "page": round })).with_id(id)
        });
        let answer = Answer::new().with_signed_reasoning("Hm.", "signed");
        Reply::answer(calls.fold(answer, Answer::with_call))
    });
    Script::new(rounds).then(Reply::text("Done."))
}

/// Runs a turn. Returns what each reply read from and wrote to the cache, and the requests.
async fn run(is_streamed: bool) -> (Vec<TokenUsage>, Vec<RecordedRequest>) {
    let cache = Arc::new(PromptCache::new(replies()));
    let server = MockServer::start(Arc::clone(&cache) as Arc<dyn Behavior>)
        .await
        .unwrap();
    let config = ProviderConfig::parse("anthropic:mock-model").unwrap();
    let provider = config.with_base_url(server.base_url()).build().unwrap();
    let mut cycle = LlmCycle::new(provider, ManualClock::jumping());
    cycle.settings_mut().limits = Limits::new().with_max_tool_turns(100);
    cycle.settings_mut().prelude = vec![Arc::new(Message::system("You are careful."))];
    let executor = FnExecutor::new(&[], |work| ToolOutcome::done(format!("page {}", work.call.raw_input())));
    let options = TurnOptions::new().with_tools(Arc::new(Tools(executor)) as Arc<dyn ToolExecutor>);
    let turn = cycle.turn(Begin::new([Message::user("Go")])).with_options(options);
    if is_streamed {
        turn.stream().finish().await.unwrap();
    } else {
        turn.await.unwrap();
    }
    server.assert_done();
    let usages = cache.usages();
    let counted = &cycle.usage().usage;
    let cached: u64 = usages.iter().filter_map(|usage| usage.cached).sum();
    let written: u64 = usages.iter().filter_map(|usage| usage.cache_write).sum();
    assert_eq!((counted.cached(), counted.cache_write()), (Some(cached), Some(written)));
    (usages, server.requests())
}

#[tokio::test]
async fn each_round_reads_what_the_round_before_has_written() {
    for is_streamed in [false, true] {
        let (usages, requests) = run(is_streamed).await;
        assert_eq!(usages.len(), ROUNDS + 1);
        assert_eq!(usages[0].cached, Some(0));
        for (round, pair) in usages.windows(2).enumerate() {
            let [before, after] = pair else { unreachable!() };
            assert_eq!(after.cached, Some(before.input), "round {}", round + 1);
        }
        // Everything is written once, so the loop pays for each token of the conversation once and not once per round.
        let written: u64 = usages.iter().filter_map(|usage| usage.cache_write).sum();
        assert_eq!(written, usages[ROUNDS].input);
        for request in requests {
            let marks = request.json().to_string().matches("cache_control").count();
            assert!((3..=4).contains(&marks), "{marks}");
        }
    }
}
