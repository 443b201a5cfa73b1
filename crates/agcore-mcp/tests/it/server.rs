//! A registry as a server, with the client of this crate.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use agcore_chat::{ContentPart, Message, Progress};
use agcore_mcp::{
    ClientOptions, Identity, Lifecycle, McpClient, McpError, McpErrorKind, McpPeer, McpServer, McpTransport, Prompt,
    PromptArgument, PromptInfo, PromptSource, ResourceContents, ResourceInfo, ResourceSource, ResourceTemplate,
    ServerEvent, ToolCallRequest, ToolsetOptions,
};
use agcore_tools::{
    NoArguments, Permission, Registration, State, ToolContext, ToolError, ToolOutput, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use async_trait::async_trait;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    sync::{broadcast, watch},
};

#[derive(serde::Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

/// A tool that needs a permission which the default rules deny.
struct Delete;

#[async_trait]
impl agcore_tools::BaseTool for Delete {
    fn name(&self) -> &str {
        "delete"
    }

    fn description(&self) -> &str {
        "Deletes everything."
    }

    fn parameters(&self) -> &serde_json::Value {
        static SCHEMA: std::sync::LazyLock<serde_json::Value> = std::sync::LazyLock::new(|| json!({"type": "object"}));
        &SCHEMA
    }

    fn required_permissions(&self) -> &[Permission] {
        &[Permission::Delete]
    }

    async fn execute(&self, _: &agcore_tools::Arguments, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        panic!("a denied tool ran")
    }
}

pub(crate) fn registry() -> ToolRegistry {
    let tools = ToolRegistry::new();
    let add = typed("add", "Adds two numbers.", |add: Add| async move {
        Ok(json!({"sum": add.a + add.b}))
    });
    tools.register(Registration::new(add)).unwrap();
    tools.register(Delete).unwrap();
    let fail = typed("fail", "Fails.", |_: NoArguments| async {
        Err::<(), _>(ToolError::failed("the disk is full"))
    });
    tools.register(fail).unwrap();
    let rich = typed("rich", "Returns parts.", |_: NoArguments| async {
        Ok(ToolOutput::content(vec![
            ContentPart::text("a"),
            ContentPart::image_url("data:image/png;base64,AA=="),
        ]))
    });
    tools.register(rich).unwrap();
    let steps = typed(
        "steps",
        "Reports progress.",
        |_: NoArguments, context: ToolContext| async move {
            for step in 1..=20 {
                context.report_progress(Progress::amount(f64::from(step), Some(20.0)));
            }
            context
                .extension::<McpPeer>()
                .unwrap()
                .log("warning", Some("steps"), "done")
                .await;
            Ok::<_, ToolError>("done")
        },
    );
    tools.register(steps).unwrap();
    tools
}

/// One prompt with a required argument.
struct Greetings;

#[async_trait]
impl PromptSource for Greetings {
    async fn list(&self) -> Result<Vec<PromptInfo>, McpError> {
        let name = PromptArgument::new("name", "Who is greeted.").required();
        Ok(vec![PromptInfo::new("greet", "Greets somebody.").with_argument(name)])
    }

    async fn get(
        &self,
        _: &str,
        arguments: &BTreeMap<String, String>,
        _: &McpPeer,
    ) -> Result<Option<Prompt>, McpError> {
        let text = format!("Greet {}.", arguments["name"]);
        Ok(Some(Prompt::new([
            Message::user(text),
            Message::assistant("Good day!"),
        ])))
    }

    async fn complete(&self, _: &str, _: &str, start: &str) -> Result<Vec<String>, McpError> {
        Ok((0..150).map(|number| format!("{start}{number}")).collect())
    }
}

/// One resource that can change.
struct Notes(broadcast::Sender<String>);

#[async_trait]
impl ResourceSource for Notes {
    async fn list(&self) -> Result<Vec<ResourceInfo>, McpError> {
        Ok(vec![
            ResourceInfo::new("note://today", "today").with_mime_type("text/plain"),
        ])
    }

    async fn templates(&self) -> Result<Vec<ResourceTemplate>, McpError> {
        Ok(vec![ResourceTemplate::new("note://{day}", "day")])
    }

    async fn read(&self, uri: &str, _: &McpPeer) -> Result<Option<Vec<ResourceContents>>, McpError> {
        Ok((uri == "note://today").then(|| vec![ResourceContents::text(uri, "milk")]))
    }

    fn changes(&self) -> Option<broadcast::Receiver<String>> {
        Some(self.0.subscribe())
    }
}

/// Serves a client in the same process.
async fn connect(server: McpServer, lifecycle: Lifecycle) -> McpClient {
    let (ours, theirs) = tokio::io::duplex(4096);
    let (read, write) = tokio::io::split(theirs);
    tokio::spawn(async move { server.serve(read, write).await });
    let (read, write) = tokio::io::split(ours);
    let options = ClientOptions::new().with_lifecycle(lifecycle);
    McpClient::connect_with("local", McpTransport::streams(read, write), options)
        .await
        .unwrap()
}

const LIFECYCLES: [(Lifecycle, &str); 3] = [
    (Lifecycle::Negotiate, "2026-07-28"),
    (Lifecycle::Stateless, "2026-07-28"),
    (Lifecycle::Handshake, "2025-11-25"),
];

#[tokio::test]
async fn tools_are_called_in_both_lifecycles() {
    for (lifecycle, protocol) in LIFECYCLES {
        let server = McpServer::new(registry())
            .with_identity(Identity::new("mine", "7"))
            .with_instructions("Add numbers.");
        let client = connect(server, lifecycle).await;
        let info = client.server();
        assert_eq!(info.protocol, protocol);
        assert_eq!(
            (info.name.as_deref(), info.version.as_deref()),
            (Some("mine"), Some("7"))
        );
        assert_eq!(info.instructions.as_deref(), Some("Add numbers."));
        client.ping().await.unwrap();

        let names: Vec<_> = client
            .list_tools()
            .await
            .unwrap()
            .into_iter()
            .map(|tool| tool.name)
            .collect();
        assert_eq!(names, ["add", "delete", "fail", "rich", "steps"]);
        let add = ToolCallRequest::new("add").with_argument("a", 2).with_argument("b", 3);
        let output = client.call_tool(add, |_| {}).await.unwrap().unwrap();
        assert_eq!(output.as_value(), Some(&json!({"sum": 5})));
        let rich = client.call_tool("rich", |_| {}).await.unwrap().unwrap();
        let expected = vec![
            ContentPart::text("a"),
            ContentPart::image_url("data:image/png;base64,AA=="),
        ];
        assert_eq!(rich.into_content(), Some(expected.into()));

        let failure = client.call_tool("fail", |_| {}).await.unwrap().unwrap_err();
        assert_eq!(failure.message(), "the disk is full");
        let wrong = client
            .call_tool(ToolCallRequest::new("add").with_argument("a", "x"), |_| {})
            .await
            .unwrap();
        assert!(wrong.unwrap_err().message().starts_with("invalid arguments for add:"));
        let denied = client.call_tool("delete", |_| {}).await.unwrap().unwrap_err();
        assert!(denied.message().starts_with("permission denied"), "{denied}");
        let unknown = client.call_tool("ad", |_| {}).await.unwrap_err();
        assert_eq!(unknown.code(), Some(-32602));
        assert!(
            unknown
                .message()
                .ends_with(r#"there is no tool named "ad"; did you mean add?"#),
            "{unknown}"
        );
    }
}

struct Database;

#[tokio::test]
async fn a_tool_without_its_state_fails_alone() {
    let tools = registry();
    let query = typed("query", "Queries.", |_: NoArguments, _: State<Database>| async {
        Ok("rows")
    });
    tools.register(query).unwrap();
    for (lifecycle, _) in LIFECYCLES {
        let client = connect(McpServer::new(tools.clone()), lifecycle).await;
        let failure = client.call_tool("query", |_| {}).await.unwrap_err();
        assert_eq!(failure.code(), Some(-32603));
        assert!(failure.message().contains("query cannot be used: "), "{failure}");
        assert!(failure.message().contains("Database"), "{failure}");
        assert!(client.call_tool("rich", |_| {}).await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn calls_and_lists_follow_the_registry() {
    let tools = ToolRegistry::new();
    let client = connect(McpServer::new(tools.clone()), Lifecycle::Stateless).await;
    assert!(client.list_tools().await.unwrap().is_empty());
    let version = |number: u8| {
        typed("version", "Returns a number.", move |_: NoArguments| async move {
            Ok(json!({"version": number}))
        })
    };
    for number in [1, 2] {
        tools.register(version(number)).unwrap();
        let output = client.call_tool("version", |_| {}).await.unwrap().unwrap();
        assert_eq!(output.as_value(), Some(&json!({"version": number})));
        assert_eq!(client.list_tools().await.unwrap().len(), 1);
        tools.unregister("version").unwrap();
        assert!(client.call_tool("version", |_| {}).await.is_err());
    }
}

#[tokio::test]
async fn progress_and_logs_reach_the_client() {
    let client = connect(McpServer::new(registry()), Lifecycle::Handshake).await;
    let mut events = client.events();
    let mut steps = Vec::new();
    let output = client
        .call_tool("steps", |step| steps.push(step.done.unwrap_or(0.0)))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(output.as_value(), Some(&json!("done")));
    assert_eq!(steps, (1..=20).map(f64::from).collect::<Vec<_>>());
    let log = ServerEvent::Log {
        level: "warning",
        logger: Some("steps".to_owned()),
        data: json!("done"),
    };
    assert_eq!(events.next().await, Some(log));

    client.set_log_level("error").await.unwrap();
    client.call_tool("steps", |_| {}).await.unwrap().unwrap().into_content();
    client.set_log_level("debug").await.unwrap();
    // Without a session, a request has to ask for log messages.
    let stateless = connect(McpServer::new(registry()), Lifecycle::Stateless).await;
    let mut silence = stateless.events();
    for _ in 0..2 {
        let output = stateless.call_tool("steps", |_| {}).await.unwrap().unwrap();
        assert_eq!(output.as_value(), Some(&json!("done")));
    }
    tokio::select! {
        biased;
        Some(ServerEvent::Log { data, .. }) = silence.next() => panic!("{data} was logged"),
        () = tokio::task::yield_now() => {}
    }
    let error = client.set_log_level("loud").await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Config);
}

#[tokio::test]
async fn cancelled_calls_end_at_the_server() {
    for (lifecycle, _) in LIFECYCLES {
        let tools = ToolRegistry::new();
        let (started, mut start) = watch::channel(0);
        let ended = Arc::new(tokio::sync::Notify::new());
        let (started, end) = (Arc::new(started), Arc::clone(&ended));
        tools
            .register(typed("wait", "Waits.", move |_: NoArguments, context: ToolContext| {
                let (started, end) = (Arc::clone(&started), Arc::clone(&end));
                async move {
                    let token = context.cancellation().clone();
                    tokio::spawn(async move {
                        token.cancelled().await;
                        end.notify_one();
                    });
                    started.send_modify(|count| *count += 1);
                    std::future::pending::<()>().await;
                    Ok::<_, ToolError>(())
                }
            }))
            .unwrap();
        let client = connect(McpServer::new(tools), lifecycle).await;
        let mut call = Box::pin(client.call_tool("wait", |_| {}));
        tokio::select! {
            _ = &mut call => panic!("the call ended"),
            _ = start.wait_for(|count| *count == 1) => {}
        }
        drop(call);
        ended.notified().await;
    }
}

#[tokio::test]
async fn clients_follow_changes_of_the_registry() {
    for (lifecycle, _) in LIFECYCLES {
        let (remote, local) = (registry(), ToolRegistry::new());
        let client = connect(McpServer::new(remote.clone()), lifecycle).await;
        let _toolset = client.register_into(&local, ToolsetOptions::new()).await.unwrap();
        let revision = local.snapshot().revision();
        remote
            .register(typed("new", "Is new.", |_: NoArguments| async { Ok(()) }))
            .unwrap();
        local.changed_since(revision).await;
        assert!(local.get("new").is_some());
    }
}

#[tokio::test]
async fn prompts_are_listed_filled_in_and_completed() {
    for (lifecycle, _) in LIFECYCLES {
        let client = connect(McpServer::new(registry()).with_prompts(Greetings), lifecycle).await;
        let prompts = client.list_prompts().await.unwrap();
        assert_eq!((prompts.len(), &*prompts[0].name), (1, "greet"));
        assert!(prompts[0].arguments[0].is_required);
        let arguments = BTreeMap::from([("name".to_owned(), "Ann".to_owned())]);
        let prompt = client.get_prompt("greet", &arguments).await.unwrap();
        assert_eq!(
            prompt.messages,
            [Message::user("Greet Ann."), Message::assistant("Good day!")]
        );
        let error = client.get_prompt("greet", &BTreeMap::new()).await.unwrap_err();
        assert!(
            error
                .message()
                .ends_with(r#"the prompt "greet" needs the argument "name""#),
            "{error}"
        );
        let error = client.get_prompt("none", &arguments).await.unwrap_err();
        assert_eq!(error.code(), Some(-32602));
        let values = client.complete_prompt("greet", "name", "A").await.unwrap();
        assert_eq!((values.len(), &*values[0]), (100, "A0"));
    }
}

#[tokio::test]
async fn resources_are_listed_read_and_observed() {
    for (lifecycle, protocol) in LIFECYCLES {
        let changes = broadcast::Sender::new(16);
        let client = connect(
            McpServer::new(registry()).with_resources(Notes(changes.clone())),
            lifecycle,
        )
        .await;
        assert_eq!(client.list_resources().await.unwrap()[0].uri, "note://today");
        assert_eq!(
            client.list_resource_templates().await.unwrap()[0].uri_template,
            "note://{day}"
        );
        let contents = client.read_resource("note://today").await.unwrap();
        assert_eq!(contents[0].as_text(), Some("milk"));
        let error = client.read_resource("note://never").await.unwrap_err();
        let code = if protocol == "2026-07-28" { -32602 } else { -32002 };
        assert_eq!(error.code(), Some(code));

        let mut events = client.events();
        client.subscribe("note://today").await.unwrap();
        let updated = ServerEvent::ResourceUpdated {
            uri: "note://today".to_owned(),
        };
        loop {
            // The server may not listen to its source yet.
            let _ = changes.send("note://today".to_owned());
            tokio::select! {
                biased;
                event = events.next() => {
                    assert_eq!(event.as_ref(), Some(&updated));
                    break;
                }
                () = tokio::task::yield_now() => {}
            }
        }
        client.unsubscribe("note://today").await.unwrap();
    }
    let client = connect(McpServer::new(registry()), Lifecycle::Handshake).await;
    assert!(client.list_resources().await.unwrap().is_empty() && client.list_prompts().await.unwrap().is_empty());
    assert!(client.read_resource("note://today").await.is_err());
}

#[tokio::test]
async fn long_lists_have_pages() {
    let tools = ToolRegistry::new();
    let new = |number: u32| typed(&*format!("t{number:04}"), "A tool.", |_: NoArguments| async { Ok(()) });
    tools.register_all((0..1201).map(new)).unwrap();
    let client = connect(McpServer::new(tools), Lifecycle::Handshake).await;
    let names: Vec<_> = client
        .list_tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!((names.len(), &*names[500], &*names[1200]), (1201, "t0500", "t1200"));
}

#[tokio::test]
async fn malformed_lines_do_not_end_the_connection() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(theirs);
    let server = McpServer::new(registry());
    let serving = tokio::spawn(async move { server.serve(read, write).await });
    let (read, mut write) = tokio::io::split(ours);
    let seen = Mutex::new(Vec::new());
    let mut lines = BufReader::new(read).lines();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
    let bad = [
        "garbage",
        "{}",
        "[1, 2]",
        r#"{"jsonrpc": "2.0", "id": 8, "result": {}}"#,
        r#"{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": 7}"#,
        r#"{"jsonrpc": "2.0", "id": 10, "method": "no/such/method"}"#,
    ];
    let initialized = r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#;
    write
        .write_all(format!("{initialize}\n{initialized}\n{}\n", bad.join("\n")).as_bytes())
        .await
        .unwrap();
    write
        .write_all(b"{\"jsonrpc\": \"2.0\", \"id\": 11, \"method\": \"ping\"}\n")
        .await
        .unwrap();
    while let Some(line) = lines.next_line().await.unwrap() {
        let message: serde_json::Value = serde_json::from_str(&line).unwrap();
        let is_last = message["id"] == 11;
        seen.lock().unwrap().push(message);
        if is_last {
            break;
        }
    }
    let seen = seen.into_inner().unwrap();
    assert!(
        seen.iter()
            .any(|message| message["id"] == 10 && message["error"]["code"] == -32601),
        "{seen:?}"
    );
    drop((write, lines));
    serving.await.unwrap().unwrap();
}
