//! Requests of a client to a server that behaves.

use std::time::Duration;

use agcore_chat::Progress;
use agcore_mcp::{ClientOptions, Lifecycle, McpClient, McpErrorKind, McpTransport, ToolCallRequest};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::support::{connect, server, try_connect};

pub(crate) async fn call(client: &McpClient, call: impl Into<ToolCallRequest>) -> String {
    let output = client.call_tool(call, |_| {}).await.unwrap().unwrap();
    let content = output.into_content().unwrap();
    content.text().into_owned()
}

#[tokio::test]
async fn calls_tools() {
    let Some(server) = server("good") else { return };
    let client = connect(server.with_env("GREETING", "hello")).await;
    let info = client.server();
    assert_eq!(info.protocol, "2025-11-25");
    assert_eq!(info.name.as_deref(), Some("bad\\u{1b}[31m"));
    assert_eq!(info.instructions.as_deref(), Some("Be nice."));
    assert!(info.has_tools && !info.has_prompts);

    // From two pages.
    let tools = client.list_tools().await.unwrap();
    assert_eq!((tools.len(), &*tools[0].name, &*tools[3].name), (15, "add", "slow"));
    let rich = tools.iter().find(|tool| tool.name == "rich").unwrap();
    assert_eq!(
        (rich.annotations.read_only, rich.annotations.destructive),
        (Some(true), Some(false))
    );
    assert_eq!(rich.annotations.title.as_deref(), Some("Rich"));

    let add = ToolCallRequest::new("add").with_argument("a", 2).with_argument("b", 3);
    assert_eq!(call(&client, add).await, "5");
    let env = ToolCallRequest::new("env").with_argument("name", "GREETING");
    assert_eq!(call(&client, env).await, "hello");
    let failure = client.call_tool("fail", |_| {}).await.unwrap().unwrap_err();
    assert_eq!(failure.message(), "the disk is full");
    let rich = client.call_tool("rich", |_| {}).await.unwrap().unwrap();
    assert_eq!(rich.as_value(), Some(&json!({"n": 1})));
    client.ping().await.unwrap();

    let error = client.call_tool("nothing", |_| {}).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (McpErrorKind::Server, Some(-32602)));
    assert_eq!(
        error.message(),
        r#"the MCP server "test" answered the call of "nothing" with error -32602: unknown tool nothing"#
    );
    client.close().await;
}

#[tokio::test]
async fn progress_arrives_in_its_order_and_before_the_result() {
    let Some(server) = server("good") else { return };
    let client = connect(server).await;
    let mut steps = Vec::new();
    let output = client
        .call_tool("steps", |step| steps.push(step))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(output.as_value(), Some(&json!("done")));
    assert_eq!(steps.len(), 20);
    let mut last = Progress::amount(20.0, Some(20.0));
    last.message = Some("step 20".into());
    assert_eq!(steps.last(), Some(&last));
    assert!(steps.is_sorted_by_key(|step| step.done.map(f64::to_bits)));
}

#[tokio::test]
async fn dropped_calls_are_cancelled_at_the_server() {
    let Some(server) = server("good") else { return };
    let client = connect(server).await;
    let limit = ToolCallRequest::new("slow").with_timeout(Duration::from_millis(50));
    let error = client.call_tool(limit, |_| {}).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Timeout);
    assert_eq!(
        error.message(),
        r#"the MCP server "test" did not answer the call of "slow" within 50ms; its effects, if any, are unknown"#
    );
    let mut dropped = Box::pin(client.call_tool("slow", |_| {}));
    // A call that is answered later shows that the first one was sent.
    tokio::select! {
        _ = &mut dropped => panic!("the call was answered"),
        _ = call(&client, "cancelled") => {}
    }
    drop(dropped);
    loop {
        let ids: Vec<i64> = serde_json::from_str(&call(&client, "cancelled").await).unwrap();
        if ids.len() == 2 {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn parallel_calls_keep_their_results() {
    let Some(server) = server("good") else { return };
    let client = connect(server).await;
    let calls: Vec<_> = (0..1000)
        .map(|number| {
            let client = client.clone();
            let add = ToolCallRequest::new("add")
                .with_argument("a", number)
                .with_argument("b", 1);
            tokio::spawn(async move { call(&client, add).await })
        })
        .collect();
    for (number, result) in calls.into_iter().enumerate() {
        assert_eq!(result.await.unwrap(), (number + 1).to_string());
    }
}

#[tokio::test]
async fn negotiates_the_lifecycle() {
    let Some(strict) = server("strict") else { return };
    // It ends when the first message is not `initialize`.
    let client = connect(strict.clone()).await;
    assert_eq!(client.list_tools().await.unwrap().len(), 15);
    let handshake = ClientOptions::new().with_lifecycle(Lifecycle::Handshake);
    try_connect(strict.clone(), handshake).await.unwrap();
    let stateless = ClientOptions::new().with_lifecycle(Lifecycle::Stateless);
    let error = try_connect(strict, stateless).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Closed);

    let Some(empty) = server("empty") else { return };
    let client = connect(empty).await;
    assert!(client.list_tools().await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn late_answers_about_revisions_are_ignored() {
    for late in [
        json!({"result": {"supportedVersions": []}}),
        json!({"error": {"code": -32601, "message": "no"}}),
    ] {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            let (read, mut write) = tokio::io::split(theirs);
            let (mut lines, mut discover) = (BufReader::new(read).lines(), Value::Null);
            while let Ok(Some(line)) = lines.next_line().await {
                let request: Value = serde_json::from_str(&line).unwrap();
                let result = match request["method"].as_str() {
                    // The server is still starting, until the client has given up.
                    Some("server/discover") => {
                        discover = request["id"].clone();
                        continue;
                    }
                    Some("initialize") => {
                        let mut response = json!({"jsonrpc": "2.0", "id": discover});
                        response
                            .as_object_mut()
                            .unwrap()
                            .extend(late.as_object().unwrap().clone());
                        write.write_all(format!("{response}\n").as_bytes()).await.unwrap();
                        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "slow", "version": "1"}})
                    }
                    Some("tools/list") => json!({"tools": []}),
                    _ => continue,
                };
                let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
                write.write_all(format!("{response}\n").as_bytes()).await.unwrap();
            }
        });
        let (read, write) = tokio::io::split(ours);
        let client = McpClient::connect("slow", McpTransport::streams(read, write))
            .await
            .unwrap();
        assert_eq!(client.server().protocol, "2025-11-25");
        assert!(client.list_tools().await.unwrap().is_empty());
    }
}
