//! Names of tools between the application and a server that accepts fewer characters.

use std::sync::{Arc, Mutex};

use agcore_chat::{ChatRequest, Message, Tool, ToolDefinition};
use agcore_llm::{
    LlmError, LlmProviderExt, ProviderInfo, WireProvider, dialect,
    transport::{Transport, TransportReply},
    wire::{ReplyHead, WireRequest, openai_chat::OpenAiChat},
};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

/// A server that calls the first tool under the name that it received.
#[derive(Debug, Default)]
struct Caller {
    received: Mutex<Option<String>>,
}

#[async_trait::async_trait]
impl Transport for Caller {
    async fn send(&self, request: WireRequest, _stream: bool) -> Result<TransportReply, LlmError> {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let name = body["tools"][0]["function"]["name"].as_str().unwrap().to_owned();
        let call = json!({"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}});
        *self.received.lock().unwrap() = Some(name);
        let reply = json!({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
        Ok(TransportReply {
            head: ReplyHead::default(),
            body: stream::iter([Ok(reply.to_string().into())]).boxed(),
        })
    }
}

#[tokio::test]
async fn a_provider_sends_portable_names_and_returns_those_of_the_request() {
    let transport = Arc::new(Caller::default());
    let wire = Arc::new(OpenAiChat::new(dialect::openai()));
    let provider = WireProvider::new(ProviderInfo::new("caller", "m"), wire, Arc::clone(&transport) as _);
    let tool = Tool::from(ToolDefinition::new(
        "fs.read",
        "",
        json!({"type": "object", "properties": {}}),
    ));
    let request = ChatRequest::new([Message::user("Read it")]).with_tools([tool]);
    let response = provider.chat(request).await.unwrap();
    assert_eq!(transport.received.lock().unwrap().as_deref(), Some("fs_read"));
    let message = response.message().unwrap();
    let names: Vec<_> = message.tool_calls().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["fs.read"]);
}
