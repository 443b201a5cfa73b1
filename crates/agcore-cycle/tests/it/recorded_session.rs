//! A conversation with tools over HTTP, recorded and replayed.

use std::sync::Arc;

use agcore_cycle::LlmCycle;
use agcore_llm::{
    LlmProvider, ProviderConfig,
    cassette::{Cassette, CassetteWriter, RecordingProvider, ReplayProvider},
};
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{self, MockServer, Reply, Script},
};
use serde_json::json;

use crate::support::FnExecutor;

/// Runs two turns, the first with a tool call. Returns their events or texts, and the history.
async fn turns(provider: Arc<dyn LlmProvider>, streamed: bool) -> (Vec<String>, String) {
    let mut cycle = LlmCycle::new(provider, ManualClock::new());
    let tools = FnExecutor::echo(&["add"]);
    let mut log = Vec::new();
    for input in ["What is 1 + 2?", "And again?"] {
        if streamed {
            let mut events = cycle.turn(input).with_tools(tools.clone()).stream();
            while let Some(event) = events.next().await {
                log.push(serde_json::to_string(&event).unwrap());
            }
        } else {
            log.push(
                cycle
                    .turn(input)
                    .with_tools(tools.clone())
                    .await
                    .unwrap()
                    .text()
                    .into_owned(),
            );
        }
    }
    (log, serde_json::to_string(cycle.messages()).unwrap())
}

#[tokio::test]
async fn a_conversation_over_http_is_replayed_exactly() {
    for streamed in [true, false] {
        let call = mock_server::ToolCall::new("add", &json!({"a": 1, "b": 2}));
        let script = [
            Reply::tool_calls([call]),
            Reply::text("It is three."),
            Reply::text("Still three."),
        ];
        let server = MockServer::start(Script::new(script)).await.unwrap();
        let config = ProviderConfig::parse("openai:mock")
            .unwrap()
            .with_base_url(server.base_url());
        let writer = Arc::new(CassetteWriter::new(Vec::new()));
        let recorder = RecordingProvider::new(config.build().unwrap(), writer.clone(), Arc::new(ManualClock::new()));
        let original = turns(Arc::new(recorder), streamed).await;
        server.assert_done();
        drop(server);

        let bytes = writer.with_inner(|bytes| bytes.clone());
        let replay = ReplayProvider::new(Cassette::parse(&bytes).unwrap().into_intact().unwrap());
        assert_eq!(turns(Arc::new(replay.clone()), streamed).await, original);
        replay.check_done().unwrap();
    }
}
