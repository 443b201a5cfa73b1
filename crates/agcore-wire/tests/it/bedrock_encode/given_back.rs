//! Signatures, encrypted reasoning and items of the vendor: kept, and sent back byte for byte.

use agcore_chat::{AssistantMessage, ChatRequest, Message};
use agcore_wire::{Chat, Close, Decoder, EncodeOptions, Fold, ReplyHead, Wire, bedrock::Bedrock, wire_case::WireCase};
use serde_json::{Value, json};

use super::{CLAUDE, NOVA, body_for};

fn folded(mut decoder: Box<dyn Decoder<Chat>>, body: &[u8]) -> AssistantMessage {
    let (mut deltas, mut fold) = (Vec::new(), Fold::new());
    decoder.feed(body, &mut deltas).unwrap();
    decoder.finish(Close::Clean, &mut deltas).unwrap();
    deltas.into_iter().for_each(|delta| fold.push_owned(delta));
    fold.response().message().unwrap().clone()
}

fn read(body: &Value) -> AssistantMessage {
    let decoder = Wire::<Chat>::decoder(&Bedrock::new(), &ReplyHead::default());
    folded(decoder, body.to_string().as_bytes())
}

fn whole(content: &Value) -> AssistantMessage {
    read(&json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn"}))
}

/// Returns the reply of a recorded stream.
fn of_case(name: &str) -> AssistantMessage {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire/bedrock");
    let case = WireCase::parse(&std::fs::read(folder.join(format!("{name}.json"))).unwrap()).unwrap();
    let body = std::fs::read(folder.join(format!("{name}.body"))).unwrap();
    folded(case.decoder().unwrap(), &body)
}

/// Returns the part of a reply that is sent back, after two further turns.
fn sent_back(model: &str, reply: AssistantMessage) -> Value {
    let results: Vec<Message> = reply
        .tool_calls()
        .map(|call| Message::tool(call.id.as_str(), "ok"))
        .collect();
    let later = [
        Message::user("Go on"),
        Message::assistant("More."),
        Message::user("And?"),
    ];
    let all = [Message::user("Hi"), reply.into()]
        .into_iter()
        .chain(results)
        .chain(later);
    body_for(model, &ChatRequest::new(all))["messages"][1]["content"].clone()
}

#[test]
fn signed_reasoning_is_sent_back_unchanged() {
    let signed = json!({"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "c2ln+/=="}}});
    let content = json!([signed, {"text": "a"}, {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1.0}}}]);
    assert_eq!(sent_back(CLAUDE, whole(&content)), content);

    let call = json!({"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}}});
    let signed = json!({"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "c2ln"}}});
    assert_eq!(sent_back(CLAUDE, of_case("reason-stream")), json!([signed, call]));
    let pieces = json!({"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "c2lnbg=="}}});
    assert_eq!(
        sent_back(CLAUDE, of_case("reason-signature-pieces")),
        json!([pieces, {"text": "a"}])
    );
}

#[test]
fn a_signature_without_text_keeps_its_empty_text() {
    let content = json!([{"reasoningContent": {"reasoningText": {"text": "", "signature": "c2ln"}}}, {"text": "a"}]);
    assert_eq!(sent_back(CLAUDE, whole(&content)), content);
    assert_eq!(sent_back(CLAUDE, of_case("reason-signature-only")), content);
}

#[test]
fn encrypted_reasoning_is_sent_back_unchanged() {
    let block = |data: &str| json!({"reasoningContent": {"redactedContent": data}});
    let content = json!([block("RXRrREE="), block("RXRrREI="), {"text": "a"}]);
    assert_eq!(sent_back(CLAUDE, whole(&content)), content);
    assert_eq!(sent_back(CLAUDE, of_case("reason-redacted")), content);
}

#[test]
fn reasoning_without_a_signature_or_at_the_end_is_left_out() {
    let content = json!([{"text": "a"}, {"reasoningContent": {"reasoningText": {"text": "Hm"}}}]);
    assert_eq!(sent_back(CLAUDE, whole(&content)), json!([{"text": "a"}]));
    let signed = json!({"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "c2ln"}}});
    assert_eq!(
        sent_back(CLAUDE, whole(&json!([{"text": "a"}, signed]))),
        json!([{"text": "a"}])
    );
    // Models that do not sign refuse what another one has signed.
    assert_eq!(
        sent_back(NOVA, whole(&json!([signed, {"text": "a"}]))),
        json!([{"text": "a"}])
    );
    let other = Bedrock::new().with_vendor("bedrock-eu");
    let history = [
        Message::user("Hi"),
        whole(&json!([signed, {"text": "a"}])).into(),
        Message::user("Go on"),
    ];
    let sent = Wire::<Chat>::encode(&other, &ChatRequest::new(history), &EncodeOptions::new(CLAUDE)).unwrap();
    assert!(!String::from_utf8_lossy(&sent.body).contains("c2ln"));
}

#[test]
fn a_signature_that_was_cut_is_not_kept() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire/bedrock");
    let body = std::fs::read(folder.join("cut-signature.body")).unwrap();
    let (mut deltas, mut fold) = (Vec::new(), Fold::new());
    let mut decoder = Wire::<Chat>::decoder(&Bedrock::new(), &ReplyHead::default());
    decoder.feed(&body, &mut deltas).unwrap();
    decoder.finish(Close::Clean, &mut deltas).unwrap_err();
    deltas.into_iter().for_each(|delta| fold.push_owned(delta));
    let reply = fold.response().message().unwrap().clone();
    assert_eq!(reply.reasoning(), "Hm");
    assert!(!serde_json::to_string(&reply).unwrap().contains("c2ln"));
}

#[test]
fn items_of_the_vendor_keep_their_place() {
    let call = json!({"toolUse": {"toolUseId": "tooluse_h", "name": "nova_code_interpreter", "type": "server_tool_use",
        "input": {"snippet": "1+1"}}});
    let result = json!({"toolResult": {"toolUseId": "tooluse_h", "status": "success", "type": "nova_code_interpreter_result",
        "content": [{"json": {"stdOut": "2"}}]}});
    let content = json!([call, result, {"text": "2"}]);
    let reply = whole(&content);
    assert_eq!(reply.tool_calls().count(), 0);
    assert_eq!(sent_back(NOVA, reply), content);
    assert_eq!(sent_back(NOVA, of_case("hosted-stream")), content);
}

#[test]
fn arguments_are_sent_back_as_the_model_wrote_them() {
    let raw = r#"{"output": {"message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f",
        "input": {"b":1.50,"a":[1e3]}}}]}}, "stopReason": "tool_use"}"#;
    let decoder = Wire::<Chat>::decoder(&Bedrock::new(), &ReplyHead::default());
    let reply = folded(decoder, raw.as_bytes());
    let history = [Message::user("Hi"), reply.into(), Message::tool("t", "ok")];
    let sent = Wire::<Chat>::encode(&Bedrock::new(), &ChatRequest::new(history), &EncodeOptions::new(CLAUDE)).unwrap();
    let sent = String::from_utf8_lossy(&sent.body).into_owned();
    assert!(sent.contains(r#""input":{"b":1.50,"a":[1e3]}"#), "{sent}");
}
