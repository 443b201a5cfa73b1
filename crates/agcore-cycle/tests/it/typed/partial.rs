//! Values while they are written: the parser for every prefix, and what observers are told.

use agcore_chat::{EventKind, TextEvent};
use agcore_cycle::{
    Output, TurnOptions, TypedOptions,
    typed::{ObjectFinder, PartialJson},
};
use agcore_llm::{Notice, ReplyDelta, ReplyItem, wire::CallFragment};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::support::{MODES, OSLO, Weather, answer, ask, model_for, oslo};
use crate::support::{RawProvider, cycle};

/// Whether `part` is a beginning of `whole`.
fn begins(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::String(part), Value::String(whole)) => whole.starts_with(part.as_str()),
        (Value::Array(part), Value::Array(whole)) => {
            let last = part.len().saturating_sub(1);
            part.len() <= whole.len()
                && part.iter().zip(whole).enumerate().all(
                    |(at, (part, whole))| {
                        if at < last { part == whole } else { begins(part, whole) }
                    },
                )
        }
        (Value::Object(part), Value::Object(whole)) => part.iter().zip(whole).enumerate().all(|(at, (part_of, of))| {
            let fits = if at + 1 < part.len() {
                part_of.1 == of.1
            } else {
                begins(part_of.1, of.1)
            };
            part_of.0 == of.0 && fits
        }),
        (part, whole) => part == whole,
    }
}

/// JSON as people write it: with spaces, and escapes where they like.
fn written(value: &Value, pretty: bool, escaped: bool) -> String {
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
    for letter in text.chars() {
        if letter.is_ascii() {
            out.push(letter);
        } else {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
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
            .prop_filter("JSON has no others", |number| number.is_finite())
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
    fn every_prefix_gives_a_beginning(value in json_values(), pretty: bool, escaped: bool) {
        let text = written(&value, pretty, escaped);
        let mut partial = PartialJson::new();
        let (mut before, mut revision) = (None, 0);
        for (at, letter) in text.char_indices() {
            prop_assert_eq!(partial.push(&text[at..at + letter.len_utf8()]), letter.len_utf8());
            let now = partial.value();
            if let Some(now) = &now {
                prop_assert!(begins(now, &value), "{} is no beginning of {}", now, value);
            }
            prop_assert!(partial.revision() > revision || now == before, "a change is told");
            (before, revision) = (now, partial.revision());
            prop_assert!(!partial.is_broken());
        }
        partial.end();
        prop_assert!(partial.is_complete());
        prop_assert_eq!(partial.value(), Some(value));
    }

    #[test]
    fn any_slicing_gives_the_same(value in json_values(), cuts in prop::collection::vec(0_usize..200, 0..5)) {
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
    fn foreign_text_does_no_harm(text in "[{}\\[\\]:,\"a1tru\\\\ \u{1}é]{0,40}") {
        let mut partial = PartialJson::new();
        let read = partial.push(&text);
        prop_assert!(text.is_char_boundary(read));
        partial.end();
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            prop_assert_eq!(partial.value(), Some(value));
        } else if partial.is_complete() {
            prop_assert!(!text[read..].trim().is_empty(), "only what follows is wrong: {}", text);
        }
        let mut finder = ObjectFinder::new();
        finder.push(&text);
        let _ = finder.value();
    }
}

#[test]
fn too_deep_is_broken_as_it_is_for_everybody() {
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
fn nothing_is_guessed() {
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

/// What observers of a turn are told of the value, and what the turn came to.
async fn parts(cycle: &mut agcore_cycle::LlmCycle) -> (Vec<Value>, Result<Weather, agcore_cycle::CycleError>) {
    let output = Output::<Weather>::new(TypedOptions::new());
    let mut turn = cycle.turn(ask()).with_options(TurnOptions::new()).typed_as(output).stream();
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
async fn observers_see_the_value_grow() {
    for mode in MODES {
        let provider = model_for(mode, [answer(mode, OSLO)]);
        let (parts, value) = parts(&mut cycle(&provider)).await;
        assert_eq!(value.unwrap(), oslo());
        let whole: Value = serde_json::from_str(OSLO).unwrap();
        assert_eq!(parts.last(), Some(&whole));
        assert!(parts.iter().all(|part| begins(part, &whole)), "{parts:?}");
        assert!(
            parts.windows(2).all(|two| two[0] != two[1]),
            "only changes are told: {parts:?}"
        );
    }
}

fn piece(name: Option<&str>, text: &str) -> ReplyItem {
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
async fn a_restart_begins_anew() {
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
async fn arguments_come_in_pieces() {
    let provider = RawProvider::new([vec![
        piece(Some("final_answer"), "{\"city\": \"Os"),
        piece(None, "lo\", \"degrees\": 7"),
        piece(None, ", \"sky\": \"grey\"}"),
        ReplyItem::End(Ok(())),
    ]]);
    let mut cycle = cycle(&provider);
    let options = TypedOptions::new().with_mode(agcore_cycle::OutputMode::Tool);
    let mut turn = cycle.turn(ask()).with_options(TurnOptions::new()).typed_as(Output::<Weather>::new(options)).stream();
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
    let mut turn = cycle.turn(ask()).with_options(TurnOptions::new()).typed_as(output).stream();
    turn.next().await.unwrap();
    drop(turn);
    provider.push(agcore_testkit::scripted::ScriptStep::text("ok"));
    cycle.turn("Never mind.").await.unwrap();
}

#[tokio::test]
async fn observers_see_a_value_without_the_object_around_it() {
    let pieces = ["{\"value\"", ": [\"on", "e\", \"tw", "o\"]}"];
    let end = ReplyItem::End(Ok(()));
    let provider = RawProvider::new([pieces.map(text).into_iter().chain([end]).collect()]);
    let mut cycle = cycle(&provider);
    let options = TypedOptions::new().with_mode(agcore_cycle::OutputMode::Native);
    let mut turn = cycle.turn(ask()).with_options(TurnOptions::new()).typed_as(Output::<Vec<String>>::new(options)).stream();
    let mut parts = Vec::new();
    while let Some(event) = turn.next().await {
        if let EventKind::Text(TextEvent::PartialObject(part)) = event.kind {
            parts.push(part);
        }
    }
    assert_eq!(parts, [json!(["on"]), json!(["one", "tw"]), json!(["one", "two"])]);
    turn.finish().await.unwrap();
}
