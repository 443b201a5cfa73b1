//! The checks of a server of another SDK, which has the tools of the example `sdk_server`.

use std::{pin::pin, time::Duration};

use agcore_mcp::{McpClient, ToolCallRequest};
use tokio::sync::mpsc;

use crate::checks::{Checks, text};

/// The longest time for a server to notice that a call was cancelled.
const LIMIT: Duration = Duration::from_secs(10);

/// The pause between two questions whether it did.
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) async fn check(client: &McpClient, checks: &mut Checks) {
    checks.add("list", list(client).await);
    let add = ToolCallRequest::new("add").with_argument("a", 2).with_argument("b", 3);
    checks.add("call", text(client, add).await.and_then(|sum| expect(&sum, "5")));
    checks.add("error", error(client).await);
    checks.add("progress", progress(client).await);
    let cancelled = tokio::time::timeout(LIMIT, cancel(client)).await;
    checks.add(
        "cancel",
        cancelled.unwrap_or_else(|_| Err("the server did not notice it".to_owned())),
    );
}

fn expect(value: &str, expected: &str) -> Result<(), String> {
    match value.contains(expected) {
        true => Ok(()),
        false => Err(format!("{expected:?} is not in {value:?}")),
    }
}

async fn list(client: &McpClient) -> Result<(), String> {
    let tools = client.list_tools().await.map_err(|error| error.to_string())?;
    let mut names: Vec<_> = tools.into_iter().map(|tool| tool.name).collect();
    names.sort();
    match *names == ["add", "cancelled", "fail", "steps", "wait"] {
        true => Ok(()),
        false => Err(format!("the tools are {names:?}")),
    }
}

async fn error(client: &McpClient) -> Result<(), String> {
    let result = client
        .call_tool("fail", |_| {})
        .await
        .map_err(|error| error.to_string())?;
    match result {
        Ok(output) => Err(format!("the tool did not fail: {output:?}")),
        Err(error) => expect(error.message(), "the disk is full"),
    }
}

async fn progress(client: &McpClient) -> Result<(), String> {
    let mut steps = Vec::new();
    let call = client.call_tool("steps", |step| steps.push(step.done.unwrap_or_default()));
    let output = call.await.map_err(|error| error.to_string())?;
    let _ = output.map_err(|error| error.to_string())?;
    match *steps == [1.0, 2.0, 3.0] {
        true => Ok(()),
        false => Err(format!("the steps are {steps:?}")),
    }
}

async fn cancel(client: &McpClient) -> Result<(), String> {
    let (started, mut start) = mpsc::unbounded_channel();
    {
        let call = client.call_tool("wait", move |_| {
            let _ = started.send(());
        });
        let mut call = pin!(call);
        tokio::select! {
            result = &mut call => return Err(format!("the call ended: {result:?}")),
            _ = start.recv() => {}
        }
        // The call is dropped here.
    }
    while text(client, "cancelled").await?.trim() == "0" {
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
