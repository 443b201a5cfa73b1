//! Data that a chat server sent and gets back: reasoning, details, thinking blocks, signatures, and media in tool results.

use agcore_chat::{AssistantMessage, ChatRequest, Content, ContentPart, Message, ToolCall};
use agcore_wire::{
    Chat, Close, EncodeOptions, Fold, LlmError, ReplyHead, Wire,
    dialect::{self, Dialect, ReasoningField, ToolMediaRule},
    openai_chat::OpenAiChat,
};
use serde_json::{Value, json};

fn messages(dialect: Dialect, messages: impl IntoIterator<Item = Message>) -> Result<Value, LlmError> {
    let wire = OpenAiChat::new(dialect);
    let encoded = Wire::<Chat>::encode(&wire, &ChatRequest::new(messages), &EncodeOptions::new("m"))?;
    let mut body: Value = serde_json::from_slice(&encoded.body).unwrap();
    Ok(body["messages"].take())
}

/// Decodes a reply, and returns the body of the message when it is sent to the second dialect.
fn round_trip(from: Dialect, reply: &str, to: Dialect) -> Value {
    let wire = OpenAiChat::new(from);
    let mut decoder = Wire::<Chat>::decoder(&wire, &ReplyHead::default());
    let (mut deltas, mut fold) = (Vec::new(), Fold::new());
    decoder.feed(reply.as_bytes(), &mut deltas).unwrap();
    decoder.finish(Close::Clean, &mut deltas).unwrap();
    deltas.into_iter().for_each(|delta| fold.push_owned(delta));
    let message = fold.response().message().unwrap().clone();
    // Histories are stored as JSON.
    let stored = serde_json::to_value(&message).unwrap();
    let message: AssistantMessage = serde_json::from_value(stored).unwrap();
    messages(to, [Message::user("Hi"), message.into()]).unwrap()[1].clone()
}

fn whole(message: Value) -> String {
    json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string()
}

fn streamed(deltas: &[Value]) -> String {
    let events = deltas
        .iter()
        .map(|delta| format!("data: {}\n\n", json!({"choices": [{"delta": delta}]})));
    events.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn calls() -> Value {
    json!([{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}])
}

fn gateway() -> Dialect {
    dialect::compatible("gateway")
}

#[test]
fn reasoning_goes_back_under_the_name_under_which_it_came() {
    for name in ["reasoning_content", "reasoning"] {
        let other = if name == "reasoning" {
            "reasoning_content"
        } else {
            "reasoning"
        };
        let replies = [
            whole(json!({name: "Hm.", "tool_calls": calls()})),
            streamed(&[json!({name: "H"}), json!({name: "m."}), json!({"tool_calls": calls()})]),
            whole(json!({name: "Hm.", other: "", "tool_calls": calls()})),
        ];
        for reply in replies {
            let sent = round_trip(gateway(), &reply, gateway());
            assert_eq!((&sent[name], sent.get(other)), (&json!("Hm."), None), "{reply}");
            let elsewhere = round_trip(gateway(), &reply, dialect::compatible("another"));
            assert_eq!(
                (elsewhere.get(name), elsewhere.get(other)),
                (None, None),
                "another vendor gets none of it"
            );
        }
    }
}

#[test]
fn reasoning_without_calls_stays_here() {
    let reply = whole(json!({"reasoning_content": "Hm.", "content": "ok"}));
    assert_eq!(
        round_trip(gateway(), &reply, gateway()),
        json!({"role": "assistant", "content": "ok"})
    );
}

#[test]
fn any_dialect_can_give_reasoning_back_as_received() {
    let mut xai = dialect::xai();
    xai.reasoning.field = ReasoningField::AsReceived;
    let reply = whole(json!({"reasoning": "Hm.", "tool_calls": calls()}));
    assert_eq!(round_trip(xai.clone(), &reply, xai)["reasoning"], "Hm.");
    assert_eq!(
        round_trip(dialect::xai(), &reply, dialect::xai()).get("reasoning"),
        None
    );
}

#[test]
fn reasoning_of_an_imported_history_goes_back_under_the_usual_name() {
    let imported: Message =
        serde_json::from_value(json!({"role": "assistant", "reasoning_content": "Hm.", "tool_calls": calls()}))
            .unwrap();
    let sent = messages(gateway(), [Message::user("Hi"), imported]).unwrap();
    assert_eq!(sent[1]["reasoning_content"], "Hm.");
}

#[test]
fn thinking_blocks_go_back_unchanged() {
    let block = |text: &str| json!({"type": "thinking", "thinking": text, "signature": "s"});
    let piece = |text: &str| json!([{"type": "thinking", "thinking": text}]);
    let redacted = json!({"type": "redacted_thinking", "data": "x"});
    let expected = json!([block("Let me see."), redacted]);
    let replies = [
        whole(json!({"thinking_blocks": expected, "reasoning_content": "Let me see.", "content": "ok"})),
        whole(json!({"thinking_blocks": expected, "tool_calls": calls()})),
        streamed(&[
            json!({"thinking_blocks": piece("Let me "), "reasoning_content": "Let me "}),
            json!({"thinking_blocks": piece("see."), "reasoning_content": "see."}),
            json!({"thinking_blocks": [block("")]}),
            json!({"thinking_blocks": [redacted]}),
            json!({"tool_calls": calls()}),
        ]),
    ];
    for reply in replies {
        assert_eq!(
            round_trip(gateway(), &reply, gateway())["thinking_blocks"],
            expected,
            "{reply}"
        );
        let elsewhere = round_trip(gateway(), &reply, dialect::openai());
        assert_eq!(elsewhere.get("thinking_blocks"), None);
    }
}

#[test]
fn members_of_imported_messages_go_back_to_those_who_want_them() {
    let details = json!([{"type": "reasoning.text", "text": "Hm.", "signature": "s"}]);
    let blocks = json!([{"type": "thinking", "thinking": "Hm.", "signature": "s"}]);
    let imported = || {
        let message = json!({
            "role": "assistant", "content": "ok", "reasoning_details": details, "thinking_blocks": blocks,
        });
        [Message::user("Hi"), serde_json::from_value(message).unwrap()]
    };
    let sent = |dialect| messages(dialect, imported()).unwrap()[1].clone();
    assert_eq!(sent(dialect::openrouter())["reasoning_details"], details);
    assert_eq!(sent(dialect::openrouter()).get("thinking_blocks"), None);
    assert_eq!(sent(gateway())["reasoning_details"], details);
    assert_eq!(sent(gateway())["thinking_blocks"], blocks);
    for dialect in [
        dialect::openai(),
        dialect::mistral(),
        dialect::gemini(),
        dialect::vllm(),
    ] {
        assert_eq!(sent(dialect), json!({"role": "assistant", "content": "ok"}));
    }
}

#[test]
fn details_of_a_decoded_reply_are_not_sent_twice() {
    let details = json!([{"type": "reasoning.text", "text": "Hm."}]);
    let reply = whole(json!({"reasoning_details": details, "content": "ok"}));
    let wire = OpenAiChat::new(dialect::openrouter());
    let sent = round_trip(dialect::openrouter(), &reply, dialect::openrouter());
    assert_eq!(sent["reasoning_details"], details);
    let text = sent.to_string();
    assert_eq!(text.matches("reasoning_details").count(), 1, "{wire:?} {text}");
}

#[test]
fn geminis_signature_on_a_message_goes_back() {
    let signature = json!({"google": {"thought_signature": "abc"}});
    let replies = [
        whole(json!({"content": "ok", "extra_content": signature})),
        streamed(&[json!({"content": "ok"}), json!({"extra_content": signature})]),
    ];
    for reply in replies {
        assert_eq!(
            round_trip(dialect::gemini(), &reply, dialect::gemini())["extra_content"],
            signature
        );
        assert_eq!(
            round_trip(dialect::gemini(), &reply, dialect::openai()).get("extra_content"),
            None
        );
    }
}

/// A round of two calls whose results contain an image, and text with an image.
fn results_with_images() -> Vec<Message> {
    let image = |name: &str| ContentPart::image_url(format!("https://example.org/{name}.png"));
    let call = |id: &str| ToolCall::function(id, "camera", "{}");
    let mut first = Message::tool("a", Content::Parts(vec![image("one")]));
    if let Message::Tool(result) = &mut first {
        result.name = Some("camera".into());
    }
    vec![
        Message::user("Look"),
        AssistantMessage::default()
            .with_call(call("a"))
            .with_call(call("b"))
            .into(),
        first,
        Message::tool("b", Content::Parts(vec![ContentPart::text("Two."), image("two")])),
        Message::assistant("I see."),
    ]
}

#[test]
fn images_in_results_move_into_a_user_message_after_the_round() {
    for dialect in [
        dialect::openai(),
        dialect::gemini(),
        dialect::xai(),
        dialect::qwen(),
        dialect::vllm(),
    ] {
        let sent = messages(dialect, results_with_images()).unwrap();
        let roles: Vec<_> = sent
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["role"].as_str().unwrap())
            .collect();
        assert_eq!(roles, ["user", "assistant", "tool", "tool", "user", "assistant"]);
        assert_eq!(sent[2]["content"], "The result is in the next user message.");
        assert_eq!(sent[3]["content"], "Two.");
        let expected = json!([
            {"type": "text", "text": "From the result of the tool `camera` (call a):"},
            {"type": "image_url", "image_url": {"url": "https://example.org/one.png"}},
            {"type": "text", "text": "From the result of the call b:"},
            {"type": "image_url", "image_url": {"url": "https://example.org/two.png"}},
        ]);
        assert_eq!(sent[4]["content"], expected);
    }
}

#[test]
fn images_in_results_stay_where_they_are_accepted() {
    for dialect in [
        gateway(),
        dialect::llama_cpp(),
        dialect::openrouter(),
        dialect::mistral(),
    ] {
        let sent = messages(dialect, results_with_images()).unwrap();
        assert_eq!(sent.as_array().unwrap().len(), 5);
        assert_eq!(sent[2]["content"][0]["image_url"]["url"], "https://example.org/one.png");
        assert_eq!(sent[3]["content"][0], json!({"type": "text", "text": "Two."}));
    }
}

#[test]
fn images_in_results_can_be_refused() {
    let mut dialect = dialect::openai();
    dialect.content.tool_media = ToolMediaRule::Refused;
    let error = messages(dialect, results_with_images()).unwrap_err();
    assert!(
        error.message().contains("parts other than text in a tool result"),
        "{error}"
    );
    let error = messages(dialect::deepseek(), results_with_images()).unwrap_err();
    assert!(
        error.message().contains("`image_url`"),
        "its models see no images: {error}"
    );
}

#[test]
fn an_unknown_member_that_comes_again_is_completed() {
    let tool = |more: Value| {
        let mut tool = json!({"index": 0, "type": "search"});
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"executed_tools": [tool], "citations": ["a"]})
    };
    let reply = streamed(&[
        tool(json!({"search_results": {"results": []}})),
        tool(json!({"output": "x", "search_results": {"results": [1, 2]}})),
        json!({"citations": ["a", "b"], "content": "ok"}),
    ]);
    let wire = OpenAiChat::new(dialect::groq());
    let mut decoder = Wire::<Chat>::decoder(&wire, &ReplyHead::default());
    let (mut deltas, mut fold) = (Vec::new(), Fold::new());
    decoder.feed(reply.as_bytes(), &mut deltas).unwrap();
    decoder.finish(Close::Clean, &mut deltas).unwrap();
    deltas.into_iter().for_each(|delta| fold.push_owned(delta));
    let extra = fold.response().message().unwrap().extra.clone();
    let expected = json!([{"index": 0, "type": "search", "search_results": {"results": [1, 2]}, "output": "x"}]);
    assert_eq!(extra.get("executed_tools"), Some(&expected));
    assert_eq!(extra.get("citations"), Some(&json!(["a", "b"])));
}
