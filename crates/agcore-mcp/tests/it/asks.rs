//! Requests of a server to its client: questions to a person, a model, folders.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_chat::{Message, ToolCall};
use agcore_mcp::{
    ClientOptions, Elicitation, ElicitationAnswer, Elicitor, Lifecycle, McpClient, McpErrorKind, McpPeer, McpServer,
    McpTransport, SampleAnswer, SampleRequest, Sampler, ToolCallRequest, ToolsetOptions,
};
use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// Answers with the name Ann, or not at all.
struct Person(bool);

#[async_trait]
impl Elicitor for Person {
    async fn ask(&self, question: &Elicitation) -> ElicitationAnswer {
        assert_eq!((&*question.server, &*question.message), ("local", "Your name?"));
        assert_eq!(question.schema["properties"]["name"]["type"], "string");
        match (self.0, json!({"name": "Ann"})) {
            (true, Value::Object(answer)) => ElicitationAnswer::Accept(answer),
            _ => ElicitationAnswer::Decline,
        }
    }
}

/// Repeats the last message.
struct Echo;

#[async_trait]
impl Sampler for Echo {
    async fn sample(&self, request: &SampleRequest) -> Result<SampleAnswer, String> {
        assert_eq!((&*request.server, request.max_tokens), ("local", 50));
        match &request.messages[..] {
            [Message::User(_)] => Ok(SampleAnswer::new(request.messages[0].text(), "echo")),
            _ => Err("one message only".to_owned()),
        }
    }
}

fn peer(context: &ToolContext) -> Arc<McpPeer> {
    context.extension::<McpPeer>().unwrap()
}

fn registry() -> ToolRegistry {
    let tools = ToolRegistry::new();
    let ask = typed("ask", "Asks.", |_: NoArguments, context: ToolContext| async move {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        match peer(&context).elicit("who", "Your name?", schema).await? {
            ElicitationAnswer::Accept(answer) => Ok(Value::Object(answer)),
            answer => Err(ToolError::failed(format!("{answer:?}"))),
        }
    });
    tools.register(ask).unwrap();
    let sample = typed(
        "sample",
        "Samples.",
        |_: NoArguments, context: ToolContext| async move {
            let request = SampleRequest::new([Message::user("hello")], 50);
            Ok::<_, ToolError>(peer(&context).sample("echo", request).await?.text)
        },
    );
    tools.register(sample).unwrap();
    tools
}

async fn connect(options: ClientOptions) -> McpClient {
    let (ours, theirs) = tokio::io::duplex(4096);
    let (read, write) = tokio::io::split(theirs);
    tokio::spawn(async move { McpServer::new(registry()).serve(read, write).await });
    let (read, write) = tokio::io::split(ours);
    McpClient::connect_with("local", McpTransport::streams(read, write), options)
        .await
        .unwrap()
}

fn handshake() -> ClientOptions {
    ClientOptions::new().with_lifecycle(Lifecycle::Handshake)
}

#[tokio::test]
async fn tools_ask_people_and_models() {
    for lifecycle in [Lifecycle::Handshake, Lifecycle::Stateless] {
        let options = ClientOptions::new().with_lifecycle(lifecycle);
        let client = connect(options.clone().with_elicitor(Person(true)).with_sampler(Echo)).await;
        let answer = client.call_tool("ask", |_| {}).await.unwrap().unwrap();
        assert_eq!(answer.as_value(), Some(&json!({"name": "Ann"})));
        let answer = client.call_tool("sample", |_| {}).await.unwrap().unwrap();
        assert_eq!(answer.as_value(), Some(&json!("hello")));

        let client = connect(options.with_elicitor(Person(false))).await;
        let error = client.call_tool("ask", |_| {}).await.unwrap().unwrap_err();
        assert_eq!(error.message(), "Decline");
    }
}

#[tokio::test]
async fn clients_without_answers_refuse() {
    let client = connect(handshake()).await;
    let stateless = connect(ClientOptions::new().with_lifecycle(Lifecycle::Stateless)).await;
    for (tool, text) in [
        (
            "ask",
            "the MCP client does not show questions of a server (elicitation), which this request needs",
        ),
        (
            "sample",
            "the MCP client does not ask a model for a server (sampling), which this request needs",
        ),
    ] {
        let error = client.call_tool(tool, |_| {}).await.unwrap().unwrap_err();
        assert_eq!(error.message(), text);
        let error = stateless.call_tool(tool, |_| {}).await.unwrap_err();
        assert_eq!(error.code(), Some(-32021), "{error}");
        assert!(error.message().ends_with(text), "{error}");
    }
}

/// Sends the person to a web page.
struct Browser;

#[async_trait]
impl Elicitor for Browser {
    async fn ask(&self, question: &Elicitation) -> ElicitationAnswer {
        assert_eq!(question.url.as_deref(), Some("https://example.org/pay?id=7"));
        assert_eq!(question.schema["properties"], json!({}));
        // The content is not sent: the answer is given on the page.
        ElicitationAnswer::Accept([("ignored".to_owned(), json!(1))].into_iter().collect())
    }

    fn shows_urls(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn a_person_is_sent_to_a_web_page_if_the_application_can_show_it() {
    let params = json!({"mode": "url", "message": "Pay here", "url": "https://example.org/pay?id=7"});
    let page = json!({"resultType": "input_required", "requestState": "s1",
        "inputRequests": {"pay": {"method": "elicitation/create", "params": params}}});
    let done = json!({"resultType": "complete", "content": [{"type": "text", "text": "paid"}]});
    let options = ClientOptions::new().with_elicitor(Browser);
    let (client, seen) = scripted(vec![page.clone(), done], options).await;
    let output = client.call_tool("buy", |_| {}).await.unwrap().unwrap();
    assert_eq!(output.as_value(), Some(&json!("paid")));
    {
        let seen = seen.lock().unwrap();
        assert_eq!(seen[1]["inputResponses"], json!({"pay": {"action": "accept"}}));
        let offered = &seen[0]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["elicitation"];
        assert_eq!(offered, &json!({"form": {}, "url": {}}), "{:?}", seen[0]);
    }

    // One that cannot show it does not offer it, and refuses.
    let options = ClientOptions::new().with_elicitor(Person(true));
    let (client, seen) = scripted(vec![page], options).await;
    let error = client.call_tool("buy", |_| {}).await.unwrap_err();
    assert!(error.message().contains("does not offer elicitation by URL"), "{error}");
    let offered = &seen.lock().unwrap()[0]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["elicitation"];
    assert_eq!(offered, &json!({"form": {}}));
}

/// Waits until it is released, which takes longer than the timeout of the call.
struct Slow(Arc<AtomicBool>);

#[async_trait]
impl Elicitor for Slow {
    async fn ask(&self, _: &Elicitation) -> ElicitationAnswer {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        self.0.store(true, Ordering::SeqCst);
        ElicitationAnswer::Decline
    }
}

#[tokio::test(start_paused = true)]
async fn calls_do_not_time_out_while_a_person_is_asked() {
    let asked = Arc::new(AtomicBool::new(false));
    let options = handshake().with_elicitor(Slow(Arc::clone(&asked)));
    let client = connect(options.with_max_call_time(Duration::from_secs(7200))).await;
    // The server, which waits too, has a timeout of its own.
    let call = ToolCallRequest::new("ask").with_timeout(Duration::from_secs(1));
    let error = client.call_tool(call, |_| {}).await.unwrap().unwrap_err();
    assert!(error.message().contains("did not finish within 60s"), "{error}");
    assert!(!asked.load(Ordering::SeqCst));
}

/// A server of the revision 2026-07-28 that answers calls with `results`, one after the other, and records the requests.
async fn scripted(results: Vec<Value>, options: ClientOptions) -> (McpClient, Arc<Mutex<Vec<Value>>>) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    tokio::spawn(async move {
        let (read, mut write) = tokio::io::split(theirs);
        let (mut lines, mut results) = (BufReader::new(read).lines(), results.into_iter());
        while let Ok(Some(line)) = lines.next_line().await {
            let request: Value = serde_json::from_str(&line).unwrap();
            let result = match request["method"].as_str() {
                Some("server/discover") => json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}),
                Some("tools/list") => json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                    "tools": [{"name": "buy", "inputSchema": {"type": "object"}}]}),
                Some("tools/call") => {
                    record.lock().unwrap().push(request["params"].clone());
                    results.next().unwrap()
                }
                _ => continue,
            };
            let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            write.write_all(format!("{response}\n").as_bytes()).await.unwrap();
        }
    });
    let (read, write) = tokio::io::split(ours);
    let options = options.with_lifecycle(Lifecycle::Stateless);
    let client = McpClient::connect_with("local", McpTransport::streams(read, write), options)
        .await
        .unwrap();
    (client, seen)
}

fn question(state: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"mode": "form", "message": "Your name?", "requestedSchema": schema});
    json!({"resultType": "input_required", "requestState": state,
        "inputRequests": {"who": {"method": "elicitation/create", "params": params}, "where": {"method": "roots/list"}}})
}

#[tokio::test]
async fn questions_without_a_session_are_answered_with_the_request() {
    let done = json!({"resultType": "complete", "content": [{"type": "text", "text": "hello Ann"}]});
    let wait = json!({"resultType": "input_required", "requestState": "s2"});
    let options = ClientOptions::new()
        .with_elicitor(Person(true))
        .with_roots(["file:///data"]);
    let (client, seen) = scripted(vec![question("s1"), wait, done], options).await;
    let output = client.call_tool("greet", |_| {}).await.unwrap().unwrap();
    assert_eq!(output.as_value(), Some(&json!("hello Ann")));
    let seen = seen.lock().unwrap();
    assert!(seen[0].get("requestState").is_none());
    assert_eq!(
        (&seen[1]["requestState"], &seen[2]["requestState"]),
        (&json!("s1"), &json!("s2"))
    );
    let who = json!({"action": "accept", "content": {"name": "Ann"}});
    let place = json!({"roots": [{"uri": "file:///data"}]});
    assert_eq!(seen[1]["inputResponses"], json!({"who": who, "where": place}));
    assert!(seen[2].get("inputResponses").is_none());
}

#[tokio::test]
async fn questions_without_an_answer_or_an_end_are_errors() {
    let (client, _) = scripted(vec![question("s1")], ClientOptions::new()).await;
    let error = client.call_tool("greet", |_| {}).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Unsupported);
    assert!(error.message().contains("this client does not offer"), "{error}");

    let options = ClientOptions::new()
        .with_elicitor(Person(true))
        .with_roots(["file:///data"]);
    let (client, _) = scripted(vec![question("again"); 10], options).await;
    let error = client.call_tool("greet", |_| {}).await.unwrap_err();
    assert!(error.message().ends_with("it asked more than 10 times"), "{error}");

    let nothing = json!({"resultType": "input_required"});
    let (client, _) = scripted(vec![nothing], ClientOptions::new()).await;
    let error = client.call_tool("greet", |_| {}).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Protocol, "{error}");
}

#[tokio::test]
async fn calls_carry_the_key_with_which_a_server_recognizes_repeated_ones() {
    let done = json!({"resultType": "complete", "content": [{"type": "text", "text": "paid"}]});
    let (client, seen) = scripted(vec![done.clone(), done], ClientOptions::new()).await;
    let registry = ToolRegistry::new();
    let options = ToolsetOptions::new().with_permissions([]);
    let _toolset = client.register_into(&registry, options).await.unwrap();
    let builder = ToolContext::builder(Arc::new(SystemClock::new()));
    let context = builder.clone().with_key_scope("turn 1").build();
    let call = || ToolCall::function("call_1", "buy", "{}");
    drop(registry.invoke(call(), &context).await.result.unwrap());
    // Without a stored session, calls have no keys.
    drop(registry.invoke(call(), &builder.build()).await.result.unwrap());
    let seen = seen.lock().unwrap();
    let key = seen[0]["_meta"]["agcore/idempotencyKey"].as_str().unwrap();
    assert_eq!(key.len(), 32);
    // The members that the protocol needs are there as well.
    for params in &*seen {
        assert!(
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"].is_object(),
            "{params}"
        );
    }
    assert_eq!(seen[1]["_meta"].get("agcore/idempotencyKey"), None);
}
