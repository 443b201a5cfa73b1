//! Replies of the native API of Ollama, in any slicing.

mod failures;
mod warning;

use std::sync::Arc;

use agcore_chat::{ChatRequest, ChatResponse, FinishReason, Message};
use agcore_wire::{
    Chat, Close, EncodeOptions, Fold, LlmError, LlmErrorKind, ReplyHead, Wire, deltas_from_response,
    ollama::Ollama,
    operation::{ListModels, ModelEntry},
};
use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};
use proptest::prelude::*;
use serde_json::{Value, json};

type Read = (Result<(), LlmError>, ChatResponse);

const STREAM: &str = "application/x-ndjson";
const WHOLE: &str = "application/json; charset=utf-8";

fn head(status: u16, content_type: &'static str) -> ReplyHead {
    let mut head = ReplyHead {
        status: StatusCode::from_u16(status).unwrap(),
        ..ReplyHead::default()
    };
    head.headers
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    head
}

fn decode(head: &ReplyHead, reads: &[&[u8]], close: Close) -> Read {
    let mut decoder = Wire::<Chat>::decoder(&Ollama::new(), head);
    let (mut fold, mut deltas, mut end) = (Fold::new(), Vec::new(), Ok(()));
    for read in reads {
        end = decoder.feed(read, &mut deltas);
        if end.is_err() || decoder.is_done() {
            break;
        }
    }
    let end = end.and_then(|()| decoder.finish(close, &mut deltas));
    deltas.iter().for_each(|delta| {
        fold.push(delta);
    });
    (end, fold.response())
}

fn describe(end: &Result<(), LlmError>) -> String {
    format!(
        "{:?}",
        end.as_ref()
            .map_err(|error| (error.fault(), error.body_excerpt().map(str::to_owned)))
    )
}

/// Decodes a body, and checks that the result is the same in one read, in two reads split anywhere, and byte by byte.
#[track_caller]
fn read_as(head: &ReplyHead, body: &[u8], close: Close) -> Read {
    let (end, response) = decode(head, &[body], close);
    let mut slicings: Vec<Vec<&[u8]>> = (0..=body.len()).map(|at| vec![&body[..at], &body[at..]]).collect();
    slicings.push(body.chunks(1).collect());
    for reads in slicings {
        let other = decode(head, &reads, close);
        assert_eq!(
            (describe(&other.0), &other.1),
            (describe(&end), &response),
            "in the reads {reads:?}"
        );
    }
    (end, response)
}

#[track_caller]
fn answer(body: &str) -> ChatResponse {
    let (end, response) = read_as(&head(200, WHOLE), body.as_bytes(), Close::Clean);
    end.unwrap();
    let streamed = read_as(&head(200, STREAM), body.as_bytes(), Close::Clean);
    assert_eq!((streamed.0.is_ok(), &streamed.1), (true, &response));
    response
}

#[track_caller]
fn failure(body: &str) -> (LlmError, ChatResponse) {
    let (end, response) = read_as(&head(200, WHOLE), body.as_bytes(), Close::Clean);
    (end.unwrap_err(), response)
}

/// Returns the lines of a stream with these messages. The last one is marked as done.
fn stream(messages: &[Value]) -> String {
    let last = messages.len() - 1;
    let line = |(at, message): (usize, &Value)| {
        let mut line =
            json!({"model": "m", "created_at": "2024-01-01T00:00:00.5Z", "message": message, "done": at == last});
        if at == last {
            line["done_reason"] = json!("stop");
        }
        format!("{line}\n")
    };
    messages.iter().enumerate().map(line).collect()
}

fn text(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

#[test]
fn decodes_a_stream_of_lines() {
    let body = stream(&[text("Grüße, "), text("日本 🚀"), text("")]);
    let response = answer(&body);
    assert_eq!(
        (&*response.text(), response.finish_reason()),
        ("Grüße, 日本 🚀", Some(&FinishReason::Stop))
    );
    assert_eq!(
        (response.model.as_deref(), response.created),
        (Some("m"), Some(1_704_067_200))
    );
    for framed in [
        body.replace('\n', "\r\n"),
        body.replace('\n', "\n\n \n"),
        body.trim_end().to_owned(),
        format!("\u{FEFF}{body}"),
        format!("\n\n{body}"),
    ] {
        assert_eq!(answer(&framed), response, "{framed:?}");
    }
}

#[test]
fn decodes_a_whole_reply_even_if_indented() {
    let reply = json!({
        "model": "m", "message": {"role": "assistant", "content": "Yes.", "thinking": "Hm."}, "done": true,
        "done_reason": "length", "remote_model": "big",
    });
    let response = answer(&reply.to_string());
    assert_eq!(
        (&*response.text(), response.finish_reason()),
        ("Yes.", Some(&FinishReason::Length))
    );
    assert_eq!(response.message().unwrap().reasoning(), "Hm.");
    let indented = serde_json::to_string_pretty(&reply).unwrap();
    assert_eq!(answer(&indented), response);
    assert_eq!(answer(&indented.replace('\n', "\r\n")), response);
}

#[test]
fn separates_reasoning_from_text() {
    let thinking = |text: &str| json!({"role": "assistant", "content": "", "thinking": text});
    let response = answer(&stream(&[
        thinking("Two and "),
        thinking("two."),
        text("Four"),
        text("."),
    ]));
    let message = response.message().unwrap();
    assert_eq!((&*message.reasoning(), &*message.text()), ("Two and two.", "Four."));
    assert_eq!(message.blocks.len(), 2);
}

fn calls(body: &str) -> Vec<(String, String, String)> {
    let response = answer(body);
    assert_eq!(
        response.finish_reason(),
        Some(&FinishReason::ToolCalls),
        "calls override the reason"
    );
    let call = |call: &agcore_chat::ToolCall| (call.id.clone(), call.name.clone(), call.raw_input().to_owned());
    response.message().unwrap().tool_calls().map(call).collect()
}

fn called(list: Value) -> Value {
    json!({"role": "assistant", "content": "", "tool_calls": list})
}

#[test]
fn accepts_calls_before_the_last_line() {
    let call =
        |id: &str, name: &str| json!([{"id": id, "function": {"index": 0, "name": name, "arguments": {"x": 1}}}]);
    let found = calls(&stream(&[called(call("a", "f")), called(call("b", "g")), text("")]));
    let expected = |id: &str, name: &str| (id.to_owned(), name.to_owned(), "{\"x\":1}".to_owned());
    assert_eq!(found, [expected("a", "f"), expected("b", "g")]);
}

#[test]
fn separates_calls_without_ids_and_indexes() {
    let call = json!({"function": {"name": "f", "arguments": {"x": 1}}});
    let found = calls(&stream(&[called(json!([call, call])), called(json!([call])), text("")]));
    let ids: Vec<_> = found.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["call_0", "call_1", "call_2"]);
    assert!(
        found
            .iter()
            .all(|(_, name, input)| (name.as_str(), input.as_str()) == ("f", "{\"x\":1}"))
    );
}

#[test]
fn accepts_arguments_in_several_forms() {
    let check = |arguments: &str, expected: &str| {
        let body = format!(
            r#"{{"message":{{"tool_calls":[{{"function":{{"name":"f","arguments":{arguments}}}}}]}},"done":true}}"#
        );
        assert_eq!(calls(&body)[0].2, expected, "{arguments}");
    };
    check(r#"{"b": 1.50, "a": "é"}"#, r#"{"b": 1.50, "a": "é"}"#);
    check(r#""{\"a\": 1}""#, r#"{"a": 1}"#);
    check(r#""{\"a\": ""#, r#"{"a": "#);
    check("{}", "{}");
    check("null", "");
    check("[1]", "[1]");
    let (_, name, input) = calls(r#"{"message":{"tool_calls":[{"function":{"name":"f"}}]},"done":true}"#).remove(0);
    assert_eq!((name.as_str(), input.as_str()), ("f", ""));
}

#[test]
fn sends_a_reply_back_unchanged() {
    let message = r#"{"role":"assistant","content":"Let me look.","thinking":"Hm.","tool_calls":[{"id":"call_x","function":{"index":0,"name":"weather","arguments":{"z":1.50,"city":"Zürich"}}},{"id":"call_y","function":{"index":1,"name":"now","arguments":{}}}]}"#;
    let response = answer(&format!(
        r#"{{"model":"m","message":{message},"done":true,"done_reason":"stop"}}"#
    ));
    let request = ChatRequest::new([Arc::new(Message::from(response.message().unwrap().clone()))]);
    let sent = Wire::<Chat>::encode(&Ollama::new(), &request, &EncodeOptions::new("m")).unwrap();
    let sent = std::str::from_utf8(&sent.body).unwrap();
    assert!(sent.contains(&format!(r#""messages":[{message}]"#)), "{sent}");
}

#[test]
fn counts_are_read_from_the_last_line() {
    let body = |rest: &str| {
        format!(
            "{{\"message\":{{\"content\":\"x\"}},\"done\":false,\"prompt_eval_count\":0,\"eval_count\":0}}\n\
             {{\"message\":{{\"content\":\"\"}},\"done\":true,\"done_reason\":\"stop\"{rest}}}\n"
        )
    };
    let counted = answer(&body(
        r#","total_duration":5,"load_duration":1,"prompt_eval_count":26,"prompt_eval_cached_count":20,"eval_count":7,"eval_duration":3"#,
    ));
    let usage = counted.usage.unwrap();
    assert_eq!(
        (usage.prompt_tokens, usage.completion_tokens, usage.total()),
        (Some(26), Some(7), Some(33))
    );
    assert_eq!((usage.cached(), usage.reasoning()), (Some(20), None));
    let extra = |name: &str| counted.extra.get(name).and_then(Value::as_u64);
    assert_eq!(
        (extra("total_duration"), extra("load_duration"), extra("eval_duration")),
        (Some(5), Some(1), Some(3))
    );
    assert_eq!(answer(&body("")).usage, None);
    let cached = answer(&body(r#","eval_count":7"#)).usage.unwrap();
    assert_eq!(
        (cached.prompt_tokens, cached.completion_tokens),
        (None, Some(7)),
        "unknown is not zero"
    );
}

#[test]
fn keeps_other_members() {
    let line = |token: &str, done: bool| {
        json!({
            "remote_model": "big", "remote_host": "", "message": {"content": token, "images": ["AA=="]},
            "logprobs": [{"token": token, "logprob": -0.5}], "done": done,
        })
        .to_string()
            + "\n"
    };
    let response = answer(&(line("a", false) + &line("b", true)));
    let entry = |token: &str| json!({"token": token, "logprob": -0.5});
    assert_eq!(
        response.choices[0].logprobs,
        Some(json!({"content": [entry("a"), entry("b")]}))
    );
    assert_eq!(response.extra.get("remote_model"), Some(&json!("big")));
    assert_eq!(response.extra.get("remote_host"), None);
    assert_eq!(response.message().unwrap().extra.get("images"), Some(&json!(["AA=="])));
}

#[test]
fn maps_finish_reasons() {
    let check = |reason: &str, expected: FinishReason| {
        let body = format!(r#"{{"message":{{"role":"assistant","content":""}},"done":true{reason}}}"#);
        assert_eq!(answer(&body).finish_reason(), Some(&expected), "{reason}");
    };
    check(r#","done_reason":"stop""#, FinishReason::Stop);
    check(r#","done_reason":"length""#, FinishReason::Length);
    check(r#","done_reason":"load""#, FinishReason::Other("load".into()));
    check(r#","done_reason":"unload""#, FinishReason::Other("unload".into()));
    check(r#","done_reason":"""#, FinishReason::Stop);
    check("", FinishReason::Stop);
}

#[test]
fn ignores_everything_after_the_last_line() {
    let body = stream(&[text("Yes."), text("")]);
    assert_eq!(answer(&format!("{body}{{\"error\":\"late\"}}\n")).text(), "Yes.");
    let (end, _) = read_as(&head(200, STREAM), body.as_bytes(), Close::Reset);
    end.unwrap();
    let mut decoder = Wire::<Chat>::decoder(&Ollama::new(), &ReplyHead::default());
    decoder.feed(body.as_bytes(), &mut Vec::new()).unwrap();
    assert!(decoder.is_done());
}

#[test]
fn ignores_unknown_lines() {
    let body = format!("{{\"status\":\"loading\"}}\n{}", stream(&[text("Yes."), text("")]));
    assert_eq!(answer(&body).text(), "Yes.");
}

#[test]
fn accepts_missing_and_null_members() {
    let body = r#"{"model":null,"created_at":7,"message":{"role":null,"content":null,"thinking":null,"tool_calls":null},"error":null,"done":false}
{"message":null,"error":"","done":false,"prompt_eval_count":null}
{"done":true,"done_reason":null,"eval_count":"12"}"#;
    let response = answer(body);
    assert_eq!(
        (&*response.text(), response.model.as_deref(), response.created),
        ("", None, None)
    );
    assert_eq!(response.usage.unwrap().completion_tokens, Some(12));
}

fn models(status: u16, body: &str) -> Result<Vec<ModelEntry>, LlmError> {
    let mut decoder = Wire::<ListModels>::decoder(&Ollama::new(), &head(status, WHOLE));
    let mut items = Vec::new();
    decoder.feed(body.as_bytes(), &mut items)?;
    decoder.finish(Close::Clean, &mut items).map(|()| items)
}

#[test]
fn lists_models() {
    let sent = Wire::<ListModels>::encode(&Ollama::new(), &(), &EncodeOptions::new("")).unwrap();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("GET", "/tags"));
    let entries = models(
        200,
        r#"{"models":[
            {"name":"qwen3:8b","model":"qwen3:8b","size":5,"digest":"d","details":{"family":"qwen3","context_length":40960}},
            {"name":"old"}
        ]}"#,
    )
    .unwrap();
    let ids: Vec<_> = entries
        .iter()
        .map(|entry| (entry.id.as_str(), entry.context_window))
        .collect();
    assert_eq!(ids, [("qwen3:8b", Some(40_960)), ("old", None)]);
    assert_eq!(entries[0].extra.get("size"), Some(&json!(5)));
    assert!(models(200, r#"{"models":null}"#).unwrap().is_empty());
    assert_eq!(models(200, "{}").unwrap_err().kind(), LlmErrorKind::Malformed);
    assert_eq!(
        models(500, r#"{"error":"x"}"#).unwrap_err().kind(),
        LlmErrorKind::Server
    );
}

proptest! {
    /// No input panics, any slicing has the same result, and a reply that is split into deltas folds to itself.
    #[test]
    fn decodes_any_lines_alike_in_any_slicing(
        lines in prop::collection::vec(prop_oneof![
            Just(r#"{"message":{"content":"é"},"done":false}"#.to_owned()),
            Just(r#"{"message":{"thinking":"h","tool_calls":[{"function":{"name":"f","arguments":{}}}]}}"#.to_owned()),
            Just(r#"{"error":"x"}"#.to_owned()),
            Just(r#"{"done":true,"eval_count":3,"done_reason":"stop"}"#.to_owned()),
            Just("{\"message\":\r{".to_owned()),
            "[{}\\[\\]\":,a-z\\r ]{0,12}",
        ], 0..5),
        cut in 1_usize..40,
        content_type in prop::sample::select(vec![STREAM, WHOLE]),
    ) {
        let body = lines.join("\n");
        let head = head(200, content_type);
        let whole = decode(&head, &[body.as_bytes()], Close::Clean);
        let reads: Vec<&[u8]> = body.as_bytes().chunks(cut).collect();
        let sliced = decode(&head, &reads, Close::Clean);
        prop_assert_eq!((describe(&whole.0), &whole.1), (describe(&sliced.0), &sliced.1));
        let mut again = Fold::new();
        deltas_from_response(whole.1.clone()).iter().for_each(|delta| { again.push(delta); });
        prop_assert_eq!(again.response(), whole.1);
    }
}
