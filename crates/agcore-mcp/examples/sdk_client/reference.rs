//! The checks of the reference servers of the protocol.

use std::collections::BTreeMap;

use agcore_mcp::{McpClient, ToolCallRequest};
use serde_json::json;

use crate::checks::{Checks, text};

pub(crate) async fn everything(client: &McpClient, checks: &mut Checks) {
    checks.add("list", some(client.list_tools().await));
    checks
        .call(
            client,
            ToolCallRequest::new("echo").with_argument("message", "hello"),
            "hello",
        )
        .await;
    let sum = ToolCallRequest::new("get-sum")
        .with_argument("a", 2)
        .with_argument("b", 3);
    checks.call(client, sum, "5").await;
    checks.add(
        "error",
        fails(client, ToolCallRequest::new("get-sum").with_argument("a", "x")).await,
    );
    let mut steps = 0;
    let long = ToolCallRequest::new("trigger-long-running-operation")
        .with_argument("duration", 0.3)
        .with_argument("steps", 3);
    let output = client.call_tool(long, |_| steps += 1).await;
    checks.add(
        "progress",
        match output {
            Ok(Ok(_)) if steps == 3 => Ok(()),
            other => Err(format!("{steps} steps: {other:?}")),
        },
    );
    let resources = client.list_resources().await;
    if let Ok([first, ..]) = resources.as_deref() {
        checks.add("read", some(client.read_resource(&first.uri).await));
    }
    checks.add("resources", some(resources));
    checks.add("prompts", some(client.list_prompts().await));
    let prompt = client.get_prompt("simple-prompt", &BTreeMap::new()).await;
    checks.add("prompt", some(prompt.map(|prompt| prompt.messages)));
}

pub(crate) async fn filesystem(client: &McpClient, checks: &mut Checks, folder: &str) {
    checks.add("list", some(client.list_tools().await));
    let path = format!("{folder}/note.txt");
    let write = ToolCallRequest::new("write_file");
    let write = write.with_argument("path", &*path).with_argument("content", "milk");
    checks.call(client, write, "Success").await;
    let read = ToolCallRequest::new("read_text_file").with_argument("path", &*path);
    checks.call(client, read, "milk").await;
    let list = ToolCallRequest::new("list_directory").with_argument("path", folder);
    checks.call(client, list, "note.txt").await;
    let outside = ToolCallRequest::new("read_text_file").with_argument("path", "/etc/hostname");
    checks.add("outside", fails(client, outside).await);
}

pub(crate) async fn memory(client: &McpClient, checks: &mut Checks) {
    checks.add("list", some(client.list_tools().await));
    let entity = json!([{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}]);
    let create = ToolCallRequest::new("create_entities").with_argument("entities", entity);
    checks.call(client, create, "Ann").await;
    let search = ToolCallRequest::new("search_nodes").with_argument("query", "tea");
    checks.call(client, search, "likes tea").await;
    checks.call(client, ToolCallRequest::new("read_graph"), "person").await;
    let wrong = ToolCallRequest::new("create_entities").with_argument("entities", 7);
    checks.add("error", fails(client, wrong).await);
}

/// Checks that a list is not empty.
fn some<T, E: ToString>(list: Result<Vec<T>, E>) -> Result<(), String> {
    match list {
        Ok(list) if list.is_empty() => Err("the list is empty".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Checks that a call fails.
async fn fails(client: &McpClient, call: ToolCallRequest) -> Result<(), String> {
    match text(client, call).await {
        Err(_) => Ok(()),
        Ok(text) => Err(format!("the call succeeded: {text:?}")),
    }
}
