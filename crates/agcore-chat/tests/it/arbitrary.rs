//! Round trips of arbitrary assistant messages.

use agcore_chat::{
    AssistantMessage, Block, CacheMark, Extra, FunctionCall, Marks, Message, Origin, Reasoning, RefusalPart, TextBlock,
    ToolCall, VendorData,
};
use proptest::{collection::vec, option, prelude::*};
use serde_json::{Map, Value, json};

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..5).prop_map(String::from_iter)
}

/// Any JSON value, with floats of any size.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((text(), inner), 0..3).prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

/// Members without a field; the prefix `x_` distinguishes them from those with one.
fn extra() -> impl Strategy<Value = Extra> {
    let member = (text(), json()).prop_map(|(name, value)| (format!("x_{name}"), value));
    prop_oneof![3 => Just(Extra::new()), 1 => vec(member, 0..3).prop_map(Extra::from_iter)]
}

fn vendor() -> impl Strategy<Value = VendorData> {
    (text(), json()).prop_map(|(vendor, data)| VendorData::new(vendor, data))
}

fn marks() -> impl Strategy<Value = Marks> {
    let origin = prop_oneof![
        Just(Origin::Hint),
        Just(Origin::Summary),
        text().prop_map(|text| Origin::Other(format!("x_{text}")))
    ];
    (option::weighted(0.2, option::of(text())), option::weighted(0.2, origin)).prop_map(|(cache, origin)| {
        let mut marks = Marks::new();
        marks.origin = origin;
        marks.cache = cache.map(|ttl| ttl.into_iter().fold(CacheMark::new(), CacheMark::with_ttl));
        marks
    })
}

fn call() -> impl Strategy<Value = ToolCall> {
    let input = (any::<bool>(), text(), text(), text());
    (input, option::weighted(0.3, vendor()), extra(), extra()).prop_map(
        |((custom, id, name, input), vendor, extra, inner)| {
            let call = if custom {
                ToolCall::custom(id, name, input)
            } else {
                ToolCall::function(id, name, input)
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
    let other =
        (text(), json()).prop_map(|(kind, data)| Block::Other(json!({"type": format!("x_{kind}"), "data": data})));
    prop_oneof![
        (text(), option::weighted(0.3, vendor()), marks(), extra()).prop_map(|(text, vendor, marks, extra)| {
            Block::Text(TextBlock {
                text,
                vendor,
                marks,
                extra,
            })
        }),
        (text(), extra()).prop_map(|(refusal, extra)| Block::Refusal(RefusalPart { refusal, extra })),
        (text(), option::of(vendor())).prop_map(|(text, vendor)| Block::Reasoning(Reasoning { text, vendor })),
        call().prop_map(Block::from),
        vendor().prop_map(Block::Hosted),
        other,
    ]
}

fn message() -> impl Strategy<Value = AssistantMessage> {
    let legacy = (text(), text(), extra()).prop_map(|(name, arguments, extra)| FunctionCall { name, arguments, extra });
    let raw = || json().prop_filter("null counts as absent", |value| !value.is_null());
    let members = (
        option::weighted(0.2, text()),
        option::weighted(0.2, text()),
        option::weighted(0.1, legacy),
    );
    let more = (
        option::weighted(0.1, raw()),
        option::weighted(0.1, raw()),
        marks(),
        extra(),
    );
    (vec(block(), 0..6), members, more).prop_map(
        |(blocks, (refusal, name, function_call), (audio, annotations, marks, extra))| AssistantMessage {
            blocks,
            refusal,
            name,
            function_call,
            audio,
            annotations,
            marks,
            extra,
        },
    )
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_message_round_trips(message in message()) {
        let text = serde_json::to_string(&message).unwrap();
        prop_assert_eq!(&serde_json::from_str::<AssistantMessage>(&text).unwrap(), &message);
        let message = Message::Assistant(message);
        prop_assert_eq!(&serde_json::to_string(&message).unwrap(), &text);
        prop_assert_eq!(&serde_json::from_str::<Message>(&text).unwrap(), &message);
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&serde_json::from_value::<Message>(value).unwrap(), &message);
    }

    #[test]
    fn a_message_with_edited_json_keeps_its_plain_members(
        message in message(), content in text(), reasoning in text(), calls in vec(call(), 0..3),
    ) {
        let mut edited = serde_json::to_value(&message).unwrap();
        edited["content"] = content.as_str().into();
        edited["reasoning_content"] = reasoning.as_str().into();
        edited["tool_calls"] = serde_json::to_value(&calls).unwrap();
        let read: AssistantMessage = serde_json::from_value(edited).unwrap();
        prop_assert_eq!(read.text(), content);
        prop_assert_eq!(read.reasoning(), reasoning);
        prop_assert_eq!(read.tool_calls().cloned().collect::<Vec<_>>(), calls);
    }
}
