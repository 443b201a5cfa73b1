//! Calls that ask in the revision without sessions: the client repeats them with the answers.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use agcore_chat::Message;
use agcore_mcp::{
    ClientOptions, Elicitation, ElicitationAnswer, Elicitor, Lifecycle, McpClient, McpError, McpPeer, McpServer,
    McpTransport, Prompt, PromptInfo, PromptSource, ResourceContents, ResourceInfo, ResourceSource, SampleAnswer,
    SampleRequest, Sampler,
};
use agcore_tools::{
    InputRequest, NoArguments, Registration, ToolContext, ToolError, ToolOutput, ToolRegistry, tools, typed,
};
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

const LIFECYCLES: [Lifecycle; 2] = [Lifecycle::Handshake, Lifecycle::Stateless];

/// Answers the question `2 + 2?` with 4, every other with its own text, and counts.
#[derive(Clone, Default)]
struct Person(Arc<AtomicUsize>);

#[async_trait]
impl Elicitor for Person {
    async fn ask(&self, question: &Elicitation) -> ElicitationAnswer {
        self.0.fetch_add(1, Ordering::SeqCst);
        let answer = match &*question.message {
            "2 + 2?" => json!({"answer": 4}),
            text => json!({"answer": text}),
        };
        ElicitationAnswer::Accept(answer.as_object().unwrap().clone())
    }
}

#[async_trait]
impl Sampler for Person {
    async fn sample(&self, request: &SampleRequest) -> Result<SampleAnswer, String> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(SampleAnswer::new(request.messages[0].text(), "echo"))
    }
}

fn peer(context: &ToolContext) -> Arc<McpPeer> {
    context.extension::<McpPeer>().unwrap()
}

fn text_schema() -> Value {
    json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]})
}

async fn ask(client: &McpPeer, key: &str) -> Result<String, McpError> {
    let answer = client
        .elicit(key, key, text_schema())
        .await?
        .into_content()
        .unwrap_or_default();
    Ok(answer["answer"].as_str().unwrap_or_default().to_owned())
}

/// The tools, which count how often they run.
fn registry(runs: &Arc<AtomicUsize>) -> ToolRegistry {
    let count = |runs: &Arc<AtomicUsize>| runs.fetch_add(1, Ordering::SeqCst);
    let (first, second) = (Arc::clone(runs), Arc::clone(runs));
    let tools: [Registration; 5] = tools![
        typed("twice", "Asks twice.", move |_: NoArguments, context: ToolContext| {
            count(&first);
            async move {
                let client = peer(&context);
                let one = ask(&client, "one").await?;
                Ok(format!("{one} {}", ask(&client, "two").await?))
            }
        }),
        typed(
            "all",
            "Asks for everything.",
            move |_: NoArguments, context: ToolContext| {
                count(&second);
                async move {
                    let client = peer(&context);
                    let request = SampleRequest::new([Message::user("model")], 10);
                    let (one, two, roots) = tokio::join!(
                        ask(&client, "one"),
                        client.sample("two", request),
                        client.roots("three")
                    );
                    Ok(format!("{} {} {}", one?, two?.text, roots?.join(" ")))
                }
            }
        ),
        typed(
            "same",
            "Asks two questions with one key.",
            |_: NoArguments, context: ToolContext| async move {
                let client = peer(&context);
                let (one, two) = tokio::join!(ask(&client, "one"), ask(&client, "one"));
                Ok(format!("{}{}", one?, two?))
            }
        ),
        typed(
            "forward",
            "Asks through the traits.",
            |_: NoArguments, context: ToolContext| async move {
                let client = peer(&context);
                let mut answers = Vec::new();
                for message in ["again", "again"] {
                    let question = Elicitation::new("other", message, text_schema());
                    answers.push(Elicitor::ask(&*client, &question).await.into_content().unwrap()["answer"].clone());
                }
                let request = SampleRequest::new([Message::user("model")], 10);
                let answer = Sampler::sample(&*client, &request).await?;
                Ok(format!("{} {}", json!(answers), answer.text))
            }
        ),
        typed(
            "sum",
            "Returns a question.",
            |_: NoArguments, context: ToolContext| async move {
                Ok::<_, ToolError>(match context.answer() {
                    None => {
                        ToolOutput::awaiting_input(InputRequest::new("2 + 2?").with_schema(json!({"type": "integer"})))
                    }
                    Some(answer) => ToolOutput::text(format!("it is {}", answer.value)),
                })
            }
        ),
    ];
    let registry = ToolRegistry::new();
    registry.register_all(tools).unwrap();
    registry
}

/// A prompt and a resource that ask.
struct Asking;

#[async_trait]
impl PromptSource for Asking {
    async fn list(&self) -> Result<Vec<PromptInfo>, McpError> {
        Ok(vec![PromptInfo::new("p", "Asks.")])
    }

    async fn get(&self, _: &str, _: &BTreeMap<String, String>, client: &McpPeer) -> Result<Option<Prompt>, McpError> {
        Ok(Some(Prompt::new([Message::user(ask(client, "prompt?").await?)])))
    }
}

#[async_trait]
impl ResourceSource for Asking {
    async fn list(&self) -> Result<Vec<ResourceInfo>, McpError> {
        Ok(Vec::new())
    }

    async fn read(&self, uri: &str, client: &McpPeer) -> Result<Option<Vec<ResourceContents>>, McpError> {
        Ok(Some(vec![ResourceContents::text(uri, ask(client, "resource?").await?)]))
    }
}

fn serve(runs: &Arc<AtomicUsize>, key: Option<[u8; 32]>) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = McpServer::new(registry(runs))
        .with_prompts(Asking)
        .with_resources(Asking);
    let server = match key {
        Some(key) => server.with_state_key(key),
        None => server,
    };
    let (read, write) = tokio::io::split(theirs);
    tokio::spawn(async move { server.serve(read, write).await });
    ours
}

async fn connect(stream: DuplexStream, lifecycle: Lifecycle, person: &Person) -> McpClient {
    let options = ClientOptions::new()
        .with_lifecycle(lifecycle)
        .with_elicitor(person.clone())
        .with_sampler(person.clone())
        .with_roots(["file:///data"]);
    let (read, write) = tokio::io::split(stream);
    McpClient::connect_with("local", McpTransport::streams(read, write), options)
        .await
        .unwrap()
}

#[tokio::test]
async fn calls_have_the_same_results_in_both_lifecycles() {
    for (lifecycle, repetitions) in LIFECYCLES.into_iter().zip([0, 1]) {
        // The name of the tool, its result, the number of questions, and how often the tool repeats without a session.
        let cases = [
            ("twice", "one two", 2, 2),
            ("all", "one model file:///data", 2, 1),
            ("forward", r#"["again","again"] model"#, 3, 0),
            ("sum", "it is 4", 1, 0),
        ];
        for (tool, expected, questions, repeats) in cases {
            let (runs, person) = (Arc::default(), Person::default());
            let client = connect(serve(&runs, Some([7; 32])), lifecycle, &person).await;
            let output = client.call_tool(tool, |_| {}).await.unwrap().unwrap();
            assert_eq!(output.as_value(), Some(&json!(expected)), "{tool} {lifecycle:?}");
            assert_eq!(person.0.load(Ordering::SeqCst), questions, "{tool} {lifecycle:?}");
            let runs = runs.load(Ordering::SeqCst);
            if runs > 0 {
                assert_eq!(runs, 1 + repeats * repetitions, "{tool} {lifecycle:?}");
            }
        }
    }
}

#[tokio::test]
async fn prompts_and_resources_ask() {
    for lifecycle in LIFECYCLES {
        let client = connect(serve(&Arc::default(), None), lifecycle, &Person::default()).await;
        let prompt = client.get_prompt("p", &BTreeMap::new()).await.unwrap();
        assert_eq!(prompt.messages, [Message::user("prompt?")]);
        let contents = client.read_resource("a://b").await.unwrap();
        assert_eq!(contents[0].as_text(), Some("resource?"));
    }
}

#[tokio::test]
async fn without_a_key_a_call_can_ask_once() {
    let client = connect(serve(&Arc::default(), None), Lifecycle::Stateless, &Person::default()).await;
    let output = client.call_tool("all", |_| {}).await.unwrap().unwrap();
    assert_eq!(output.as_value(), Some(&json!("one model file:///data")));
    let error = client.call_tool("twice", |_| {}).await.unwrap_err();
    assert!(error.message().contains("it can ask once only"), "{error}");
}

#[tokio::test]
async fn keys_are_unique() {
    let client = connect(serve(&Arc::default(), None), Lifecycle::Stateless, &Person::default()).await;
    let error = client.call_tool("same", |_| {}).await.unwrap_err();
    assert!(
        error.message().ends_with(r#"two questions have the key "one""#),
        "{error}"
    );
}

/// A client that sends what it wants.
struct Raw {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
}

impl Raw {
    fn new(stream: DuplexStream) -> Self {
        let (read, write) = tokio::io::split(stream);
        Self {
            lines: BufReader::new(read).lines(),
            write,
        }
    }

    /// Sends a call and returns the response.
    async fn call(&mut self, tool: &str, input: Value) -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        });
        let mut params = json!({"name": tool, "arguments": {}, "_meta": meta});
        params
            .as_object_mut()
            .unwrap()
            .extend(input.as_object().unwrap().clone());
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        self.write.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }
}

fn accept(key: &str, answer: Value) -> Value {
    json!({key: {"action": "accept", "content": {"answer": answer}}})
}

#[tokio::test]
async fn changed_states_are_refused() {
    let runs = Arc::default();
    let mut client = Raw::new(serve(&runs, Some([7; 32])));
    let first = client.call("twice", json!({})).await["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    let state = first["requestState"].as_str().unwrap();
    let one = accept("one", json!("1"));
    let second = client
        .call("twice", json!({"requestState": state, "inputResponses": one}))
        .await["result"]
        .clone();
    let questions = second["inputRequests"].as_object().unwrap();
    assert_eq!(questions.keys().collect::<Vec<_>>(), ["two"]);
    let later = second["requestState"].as_str().unwrap();
    assert_ne!(state, later);

    let ran = runs.load(Ordering::SeqCst);
    let two = accept("two", json!("2"));
    for (tool, state) in [
        ("twice", format!("{later}x")),
        ("twice", later.to_uppercase()),
        ("all", later.to_owned()),
        ("twice", "rs1.AAAA.AAAA".to_owned()),
    ] {
        let refused = client
            .call(tool, json!({"requestState": state, "inputResponses": two}))
            .await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.starts_with("the state of the request cannot be used: "),
            "{message}"
        );
    }
    // The state of another server.
    let mut other = Raw::new(serve(&Arc::default(), Some([8; 32])));
    let refused = other
        .call("twice", json!({"requestState": later, "inputResponses": two}))
        .await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(runs.load(Ordering::SeqCst), ran, "a tool ran with a changed state");

    let done = client
        .call("twice", json!({"requestState": later, "inputResponses": two}))
        .await;
    assert_eq!(done["result"]["content"][0]["text"], "1 2");
}

#[tokio::test]
async fn answers_are_checked() {
    let mut client = Raw::new(serve(&Arc::default(), Some([7; 32])));
    for (answer, reason) in [
        (json!({"one": 12345}), "invalid type"),
        (json!({"one": {"action": "maybe"}}), "unknown variant"),
        (json!({"one": {"action": "accept"}}), "the member \"answer\" is missing"),
        (accept("one", json!(5)), "the member \"answer\" is not a string"),
    ] {
        let refused = client.call("twice", json!({"inputResponses": answer})).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(reason), "{message}");
    }
    // Missing answers are asked for again, and others are ignored.
    let again = client
        .call("twice", json!({"inputResponses": accept("three", json!("3"))}))
        .await;
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    assert!(again["result"]["inputRequests"]["one"].is_object(), "{again}");
}
