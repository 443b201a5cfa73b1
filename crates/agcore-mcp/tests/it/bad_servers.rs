//! Servers that misbehave: each is a clear error, and nothing else is affected.

use std::time::Duration;

use agcore_mcp::{ClientOptions, McpErrorKind, Restart, StdioTransport, ToolCallRequest};

use crate::{
    client::call,
    support::{connect, server, try_connect},
};

#[tokio::test]
async fn servers_that_cannot_be_started() {
    let error = try_connect(StdioTransport::new("/etc/passwd"), ClientOptions::new())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Start);
    assert!(error.message().contains("may not be executed"), "{error}");
    let elsewhere = StdioTransport::new("ls").with_directory("/no/such/directory");
    let error = try_connect(elsewhere, ClientOptions::new()).await.unwrap_err();
    assert_eq!(
        error.message(),
        "the MCP server \"test\" cannot be started: its working directory `/no/such/directory` is not a directory; create \
         it, or set another one"
    );
}

#[tokio::test]
async fn servers_that_exit_at_start() {
    let Some(server) = server("exit") else { return };
    let error = try_connect(server.with_env("TOKEN", "hunter2hunter2"), ClientOptions::new())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Closed);
    assert_eq!(
        error.message(),
        "the MCP server \"test\" ended before the connection was established: exit status: 5; its last output on stderr: \
         no configuration: TOKEN [redacted] is wrong"
    );
}

#[tokio::test]
async fn servers_that_do_not_speak_the_protocol() {
    for mode in ["garbage", "silent"] {
        let Some(server) = server(mode) else { return };
        let options = ClientOptions::new().with_connect_timeout(Duration::from_millis(500));
        let error = try_connect(server, options).await.unwrap_err();
        assert_eq!(error.kind(), McpErrorKind::Timeout, "{mode}");
        assert!(error.message().contains("did not answer within 500ms"), "{error}");
    }
}

#[tokio::test]
async fn stderr_is_read_while_the_server_floods_it() {
    let Some(server) = server("flood") else { return };
    let client = connect(server).await;
    assert_eq!(client.list_tools().await.unwrap().len(), 15);
}

#[tokio::test]
async fn answers_that_are_too_long_fail_only_their_call() {
    let Some(server) = server("good") else { return };
    let client = connect(server).await;
    let error = client.call_tool("huge", |_| {}).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Server);
    assert!(error.message().contains("bytes, and the limit is 16777216"), "{error}");
    let add = ToolCallRequest::new("add").with_argument("a", 1).with_argument("b", 1);
    assert_eq!(call(&client, add).await, "2");
}

#[tokio::test]
async fn answers_to_nothing_are_ignored() {
    let Some(server) = server("good") else { return };
    let client = connect(server).await;
    for _ in 0..3 {
        assert_eq!(call(&client, "twice").await, "first");
        assert_eq!(call(&client, "unknown_id").await, "yours");
    }
    assert_eq!(call(&client, "ask").await, "asked");
}

#[tokio::test]
async fn long_lists_are_cut() {
    let Some(many) = server("many") else { return };
    let client = connect(many.clone()).await;
    assert_eq!(client.list_tools().await.unwrap().len(), 10_000);
    let client = try_connect(many, ClientOptions::new().with_max_list_entries(2500))
        .await
        .unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 2500);
}

#[tokio::test]
async fn crashes_fail_all_calls_at_once_with_the_reason() {
    let Some(server) = server("good") else { return };
    let client = connect(server).await;
    let slow: Vec<_> = (0..100)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("slow", |_| {}).await.unwrap_err() })
        })
        .collect();
    // Answered after the calls before it were read.
    call(&client, "cancelled").await;
    let error = client.call_tool("crash", |_| {}).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Closed);
    assert_eq!(
        error.message(),
        "the MCP server \"test\" ended before it answered the call of \"crash\": exit status: 7; its last output on \
         stderr: about to crash: out of memory"
    );
    for call in slow {
        let error = call.await.unwrap();
        assert!(error.message().contains("exit status: 7"), "{error}");
    }
    assert!(client.is_closed());
    let error = client.list_tools().await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Closed);
}

#[tokio::test]
async fn crashed_servers_are_restarted_when_asked() {
    let Some(server) = server("good") else { return };
    let restart = Restart::default().with_attempts(2).with_delay(Duration::from_millis(1));
    let client = try_connect(server, ClientOptions::new().with_restart(restart))
        .await
        .unwrap();
    let mut events = client.events();
    for _ in 0..2 {
        let error = client.call_tool("crash", |_| {}).await.unwrap_err();
        assert!(error.message().contains("exit status: 7"), "{error}");
        // The crash itself was not repeated.
        assert_eq!(client.list_tools().await.unwrap().len(), 15);
        assert_eq!(events.next().await, Some(agcore_mcp::ServerEvent::Reconnected));
    }
    client.call_tool("crash", |_| {}).await.unwrap_err();
    let error = client.list_tools().await.unwrap_err();
    assert!(
        error.message().ends_with("it was restarted 2 times in a row"),
        "{error}"
    );
}
