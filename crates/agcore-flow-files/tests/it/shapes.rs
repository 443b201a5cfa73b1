//! The three shapes end to end: against a model server over HTTP, and with the recording of that run instead of a server.

mod schemas;

use std::{collections::BTreeSet, sync::Arc};

use agcore_agent::{AgentBuilder, Skills};
use agcore_chat::Actor;
use agcore_flow_files::{FileFlow, FlowFile, FlowRequest, FlowResult, NODE_METADATA, StoredMemory};
use agcore_llm::{
    LlmProvider, ProviderConfig,
    cassette::{Cassette, CassetteWriter, RecordingProvider, ReplayProvider},
};
use agcore_memory::InMemoryStore;
use agcore_profile::{ProfileDocument, UserAgentContext, Uuid, build_global_system_prompt};
use agcore_prompt::PromptTemplate;
use agcore_session::{InMemorySessionStore, SessionFilter, SessionReader, SessionStore};
use agcore_testkit::mock_server::{MockServer, Reply, Script, ToolCall};
use agcore_tools::{
    NoArguments,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{clock, without_times};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Measure {
    /// The name of the bed.
    bed: String,
}

/// A flow file with what the model replies.
struct Shape {
    file: &'static str,
    replies: Vec<Reply>,
    answer: &'static str,
}

fn json_reply(value: &Value) -> Reply {
    Reply::text(value.to_string())
}

fn call(id: &str, name: &str, arguments: &Value) -> Reply {
    Reply::tool_calls([ToolCall::new(name, arguments).with_id(id)])
}

fn staged() -> Shape {
    Shape {
        file: include_str!("staged/support.flow.yaml"),
        replies: vec![
            json_reply(
                &json!({"route": "NEEDS_EXECUTION", "intent_summary": "the state of order 7", "assistant_text": null,
                "execution_brief": "Look up order 7.", "safety_flags": []}),
            ),
            call("call_1", "order", &json!({})),
            // The model answers prose first, and is asked again.
            Reply::text("I found the order."),
            json_reply(
                &json!({"status": "SUCCESS", "execution_summary": "found", "execution_data": {"state": "sent"},
                "report_brief": "Order 7 was sent.", "error_message": null}),
            ),
            json_reply(&json!({"assistant_text": "Your order is on its way.", "response_metadata": {}})),
        ],
        answer: "Your order is on its way.",
    }
}

fn router() -> Shape {
    Shape {
        file: include_str!("flows/desk.flow.yaml"),
        replies: vec![
            json_reply(
                &json!({"route": "NEEDS_EXECUTION", "intent_summary": "the state of order 7", "assistant_text": null,
                "execution_brief": "Look up order 7.", "skills": ["parcels"], "safety_flags": []}),
            ),
            call("call_1", "use_skill", &json!({"name": "parcels"})),
            call("call_2", "order", &json!({})),
            Reply::text("It was sent."),
            call("call_3", "note", &json!({})),
            Reply::text("Noted: asked about order 7."),
        ],
        answer: "It was sent.",
    }
}

fn planner() -> Shape {
    let reflect = |is_finished| json!({"summary": "useful", "relevance": 0.5, "is_todo_done": true, "todo_result": null, "is_finished": is_finished});
    let decide =
        |next: &str, todo: &str, calls: &Value| json!({"summary": "next", "next": next, "calls": calls, "todo": todo});
    let mut first = decide("measure", "measure", &json!([{"bed": "north"}, {"bed": "south"}]));
    first["new_todos"] = json!([{"id": "measure", "task": "Measure the beds"},
        {"id": "plant", "task": "Plan the plants", "dependencies": ["measure"]}]);
    Shape {
        file: include_str!("flows/garden.flow.yaml"),
        replies: vec![
            json_reply(&json!({"summary": "a plan is wanted", "scenario": "plan", "goals": ["a plan"]})),
            json_reply(&first),
            json_reply(&reflect(false)),
            json_reply(&decide("catalog", "plant", &json!([{}]))),
            json_reply(&reflect(true)),
            Reply::text("Plant beans in the north."),
            json_reply(&json!({"preferences": ["Likes beans."], "facts": ["Has two beds."]})),
        ],
        answer: "Plant beans in the north.",
    }
}

fn profiles() -> ProfileDocument {
    let user = Uuid::from_u128(7);
    ProfileDocument::from_yaml(&format!(
        "profiles:\n  - user_id: {user}\n    username: Ada\n    bio: Likes tea.\n"
    ))
    .unwrap()
}

async fn profile() -> String {
    let context = UserAgentContext::load(&profiles(), Uuid::from_u128(7)).await.unwrap();
    build_global_system_prompt(&context).unwrap()
}

fn parse(text: &str) -> FlowFile {
    FlowFile::parse("shape.flow.yaml", text, |_| Err("there are no other files".to_owned())).unwrap()
}

/// Runs the flow of a file. Also returns the nodes that had a session.
async fn run(file: FlowFile, model: Arc<dyn LlmProvider>) -> (FlowResult, BTreeSet<String>) {
    let sessions = Arc::new(InMemorySessionStore::new(Arc::new(clock())));
    let bundle = AgentBuilder::new()
        .with_provider(model)
        .with_tool(typed("order", "Looks up an order.", |_: NoArguments| async {
            Ok("order 7: sent")
        }))
        .with_tool(typed("note", "Notes something.", |_: NoArguments| async {
            Ok("noted")
        }))
        .with_tool(typed("measure", "Measures a bed.", |measure: Measure| async move {
            Ok(format!("{} has 4 m²", measure.bed))
        }))
        .with_tool(typed("catalog", "Lists plants.", |_: NoArguments| async {
            Ok("beans")
        }))
        .with_session_store(Arc::clone(&sessions) as Arc<dyn SessionStore>)
        .build()
        .unwrap();
    let skill = "---\nname: parcels\ndescription: How to find parcels.\n---\nInstructions of parcels.";
    let memory = InMemoryStore::new(Arc::new(clock()));
    let flow = FileFlow::builder(file, bundle)
        .with_system_prompt(profile().await)
        .with_skills(Skills::from_files("skills", [("parcels/SKILL.md", skill)]))
        .with_profiles(profiles())
        .with_memory(StoredMemory::new(Arc::new(memory), Actor::local()))
        .build(clock())
        .unwrap();
    let request = FlowRequest::new("Where is order 7?").with_variable("shop", "Tea & Co");
    let request = request.with_user(Uuid::from_u128(7).to_string());
    let checkpoints = crate::support::checkpoints(&sessions).await;
    let result = flow.start(request).with_checkpoints(checkpoints).await.unwrap();
    let filter = SessionFilter::owned_by(Actor::local()).with_limit(1000);
    let sessions = sessions.sessions(&filter).await.unwrap();
    let nodes = sessions
        .iter()
        .filter_map(|session| session.metadata.get(NODE_METADATA)?.as_str().map(str::to_owned))
        .collect();
    (result, nodes)
}

/// Returns the texts of the messages that a request contains, with their roles.
fn texts(request: &Value) -> Vec<(String, String)> {
    let messages = request["messages"].as_array().unwrap().iter();
    let texts = messages.map(|message| {
        let text = message["content"].as_str().unwrap_or_default();
        (message["role"].as_str().unwrap().to_owned(), text.to_owned())
    });
    texts.collect()
}

/// Runs a shape against a server. Returns the bodies of all requests, and the recording.
async fn serve(shape: Shape, file: FlowFile) -> (Vec<Value>, Cassette, FlowResult, BTreeSet<String>) {
    let server = MockServer::start(Script::new(shape.replies)).await.unwrap();
    let config = ProviderConfig::parse("openai:mock-model").unwrap();
    let provider = config.with_base_url(server.base_url()).build().unwrap();
    let writer = Arc::new(CassetteWriter::new(Vec::new()));
    let recorder = Arc::new(RecordingProvider::new(provider, Arc::clone(&writer), Arc::new(clock())));
    let (result, nodes) = run(file, recorder.clone()).await;
    server.assert_done();
    assert!(recorder.problems().is_empty());
    let requests = server.requests().iter().map(|request| request.json().clone()).collect();
    let cassette = writer.with_inner(|bytes| Cassette::parse(bytes).unwrap().into_intact().unwrap());
    (requests, cassette, result, nodes)
}

/// Runs a shape over HTTP and from its recording. Returns the bodies of all requests.
async fn end_to_end(shape: Shape, nodes: &[&str]) -> Vec<Value> {
    let (file, answer) = (parse(shape.file), shape.answer);
    let (requests, cassette, served, seen) = serve(shape, file.clone()).await;
    assert_eq!(served.answer.as_deref(), Some(answer));
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), nodes);
    let profile = profile().await;
    for request in &requests {
        let system = &texts(request)[0];
        assert!(system.0 == "system" && system.1.starts_with(&profile), "{system:?}");
    }

    let replay = ReplayProvider::new(cassette);
    let (replayed, _) = run(file, Arc::new(replay.clone())).await;
    replay.check_done().unwrap();
    assert_eq!(replayed.answer, served.answer);
    assert_eq!(without_times(replayed.state), without_times(served.state));
    requests
}

fn pretty(requests: &[Value]) -> String {
    serde_json::to_string_pretty(requests).unwrap()
}

#[tokio::test]
async fn staged_flow_end_to_end() {
    let requests = end_to_end(staged(), &["intent_recognition", "result_reporting", "task_execution"]).await;
    insta::assert_snapshot!("staged.http", pretty(&requests));
}

#[tokio::test]
async fn router_worker_memory_end_to_end() {
    let requests = end_to_end(router(), &["memory", "router", "worker"]).await;
    insta::assert_snapshot!("router.http", pretty(&requests));
}

#[tokio::test]
async fn planner_loop_end_to_end() {
    let nodes = ["archive", "output", "planner", "reflection", "scenario"];
    let requests = end_to_end(planner(), &nodes).await;
    insta::assert_snapshot!("planner.http", pretty(&requests));
}

#[tokio::test]
async fn a_request_that_was_not_recorded_is_an_error() {
    let shape = staged();
    let file = shape.file;
    let (_, cassette, _, _) = serve(shape, parse(file)).await;
    let changed = file.replace("You find out what customers need.", "You guess.");
    assert_ne!(changed, file);
    let bundle = AgentBuilder::new().with_provider(ReplayProvider::new(cassette));
    let tool = typed("order", "Looks up an order.", |_: NoArguments| async { Ok("") });
    let bundle = bundle.with_tool(tool).build().unwrap();
    let flow = FileFlow::builder(parse(&changed), bundle).build(clock()).unwrap();
    let request = FlowRequest::new("Where is order 7?").with_variable("shop", "Tea & Co");
    let error = flow.start(request).await.unwrap_err();
    assert_eq!(error.failed_node(), Some("intent_recognition"));
    assert!(format!("{error:?}").contains("You guess."), "{error:?}");
}

/// Replaces every template of a file by a word that names its place.
fn marked(text: &str) -> FlowFile {
    let mut file = parse(text);
    let mark = |place: String| -> PromptTemplate { place.parse().unwrap() };
    for (name, agent) in &mut file.agents {
        agent.role = mark(format!("{name}/role"));
        agent.goal = mark(format!("{name}/goal"));
        agent.backstory = mark(format!("{name}/backstory"));
    }
    for (name, task) in &mut file.tasks {
        task.description = mark(format!("{name}/description"));
        task.expected_output = mark(format!("{name}/expected_output"));
    }
    file
}

/// Returns the message to the agent of a task, and its system prompt, as the marks that they must consist of.
fn expected(file: &FlowFile, task: &str, profile: &str) -> (String, String) {
    let agent = &file.tasks[task].agent;
    let system = [profile.to_owned()]
        .into_iter()
        .chain(["role", "goal", "backstory"].map(|part| format!("{agent}/{part}")));
    let message = format!("{task}/description\n\n{task}/expected_output");
    (system.collect::<Vec<_>>().join("\n\n"), message)
}

/// The wording of a flow is in its file: with other templates, nothing of the old ones is left, and the system prompts and the
/// requests consist of the profile and the templates alone.
#[tokio::test]
async fn wording_comes_from_templates_only() {
    let profile = profile().await;
    for shape in [staged(), router(), planner()] {
        let file = marked(shape.file);
        let (requests, ..) = serve(shape, file.clone()).await;
        let tasks: Vec<&String> = file.tasks.keys().collect();
        let mut seen = BTreeSet::new();
        for request in &requests {
            let texts = texts(request);
            let task = tasks.iter().find(|task| {
                let (system, message) = expected(&file, task, &profile);
                let (system_seen, message_seen) = (&texts[0].1, &texts[1].1);
                // A router continues a conversation, so its task is a part of the instructions.
                (*system_seen == system && *message_seen == message)
                    || (*system_seen == format!("{system}\n\n{message}") && message_seen == "Where is order 7?")
                    // What the library adds for skills follows.
                    || (system_seen.starts_with(&format!("{system}\n\nThese skills contain")) && *message_seen == message)
            });
            let task = task.unwrap_or_else(|| panic!("{texts:#?}"));
            seen.insert((*task).clone());
        }
        assert_eq!(seen, file.tasks.keys().cloned().collect(), "every agent was asked");
    }
}
