//! Partial values: the incremental parser for every prefix, and the events for observers.

use agcore_chat::{EventKind, TextEvent};
use agcore_cycle::{
    Output, TurnOptions, TypedOptions,
    typed::{ObjectFinder, PartialJson},
};
use agcore_llm::{Notice, ReplyDelta, ReplyItem, wire::CallFragment};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::support::{MODES, OSLO, Weather, answer, model_for, oslo, question};
use crate::support::{RawProvider, cycle};

/// Returns whether `part` is a beginning of `whole`.
fn is_beginning(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (Value::Array(part), Value::Array(whole)) => {
            let last = part.len().saturating_sub(1);
            part.len() <= whole.len()
                && part.iter().zip(whole).enumerate().all(|(at, (part, whole))| {
                    if at < last {
                        part == whole
                    } else {
                        is_beginning(part, whole)
                    }
                })
        }
        (Value::Object(part), Value::Object(whole)) => part.iter().zip(whole).enumerate().all(|(at, (part_of, of))| {
            let fits = if at + 1 < part.len() {
                part_of.1 == of.1
            } else {
                is_beginning(part_of.1, of.1)
            };
            part_of.0 == of.0 && fits
        }),
        (part, whole) => part == whole,
    }
}

/// Writes JSON, optionally with whitespace and with escapes.
fn to_text(value: &Value, pretty: bool, escaped: bool) -> String {
    let text = if pretty {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    }
    .unwrap();
    if !escaped {
        return text;
    }
    let mut out = String::new();
    for character in text.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

fn json_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has only finite numbers", |number| number.is_finite())
            .prop_map(Value::from),
        "[a-z\"\\\\\n\u{1}é天😀/{}]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-c\"é😀]{0,3}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn every_prefix_has_a_beginning_of_the_value(value in json_values(), pretty: bool, escaped: bool) {
        let text = to_text(&value, pretty, escaped);
        let mut partial = PartialJson::new();
        let (mut before, mut revision) = (None, 0);
        for (at, character) in text.char_indices() {
            prop_assert_eq!(partial.push(&text[at..at + character.len_utf8()]), character.len_utf8());
            let now = partial.value();
            if let Some(now) = &now {
                prop_assert!(is_beginning(now, &value), "{} is not a beginning of {}", now, value);
            }
            prop_assert!(partial.revision() > revision || now == before, "a change increases the revision");
            (before, revision) = (now, partial.revision());
            prop_assert!(!partial.is_invalid());
        }
        partial.end();
        prop_assert!(partial.is_complete());
        prop_assert_eq!(partial.value(), Some(value));
    }

    #[test]
    fn the_value_does_not_depend_on_the_slicing(value in json_values(), cuts in prop::collection::vec(0_usize..200, 0..5)) {
        let text = format!("Well {{so}}: {}.", json!({"answer": value}));
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| agcore_chat::text::floor_char_boundary(&text, cut)).collect();
        cuts.sort_unstable();
        let (mut finder, mut from) = (ObjectFinder::new(), 0);
        for cut in cuts.into_iter().chain([text.len()]) {
            finder.push(&text[from..cut]);
            from = cut;
        }
        prop_assert_eq!(finder.value(), Some(json!({"answer": value.clone()})));
        prop_assert_eq!(finder.into_objects(), vec![json!({"answer": value})]);
    }

    #[test]
    fn arbitrary_text_is_handled(text in "[{}\\[\\]:,\"a1tru\\\\ \u{1}é]{0,40}") {
        let mut partial = PartialJson::new();
        let parsed = partial.push(&text);
        prop_assert!(text.is_char_boundary(parsed));
        partial.end();
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            prop_assert_eq!(partial.value(), Some(value));
        } else if partial.is_complete() {
            prop_assert!(!text[parsed..].trim().is_empty(), "only the text after the value may be invalid: {}", text);
        }
        let mut finder = ObjectFinder::new();
        finder.push(&text);
        let _ = finder.value();
    }
}

#[test]
fn the_depth_limit_is_that_of_serde_json() {
    for depth in [100, 127, 128, 100_000] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let mut partial = PartialJson::new();
        partial.push(&text);
        assert_eq!(
            partial.is_complete(),
            serde_json::from_str::<Value>(&text).is_ok(),
            "{depth}"
        );
    }
}

#[test]
fn incomplete_numbers_and_literals_are_omitted() {
    for (text, expected) in [
        ("", None),
        ("12", None),
        ("{\"a\": tru", Some(json!({}))),
        ("{\"a\": -1.5e", Some(json!({}))),
        ("{\"a\": \"x\\", Some(json!({"a": "x"}))),
        ("{\"a\": \"\\ud83d", Some(json!({"a": ""}))),
        ("{\"a\": \"\\ud83d\\ude00", Some(json!({"a": "😀"}))),
        ("[[1, 2], [3", Some(json!([[1, 2], []]))),
        ("{\"a\": 1, \"b", Some(json!({"a": 1}))),
    ] {
        let mut partial = PartialJson::new();
        partial.push(text);
        assert_eq!(partial.value(), expected, "{text}");
    }
}

/// Runs a turn. Returns the partial values that observers receive, and the final value.
async fn parts(cycle: &mut agcore_cycle::LlmCycle) -> (Vec<Value>, Result<Weather, agcore_cycle::CycleError>) {
    let output = Output::<Weather>::new(TypedOptions::new());
    let mut turn = cycle
        .turn(question())
        .with_options(TurnOptions::new())
        .typed_as(output)
        .stream();
    let mut parts = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Text(TextEvent::PartialObject(part)) = event.kind {
            parts.push(part);
        }
    }
    let outcome = turn.finish().await.and_then(agcore_cycle::TypedOutcome::finished);
    (parts, outcome.map(|typed| typed.value))
}

#[tokio::test]
async fn observers_receive_the_growing_value() {
    for mode in MODES {
        let provider = model_for(mode, [answer(mode, OSLO)]);
        let (parts, value) = parts(&mut cycle(&provider)).await;
        assert_eq!(value.unwrap(), oslo());
        let whole: Value = serde_json::from_str(OSLO).unwrap();
        assert_eq!(parts.last(), Some(&whole));
        assert!(parts.iter().all(|part| is_beginning(part, &whole)), "{parts:?}");
        assert!(
            parts.windows(2).all(|two| two[0] != two[1]),
            "only changes are sent: {parts:?}"
        );
    }
}

fn fragment(name: Option<&str>, text: &str) -> ReplyItem {
    ReplyItem::Delta(ReplyDelta::Call {
        choice: 0,
        fragment: Box::new(CallFragment {
            index: Some(0),
            id: name.map(|_| "c".into()),
            name: name.map(Into::into),
            input: Some(text.into()),
            ..CallFragment::default()
        }),
    })
}

fn text(text: &str) -> ReplyItem {
    ReplyItem::Delta(ReplyDelta::Text {
        choice: 0,
        text: text.into(),
    })
}

#[tokio::test]
async fn a_restart_discards_the_partial_value() {
    let fault = agcore_chat::Fault::new(agcore_chat::FaultKind::Server, "it broke");
    let provider = RawProvider::new([vec![
        text("{\"city\": \"Ro"),
        ReplyItem::Notice(Notice::Restarted { fault, usage: None }),
        text("{\"city\": \"Oslo\", \"deg"),
        text("rees\": 7, \"sky\": \"grey\"}"),
        ReplyItem::End(Ok(())),
    ]]);
    let (parts, value) = parts(&mut cycle(&provider)).await;
    assert_eq!(value.unwrap(), oslo());
    let cities: Vec<_> = parts.iter().map(|part| part["city"].as_str().unwrap()).collect();
    assert_eq!(cities, ["Ro", "Oslo", "Oslo"]);
}

#[tokio::test]
async fn arguments_arrive_in_fragments() {
    let provider = RawProvider::new([vec![
        fragment(Some("final_answer"), "{\"city\": \"Os"),
        fragment(None, "lo\", \"degrees\": 7"),
        fragment(None, ", \"sky\": \"grey\"}"),
        ReplyItem::End(Ok(())),
    ]]);
    let mut cycle = cycle(&provider);
    let options = TypedOptions::new().with_mode(agcore_cycle::OutputMode::Tool);
    let mut turn = cycle
        .turn(question())
        .with_options(TurnOptions::new())
        .typed_as(Output::<Weather>::new(options))
        .stream();
    let mut cities = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Text(TextEvent::PartialObject(part)) = event.kind {
            cities.push(part["city"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(cities, ["Os", "Oslo", "Oslo"]);
    assert_eq!(turn.finish().await.unwrap().value(), Some(&oslo()));
}

#[tokio::test]
async fn a_dropped_stream_leaves_the_history_valid() {
    let provider = model_for(
        agcore_cycle::OutputMode::Native,
        [answer(agcore_cycle::OutputMode::Native, OSLO)],
    );
    let mut cycle = cycle(&provider);
    let output = Output::<Weather>::new(TypedOptions::new());
    let mut turn = cycle
        .turn(question())
        .with_options(TurnOptions::new())
        .typed_as(output)
        .stream();
    turn.next().await.unwrap();
    drop(turn);
    provider.push(agcore_testkit::scripted::ScriptStep::text("ok"));
    cycle.turn("Never mind.").await.unwrap();
}

#[tokio::test]
async fn observers_receive_the_value_without_its_wrapper() {
    let fragments = ["{\"value\"", ": [\"on", "e\", \"tw", "o\"]}"];
    let end = ReplyItem::End(Ok(()));
    let provider = RawProvider::new([fragments.map(text).into_iter().chain([end]).collect()]);
    let mut cycle = cycle(&provider);
    let options = TypedOptions::new().with_mode(agcore_cycle::OutputMode::Native);
    let mut turn = cycle
        .turn(question())
        .with_options(TurnOptions::new())
        .typed_as(Output::<Vec<String>>::new(options))
        .stream();
    let mut parts = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Text(TextEvent::PartialObject(part)) = event.kind {
            parts.push(part);
        }
    }
    assert_eq!(parts, [json!(["on"]), json!(["one", "tw"]), json!(["one", "two"])]);
    turn.finish().await.unwrap();
}
