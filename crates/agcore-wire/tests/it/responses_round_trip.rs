//! Items of a reply are sent back unchanged in the next request, or left out if the API would reject them.

use agcore_chat::{AssistantMessage, Block, ChatRequest, FinishReason, Message};
use agcore_wire::{Chat, EncodeOptions, Wire, openai_responses::OpenAiResponses};
use serde_json::{Value, json};

use crate::responses_support::{call, completed, event, item, message, streamed, whole};

fn sent(reply: &AssistantMessage, store: Option<bool>) -> Vec<Value> {
    let mut request = ChatRequest::new([Message::from(reply.clone())]);
    request.store = store;
    let wire = Wire::<Chat>::encode(&OpenAiResponses::new(), &request, &EncodeOptions::new("m")).unwrap();
    let body: Value = serde_json::from_slice(&wire.body).unwrap();
    body["input"].as_array().unwrap().clone()
}

fn received(output: Value) -> AssistantMessage {
    whole(&json!({"object": "response", "output": output}))
        .message()
        .unwrap()
        .clone()
}

fn reasoning(encrypted: Option<&str>) -> Value {
    let mut item = json!({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "One."},
                          {"type": "summary_text", "text": "Two."}]});
    if let Some(encrypted) = encrypted {
        item["encrypted_content"] = encrypted.into();
    }
    item
}

/// Checks that the items of a reply are sent back. The order of their members may differ.
#[track_caller]
fn check(output: &Value) {
    let expected = output.as_array().unwrap();
    let response = received(output.clone());
    assert_eq!(&sent(&response, None), expected);
    assert_eq!(&sent(&response, Some(false)), expected);
    // Stores keep messages as JSON.
    let stored: AssistantMessage = serde_json::from_str(&serde_json::to_string(&response).unwrap()).unwrap();
    assert_eq!(&sent(&stored, None), expected);
    let events: Vec<Value> = expected
        .iter()
        .zip(0..)
        .map(|(whole, index)| item("done", index, whole))
        .collect();
    let streamed = streamed(&[&events[..], &[completed(json!([]))]].concat());
    assert_eq!(streamed.message(), Some(&response));
}

#[test]
fn sends_items_back_unchanged() {
    let note = json!({"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0, "end_index": 2});
    let mut noted = message("Found it.");
    noted["phase"] = "commentary".into();
    noted["content"][0]["annotations"] = json!([note]);
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}});
    let custom = json!({"id": "ct_1", "type": "custom_tool_call", "call_id": "call_9", "name": "run", "input": "free"});
    let mut named = call("1", "{\"a\":1}");
    named["namespace"] = "crm".into();
    check(&json!([reasoning(Some("E")), search, noted, named, custom]));
    check(&json!([{"id": "cmp_1", "type": "compaction", "encrypted_content": "E"}, message("Hi")]));
}

/// Routers send encrypted reasoning behind the item that it led to. Streamed and whole, it is sent back before that item.
#[test]
fn reasoning_behind_its_item_is_sent_back_before_it() {
    let mut second = reasoning(Some("F"));
    second["id"] = "rs_2".into();
    let thought = reasoning(Some("E"));
    let check = |output: &[Value], expected: &[&Value]| {
        let events: Vec<Value> = output
            .iter()
            .zip(0..)
            .map(|(whole, index)| item("done", index, whole))
            .collect();
        let from_items = streamed(&[&events[..], &[completed(json!([]))]].concat());
        let from_end = streamed(&[completed(json!(output))]);
        let from_both = streamed(&[&events[..], &[completed(json!(output))]].concat());
        let response = received(json!(output));
        for reply in [&from_items, &from_end, &from_both] {
            assert_eq!(reply.message(), Some(&response), "{output:?}");
        }
        let sent = sent(&response, Some(false));
        assert_eq!(sent.iter().collect::<Vec<_>>(), expected);
    };
    let (text, weather) = (message("Yes."), call("1", "{}"));
    check(&[text.clone(), thought.clone()], &[&thought, &text]);
    check(
        &[text.clone(), thought.clone(), second.clone()],
        &[&thought, &second, &text],
    );
    check(
        &[text.clone(), weather.clone(), thought.clone()],
        &[&text, &thought, &weather],
    );
    check(&[thought.clone(), text.clone()], &[&thought, &text]);
    // It cannot be sent back without its encrypted form.
    check(&[text.clone(), reasoning(None)], &[&text]);
}

#[test]
fn several_messages_remain_several_items() {
    let mut first = message("One.");
    (first["id"], first["phase"]) = ("msg_0".into(), "commentary".into());
    check(&json!([first, message("Two.")]));
}

#[test]
fn several_parts_remain_one_item() {
    let note = json!({"type": "file_path", "file_id": "f", "index": 0});
    let mut two = message("One.");
    two["content"][0]["annotations"] = json!([note]);
    two["content"]
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "output_text", "text": "Two.", "annotations": []}));
    check(&json!([two]));
    let piece = |part: u64, text: &str| event("output_text.delta", 0, json!({"content_index": part, "delta": text}));
    let noted = event(
        "output_text.annotation.added",
        0,
        json!({"content_index": 0, "annotation": note}),
    );
    let streamed = streamed(&[
        item("added", 0, &json!({"id": "msg_1", "type": "message", "content": []})),
        piece(0, "One."),
        noted,
        piece(1, "Two."),
        item("done", 0, &two),
        completed(json!([])),
    ]);
    assert_eq!(sent(streamed.message().unwrap(), None), [two]);
}

#[test]
fn sends_refusals_back_in_their_item() {
    check(
        &json!([{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                   "content": [{"type": "refusal", "refusal": "No."}]}]),
    );
    check(
        &json!([{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                   "content": [{"type": "output_text", "text": "Well.", "annotations": []}, {"type": "refusal", "refusal": "No."}]}]),
    );
}

#[test]
fn unknown_parts_remain_in_their_item() {
    let mut known = message("One.");
    let more = [
        json!({"type": "output_odd", "x": 1}),
        json!({"type": "output_text", "text": "Two.", "annotations": []}),
    ];
    known["content"].as_array_mut().unwrap().extend(more);
    check(&json!([known]));
    let odd = json!([{"id": "msg_1", "type": "message", "content": [{"type": "output_odd", "x": 1}]}]);
    assert_eq!(
        received(odd).blocks,
        [Block::Other(json!({"type": "output_odd", "x": 1}))]
    );
}

#[test]
fn the_last_encrypted_reasoning_is_used() {
    let mut early = reasoning(Some("EARLY"));
    early["summary"] = json!([]);
    let response = streamed(&[
        item("added", 0, &early),
        event(
            "reasoning_summary_text.delta",
            0,
            json!({"summary_index": 0, "delta": "One."}),
        ),
        item("done", 0, &reasoning(Some("LAST"))),
        item("done", 1, &call("1", "{}")),
        completed(json!([])),
    ]);
    assert_eq!(
        sent(response.message().unwrap(), Some(false)),
        [reasoning(Some("LAST")), call("1", "{}")]
    );
}

#[test]
fn sends_reasoning_and_calls_back_without_nulls() {
    let mut from_proxy = reasoning(None);
    (from_proxy["encrypted_content"], from_proxy["status"]) = (Value::Null, Value::Null);
    let response = received(json!([from_proxy, call("1", "{}")]));
    assert_eq!(sent(&response, None), [reasoning(None), call("1", "{}")]);
}

#[test]
fn only_web_searches_lose_their_nulls() {
    let action = json!({"type": "search", "query": "q", "sources": null});
    let mut search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": action});
    let code = json!({"id": "ci_1", "type": "code_interpreter_call", "status": "completed", "container_id": "c",
                      "code": null, "outputs": null, "action": {"x": null}});
    let response = received(json!([search, code]));
    search["action"].as_object_mut().unwrap().shift_remove("sources");
    assert_eq!(sent(&response, None), [search, code]);
}

#[test]
fn a_custom_call_is_sent_back_without_its_status() {
    let mut custom = json!({"id": "ct_1", "type": "custom_tool_call", "call_id": "call_9", "name": "run", "input": "free",
                            "status": "completed"});
    let response = received(json!([custom]));
    custom.as_object_mut().unwrap().shift_remove("status");
    assert_eq!(sent(&response, None), [custom]);
}

#[test]
fn omits_reasoning_that_nothing_follows() {
    assert_eq!(
        sent(&received(json!([reasoning(Some("E"))])), None),
        Vec::<Value>::new()
    );
    let output = json!([message("Hi"), reasoning(Some("E"))]);
    let details = json!({"reason": "max_output_tokens"});
    let cut =
        whole(&json!({"object": "response", "status": "incomplete", "incomplete_details": details, "output": output}));
    assert_eq!(sent(cut.message().unwrap(), None), [message("Hi")]);
}

#[test]
fn reasoning_behind_its_message_is_sent_back_before_it() {
    let response = received(json!([message("Hi"), reasoning(Some("E"))]));
    assert_eq!(sent(&response, None), [reasoning(Some("E")), message("Hi")]);
}

#[test]
fn two_items_with_the_same_id_remain_two() {
    let mut second = reasoning(Some("second"));
    second["summary"] = json!([]);
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed"});
    check(&json!([reasoning(Some("first")), search, second, message("Done.")]));
}

/// Checks that the items of a stream with these events are sent back in the order of the output.
#[track_caller]
fn check_order(events: &[Value], expected: &Value) {
    let with_output = streamed(&[events, &[completed(expected.clone())]].concat());
    let without_output = streamed(&[events, &[completed(json!([]))]].concat());
    for response in [with_output, without_output] {
        assert_eq!(json!(sent(response.message().unwrap(), None)), *expected);
        assert_eq!(response.text(), "4");
    }
}

#[test]
fn items_are_in_the_order_of_their_indexes_whatever_ends_first() {
    let thought = json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "E",
                         "content": [{"type": "reasoning_text", "text": "Think."}]});
    let started = json!({"id": "rs_1", "type": "reasoning", "summary": []});
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed"});
    let think = |text: &str| event("reasoning_text.delta", 0, json!({"delta": text}));
    let say = event("output_text.delta", 1, json!({"delta": "4"}));
    check_order(
        &[
            item("added", 0, &started),
            think("Thi"),
            say.clone(),
            think("nk."),
            item("done", 1, &message("4")),
            item("done", 0, &thought),
        ],
        &json!([thought, message("4")]),
    );
    check_order(
        &[
            item("done", 2, &call("1", "{}")),
            say.clone(),
            item("done", 3, &call("2", "{}")),
            item("done", 1, &message("4")),
            item("done", 0, &search),
        ],
        &json!([search, message("4"), call("1", "{}"), call("2", "{}")]),
    );
    // A message that ends after the start of a later item.
    let mut first = message("4");
    first["phase"] = "commentary".into();
    check_order(
        &[
            item("added", 0, &json!({"id": "msg_1", "type": "message", "content": []})),
            event("output_text.delta", 0, json!({"delta": "4"})),
            item("added", 1, &call("1", "")),
            event("function_call_arguments.delta", 1, json!({"delta": "{}"})),
            item("done", 0, &first),
            item("done", 1, &call("1", "{}")),
        ],
        &json!([first, call("1", "{}")]),
    );
}

#[test]
fn encrypted_reasoning_may_come_with_the_end_of_the_response_only() {
    let events = [
        event(
            "reasoning_summary_text.delta",
            0,
            json!({"summary_index": 0, "delta": "One."}),
        ),
        event(
            "reasoning_summary_text.delta",
            0,
            json!({"summary_index": 1, "delta": "Two."}),
        ),
        item("done", 0, &reasoning(None)),
        item("done", 1, &message("4")),
        completed(json!([reasoning(Some("E")), message("4")])),
    ];
    let response = streamed(&events);
    let sent = sent(response.message().unwrap(), Some(false));
    assert_eq!(sent, [reasoning(Some("E")), message("4")]);
    assert_eq!(response.message().unwrap().reasoning(), "One.Two.");
}

#[test]
fn calls_that_the_vendor_has_run_are_hosted_items() {
    let custom = |id: &str| json!({"type": "custom_tool_call", "id": format!("ct_{id}"), "call_id": id, "name": "search", "input": "q", "status": "completed"});
    let output = json!([custom("a"), message("4")]);
    let whole = whole(&json!({"object": "response", "status": "completed", "output": output}));
    let events = [
        item("added", 0, &custom("a")),
        event("custom_tool_call_input.delta", 0, json!({"delta": "q"})),
        item("done", 0, &custom("a")),
        item("done", 1, &message("4")),
        completed(json!([])),
    ];
    for response in [whole, streamed(&events)] {
        assert_eq!((response.tool_calls().count(), &*response.text()), (0, "4"));
        assert_eq!(response.finish_reason(), Some(&FinishReason::Stop));
        assert_eq!(json!(sent(response.message().unwrap(), None)), output);
    }
    // The application runs a call that nothing follows, and a function in any case.
    for output in [
        json!([message("4"), custom("a")]),
        json!([call("1", "{}"), message("4")]),
    ] {
        assert_eq!(received(output).tool_calls().count(), 1);
    }
}

#[test]
fn a_stateless_server_gets_only_encrypted_reasoning() {
    let response = received(json!([reasoning(None), message("Hi"), call("1", "{}")]));
    assert_eq!(sent(&response, None), [reasoning(None), message("Hi"), call("1", "{}")]);
    let bare =
        json!({"type": "function_call", "status": "completed", "call_id": "call_1", "name": "look", "arguments": "{}"});
    assert_eq!(
        sent(&response, Some(false)),
        [json!({"role": "assistant", "content": "Hi"}), bare]
    );
}

#[test]
fn sends_text_that_was_changed() {
    let mut response = received(json!([message("A secret.")]));
    for block in &mut response.blocks {
        if let Block::Text(text) = block {
            text.text = "[removed]".into();
        }
    }
    assert_eq!(sent(&response, None), [message("[removed]")]);
    response.blocks.clear();
    assert_eq!(sent(&response, None), Vec::<Value>::new());
}

#[test]
fn text_between_reasoning_and_its_item_separates_them() {
    let mut response = received(json!([reasoning(Some("E")), call("1", "{}")]));
    response.blocks.insert(2, Block::text("Text without an item. "));
    let [.., last] = &sent(&response, None)[..] else {
        panic!()
    };
    assert_eq!(last["type"], "function_call");
    let kinds: Vec<Value> = sent(&response, None).iter().map(|item| item["type"].clone()).collect();
    assert_eq!(kinds, [Value::Null, json!("function_call")]);
    assert_eq!(last.get("id"), None, "it would be rejected without the reasoning");
}

#[test]
fn a_message_without_an_id_is_sent_as_plain_text_with_its_phase() {
    let mut bare = message("Hi");
    bare.as_object_mut().unwrap().shift_remove("id");
    bare["phase"] = "final_answer".into();
    let expected = json!({"role": "assistant", "content": "Hi", "phase": "final_answer"});
    assert_eq!(sent(&received(json!([bare])), None), [expected]);
}
