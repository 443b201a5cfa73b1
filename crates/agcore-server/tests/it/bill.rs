//! The bill: every call of a model is in it, whatever it was made for.

mod workers;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use agcore_agent::{AgentBuilder, AgentConfig, AgentSpec, SubAgent, bill_calls};
use agcore_catalog::{Catalog, Format};
use agcore_chat::{
    AnsweredBy, AssistantMessage, ChatRequest, ChatResponse, Choice, Embedder, Embeddings, Fault, FinishReason,
    Message, ModelCall, SystemClock, ToolCall, Usage,
};
use agcore_flow_files::{FileFlow, FlowFile};
use agcore_llm::provider_fn;
use agcore_memory::{
    knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore},
    search::{InMemoryTextIndex, InMemoryVectorIndex, KnowledgeIndex, MemoryRetriever},
};
use agcore_server::{Server, ServerBuilder, SharedCatalog, Unfinished};
use agcore_session::{CostEntry, Retention, SessionFilter};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, ToolContext, typed};
use async_trait::async_trait;
use http::Method;
use serde_json::{Value, json};

use crate::{
    flows::{ROUTER, decision},
    planner::{PLANNER, judgement, plan},
    shared,
    support::{FlowStore, InStore, Running, Store, flow_store, input},
};

/// Rates per million tokens, so that a token costs as many millionths.
const CATALOG: &str = r#"
[[vendors]]
name = "somebody"
endpoints = [{ name = "all", api = "openai", kinds = ["text", "embedding"] }]
keys = [{ name = "team", secret = "${SOME_KEY}", users = ["*"] }]

[[vendors.models]]
name = "writer"
kind = "text"
prices = [{ currency = "CNY", tiers = [{ input = "7", output = "30" }] }]

[[vendors.models]]
name = "reader"
kind = "embedding"
prices = [{ currency = "CNY", tiers = [{ input = "11" }] }]
"#;

/// The models, which count what their calls cost.
#[derive(Debug, Clone, Default)]
struct Models(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    calls: AtomicU64,
    micros: AtomicU64,
}

impl Models {
    fn count(&self, micros: u64) {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        self.0.micros.fetch_add(micros, Ordering::SeqCst);
    }

    fn counted(&self) -> (u64, u64) {
        let Counts { calls, micros } = &*self.0;
        (calls.load(Ordering::SeqCst), micros.load(Ordering::SeqCst))
    }

    /// Returns the usage of another call of the writer.
    fn write(&self) -> Usage {
        let number = self.0.calls.load(Ordering::SeqCst);
        let (prompt, completion) = (1000 + number, 20 + 3 * number);
        self.count(prompt * 7 + completion * 30);
        Usage::new(prompt, completion)
    }

    fn answer(&self, request: &ChatRequest) -> ChatResponse {
        let message = reply(request);
        let finish = match message.has_tool_calls() {
            true => FinishReason::ToolCalls,
            false => FinishReason::Stop,
        };
        let choice = Choice {
            message,
            finish_reason: Some(finish),
            ..Choice::default()
        };
        ChatResponse {
            choices: vec![choice],
            usage: Some(self.write()),
            answered_by: Some(writer()),
            ..ChatResponse::default()
        }
    }

    fn agent(&self) -> AgentBuilder {
        let models = self.clone();
        AgentBuilder::new().with_provider(provider_fn(move |call| {
            let response = models.answer(&call.request);
            async move { Ok(response) }
        }))
    }
}

#[async_trait]
impl Embedder for Models {
    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, Fault> {
        let tokens = texts.iter().map(|text| text.len() as u64).sum();
        self.count(tokens * 11);
        let vectors = texts.iter().map(|text| vec![1.0, text.len() as f32]).collect();
        let embeddings = Embeddings::new(vectors).with_usage(Some(Usage::new(tokens, 0)));
        Ok(embeddings.with_answered_by(AnsweredBy::new("somebody", "reader")))
    }
}

fn writer() -> AnsweredBy {
    AnsweredBy::new("somebody", "writer")
}

/// Returns the reply to a request, by what it contains.
fn reply(request: &ChatRequest) -> AssistantMessage {
    let contains = |text: &str| request.messages.iter().any(|message| message.text().contains(text));
    let is_repair = request
        .messages
        .iter()
        .any(|message| matches!(**message, Message::Assistant(_)));
    let text = match request.messages.last().map(|message| &**message) {
        Some(Message::Tool(_)) => "Done.".to_owned(),
        _ if contains("Ask all.") && !contains("Be an expert.") => {
            let calls = [
                ToolCall::function("c1", "ask_expert", r#"{"task": "Find it."}"#),
                ToolCall::function("c2", "retrieve", r#"{"query": "tea"}"#),
                ToolCall::function("c3", "think", "{}"),
            ];
            return AssistantMessage::from_blocks(calls.map(Into::into));
        }
        _ if contains("Decide.") && !is_repair => "I would rather not.".to_owned(),
        _ if contains("Decide.") => decision("Work.").to_string(),
        _ if contains("Plan.") => plan("list", json!([{}])),
        _ if contains("Judge.") => judgement(),
        _ => "Fine.".to_owned(),
    };
    AssistantMessage::new(text)
}

fn builder(store: &Store) -> ServerBuilder {
    let catalog = Catalog::parse("models.toml", Format::Toml, CATALOG).unwrap();
    let catalog = SharedCatalog::from(Arc::new(catalog));
    let builder = Server::builder().in_store(store).with_biller(catalog.biller());
    builder.with_catalog(catalog).with_billing_of_model("writer")
}

/// Checks that the server and the rows have what the models have counted.
async fn check(server: &Running, store: &Store, models: &Models) {
    let (calls, micros) = models.counted();
    let expected = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let report = server.get("/api/v1/agent/usage").await.json();
    let total = &report["total"];
    assert_eq!(total["costs"], json!({"CNY": expected}), "{report}");
    let numbers = ["modelCalls", "unpricedCalls", "incompleteCalls"].map(|name| total[name].as_u64().unwrap());
    assert_eq!(numbers, [calls, 0, 0], "{report}");
    // The same from all rows, whatever session they are in.
    let (mut of_rows, mut of_messages) = (0, 0);
    let filter = SessionFilter::new("local").with_erased();
    for session in store.sessions(&filter).await.unwrap() {
        of_rows += CostEntry::of_session(&**store, &session).await.unwrap().len() as u64;
        for part in [Default::default(), agcore_session::MessageFilter::audit()] {
            let messages = store.messages("local", &session.id, &part).await.unwrap();
            let costs = messages.iter().filter_map(|message| message.cost.as_ref());
            of_messages += costs.map(|cost| cost.micros.unsigned_abs()).sum::<u64>();
        }
    }
    assert_eq!((of_rows, of_messages), (calls, micros));
}

async fn run(server: &Running, run: &str, text: &str) {
    let events = server.run(&input("t", run, text)).await;
    let end = events.last().unwrap();
    assert_eq!(
        (
            &end["type"],
            end.get("outcome").and_then(|outcome| outcome.get("interrupts"))
        ),
        (&Value::from("RUN_FINISHED"), None),
        "{events:#?}"
    );
}

#[tokio::test]
async fn calls_for_sub_agents_searches_tools_and_summaries_are_billed() {
    let (store, models) = (flow_store().sessions, Models::default());
    let clock = Arc::new(SystemClock::new());
    let wiki = Arc::new(InMemoryKnowledgeStore::new(Arc::clone(&clock) as _));
    wiki.add(KnowledgePage::new("tea", "Tea", "Tea is a drink."))
        .await
        .unwrap();
    let index = KnowledgeIndex::new(wiki, Arc::new(InMemoryTextIndex::new()));
    let index = index.with_vectors(Arc::new(models.clone()), Arc::new(InMemoryVectorIndex::new()));
    let own = models.clone();
    // As the sampler of an MCP server does.
    let think = move |_: NoArguments, context: ToolContext| {
        let call = ModelCall::new(writer(), context.clock().now()).with_usage(own.write());
        async move {
            bill_calls(&context, vec![call]).await.unwrap();
            Ok("thought")
        }
    };
    let expert = SubAgent::new(AgentSpec::new("expert", "Be an expert."), "Knows things.");
    let mut config = AgentConfig::new();
    config.compaction.window.context_window = Some(20_000);
    config.compaction.window.keep_recent = 2;
    let bundle = models.agent().with_config(config);
    let bundle = bundle.with_tool(expert).with_tool(typed("think", "Thinks.", think));
    let bundle = bundle
        .with_knowledge(MemoryRetriever::new(Arc::new(index), clock))
        .build()
        .unwrap();
    let server = builder(&store).with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."));
    let server = Running::start(server).await;

    run(&server, "r1", "Ask all.").await;
    // Two rounds, the expert, the tool, the page and the query.
    assert_eq!(models.counted().0, 6);
    check(&server, &store, &models).await;
    run(&server, "r2", &"tea ".repeat(20_000)).await;
    run(&server, "r3", "And now?").await;
    run(&server, "r4", "And now?").await;
    assert!(models.counted().0 > 9, "no summary was written: {:?}", models.counted());
    check(&server, &store, &models).await;
    server.stop().await;
}

#[tokio::test]
async fn calls_of_routers_and_repairs_are_billed_also_after_their_runs_are_gone() {
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    let models = Models::default();
    let text = ROUTER.replace("[say, pay, wait, fail]", "[]");
    let file = FlowFile::parse("test.flow.yaml", &text, |_| Err("there are no other files".to_owned())).unwrap();
    let flow = || FileFlow::builder(file.clone(), models.agent().build().unwrap());
    let server = builder(&store)
        .with_flow("desk", flow())
        .with_checkpoints(Arc::clone(&checkpoints));
    let server = Running::start(server).await;
    run(&server, "r1", "Hello").await;
    // The router is asked again, because its first answer was no decision.
    assert_eq!(models.counted().0, 3);
    check(&server, &store, &models).await;

    store
        .prune(&Retention::new().with_runs_per_session(0), 100)
        .await
        .unwrap();
    check(&server, &store, &models).await;
    let delete = server.with(Method::DELETE, "/api/v1/agent/sessions/t", &[], None).await;
    assert_eq!(delete.status, 204);
    check(&server, &store, &models).await;
    let usage = server.get("/api/v1/agent/usage").await.json();
    assert_eq!(usage["sessions"].as_array().unwrap().len(), 1, "{usage}");
    server.stop().await;
}

#[tokio::test]
async fn calls_of_planners_are_billed() {
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    let models = Models::default();
    let text = PLANNER.replace("[list, pay]", "[list]");
    let file = FlowFile::parse("plan.flow.yaml", &text, |_| Err("there are no other files".to_owned())).unwrap();
    let list = typed("list", "Lists.", |_: NoArguments| async { Ok("roses") });
    let flow = FileFlow::builder(file, models.agent().with_tool(list).build().unwrap());
    let server = Running::start(builder(&store).with_flow("desk", flow).with_checkpoints(checkpoints)).await;
    run(&server, "r1", "Which beds are there?").await;
    // The plan, the judgement and the answer.
    assert_eq!(models.counted().0, 3);
    check(&server, &store, &models).await;
    server.stop().await;
}

#[tokio::test]
async fn a_call_whose_server_was_killed_is_incomplete_in_the_bill() {
    for unfinished in [Unfinished::Continue, Unfinished::Cancel] {
        if unfinished == Unfinished::Cancel && shared::is_tested() {
            continue;
        }
        let store = flow_store().sessions;
        let provider = ScriptedProvider::new([ScriptStep::text("Half").then_hang(), ScriptStep::text("Whole.")]);
        let agent = || AgentBuilder::new().with_provider(provider.clone()).build().unwrap();
        let start = || {
            let server = builder(&store).with_agent("ada", agent(), AgentSpec::new("ada", "Be Ada."));
            Running::start(server.with_unfinished(unfinished))
        };
        let server = start().await;
        let mut events = server
            .stream(Method::POST, "/api/v1/agent/run", &[], Some(&input("t", "r", "Hello")))
            .await;
        events.until("TEXT_MESSAGE_CONTENT").await;
        server.kill().await;

        let server = start().await;
        server.follow("t", "r", None).await;
        let report = server.get("/api/v1/agent/usage").await.json();
        let total = &report["total"];
        let calls = u64::from(unfinished == Unfinished::Continue);
        assert_eq!(
            (&total["modelCalls"], &total["incompleteCalls"]),
            (&(1 + calls).into(), &1.into()),
            "{report}"
        );
        server.stop().await;
    }
}
