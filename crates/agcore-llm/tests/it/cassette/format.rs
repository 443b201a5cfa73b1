//! The file format is exact, readable and stable.

use std::time::Duration;

use agcore_chat::{
    AnsweredBy, Block, ChatResponse, Extra, Fault, FaultKind, FinishReason, Marks, Reasoning, RefusalPart, TextBlock,
    ToolCall, Usage, VendorData,
};
use agcore_llm::{
    LlmError, LlmErrorKind, Notice, ReplyDelta, TimeoutStage,
    cassette::{Cassette, Chunk, Ending, RecordedError, RecordedItem},
    wire::{CallFragment, Place, ReplyStart, SealedBlock},
};
use proptest::{collection::vec, option, prelude::*};
use serde_json::{Value, json};

use super::*;

fn json_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
        Just(json!([1, {"a": null, "choice": 3}])),
        Just(json!({"text": "x", "b": {}})),
    ]
}

fn some_text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,40}", "[ -~\\n\\t]{0,40}"]
}

fn extra() -> impl Strategy<Value = Extra> {
    vec(("x_[a-c]", json_value()), 0..3).prop_map(Extra::from_iter)
}

fn vendor() -> impl Strategy<Value = VendorData> {
    ("[a-z]{0,3}", json_value()).prop_map(|(vendor, data)| VendorData::new(vendor, data))
}

fn usage() -> impl Strategy<Value = Usage> {
    (option::of(any::<u64>()), option::of(0_u64..9), extra()).prop_map(|(prompt_tokens, completion_tokens, extra)| {
        Usage {
            prompt_tokens,
            completion_tokens,
            extra,
            ..Usage::default()
        }
    })
}

fn block() -> impl Strategy<Value = Block> {
    let call = ("[a-z]{0,3}", "[a-z]{0,5}", some_text(), option::of(vendor()), extra()).prop_map(
        |(id, name, input, vendor, extra)| {
            let call = if input.len() % 2 == 0 {
                ToolCall::custom(id, name, input)
            } else {
                ToolCall::function(id, name, input)
            };
            Block::from(ToolCall { vendor, extra, ..call })
        },
    );
    prop_oneof![
        (some_text(), option::of(vendor()), extra(), any::<bool>()).prop_map(|(text, vendor, extra, is_error)| {
            let marks = Marks::new().with_error(is_error);
            Block::Text(TextBlock {
                text,
                vendor,
                marks,
                extra,
            })
        }),
        (some_text(), option::of(vendor())).prop_map(|(text, vendor)| Block::Reasoning(Reasoning { text, vendor })),
        (some_text(), extra()).prop_map(|(refusal, extra)| Block::Refusal(RefusalPart { refusal, extra })),
        call,
        vendor().prop_map(Block::Hosted),
        json_value().prop_map(Block::Other),
    ]
}

prop_compose! {
    fn fragment()(
        index in option::of(any::<u32>()),
        texts in (option::of(some_text()), option::of(some_text()), option::of(some_text())),
        flags in (any::<bool>(), any::<bool>()),
        vendor in option::of(vendor()),
        extra in extra(),
        inner in extra(),
    ) -> CallFragment {
        let (id, name, input) = texts;
        CallFragment {
            index,
            id: id.map(Into::into),
            name: name.map(Into::into),
            input: input.map(Into::into),
            whole_input: flags.0,
            custom: flags.1,
            vendor,
            extra,
            inner,
        }
    }
}

fn delta() -> impl Strategy<Value = ReplyDelta> {
    let start = (
        option::of(some_text()),
        option::of(some_text()),
        option::of(any::<u64>()),
    )
        .prop_map(|(id, model, created)| ReplyStart {
            id,
            model,
            created,
            system_fingerprint: None,
            service_tier: Some("x".into()),
            metadata: created.map(|_| agcore_chat::ResponseMetadata::new([("x-request-id", "req_1")])),
        });
    let reason = prop_oneof![
        Just(FinishReason::Stop),
        Just(FinishReason::ToolCalls),
        "[a-z]{0,9}".prop_map(|reason| reason.as_str().into()),
    ];
    let choice = || 0_u32..3;
    let place = (0..3, choice()).prop_map(|(kind, choice)| match kind {
        0 => Place::Response,
        1 => Place::Choice(choice),
        _ => Place::Message(choice),
    });
    prop_oneof![
        start.prop_map(|start| ReplyDelta::Start(Box::new(start))),
        (choice(), some_text()).prop_map(|(choice, text)| ReplyDelta::Text {
            choice,
            text: text.into()
        }),
        (choice(), some_text()).prop_map(|(choice, text)| ReplyDelta::Reasoning {
            choice,
            text: text.into()
        }),
        (choice(), some_text()).prop_map(|(choice, text)| ReplyDelta::Refusal {
            choice,
            text: text.into()
        }),
        (choice(), fragment()).prop_map(|(choice, fragment)| ReplyDelta::Call {
            choice,
            fragment: Box::new(fragment)
        }),
        (choice(), any::<bool>(), vendor()).prop_map(|(choice, text, vendor)| ReplyDelta::Seal {
            choice,
            block: if text {
                SealedBlock::Text
            } else {
                SealedBlock::Reasoning
            },
            vendor: Box::new(vendor),
        }),
        choice().prop_map(|choice| ReplyDelta::BlockEnd { choice }),
        (choice(), any::<u32>()).prop_map(|(choice, position)| ReplyDelta::Item { choice, position }),
        (choice(), any::<u32>(), any::<u32>()).prop_map(|(choice, from, to)| ReplyDelta::Move { choice, from, to }),
        Just(ReplyDelta::Restart),
        (choice(), block()).prop_map(|(choice, block)| ReplyDelta::Block {
            choice,
            block: Box::new(block)
        }),
        usage().prop_map(|usage| ReplyDelta::Usage(Box::new(usage))),
        (choice(), reason).prop_map(|(choice, reason)| ReplyDelta::Finish { choice, reason }),
        (place, "[a-z.]{0,6}", json_value()).prop_map(|(place, name, value)| ReplyDelta::Member {
            place,
            name: name.into(),
            value,
        }),
    ]
}

fn notice() -> impl Strategy<Value = Notice> {
    let fault = || {
        (some_text(), option::of(0_u64..99_999)).prop_map(|(message, wait)| {
            Fault::new(FaultKind::Server, message)
                .with_retry_after(wait.map(Duration::from_millis))
                .with_status(Some(503))
        })
    };
    let delay = || (0_u64..1 << 52).prop_map(Duration::from_nanos);
    prop_oneof![
        (any::<u32>(), delay(), fault()).prop_map(|(attempt, delay, fault)| Notice::RetryScheduled {
            attempt,
            delay,
            fault
        }),
        (fault(), option::of(usage().prop_map(Box::new))).prop_map(|(fault, usage)| Notice::Restarted { fault, usage }),
        some_text().prop_map(|name| Notice::AnsweredBy(AnsweredBy::new(name, "m").with_key("first"))),
        (some_text(), delay()).prop_map(|(limit, delay)| Notice::Waiting {
            limit: limit.into(),
            delay
        }),
    ]
}

fn item() -> impl Strategy<Value = RecordedItem> {
    prop_oneof![
        6 => delta().prop_map(RecordedItem::Delta),
        1 => notice().prop_map(RecordedItem::Notice),
    ]
}

fn sample() -> Exchange {
    let json = json!({"call": 1, "stream": true, "request": {"messages": []}, "chunks": [], "end": "ok", "ms": 0});
    serde_json::from_value(json).unwrap()
}

proptest! {
    #[test]
    fn any_sequence_of_items_survives_a_round_trip(
        chunks in vec((any::<u64>(), vec(item(), 0..5)), 0..5), indented in any::<bool>(),
    ) {
        use agcore_llm::cassette::{CassetteSink, CassetteWriter};
        let mut exchange = sample();
        exchange.chunks = chunks.into_iter().map(|(ms, items)| Chunk { ms, items }).collect();
        let writer = CassetteWriter::new(Vec::new());
        let writer = if indented { writer.with_indent() } else { writer };
        writer.record(&exchange).unwrap();
        writer.record(&exchange).unwrap();
        let parsed = Cassette::parse(&writer.into_inner()).unwrap().into_intact().unwrap();
        prop_assert_eq!(parsed.exchanges(), [exchange.clone(), exchange]);
    }
}

#[test]
fn errors_survive_a_round_trip() {
    let check = |error: LlmError| {
        let recorded = RecordedError::from(&error);
        let json = serde_json::to_string(&recorded).unwrap();
        let parsed: RecordedError = serde_json::from_str(&json).unwrap();
        assert_eq!(parsed, recorded);
        let recreated = parsed.to_error();
        assert_eq!(describe_error(&recreated), describe_error(&error));
        assert_eq!(recreated.kind(), error.kind());
        assert_eq!(recreated.fault(), error.fault());
    };
    check(LlmError::cancelled());
    check(LlmError::new(LlmErrorKind::Timeout(TimeoutStage::Idle), "no data"));
    let window = LlmErrorKind::ContextLength {
        limit: Some(8192),
        requested: Some(9000),
    };
    check(
        LlmError::new(window, "too long")
            .with_provider("openai")
            .with_model("gpt")
            .with_status(400)
            .with_request_id(Some("req_1".into()))
            .with_headers(vec![("x-request-id".into(), "req_1".into())])
            .with_body("{\"error\": 1}")
            .with_retry_after(Some(Duration::from_micros(1500)))
            .with_partial(Some(ChatResponse::from_text("half")))
            .with_retryable(true)
            .with_source("the cause"),
    );
}

/// Returns a reply with text, a tool call and usage.
fn reply_with_call() -> Vec<Vec<ReplyItem>> {
    let start = ReplyStart {
        model: Some("m-1".into()),
        ..ReplyStart::default()
    };
    let fragment = CallFragment {
        index: Some(0),
        id: Some("c1".into()),
        name: Some("add".into()),
        input: Some("{\"a\":1}".into()),
        ..CallFragment::default()
    };
    vec![
        vec![ReplyItem::Delta(ReplyDelta::Start(Box::new(start))), text("Hel")],
        vec![text("lo")],
        vec![
            ReplyItem::Delta(ReplyDelta::Call {
                choice: 0,
                fragment: Box::new(fragment),
            }),
            ReplyItem::Delta(ReplyDelta::Finish {
                choice: 0,
                reason: FinishReason::ToolCalls,
            }),
            ReplyItem::Delta(ReplyDelta::Usage(Box::new(Usage::new(3, 2)))),
            ok(),
        ],
    ]
}

async fn recorded_cassette() -> Cassette {
    let request = hello().with_extra_header("x-team", "blue");
    let exchange = recorded(reply_with_call, request, Scrub::new()).await;
    Cassette::new([exchange]).without_timings()
}

#[tokio::test]
async fn a_cassette_can_be_used_as_a_snapshot() {
    insta::assert_json_snapshot!(recorded_cassette().await, @r#"
    {
      "agcore_cassette": 1,
      "exchanges": [
        {
          "call": 1,
          "provider": "custom",
          "stream": true,
          "request": {
            "messages": [
              {
                "role": "user",
                "content": "Hello"
              }
            ]
          },
          "headers": [
            [
              "x-team",
              "blue"
            ]
          ],
          "chunks": [
            {
              "ms": 0,
              "items": [
                {
                  "start": {
                    "model": "m-1"
                  }
                },
                {
                  "text": "Hel"
                }
              ]
            },
            {
              "ms": 0,
              "items": [
                {
                  "text": "lo"
                }
              ]
            },
            {
              "ms": 0,
              "items": [
                {
                  "call": {
                    "index": 0,
                    "id": "c1",
                    "name": "add",
                    "input": "{\"a\":1}"
                  }
                },
                {
                  "finish": "tool_calls"
                },
                {
                  "usage": {
                    "prompt_tokens": 3,
                    "completion_tokens": 2,
                    "total_tokens": 5
                  }
                }
              ]
            }
          ],
          "end": "ok",
          "ms": 0
        }
      ]
    }
    "#);
}

#[tokio::test]
async fn writes_a_line_for_each_exchange() {
    let cassette = recorded_cassette().await;
    let lines = String::from_utf8(file(&cassette)).unwrap();
    let lines: Vec<_> = lines.lines().collect();
    assert_eq!(lines[0], r#"{"agcore_cassette":1}"#);
    assert!(
        lines[1].starts_with(r#"{"call":1,"provider":"custom","stream":true,"request":{"messages":"#),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 2, "a line for each exchange");
    assert_eq!(cassette.exchanges()[0].end, Ending::Ok);
    assert_eq!(cassette.exchanges()[0].response().unwrap().text(), "Hello");
    assert_eq!(
        cassette.exchanges()[0].chat_request().unwrap().messages,
        hello().messages
    );
}
