//! An agent with one tool, by hand on genai: a loop that runs the tools in parallel.

use std::error::Error;

use futures_util::future::join_all;
use genai::{
    Client,
    chat::{ChatRequest, Tool, ToolCall, ToolResponse},
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Place {
    city: String,
}

async fn temperature(place: Place) -> Result<f64, String> {
    match &*place.city {
        "Paris" => Ok(21.5),
        other => Err(format!("no temperature of {other} is known")),
    }
}

/// Runs the tool of a call and returns what the model reads.
async fn run(call: &ToolCall) -> ToolResponse {
    let result = match serde_json::from_value(call.fn_arguments.clone()) {
        Ok(place) => temperature(place).await,
        Err(error) => Err(error.to_string()),
    };
    let text = result.map_or_else(|error| error, |degrees| degrees.to_string());
    ToolResponse::from_tool_call(call, text)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::default();
    let tool = Tool::new("temperature")
        .with_description("Returns the current temperature.")
        .with_schema(json!({
            "type": "object",
            "properties": {"city": {"type": "string", "description": "The city."}},
            "required": ["city"],
            "additionalProperties": false,
        }));
    let mut request = ChatRequest::from_user("How warm is it in Paris?")
        .with_system("You are a helpful assistant.")
        .with_tools([tool]);
    loop {
        let reply = client.exec_chat("gpt-4.1", request.clone(), None).await?;
        if reply.tool_calls().is_empty() {
            println!("{}", reply.into_first_text().unwrap_or_default());
            return Ok(());
        }
        let calls = reply.into_tool_calls();
        let results = join_all(calls.iter().map(run)).await;
        request = request.append_message(calls).append_message(results);
    }
}
