//! Types of every shape, in every mode: what is asked is a schema of an object, what comes is the type.

use std::{collections::BTreeMap, fmt::Debug};

use agcore_cycle::{
    Output, TurnOptions, TypedOptions,
    typed::schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::support::{MODES, answer, ask, model_for, schema_of};
use crate::support::cycle;

/// The type is asked for by an object's schema, and this JSON (bare, or in the object around it) is the value.
async fn check<T>(value: T, json: Value)
where
    T: Serialize + DeserializeOwned + JsonSchema + PartialEq + Debug + Send,
{
    for mode in MODES {
        let bare = json.to_string();
        let wrapped = json!({ "value": json }).to_string();
        let provider = model_for(mode, [answer(mode, &wrapped), answer(mode, &bare), answer(mode, &bare)]);
        let mut cycle = cycle(&provider);
        let output = Output::<T>::new(TypedOptions::new());
        let outcome = cycle.turn(ask()).with_options(TurnOptions::new()).typed_as(output).await.unwrap();
        let typed = outcome.finished().unwrap();
        assert_eq!(typed.value, value, "{mode:?}");
        let request = &provider.requests()[0];
        let schema = schema_of(request);
        assert_eq!(schema["type"], "object", "{schema}");
        let is_wrapped = schema["properties"]["value"].is_object() || schema["properties"]["value"] == true;
        assert_eq!(typed.repairs, u32::from(!is_wrapped), "{schema}");
        assert!(schema.get("$schema").is_none() && schema.get("title").is_none());
        check_references(&schema, &schema);
    }
}

/// Every reference of a schema leads somewhere.
fn check_references(part: &Value, root: &Value) {
    match part {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get("$ref") {
                let pointer = target.strip_prefix('#').expect("a reference within the schema");
                assert!(root.pointer(pointer).is_some(), "{target} leads nowhere in {root}");
            }
            members.values().for_each(|inner| check_references(inner, root));
        }
        Value::Array(parts) => parts.iter().for_each(|inner| check_references(inner, root)),
        _ => {}
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Node {
    name: String,
    children: Vec<Node>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Trip {
    days: Vec<Day>,
    notes: Option<BTreeMap<String, u32>>,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Day {
    at: (f64, f64),
    how: How,
}

/// Tagged from outside.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum How {
    Foot,
    Train(u32),
    Ship { name: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Inside {
    Empty,
    Full { items: Vec<String> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Beside {
    A,
    B(bool),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Bare {
    Number(i64),
    Text { text: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Meters(f64);

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Flat {
    id: u8,
    #[serde(flatten)]
    more: Node,
}

#[tokio::test]
async fn structs_nested_and_recursive() {
    let leaf = |name: &str| Node {
        name: name.into(),
        children: Vec::new(),
    };
    let tree = Node {
        name: "a".into(),
        children: vec![leaf("b"), leaf("c")],
    };
    let json = serde_json::to_value(&tree).unwrap();
    check(tree, json).await;
    let trip = Trip {
        days: vec![
            Day {
                at: (59.9, 10.7),
                how: How::Foot,
            },
            Day {
                at: (0.5, 1.0),
                how: How::Ship { name: "Fram".into() },
            },
            Day {
                at: (0.5, 1.0),
                how: How::Train(7),
            },
        ],
        notes: Some(BTreeMap::from([("a b".to_owned(), 1)])),
        tags: Vec::new(),
    };
    let json = serde_json::to_value(&trip).unwrap();
    check(trip, json).await;
    check(
        Flat { id: 1, more: leaf("x") },
        json!({"id": 1, "name": "x", "children": []}),
    )
    .await;
}

#[tokio::test]
async fn enums_tagged_in_all_ways() {
    check(How::Foot, json!("Foot")).await;
    check(How::Train(7), json!({"Train": 7})).await;
    check(Inside::Empty, json!({"kind": "empty"})).await;
    check(
        Inside::Full {
            items: vec!["a".into()],
        },
        json!({"kind": "full", "items": ["a"]}),
    )
    .await;
    check(Beside::A, json!({"t": "A"})).await;
    check(Beside::B(true), json!({"t": "B", "c": true})).await;
    check(Bare::Number(-1), json!(-1)).await;
    check(Bare::Text { text: "x".into() }, json!({"text": "x"})).await;
}

#[tokio::test]
async fn roots_that_are_no_objects() {
    check(vec![1, 2, 3], json!([1, 2, 3])).await;
    check("text {\"a\": 1}".to_owned(), json!("text {\"a\": 1}")).await;
    check(true, json!(true)).await;
    check(Some(7_u64), json!(7)).await;
    check(None::<u64>, json!(null)).await;
    check((1, "a".to_owned()), json!([1, "a"])).await;
    check(Meters(1.5), json!(1.5)).await;
    check(
        vec![Node {
            name: "a".into(),
            children: Vec::new(),
        }],
        json!([{"name": "a", "children": []}]),
    )
    .await;
    check(json!({"any": [1, null]}), json!({"any": [1, null]})).await;
    check((), json!(null)).await;
}

#[tokio::test]
async fn maps_are_objects() {
    let map = BTreeMap::from([("a".to_owned(), 1_u8), ("b".to_owned(), 2)]);
    for mode in MODES {
        let provider = model_for(mode, [answer(mode, r#"{"a": 1, "b": 2}"#)]);
        let output = Output::<BTreeMap<String, u8>>::new(TypedOptions::new());
        let outcome = cycle(&provider)
            .turn(ask()).with_options(TurnOptions::new()).typed_as(output)
            .await
            .unwrap();
        assert_eq!(outcome.value(), Some(&map));
    }
}

#[tokio::test]
async fn a_schema_needs_no_type() {
    let schema = json!({"type": "array", "items": {"type": "string"}});
    let options = TypedOptions::new().with_name("List of words");
    let provider = model_for(MODES[0], [answer(MODES[0], r#"{"value": ["a", "b"]}"#)]);
    let output = Output::<Value>::with_schema(schema, options);
    let outcome = cycle(&provider)
        .turn(ask()).with_options(TurnOptions::new()).typed_as(output)
        .await
        .unwrap();
    assert_eq!(outcome.value(), Some(&json!(["a", "b"])));
    let Some(agcore_chat::ResponseFormat::JsonSchema(format)) = &provider.requests()[0].response_format else {
        panic!("a form")
    };
    assert_eq!(format.name, "List_of_words");
}
