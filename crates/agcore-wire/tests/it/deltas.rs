//! Conversion of responses to deltas and back.

use std::sync::Arc;

use agcore_chat::{
    AssistantMessage, Block, ChatResponse, Choice, Extra, FinishReason, FunctionCall, Reasoning, RefusalPart,
    ResponseMetadata, TextBlock, ToolCall, Usage, VendorData,
};
use agcore_wire::{Fold, ReplyDelta, ReplyStart, deltas_from_response};
use proptest::{collection::vec, option, prelude::*};
use serde_json::{Value, json};

fn json_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
        Just(json!([1, {"a": null}])),
        Just(json!({"a": [true], "b": {}})),
    ]
}

fn member() -> impl Strategy<Value = Value> {
    json_value().prop_filter("null is the same as absent", |value| !value.is_null())
}

fn extra() -> impl Strategy<Value = Extra> {
    vec(("x_[a-c]", json_value()), 0..3).prop_map(Extra::from_iter)
}

fn vendor() -> impl Strategy<Value = Option<VendorData>> {
    option::of(json_value().prop_map(|data| VendorData::new("v", data)))
}

fn call() -> impl Strategy<Value = ToolCall> {
    (any::<bool>(), "[a-z]{0,5}", ".{0,8}", vendor(), extra(), extra()).prop_map(
        |(custom, name, input, vendor, extra, inner)| {
            let call = if custom {
                ToolCall::custom("", name, input)
            } else {
                ToolCall::function("", name, input)
            };
            ToolCall {
                vendor,
                extra,
                inner,
                ..call
            }
        },
    )
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        (".{0,6}", vendor(), extra()).prop_map(|(text, vendor, extra)| Block::Text(TextBlock {
            text,
            vendor,
            extra,
            ..TextBlock::default()
        })),
        (".{0,6}", vendor()).prop_map(|(text, vendor)| Block::Reasoning(Reasoning { text, vendor })),
        call().prop_map(Block::from),
        ".{0,6}".prop_map(|refusal| Block::Refusal(RefusalPart {
            refusal,
            ..RefusalPart::default()
        })),
        json_value().prop_map(|data| Block::Hosted(VendorData::new("v", data))),
        json_value().prop_map(Block::Other),
    ]
}

fn message() -> impl Strategy<Value = AssistantMessage> {
    let function = ("[a-z]{0,3}", ".{0,3}").prop_map(|(name, arguments)| FunctionCall {
        name,
        arguments,
        ..FunctionCall::default()
    });
    (
        vec(block(), 0..5),
        option::of(".{1,4}"),
        option::of(".{1,4}"),
        option::of(function),
        (option::of(member()), option::of(member())),
        extra(),
    )
        .prop_map(
            |(mut blocks, refusal, name, function_call, (audio, annotations), extra)| {
                let calls = blocks.iter_mut().filter_map(|block| match block {
                    Block::Call(call) => Some(call),
                    _ => None,
                });
                // A fold replaces duplicate ids.
                calls
                    .enumerate()
                    .for_each(|(at, call)| Arc::make_mut(call).id = format!("id{at}"));
                AssistantMessage {
                    blocks,
                    refusal,
                    name,
                    function_call,
                    audio,
                    annotations,
                    extra,
                    ..Default::default()
                }
            },
        )
}

fn choice() -> impl Strategy<Value = Choice> {
    let reasons = [
        FinishReason::Stop,
        FinishReason::Length,
        FinishReason::ToolCalls,
        FinishReason::Other("odd".into()),
    ];
    let reason = option::of(proptest::sample::select(reasons.to_vec()));
    (message(), reason, option::of(member()), extra()).prop_map(|(message, reason, logprobs, extra)| {
        // A fold corrects the reason of a message with calls.
        let finish_reason = reason.map(|reason| match reason {
            FinishReason::Stop if message.has_tool_calls() => FinishReason::ToolCalls,
            reason => reason,
        });
        Choice {
            index: 0,
            message,
            finish_reason,
            logprobs,
            extra,
        }
    })
}

prop_compose! {
    fn response()(
        id in option::of(".{0,4}"),
        created in option::of(any::<u64>()),
        choices in vec(choice(), 0..3),
        tokens in option::of(0_u64..9),
        system_fingerprint in option::of(".{0,4}"),
        extra in extra(),
    ) -> ChatResponse {
        let choices = (0..).zip(choices).map(|(index, choice)| Choice { index, ..choice }).collect();
        let usage = tokens.map(|tokens| Usage::new(tokens, 1));
        ChatResponse { id, created, choices, usage, system_fingerprint, extra, ..ChatResponse::default() }
    }
}

proptest! {
    #[test]
    fn folding_the_deltas_of_a_response_restores_it(response in response()) {
        let mut fold = Fold::new();
        for delta in deltas_from_response(response.clone()) {
            fold.push(&delta);
        }
        prop_assert_eq!(fold.response(), response);
    }
}

#[test]
fn the_headers_of_a_reply_reach_the_response() {
    let metadata = ResponseMetadata::new([("x-request-id", "req_1")]);
    let start = |metadata: Option<ResponseMetadata>| {
        ReplyDelta::Start(Box::new(ReplyStart {
            metadata,
            ..ReplyStart::default()
        }))
    };
    let mut fold = Fold::new();
    for delta in [
        start(None),
        start(Some(metadata.clone())),
        start(Some(ResponseMetadata::new([]))),
    ] {
        fold.push(&delta);
    }
    let response = fold.response();
    assert_eq!(response.metadata, Some(metadata));
    let mut again = Fold::new();
    deltas_from_response(response.clone())
        .into_iter()
        .for_each(|delta| again.push_owned(delta));
    assert_eq!(again.response(), response);
}
