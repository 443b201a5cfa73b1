//! Replies of the Responses API: every event, every quirk in the table of docs.md, every ending.

use agcore_chat::{Block, FinishReason};
use agcore_wire::{Close, LlmErrorKind, ReplyDelta};
use serde_json::{Value, json};

use crate::responses_support::{
    EVENTS, JSON, call, calls, completed, decoder, event, folded, item, message, read, reply, stream, streamed, whole,
};

fn text_delta(text: &str) -> Value {
    event("output_text.delta", 0, json!({"content_index": 0, "delta": text}))
}

/// Returns the events of a reasoning item that ends as this item.
fn reasoning_events(item_done: &Value) -> Vec<Value> {
    vec![
        item("added", 0, &json!({"id": "rs_1", "type": "reasoning", "summary": []})),
        event(
            "reasoning_summary_part.added",
            0,
            json!({"summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
        ),
        event(
            "reasoning_summary_text.delta",
            0,
            json!({"summary_index": 0, "delta": "Hm"}),
        ),
        event(
            "reasoning_summary_text.delta",
            0,
            json!({"summary_index": 0, "delta": "."}),
        ),
        event(
            "reasoning_summary_text.done",
            0,
            json!({"summary_index": 0, "text": "Hm."}),
        ),
        event(
            "reasoning_summary_part.done",
            0,
            json!({"summary_index": 0, "part": {"type": "summary_text", "text": "Hm."}}),
        ),
        item("done", 0, item_done),
    ]
}

/// Returns the events of a message item that ends as this item.
fn message_events(item_done: &Value) -> Vec<Value> {
    vec![
        item(
            "added",
            1,
            &json!({"id": "msg_1", "type": "message", "status": "in_progress", "content": []}),
        ),
        event(
            "content_part.added",
            1,
            json!({"content_index": 0, "part": {"type": "output_text", "text": ""}}),
        ),
        event(
            "output_text.delta",
            1,
            json!({"content_index": 0, "delta": "Hel", "logprobs": [], "obfuscation": "x"}),
        ),
        event(
            "output_text.delta",
            1,
            json!({"content_index": 0, "delta": "lo", "logprobs": []}),
        ),
        event("output_text.done", 1, json!({"content_index": 0, "text": "Hello"})),
        event(
            "content_part.done",
            1,
            json!({"content_index": 0, "part": {"type": "output_text", "text": "Hello"}}),
        ),
        item("done", 1, item_done),
    ]
}

/// Returns the events of a call that ends as this item.
fn call_events(item_done: &Value) -> Vec<Value> {
    vec![
        item(
            "added",
            2,
            &json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "look", "arguments": ""}),
        ),
        event(
            "function_call_arguments.delta",
            2,
            json!({"item_id": "fc_1", "delta": "{\"x\""}),
        ),
        event(
            "function_call_arguments.delta",
            2,
            json!({"item_id": "fc_1", "delta": ":1}"}),
        ),
        event(
            "function_call_arguments.done",
            2,
            json!({"item_id": "fc_1", "arguments": "{\"x\":1}"}),
        ),
        item("done", 2, item_done),
    ]
}

#[test]
fn streams_and_whole_replies_decode_alike() {
    let output = json!([
        {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        message("Hello"),
        call("1", "{\"x\":1}"),
    ]);
    let usage = json!({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 5,
                       "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 14});
    let head = json!({"id": "resp_1", "object": "response", "created_at": 7.0, "model": "gpt-5", "status": "in_progress",
                      "service_tier": "auto", "output": [], "usage": null, "error": null});
    let mut end = head.clone();
    for (name, value) in [
        ("status", json!("completed")),
        ("output", output.clone()),
        ("usage", usage),
        ("service_tier", json!("default")),
    ] {
        end[name] = value;
    }
    let events = [
        vec![
            json!({"type": "response.created", "response": head}),
            json!({"type": "response.in_progress", "response": head}),
        ],
        reasoning_events(&output[0]),
        message_events(&output[1]),
        call_events(&output[2]),
        vec![json!({"type": "response.completed", "response": end})],
    ]
    .concat();
    let streamed = streamed(&events);
    assert_eq!(streamed, whole(&end), "stream and whole reply");
    assert_eq!(
        (streamed.id.as_deref(), streamed.model.as_deref(), streamed.created),
        (Some("resp_1"), Some("gpt-5"), Some(7))
    );
    assert_eq!(
        streamed.service_tier.as_deref(),
        Some("default"),
        "not the requested one"
    );
    assert_eq!(
        (&*streamed.text(), calls(&streamed)),
        ("Hello", vec!["call_1 look {\"x\":1}".to_owned()])
    );
    assert_eq!(streamed.message().unwrap().reasoning(), "Hm.");
    assert_eq!(streamed.finish_reason(), Some(&FinishReason::ToolCalls));
    let usage = streamed.usage.unwrap();
    assert_eq!(
        (
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.cached(),
            usage.reasoning()
        ),
        (Some(9), Some(5), Some(4), Some(2))
    );
}

#[test]
fn is_done_at_the_end_of_the_response() {
    let (mut decoder, mut deltas) = (decoder(200, EVENTS), Vec::new());
    decoder
        .feed(stream(&[text_delta("x")]).as_bytes(), &mut deltas)
        .unwrap();
    assert!(!decoder.is_done());
    decoder
        .feed(stream(&[completed(json!([]))]).as_bytes(), &mut deltas)
        .unwrap();
    assert!(decoder.is_done());
    let before = deltas.len();
    let late = [json!({"type": "error", "message": "too late"}), text_delta("y")];
    decoder.feed(stream(&late).as_bytes(), &mut deltas).unwrap();
    decoder.finish(Close::Reset, &mut deltas).unwrap();
    assert_eq!(deltas.len(), before);
}

#[test]
fn the_start_comes_first() {
    let (deltas, _) = read(
        EVENTS,
        &[stream(&[text_delta("x"), completed(json!([]))]).as_bytes()],
        Close::Clean,
    );
    assert!(
        matches!(&deltas[0], ReplyDelta::Start(start) if start.id.is_none()),
        "{deltas:?}"
    );
    assert!(
        deltas
            .iter()
            .any(|delta| matches!(delta, ReplyDelta::Start(start) if start.id.as_deref() == Some("resp_1")))
    );
}

#[test]
fn accepts_an_empty_or_missing_final_output() {
    let events = [
        text_delta("Hi"),
        item("done", 0, &message("Hi")),
        item("done", 1, &call("1", "{}")),
    ];
    for end in [
        completed(json!([])),
        completed(json!(null)),
        json!({"type": "response.completed", "response": {"id": "resp_1"}}),
    ] {
        let response = streamed(&[&events[..], &[end]].concat());
        assert_eq!(
            (&*response.text(), calls(&response)),
            ("Hi", vec!["call_1 look {}".to_owned()])
        );
        assert_eq!(response.usage, None);
    }
}

#[test]
fn accepts_items_only_in_the_final_output() {
    let output = json!([message("Hi"), call("1", "{\"a\":1}"), call("2", "{\"a\":2}")]);
    let response = streamed(&[completed(output.clone())]);
    assert_eq!(
        response,
        whole(&json!({"id": "resp_1", "object": "response", "status": "completed", "output": output}))
    );
    assert_eq!(calls(&response), ["call_1 look {\"a\":1}", "call_2 look {\"a\":2}"]);
}

#[test]
fn the_final_output_completes_partial_items() {
    let response = streamed(&[
        item("added", 0, &call("1", "")),
        event("function_call_arguments.delta", 0, json!({"delta": "{\"a\""})),
        item("added", 1, &json!({"id": "msg_1", "type": "message", "content": []})),
        completed(json!([call("1", "{\"a\":1}"), message("Hi")])),
    ]);
    assert_eq!(
        (&*response.text(), calls(&response)),
        ("Hi", vec!["call_1 look {\"a\":1}".to_owned()])
    );
}

#[test]
fn accepts_done_events_without_deltas() {
    let response = streamed(&[
        item("added", 0, &json!({"id": "rs", "type": "reasoning", "summary": []})),
        event(
            "reasoning_summary_text.done",
            0,
            json!({"summary_index": 0, "text": "One."}),
        ),
        event(
            "reasoning_summary_part.done",
            0,
            json!({"summary_index": 1, "part": {"type": "summary_text", "text": "Two."}}),
        ),
        event("output_text.done", 1, json!({"content_index": 0, "text": "Hi"})),
        event("function_call_arguments.done", 2, json!({"arguments": "{\"a\":1}"})),
        item("done", 2, &call("1", "")),
        event("custom_tool_call_input.done", 3, json!({"input": "free"})),
        item(
            "done",
            3,
            &json!({"id": "ct", "type": "custom_tool_call", "call_id": "call_2", "name": "run", "input": "free"}),
        ),
        completed(json!([])),
    ]);
    assert_eq!(response.message().unwrap().reasoning(), "One.Two.");
    assert_eq!(
        (&*response.text(), calls(&response)),
        (
            "Hi",
            vec!["call_1 look {\"a\":1}".to_owned(), "call_2 run free".to_owned()]
        )
    );
    assert!(
        response.tool_calls().nth(1).unwrap().arguments().is_err(),
        "a call of a custom tool"
    );
}

#[test]
fn emitted_text_is_final_and_calls_are_corrected() {
    let response = streamed(&[
        text_delta("Hel"),
        event("output_text.done", 0, json!({"content_index": 0, "text": "Goodbye"})),
        item("done", 0, &message("Goodbye")),
        item("added", 1, &call("1", "")),
        event("function_call_arguments.delta", 1, json!({"delta": "{\"a\":"})),
        event("function_call_arguments.done", 1, json!({"arguments": "{\"a\":2}"})),
        item("done", 1, &call("1", "")),
        completed(json!([])),
    ]);
    assert_eq!(
        (&*response.text(), calls(&response)),
        ("Hel", vec!["call_1 look {\"a\":2}".to_owned()])
    );
}

#[test]
fn joins_pieces_with_increasing_part_numbers() {
    let piece =
        |number: u64, text: &str| event("output_text.delta", 0, json!({"content_index": number, "delta": text}));
    let thought = |number: u64, text: &str| {
        event(
            "reasoning_text.delta",
            1,
            json!({"content_index": number, "delta": text}),
        )
    };
    let part = |index: u64, number: u64| {
        let part = json!({"type": "output_text", "text": "", "annotations": []});
        event(
            "content_part.added",
            index,
            json!({"content_index": number, "part": part}),
        )
    };
    let response = streamed(&[
        item("added", 0, &json!({"id": "msg_1", "type": "message", "content": []})),
        part(0, 0),
        piece(3, "Hel"),
        piece(4, "lo"),
        event("output_text.done", 0, json!({"content_index": 4, "text": "Hello!"})),
        item("done", 0, &message("Hello!")),
        item("added", 1, &json!({"id": "rs_1", "type": "reasoning", "summary": []})),
        part(1, 5),
        thought(6, "Hm"),
        thought(7, "."),
        completed(json!([])),
    ]);
    let [Block::Text(text), Block::Reasoning(reasoning)] = &response.message().unwrap().blocks[..] else {
        panic!("{:?}", response.message())
    };
    assert_eq!((&*text.text, &*reasoning.text), ("Hello!", "Hm."));
}

#[test]
fn indexes_take_precedence_over_ids() {
    let rotating = |kind: &str, id: &str, members: Value| {
        let mut event = event(kind, 0, members);
        event["item_id"] = id.into();
        event
    };
    let response = streamed(&[
        item("added", 0, &json!({"id": "a", "type": "message", "content": []})),
        rotating("output_text.delta", "b", json!({"content_index": 0, "delta": "He"})),
        rotating("output_text.delta", "c", json!({"content_index": 0, "delta": "y"})),
        rotating("output_text.done", "d", json!({"content_index": 0, "text": "Hey"})),
        item(
            "done",
            0,
            &json!({"id": "e", "type": "message", "content": [{"type": "output_text", "text": "Hey"}]}),
        ),
        completed(json!([{"id": "f", "type": "message", "content": [{"type": "output_text", "text": "Hey"}]}])),
    ]);
    assert_eq!(response.text(), "Hey");
    assert_eq!(response.message().unwrap().blocks.len(), 1);
}

#[test]
fn finds_items_by_id_without_indexes() {
    let bare = |kind: &str, members: Value| {
        let mut event = event(kind, 0, members);
        event.as_object_mut().unwrap().shift_remove("output_index");
        event
    };
    let added = |call: Value| json!({"type": "response.output_item.added", "item": call});
    let done = |call: Value| json!({"type": "response.output_item.done", "item": call});
    let response = streamed(&[
        added(call("1", "")),
        added(call("2", "")),
        bare(
            "function_call_arguments.delta",
            json!({"item_id": "fc_2", "delta": "{\"b\""}),
        ),
        bare(
            "function_call_arguments.delta",
            json!({"item_id": "fc_1", "delta": "{\"a\""}),
        ),
        bare(
            "function_call_arguments.delta",
            json!({"item_id": "fc_2", "delta": ":2}"}),
        ),
        bare(
            "function_call_arguments.delta",
            json!({"item_id": "fc_1", "delta": ":1}"}),
        ),
        done(call("1", "{\"a\":1}")),
        done(call("2", "{\"b\":2}")),
        completed(json!([call("1", "{\"a\":1}"), call("2", "{\"b\":2}")])),
    ]);
    assert_eq!(calls(&response), ["call_1 look {\"a\":1}", "call_2 look {\"b\":2}"]);
}

#[test]
fn events_without_a_key_continue_the_last_item() {
    let bare = |kind: &str, delta: &str| json!({"type": format!("response.{kind}"), "delta": delta});
    let response = streamed(&[
        bare("output_text.delta", "H"),
        bare("output_text.delta", "i"),
        json!({"type": "response.output_item.added", "item": {"type": "function_call", "call_id": "c", "name": "f"}}),
        bare("function_call_arguments.delta", "{}"),
        json!({"type": "response.output_item.added", "item": {"type": "function_call", "call_id": "d", "name": "g"}}),
        bare("function_call_arguments.delta", "{\"x\":1}"),
        completed(json!([])),
    ]);
    assert_eq!(
        (&*response.text(), calls(&response)),
        ("Hi", vec!["c f {}".to_owned(), "d g {\"x\":1}".to_owned()])
    );
}

#[test]
fn accepts_reasoning_or_its_summary() {
    let both = json!({"id": "rs", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Short."}],
                      "content": [{"type": "reasoning_text", "text": "Long"}]});
    let deltas = |kind: &str| event(kind, 0, json!({"content_index": 0, "delta": "Long"}));
    let response = streamed(&[
        deltas("reasoning_text.delta"),
        event(
            "reasoning_summary_text.delta",
            0,
            json!({"summary_index": 0, "delta": "Short."}),
        ),
        item("done", 0, &both),
        completed(json!([both])),
    ]);
    assert_eq!(response.message().unwrap().reasoning(), "Long", "the first one is used");
    assert_eq!(response.message(), whole(&json!({"output": [both]})).message());
}

#[test]
fn parts_of_a_summary_are_blocks_and_the_last_one_is_sealed() {
    let part = |index: u64, text: &str| {
        event(
            "reasoning_summary_text.delta",
            0,
            json!({"summary_index": index, "delta": text}),
        )
    };
    let reasoning = json!({"id": "rs", "type": "reasoning", "encrypted_content": "E",
                           "summary": [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]});
    let response = streamed(&[
        part(0, "One"),
        part(0, "."),
        part(1, "Two."),
        item("done", 0, &reasoning),
        completed(json!([])),
    ]);
    let [Block::Reasoning(first), Block::Reasoning(second)] = &response.message().unwrap().blocks[..] else {
        panic!("{:?}", response.message())
    };
    assert_eq!((first.text.as_str(), second.text.as_str()), ("One.", "Two."));
    assert_eq!(first.vendor, None);
    assert_eq!(second.vendor.as_ref().unwrap().data, reasoning);
}

#[test]
fn separates_refusals_from_text() {
    let refused = json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                         "content": [{"type": "refusal", "refusal": "I cannot."}]});
    let response = streamed(&[
        event("refusal.delta", 0, json!({"content_index": 0, "delta": "I can"})),
        event("refusal.delta", 0, json!({"content_index": 0, "delta": "not."})),
        event("refusal.done", 0, json!({"content_index": 0, "refusal": "I cannot."})),
        item("done", 0, &refused),
        completed(json!([refused])),
    ]);
    assert_eq!(response.message().unwrap().refusal_text(), Some("I cannot."));
    assert_eq!(
        (&*response.text(), response.finish_reason()),
        ("", Some(&FinishReason::Refusal))
    );
    assert_eq!(
        response.message(),
        whole(&json!({"object": "response", "output": [refused]})).message()
    );
}

#[test]
fn maps_finish_reasons() {
    let check = |kind: &str, response: Value, expected: FinishReason| {
        let end = json!({"type": format!("response.{kind}"), "response": response});
        let response = streamed(&[text_delta("So far"), end]);
        assert_eq!(response.finish_reason(), Some(&expected));
        assert_eq!(response.text(), "So far");
    };
    let because = |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}});
    check("completed", json!({"status": "completed"}), FinishReason::Stop);
    check("completed", Value::Null, FinishReason::Stop);
    check("incomplete", because("max_output_tokens"), FinishReason::Length);
    check("completed", because("max_output_tokens"), FinishReason::Length);
    check("incomplete", because("content_filter"), FinishReason::ContentFilter);
    check("incomplete", json!({}), FinishReason::Other("incomplete".into()));
    check(
        "cancelled",
        json!({"status": "cancelled"}),
        FinishReason::Other("cancelled".into()),
    );
    let cut = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"},
                     "output": [call("1", "{\"a\"")]});
    let response = whole(&cut);
    assert_eq!(
        response.finish_reason(),
        Some(&FinishReason::Length),
        "truncated calls do not ask for tools"
    );
    assert_eq!(
        response.choices[0].extra.get("native_finish_reason"),
        Some(&json!("max_output_tokens"))
    );
}

#[test]
fn keeps_hosted_items() {
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}});
    let response = streamed(&[
        item(
            "added",
            0,
            &json!({"id": "ws_1", "type": "web_search_call", "status": "in_progress"}),
        ),
        event("web_search_call.searching", 0, json!({"item_id": "ws_1"})),
        event("mcp_call_arguments.delta", 0, json!({"delta": "{}"})),
        event("of.tomorrow", 0, json!({"text": "?"})),
        json!({"type": "keepalive"}),
        item("done", 0, &search),
        item("done", 1, &message("Found")),
        completed(json!([search, message("Found")])),
    ]);
    let [Block::Hosted(item), Block::Text(_)] = &response.message().unwrap().blocks[..] else {
        panic!("{:?}", response.message())
    };
    assert_eq!((item.vendor.as_str(), &item.data), ("openai-responses", &search));
    assert_eq!(
        response.finish_reason(),
        Some(&FinishReason::Stop),
        "there is no call to run"
    );
}

#[test]
fn the_start_of_a_part_may_contain_the_text_that_pieces_repeat() {
    let check = |kind: &str, start: &str, pieces: &[&str]| {
        let (part, deltas, member) = match kind {
            "text" => ("content_part.added", "output_text.delta", "content_index"),
            _ => (
                "reasoning_summary_part.added",
                "reasoning_summary_text.delta",
                "summary_index",
            ),
        };
        let kind = if kind == "text" { "output_text" } else { "summary_text" };
        let mut events = vec![event(
            part,
            0,
            json!({member: 0, "part": {"type": kind, "text": start}}),
        )];
        events.extend(
            pieces
                .iter()
                .map(|piece| event(deltas, 0, json!({member: 0, "delta": piece}))),
        );
        events.push(completed(json!([])));
        let response = streamed(&events);
        let message = response.message().unwrap();
        format!("{}{}", message.text(), message.reasoning())
    };
    for kind in ["text", "summary"] {
        assert_eq!(check(kind, "Hello", &["Hel", "lo"]), "Hello");
        assert_eq!(check(kind, "Hello", &["Hello"]), "Hello");
        assert_eq!(check(kind, "Hel", &["Hel", "lo", " Hello"]), "Hello Hello");
        assert_eq!(check(kind, "Hel", &["lo", "lo", "lo"]), "Hellololo");
    }
}

#[test]
fn visible_text_in_a_part_of_reasoning_is_reasoning() {
    let thought = json!({"id": "rs_1", "type": "reasoning", "summary": [],
                         "content": [{"type": "output_text", "text": "Hm."}]});
    let response = whole(&json!({"object": "response", "output": [thought, message("Yes.")]}));
    let read = response.message().unwrap();
    assert_eq!((&*read.reasoning(), &*read.text()), ("Hm.", "Yes."));
}

#[test]
fn calls_that_the_application_has_to_run_are_not_the_end() {
    let check = |output: Value, expected: &str| {
        let response = whole(&json!({"object": "response", "status": "completed", "output": output}));
        assert_eq!(response.finish_reason().unwrap().as_str(), expected, "{output}");
    };
    let shell = json!({"type": "shell_call", "id": "sh_1", "call_id": "call_9", "status": "completed"});
    let output = json!({"type": "shell_call_output", "call_id": "call_9"});
    check(json!([shell]), "hosted_tool_calls");
    check(json!([message("Let me see."), shell]), "hosted_tool_calls");
    check(json!([shell, output, message("Done.")]), "stop");
    check(json!([shell, call("1", "{}")]), "tool_calls");
    check(
        json!([{"type": "web_search_call", "id": "ws_1"}, message("Done.")]),
        "stop",
    );
}

#[test]
fn keeps_the_results_of_content_filters() {
    let filters = json!([{"blocked": false, "source_type": "completion"}]);
    let body = json!({"object": "response", "output": [message("Hi")], "content_filters": filters});
    assert_eq!(whole(&body).extra.get("content_filters"), Some(&filters));
}

#[test]
fn keeps_annotations() {
    let note = json!({"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0, "end_index": 2});
    let added = event(
        "output_text.annotation.added",
        0,
        json!({"content_index": 0, "annotation_index": 0, "annotation": note}),
    );
    let noted = json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [
        {"type": "output_text", "text": "Hi", "annotations": [note], "logprobs": [{"token": "Hi", "logprob": -0.5}]}]});
    for events in [
        vec![text_delta("Hi"), added, completed(json!([]))],
        vec![item("done", 0, &noted), completed(json!([]))],
    ] {
        assert_eq!(streamed(&events).message().unwrap().annotations, Some(json!([note])));
    }
    let response = streamed(&[completed(json!([noted]))]);
    assert_eq!(
        response.choices[0].logprobs,
        Some(json!({"content": [{"token": "Hi", "logprob": -0.5}]}))
    );
}

#[test]
fn accepts_event_names_without_a_type() {
    let body =
        "event: response.output_text.delta\ndata: {\"delta\": \"Hi\"}\n\nevent: response.completed\ndata: {}\n\n";
    let (response, end) = reply(EVENTS, body);
    end.unwrap();
    assert_eq!(response.text(), "Hi");
}

#[test]
fn accepts_arguments_as_an_object() {
    let odd = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": {"a": 1}});
    assert_eq!(calls(&whole(&json!({"output": [odd]}))), ["c f {\"a\":1}"]);
    let done = event("function_call_arguments.done", 0, json!({"arguments": {"a": 1}}));
    let added = item(
        "added",
        0,
        &json!({"type": "function_call", "call_id": "c", "name": "f"}),
    );
    assert_eq!(
        calls(&streamed(&[added, done, completed(json!([]))])),
        ["c f {\"a\":1}"]
    );
}

#[test]
fn ignores_the_end_marker_of_another_api() {
    let body = format!(
        "data: [DONE]\n\n{}data: [DONE]\n\n",
        stream(&[text_delta("Hi"), completed(json!([]))])
    );
    let (response, end) = reply(EVENTS, &body);
    end.unwrap();
    assert_eq!(response.text(), "Hi");
    let (response, end) = reply(EVENTS, &format!("{}data: [DONE]\n\n", stream(&[text_delta("Hi")])));
    assert_eq!(
        end.unwrap_err().kind(),
        LlmErrorKind::Truncated,
        "it does not end a response"
    );
    assert_eq!(response.text(), "Hi");
}

#[test]
fn classifies_failures_in_a_stream() {
    let check = |failure: Value, expected: LlmErrorKind, retryable: bool| {
        let (response, end) = reply(EVENTS, &stream(&[text_delta("So far"), failure.clone()]));
        let error = end.unwrap_err();
        assert_eq!((error.kind(), error.is_retryable()), (expected, retryable), "{failure}");
        assert_eq!(response.text(), "So far", "the partial reply is kept");
    };
    let failed = |error: Value| json!({"type": "response.failed", "response": {"status": "failed", "error": error}});
    let nested = json!({"type": "insufficient_quota", "code": "insufficient_quota", "message": "You exceeded it."});
    check(
        json!({"type": "error", "error": nested}),
        LlmErrorKind::QuotaExhausted,
        false,
    );
    check(
        json!({"type": "error", "code": "rate_limit_exceeded", "message": "Slow."}),
        LlmErrorKind::RateLimit,
        true,
    );
    check(
        json!({"error": {"message": "Overloaded", "type": "overloaded_error"}}),
        LlmErrorKind::Overloaded,
        true,
    );
    check(
        json!({"message": "The server had an error", "code": "server_error"}),
        LlmErrorKind::Server,
        true,
    );
    check(
        failed(json!({"code": "rate_limit_exceeded", "message": "Rate limit reached"})),
        LlmErrorKind::RateLimit,
        true,
    );
    check(
        failed(json!({"code": "server_error", "message": "Sorry"})),
        LlmErrorKind::Server,
        true,
    );
    check(
        failed(json!({"code": "server_error", "message": "Our servers are currently overloaded."})),
        LlmErrorKind::Overloaded,
        true,
    );
    check(
        failed(json!({"code": "invalid_prompt", "message": "It is wrong."})),
        LlmErrorKind::InvalidRequest,
        false,
    );
    check(
        failed(
            json!({"code": "invalid_prompt", "message": "Your prompt was flagged as potentially violating our usage policy."}),
        ),
        LlmErrorKind::ContentFilter,
        false,
    );
    check(
        failed(json!({"code": "image_too_large", "message": "Too large"})),
        LlmErrorKind::InvalidRequest,
        false,
    );
    check(failed(Value::Null), LlmErrorKind::Server, true);
}

#[test]
fn a_failure_keeps_the_usage() {
    let end = json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "x"},
                     "usage": {"input_tokens": 3, "output_tokens": 1}}});
    let (response, end) = reply(EVENTS, &stream(&[end]));
    end.unwrap_err();
    assert_eq!(response.usage.unwrap().prompt_tokens, Some(3));
}

#[test]
fn an_error_beside_the_response_keeps_its_content() {
    for kind in ["response.failed", "response.completed"] {
        let end = json!({"type": kind, "error": {"code": "rate_limit_exceeded", "message": "Slow"},
                         "response": {"output": [message("So far, so good")], "error": null}});
        let (response, end) = reply(EVENTS, &stream(&[text_delta("So far"), end]));
        assert_eq!(end.unwrap_err().kind(), LlmErrorKind::RateLimit, "{kind}");
        assert_eq!(response.text(), "So far, so good");
    }
    let delta = event(
        "output_text.delta",
        0,
        json!({"delta": "lost", "error": {"code": "server_error"}}),
    );
    let (response, end) = reply(EVENTS, &stream(&[text_delta("kept"), delta]));
    assert_eq!(
        (end.unwrap_err().kind(), &*response.text()),
        (LlmErrorKind::Server, "kept")
    );
}

#[test]
fn an_incomplete_response_keeps_its_id() {
    for status in ["queued", "in_progress"] {
        let body = json!({"id": "resp_1", "object": "response", "status": status, "output": [], "error": null});
        let (response, end) = reply(JSON, &body.to_string());
        let error = end.unwrap_err();
        assert_eq!(
            (error.kind(), error.is_retryable()),
            (LlmErrorKind::Malformed, false),
            "{status}"
        );
        assert_eq!(response.id.as_deref(), Some("resp_1"));
    }
}

#[test]
fn classifies_failures_instead_of_a_reply() {
    let check = |body: &str, expected: LlmErrorKind| {
        for content_type in [JSON, EVENTS] {
            let (_, end) = reply(content_type, body);
            assert_eq!(end.unwrap_err().kind(), expected, "{body}");
        }
    };
    check(
        r#"{"error": {"code": "rate_limit_exceeded", "message": "Slow"}}"#,
        LlmErrorKind::RateLimit,
    );
    check(
        r#"{"object": "error", "message": "No such model", "code": 404}"#,
        LlmErrorKind::NotFound,
    );
    check(r#"{"detail": "Not Found", "status": 404}"#, LlmErrorKind::NotFound);
    check(
        r#"{"object": "response", "status": "failed", "output": [], "error": {"code": "server_error", "message": "x"}}"#,
        LlmErrorKind::Server,
    );
    check(r#"{"choices": []}"#, LlmErrorKind::Malformed);
    check("<html><title>Bad gateway</title></html>", LlmErrorKind::Malformed);
    check("{\"object\": \"response\", \"output\": [", LlmErrorKind::Malformed);
    let (_, end) = read(JSON, &[b"{\"object\": \"resp"], Close::Reset);
    assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Connect);
}

#[test]
fn a_stream_without_its_end_is_truncated() {
    for close in [Close::Clean, Close::Reset] {
        let (deltas, end) = read(
            EVENTS,
            &[stream(&[text_delta("Hi"), item("done", 0, &message("Hi"))]).as_bytes()],
            close,
        );
        let error = end.unwrap_err();
        let expected = if close == Close::Clean {
            LlmErrorKind::Truncated
        } else {
            LlmErrorKind::Connect
        };
        assert_eq!((error.kind(), error.is_retryable()), (expected, true));
        assert_eq!(folded(&deltas).text(), "Hi");
    }
    let cut = stream(&[text_delta("Hi")]) + "data: {\"type\": \"response.compl";
    let (_, end) = reply(EVENTS, &cut);
    assert_eq!(
        end.unwrap_err().kind(),
        LlmErrorKind::Truncated,
        "the last event is incomplete"
    );
    let whole = stream(&[text_delta("Hi")]) + format!("data: {}", completed(json!([]))).as_str();
    reply(EVENTS, &whole).1.unwrap();
    assert_eq!(reply(EVENTS, "").1.unwrap_err().kind(), LlmErrorKind::Truncated);
}

#[test]
fn a_malformed_event_keeps_the_partial_reply() {
    for bad in [
        "{\"type\":",
        "[1]",
        "null",
        "{\"type\": \"response.output_item.done\", \"item\": {\"a\": \"\\ud800\"}}",
    ] {
        let body = format!(
            "{}data: {bad}\n\n{}",
            stream(&[text_delta("kept")]),
            stream(&[completed(json!([]))])
        );
        let (response, end) = reply(EVENTS, &body);
        assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Malformed, "{bad}");
        assert_eq!(response.text(), "kept");
    }
}

#[test]
fn ignores_members_of_unexpected_types() {
    let response = streamed(&[
        json!({"type": "response.created", "response": null}),
        json!({"type": "response.output_item.added", "output_index": "0", "item": null}),
        json!({"type": "response.output_text.delta", "output_index": null, "item_id": 7, "delta": {}}),
        json!({"type": "response.output_text.done", "text": []}),
        json!({"type": "response.content_part.done", "part": "x"}),
        item("done", 0, &json!({"type": "message", "content": {}, "id": null})),
        item(
            "done",
            1,
            &json!({"type": "function_call", "name": null, "call_id": null}),
        ),
        json!({"type": "response.completed", "response": {"output": {}, "usage": [], "incomplete_details": 1, "id": ""}}),
    ]);
    assert_eq!((&*response.text(), calls(&response)), ("", vec!["call_0  ".to_owned()]));
    assert_eq!(response.usage, None);
}

#[test]
fn ignores_blank_errors() {
    for blank in [json!(null), json!({}), json!([]), json!("")] {
        let response = whole(&json!({"object": "response", "output": [message("Hi")], "error": blank}));
        assert_eq!(response.text(), "Hi");
        let events = [
            json!({"type": "ping", "error": blank}),
            completed(json!([message("Hi")])),
        ];
        assert_eq!(streamed(&events).text(), "Hi");
    }
}

#[test]
fn drops_members_that_repeat_the_request() {
    let response = whole(
        &json!({"id": "resp_1", "object": "response", "output": [], "instructions": "Be brief.", "tools": [{"type": "x"}],
                                 "temperature": 1.0, "metadata": {"a": "b"}, "completed_at": 9, "conversation": {"id": "conv"}, "odd": []}),
    );
    let kept: Vec<&String> = response.extra.iter().map(|(name, _)| name).collect();
    assert_eq!(kept, ["completed_at", "conversation"]);
}
