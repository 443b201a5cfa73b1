//! An application that serves an agent with its own tool over HTTP, and asks it a question like an AG-UI client.
//! Run it: `cargo run --example serve_agent`, or with a real model, as the [README](README.md) describes.
use std::{error::Error, sync::Arc};

use agcore::{
    agent::AgentSpec,
    chat::ToolCall,
    llm::SystemClock,
    session::InMemorySessionStore,
    tools::{ToolError, tool},
};
use agcore_server::Server;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// Returns where an order is.
#[tool]
async fn order_status(number: u32) -> Result<String, ToolError> {
    Ok(format!("Order {number} was shipped yesterday."))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let call = ToolCall::function("call_1", "order_status", r#"{"number": 7}"#);
    let offline = ScriptedProvider::new([ScriptStep::calls([call]), ScriptStep::text("It is on its way.")]);
    let agent = agcore::agent(agcore_examples::model(offline)?).with_tool(order_status_tool());
    let store = Arc::new(InMemorySessionStore::new(SystemClock::shared()));
    let shop = AgentSpec::new("shop", "You help customers of a shop.");
    let builder = Server::builder().with_store(store);
    let server = builder.with_agent("shop", agent.build()?, shop).build()?;
    let (listener, stop) = (TcpListener::bind("127.0.0.1:0").await?, CancellationToken::new());
    let (mut client, stopped) = (TcpStream::connect(listener.local_addr()?).await?, stop.clone());
    let serving = tokio::spawn(async move { server.serve(listener, stopped).await });
    let body = r#"{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"Where is order 7?"}]}"#;
    let head = "POST /api/v1/agent/run HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: ";
    let request = format!("{head}{}\r\n\r\n{body}", body.len());
    client.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    client.read_to_string(&mut answer).await?;
    println!("the run has finished: {}", answer.contains("RUN_FINISHED"));
    stop.cancel();
    Ok(serving.await??)
}
