//! A conversation that switches from one vendor to another and back, for every ordered pair of vendors.
//!
//! `cargo nextest run -p agcore-wire --all-features --no-capture vendors` prints the results as a matrix.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, ChatRequest, Message, Tool, ToolDefinition, validate_messages};
use agcore_wire::{
    Chat, Close, EncodeOptions, Fold, ReplyHead, Wire,
    anthropic::Anthropic,
    bedrock::Bedrock,
    dialect::{self, Dialect},
    gemini::Gemini,
    ollama::Ollama,
    openai_chat::OpenAiChat,
    openai_responses::OpenAiResponses,
};
use serde_json::{Value, json};

/// The API of a vendor, with a reply that contains reasoning, text and two calls.
struct Api {
    name: &'static str,
    wire: Arc<dyn Wire<Chat>>,
    reply: Value,
    last: Value,
    /// Data that must be sent back to the vendor unchanged, and never to others.
    private: &'static [&'static str],
    /// Returns whether the vendor accepts an id.
    accepts_id: fn(&str) -> bool,
    /// Whether the ids of calls must be unique in a conversation.
    unique_ids: bool,
    /// Returns the ids of calls and of results, in the order of the body.
    ids: fn(&Value) -> (Vec<String>, Vec<String>),
}

const ARGUMENTS: [&str; 2] = [r#"{"city":"Oslo"}"#, r#"{"city":"Rome"}"#];

fn chat(name: &'static str, dialect: Dialect, calls: Value, private: &'static [&'static str]) -> Api {
    let message = json!({"role": "assistant", "content": format!("Text of {name}."), "tool_calls": calls,
        "reasoning_content": format!("Thoughts of {name}.")});
    Api {
        name,
        wire: Arc::new(OpenAiChat::new(dialect)),
        reply: json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}),
        last: json!({"choices": [{"message": {"content": format!("Last of {name}.")}, "finish_reason": "stop"}]}),
        private,
        accepts_id: |id| !id.is_empty(),
        unique_ids: false,
        ids: |body| {
            let calls = each(body, "messages", |message| {
                each(message, "tool_calls", |call| vec![string(&call["id"])])
            });
            let results = each(body, "messages", |message| some(&message["tool_call_id"]));
            (calls, results)
        },
    }
}

fn function(id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "weather", "arguments": arguments}})
}

fn openai() -> Api {
    let calls = json!([
        function("call:1/a b", ARGUMENTS[0]),
        function("call:1/a c", ARGUMENTS[1])
    ]);
    chat("openai-chat", dialect::openai(), calls, &[])
}

fn deepseek() -> Api {
    let calls = json!([
        function("call_0_deep", ARGUMENTS[0]),
        function("call_1_deep", ARGUMENTS[1])
    ]);
    chat("deepseek", dialect::deepseek(), calls, &["Thoughts of deepseek."])
}

fn gemini() -> Api {
    let mut first = function("gem-1", ARGUMENTS[0]);
    first["extra_content"] = json!({"google": {"thought_signature": "signature of gemini"}});
    chat(
        "gemini",
        dialect::gemini(),
        json!([first, function("gem-2", ARGUMENTS[1])]),
        &["signature of gemini"],
    )
}

fn mistral() -> Api {
    let calls = json!([function("aB3dE6gH9", ARGUMENTS[0]), function("zZ3dE6gH9", ARGUMENTS[1])]);
    let mut api = chat("mistral", dialect::mistral(), calls, &[]);
    api.accepts_id = |id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    api
}

fn anthropic() -> Api {
    let call = |id: &str, arguments: &str| json!({"type": "tool_use", "id": id, "name": "weather", "input": serde_json::from_str::<Value>(arguments).unwrap()});
    let content = json!([
        {"type": "thinking", "thinking": "Thoughts of anthropic.", "signature": "signature of anthropic"},
        {"type": "redacted_thinking", "data": "redacted of anthropic"},
        {"type": "text", "text": "Text of anthropic."},
        call("toolu_1", ARGUMENTS[0]),
        call("toolu_2", ARGUMENTS[1]),
    ]);
    let reply = |content: Value, reason: &str| {
        json!({"type": "message", "role": "assistant", "id": "msg_1", "model": "m", "content": content,
            "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}})
    };
    Api {
        name: "anthropic",
        wire: Arc::new(Anthropic::new()),
        reply: reply(content, "tool_use"),
        last: reply(json!([{"type": "text", "text": "Last of anthropic."}]), "end_turn"),
        private: &[
            "Thoughts of anthropic.",
            "signature of anthropic",
            "redacted of anthropic",
        ],
        accepts_id: |id| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            !id.is_empty() && id.bytes().all(allowed)
        },
        unique_ids: true,
        ids: |body| {
            let ids = |kind: &'static str, member: &'static str| {
                each(body, "messages", |message| {
                    let mut found = each(message, "content", |block| match block["type"] == kind {
                        true => vec![string(&block[member])],
                        false => Vec::new(),
                    });
                    found.retain(|id| !id.is_empty());
                    found
                })
            };
            (ids("tool_use", "id"), ids("tool_result", "tool_use_id"))
        },
    }
}

fn responses() -> Api {
    let call = |number: u32, arguments: &str| {
        json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
            "name": "weather", "arguments": arguments, "status": "completed"})
    };
    let text = |text: &str| {
        json!({"type": "message", "id": "msg_of_responses", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]})
    };
    let output = json!([
        {"type": "reasoning", "id": "rs_of_responses", "encrypted_content": "encrypted of responses",
            "summary": [{"type": "summary_text", "text": "Thoughts of openai-responses."}]},
        text("Text of openai-responses."),
        call(1, ARGUMENTS[0]),
        call(2, ARGUMENTS[1]),
    ]);
    Api {
        name: "openai-responses",
        wire: Arc::new(OpenAiResponses::new()),
        reply: json!({"object": "response", "id": "resp_1", "status": "completed", "output": output}),
        last: json!({"object": "response", "status": "completed", "output": [text("Last of openai-responses.")]}),
        private: &[
            "rs_of_responses",
            "encrypted of responses",
            "Thoughts of openai-responses.",
        ],
        accepts_id: |id| !id.is_empty() && id.len() <= 64,
        unique_ids: true,
        ids: |body| {
            let ids = |kind: &'static str| {
                each(body, "input", |item| match item["type"] == kind {
                    true => vec![string(&item["call_id"])],
                    false => Vec::new(),
                })
            };
            (ids("function_call"), ids("function_call_output"))
        },
    }
}

fn ollama() -> Api {
    let call = |arguments: &str| json!({"function": {"name": "weather", "arguments": serde_json::from_str::<Value>(arguments).unwrap()}});
    let message = json!({"role": "assistant", "content": "Text of ollama.", "thinking": "Thoughts of ollama.",
        "tool_calls": [call(ARGUMENTS[0]), call(ARGUMENTS[1])]});
    Api {
        name: "ollama",
        wire: Arc::new(Ollama::new()),
        reply: json!({"message": message, "done": true, "done_reason": "stop"}),
        last: json!({"message": {"content": "Last of ollama."}, "done": true, "done_reason": "stop"}),
        private: &["Thoughts of ollama."],
        accepts_id: |id| !id.is_empty(),
        unique_ids: false,
        ids: openai().ids,
    }
}

fn gemini_native() -> Api {
    let call = |arguments: &str| json!({"name": "weather", "args": serde_json::from_str::<Value>(arguments).unwrap()});
    let reply = |parts: Value| {
        let content = json!({"role": "model", "parts": parts});
        json!({"candidates": [{"content": content, "finishReason": "STOP"}]})
    };
    let parts = json!([
        {"text": "Thoughts of gemini-native.", "thought": true, "thoughtSignature": "thought of gemini-native"},
        {"executableCode": {"language": "PYTHON", "code": "code of gemini-native"}},
        {"text": "Text of gemini-native.", "thoughtSignature": "text of gemini-native"},
        {"functionCall": call(ARGUMENTS[0]), "thoughtSignature": "call of gemini-native"},
        {"functionCall": call(ARGUMENTS[1])},
    ]);
    Api {
        name: "gemini-native",
        wire: Arc::new(Gemini::new()),
        reply: reply(parts),
        last: reply(json!([{"text": "Last of gemini-native."}])),
        private: &[
            "Thoughts of gemini-native.",
            "thought of gemini-native",
            "code of gemini-native",
            "text of gemini-native",
            "call of gemini-native",
        ],
        accepts_id: |id| !id.is_empty(),
        unique_ids: false,
        // Calls have no ids, so that their order counts: each content with results is behind the one with the calls.
        ids: |body| {
            let contents = body["contents"].as_array().unwrap();
            let numbered = |member: &str, offset: usize| {
                let number = |(at, content): (usize, &Value)| {
                    let parts = content["parts"].as_array().unwrap().iter();
                    let found = parts.filter(|part| part[member].is_object()).enumerate();
                    let number = |(index, _)| format!("{}-{index}", at + offset);
                    found.map(number).collect::<Vec<_>>()
                };
                contents.iter().enumerate().flat_map(number).collect::<Vec<_>>()
            };
            (numbered("functionCall", 1), numbered("functionResponse", 0))
        },
    }
}

fn bedrock() -> Api {
    let call = |id: &str, arguments: &str| json!({"toolUse": {"toolUseId": id, "name": "weather", "input": serde_json::from_str::<Value>(arguments).unwrap()}});
    let reply = |content: Value, reason: &str| {
        let message = json!({"role": "assistant", "content": content});
        json!({"output": {"message": message}, "stopReason": reason, "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}})
    };
    let text = json!({"text": "Thoughts of bedrock.", "signature": "signature of bedrock"});
    let content = json!([
        {"reasoningContent": {"reasoningText": text}},
        {"reasoningContent": {"redactedContent": "redacted of bedrock"}},
        {"text": "Text of bedrock."},
        call("tooluse_1", ARGUMENTS[0]),
        call("tooluse_2", ARGUMENTS[1]),
    ]);
    Api {
        name: "bedrock",
        wire: Arc::new(Bedrock::new()),
        reply: reply(content, "tool_use"),
        last: reply(json!([{"text": "Last of bedrock."}]), "end_turn"),
        private: &["Thoughts of bedrock.", "signature of bedrock", "redacted of bedrock"],
        accepts_id: |id| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
            (1..=64).contains(&id.len()) && id.bytes().all(allowed)
        },
        unique_ids: true,
        ids: |body| {
            let ids = |kind: &'static str| {
                each(body, "messages", |message| {
                    let mut found = each(message, "content", |block| vec![string(&block[kind]["toolUseId"])]);
                    found.retain(|id| !id.is_empty());
                    found
                })
            };
            (ids("toolUse"), ids("toolResult"))
        },
    }
}

fn apis() -> Vec<Api> {
    vec![
        openai(),
        deepseek(),
        gemini(),
        mistral(),
        anthropic(),
        responses(),
        ollama(),
        gemini_native(),
        bedrock(),
    ]
}

/// Collects what a function finds in each element of an array, if there is one.
fn each(object: &Value, member: &str, find: impl Fn(&Value) -> Vec<String>) -> Vec<String> {
    object[member].as_array().into_iter().flatten().flat_map(find).collect()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn some(value: &Value) -> Vec<String> {
    value.as_str().map(str::to_owned).into_iter().collect()
}

impl Api {
    fn read(&self, reply: &Value) -> AssistantMessage {
        let head = ReplyHead::default();
        let (mut decoder, mut deltas, mut fold) = (self.wire.decoder(&head), Vec::new(), Fold::new());
        decoder.feed(reply.to_string().as_bytes(), &mut deltas).unwrap();
        decoder.finish(Close::Clean, &mut deltas).unwrap();
        for delta in &deltas {
            fold.push(delta);
        }
        fold.response().message().unwrap().clone()
    }

    fn write(&self, history: &[Message]) -> Value {
        validate_messages(history).unwrap();
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        let tool = Tool::from(ToolDefinition::new("weather", "The weather.", schema));
        let request = ChatRequest::new(history.to_vec())
            .with_tools([tool])
            .with_max_tokens(500);
        let sent = self.wire.encode(&request, &EncodeOptions::new("m")).unwrap();
        serde_json::from_slice(&sent.body).unwrap()
    }
}

/// Returns the problems of a body for `to` that contains a reply of each API in `from`.
fn problems(to: &Api, body: &Value, from: &[&Api], results: &[&str]) -> Vec<String> {
    let text = body.to_string();
    let mut found = Vec::new();
    for api in from {
        if !text.contains(&format!("Text of {}.", api.name)) {
            found.push(format!("the text of {} is lost", api.name));
        }
        for data in api.private {
            if text.contains(data) != (api.name == to.name) {
                found.push(format!(
                    "`{data}` is {}",
                    if api.name == to.name { "lost" } else { "sent" }
                ));
            }
        }
    }
    for result in results.iter().chain(&["Oslo", "Rome"]) {
        if !text.contains(result) {
            found.push(format!("`{result}` is lost"));
        }
    }
    let (calls, answered) = (to.ids)(body);
    let mut distinct = calls.clone();
    distinct.sort();
    distinct.dedup();
    let is_unique = !to.unique_ids || distinct.len() == calls.len();
    if calls.len() != from.len() * 2 || calls != answered || !is_unique {
        found.push(format!("calls {calls:?} have results {answered:?}"));
    }
    found.extend(
        calls
            .iter()
            .filter(|id| !(to.accepts_id)(id))
            .map(|id| format!("the id `{id}` is refused")),
    );
    found
}

/// Adds a round of a vendor: its reply and the results of both calls.
fn push_round(api: &Api, history: &mut Vec<Message>, results: [&str; 2]) {
    let reply = api.read(&api.reply);
    let ids: Vec<String> = reply.tool_calls().map(|call| call.id.as_str().to_owned()).collect();
    history.push(reply.into());
    history.extend(
        ids.iter()
            .zip(results)
            .map(|(id, result)| Message::tool(id.as_str(), result)),
    );
}

/// Checks a conversation that has a round of `from`, continues with a round and a last message of `to`, and then returns to
/// `from`.
fn check_pair(from: &Api, to: &Api) -> Vec<String> {
    let mut history = vec![Message::system("Be short."), Message::user("Weather in Oslo and Rome?")];
    push_round(from, &mut history, ["4 degrees", "21 degrees"]);
    let mut found = problems(to, &to.write(&history), &[from], &["4 degrees", "21 degrees"]);
    push_round(to, &mut history, ["5 degrees", "22 degrees"]);
    history.push(to.read(&to.last).into());
    history.push(Message::user("And tomorrow?"));
    let all = ["4 degrees", "21 degrees", "5 degrees", "22 degrees"];
    let both = if from.name == to.name {
        vec![from]
    } else {
        vec![from, to]
    };
    let back = from.write(&history);
    if from.name != to.name {
        found.extend(
            problems(from, &back, &both, &all)
                .into_iter()
                .map(|problem| format!("and back: {problem}")),
        );
    }
    if !back.to_string().contains(&format!("Last of {}.", to.name)) {
        found.push("and back: the last message is lost".to_owned());
    }
    found
}

#[test]
fn a_conversation_can_switch_between_any_two_vendors() {
    let apis = apis();
    let mut wrong = Vec::new();
    let heads: Vec<String> = apis.iter().map(|api| format!("{:>17}", api.name)).collect();
    println!("{:>17} {}", "from / to", heads.join(" "));
    for from in &apis {
        let mut row = Vec::new();
        for to in &apis {
            let found = check_pair(from, to);
            row.push(format!("{:>17}", if found.is_empty() { "ok" } else { "WRONG" }));
            wrong.extend(
                found
                    .into_iter()
                    .map(|problem| format!("{} to {}: {problem}", from.name, to.name)),
            );
        }
        println!("{:>17} {}", from.name, row.join(" "));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
