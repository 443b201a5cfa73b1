//! The models over every API.

use agcore_demo::{Demo, Playground};
use agcore_testkit::mock_server::{Api, MockServer};
use serde_json::{Value, json};

use super::client::{CHAT, Received, chat, minimal, post};

/// Returns the text of a Chat Completions reply.
fn text(received: &Received) -> String {
    received.json()["choices"][0]["message"]["content"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// A conversation with the demo model through any API, as an agent would conduct it.
struct Conversation {
    server: MockServer,
    api: Api,
    history: Vec<Value>,
}

impl Conversation {
    async fn new(api: Api) -> Self {
        Self {
            server: MockServer::start(Demo::new()).await.unwrap(),
            api,
            history: Vec::new(),
        }
    }

    /// Adds a user message and returns the reply.
    async fn ask(&mut self, text: &str) -> Value {
        self.history.push(match self.api {
            Api::Gemini => json!({ "role": "user", "parts": [{ "text": text }] }),
            Api::Bedrock => json!({ "role": "user", "content": [{ "text": text }] }),
            _ => json!({ "role": "user", "content": text }),
        });
        self.request().await
    }

    /// Sends the history and returns the reply.
    async fn request(&mut self) -> Value {
        let member = match self.api {
            Api::OpenAiResponses => "input",
            Api::Gemini => "contents",
            _ => "messages",
        };
        let mut body = minimal(self.api, false);
        body[member] = json!(self.history);
        let tools = ["weather", "local_time", "save_note"].map(|name| tool(self.api, name));
        match self.api {
            Api::Bedrock => body["toolConfig"] = json!({ "tools": tools }),
            _ => body["tools"] = tools.into(),
        }
        let received = post(&self.server, &self.api.path("/v1"), &body).await;
        assert_eq!(received.status, 200, "{}", received.text());
        received.json()
    }
}

fn tool(api: Api, name: &str) -> Value {
    let schema = json!({ "type": "object", "properties": {} });
    match api {
        Api::Anthropic => json!({ "name": name, "input_schema": schema }),
        Api::OpenAiResponses => json!({ "type": "function", "name": name, "parameters": schema }),
        Api::Bedrock => json!({ "toolSpec": { "name": name, "inputSchema": { "json": schema } } }),
        Api::Gemini => json!({ "functionDeclarations": [{ "name": name, "parametersJsonSchema": schema }] }),
        _ => json!({ "type": "function", "function": { "name": name, "parameters": schema } }),
    }
}

#[tokio::test]
async fn demo_calls_tools_and_recalls_the_name_over_chat_completions() {
    let mut talk = Conversation::new(Api::OpenAiChat).await;
    let message = |reply: &Value| reply["choices"][0]["message"].clone();
    let reply = talk.ask("Hello, my name is Ada.").await;
    assert_eq!(message(&reply)["content"], "Hello, Ada! It is good to meet you.");
    talk.history.push(message(&reply));

    let calls = message(&talk.ask("What are the weather and the time in Lisbon?").await);
    let function = |index: usize| calls["tool_calls"][index]["function"].clone();
    assert_eq!(
        function(0),
        json!({ "name": "weather", "arguments": "{\"city\":\"Lisbon\"}" })
    );
    assert_eq!(
        function(1),
        json!({ "name": "local_time", "arguments": "{\"city\":\"Lisbon\"}" })
    );
    talk.history.push(calls.clone());
    for (index, result) in ["21 degrees", "14:05"].into_iter().enumerate() {
        let id = &calls["tool_calls"][index]["id"];
        talk.history
            .push(json!({ "role": "tool", "tool_call_id": id, "content": result }));
    }
    let summary = message(&talk.request().await);
    assert_eq!(
        summary["content"],
        "The weather in Lisbon: 21 degrees. The time in Lisbon: 14:05."
    );
    talk.history.push(summary);

    let recalled = message(&talk.ask("What is my name?").await);
    assert_eq!(recalled["content"], "Your name is Ada.");
    talk.history = vec![json!({ "role": "user", "content": "What is my name?" })];
    let unknown = message(&talk.request().await);
    assert_eq!(
        unknown["content"],
        "I do not know your name: you did not tell me in this conversation."
    );
}

#[tokio::test]
async fn demo_works_with_every_api() {
    for api in Api::ALL {
        let mut talk = Conversation::new(api).await;
        let greeting = talk.ask("My name is Bob.").await.to_string();
        assert!(greeting.contains("Hello, Bob!"), "{greeting}");
        let call = talk.ask("Please note: buy milk").await.to_string();
        assert!(call.contains("save_note") && call.contains("buy milk"), "{call}");
    }
}

/// Sends a message and tools to the playground.
async fn play(message: &str, tools: Value) -> Received {
    let server = MockServer::start(Playground::new()).await.unwrap();
    let mut body = chat(false);
    body["messages"][0]["content"] = json!(message);
    if tools.as_array().is_some_and(|tools| !tools.is_empty()) {
        body["tools"] = tools;
    }
    post(&server, CHAT, &body).await
}

#[tokio::test(start_paused = true)]
async fn playground_runs_commands_and_calls_mentioned_tools() {
    assert!(text(&play("good day", json!([])).await).starts_with("You wrote:\n\n> good day\n"));
    assert!(text(&play("help", json!([])).await).contains("`error N`"));
    let error = play("error 429 3", json!([])).await;
    assert_eq!((error.status, error.header("retry-after")), (429, "3"));
    assert_eq!(play("error 200", json!([])).await.status, 500);
    assert_eq!(play("html", json!([])).await.text(), "<html>Welcome</html>");
    assert_eq!(text(&play("long 3", json!([])).await), "word1 word2 word3 ");
    assert!(!play("cut", json!([])).await.complete);

    let tools = ["get_weather", "read_file"].map(|name| tool(Api::OpenAiChat, name));
    let reply = play("How is the weather?", json!(tools)).await.json();
    let calls = reply["choices"][0]["message"]["tool_calls"].as_array().unwrap().clone();
    assert_eq!((calls.len(), &calls[0]["function"]["name"]), (1, &json!("get_weather")));
}

#[tokio::test]
async fn playground_calls_all_tools_and_quotes_their_results() {
    let server = MockServer::start(Playground::new().with_all_tools_called())
        .await
        .unwrap();
    let mut body = chat(false);
    body["tools"] = ["a", "b"].map(|name| tool(Api::OpenAiChat, name)).into();
    let message = post(&server, CHAT, &body).await.json()["choices"][0]["message"].clone();
    assert_eq!(message["tool_calls"].as_array().unwrap().len(), 2);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(message.clone());
    for call in message["tool_calls"].as_array().unwrap() {
        messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": "fine" }));
    }
    let quoted = text(&post(&server, CHAT, &body).await);
    assert_eq!(
        quoted,
        "The tools answered:\n\n- **a** returned: fine\n- **b** returned: fine\n"
    );
}
