//! An agent with one tool, by hand on async-openai: a loop that runs the tools in parallel.

use std::error::Error;

use async_openai::{
    Client,
    types::chat::{
        ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage, ChatCompletionRequestSystemMessage,
        ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage, ChatCompletionTool, ChatCompletionTools,
        CreateChatCompletionRequest, FunctionObject,
    },
};
use futures_util::future::join_all;
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
async fn run(call: &ChatCompletionMessageToolCalls) -> Option<ChatCompletionRequestToolMessage> {
    let ChatCompletionMessageToolCalls::Function(call) = call else {
        return None;
    };
    let result = match serde_json::from_str(&call.function.arguments) {
        Ok(place) => temperature(place).await,
        Err(error) => Err(error.to_string()),
    };
    let text = result.map_or_else(|error| error, |degrees| degrees.to_string());
    Some(ChatCompletionRequestToolMessage {
        content: text.into(),
        tool_call_id: call.id.clone(),
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::new();
    let function = FunctionObject {
        name: "temperature".to_owned(),
        description: Some("Returns the current temperature.".to_owned()),
        parameters: Some(json!({
            "type": "object",
            "properties": {"city": {"type": "string", "description": "The city."}},
            "required": ["city"],
            "additionalProperties": false,
        })),
        strict: None,
    };
    let mut request = CreateChatCompletionRequest {
        model: "gpt-4.1".to_owned(),
        messages: vec![
            ChatCompletionRequestSystemMessage::from("You are a helpful assistant.").into(),
            ChatCompletionRequestUserMessage::from("How warm is it in Paris?").into(),
        ],
        tools: Some(vec![ChatCompletionTools::Function(ChatCompletionTool { function })]),
        ..Default::default()
    };
    loop {
        let reply = client.chat().create(request.clone()).await?;
        let message = reply.choices.into_iter().next().ok_or("no choice")?.message;
        let Some(calls) = message.tool_calls else {
            println!("{}", message.content.unwrap_or_default());
            return Ok(());
        };
        let results = join_all(calls.iter().map(run)).await;
        let calls = ChatCompletionRequestAssistantMessage {
            tool_calls: Some(calls),
            ..Default::default()
        };
        request.messages.push(calls.into());
        request.messages.extend(results.into_iter().flatten().map(Into::into));
    }
}
