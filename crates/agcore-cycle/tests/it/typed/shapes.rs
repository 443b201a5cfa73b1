//! Types of every shape, in every mode: the schema describes an object, and the answer becomes the type.

use std::{collections::BTreeMap, fmt::Debug};

use agcore_cycle::{
    Output, TurnOptions, TypedOptions,
    typed::schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::support::{MODES, answer, model_for, question, schema_of};
use crate::support::cycle;

/// Checks that the schema of the type describes an object, and that this JSON (bare or wrapped) becomes the value.
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
        let outcome = cycle
            .turn(question())
            .with_options(TurnOptions::new())
            .typed_as(output)
            .await
            .unwrap();
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

/// Checks that all references of a schema can be resolved.
fn check_references(part: &Value, root: &Value) {
    match part {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get("$ref") {
                let pointer = target.strip_prefix('#').expect("a reference within the schema");
                assert!(root.pointer(pointer).is_some(), "{target} does not exist in {root}");
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
struct Journey {
    days: Vec<Day>,
    notes: Option<BTreeMap<String, u32>>,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Day {
    at: (f64, f64),
    transport: Transport,
}

/// Externally tagged.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Transport {
    Foot,
    Train(u32),
    Ship { name: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum InternallyTagged {
    Empty,
    Full { items: Vec<String> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum AdjacentlyTagged {
    A,
    B(bool),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
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
async fn nested_and_recursive_structs() {
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
    let journey = Journey {
        days: vec![
            Day {
                at: (59.9, 10.7),
                transport: Transport::Foot,
            },
            Day {
                at: (0.5, 1.0),
                transport: Transport::Ship { name: "Fram".into() },
            },
            Day {
                at: (0.5, 1.0),
                transport: Transport::Train(7),
            },
        ],
        notes: Some(BTreeMap::from([("a b".to_owned(), 1)])),
        tags: Vec::new(),
    };
    let json = serde_json::to_value(&journey).unwrap();
    check(journey, json).await;
    check(
        Flat { id: 1, more: leaf("x") },
        json!({"id": 1, "name": "x", "children": []}),
    )
    .await;
}

#[tokio::test]
async fn enums_with_every_kind_of_tag() {
    check(Transport::Foot, json!("Foot")).await;
    check(Transport::Train(7), json!({"Train": 7})).await;
    check(InternallyTagged::Empty, json!({"kind": "empty"})).await;
    check(
        InternallyTagged::Full {
            items: vec!["a".into()],
        },
        json!({"kind": "full", "items": ["a"]}),
    )
    .await;
    check(AdjacentlyTagged::A, json!({"t": "A"})).await;
    check(AdjacentlyTagged::B(true), json!({"t": "B", "c": true})).await;
    check(Untagged::Number(-1), json!(-1)).await;
    check(Untagged::Text { text: "x".into() }, json!({"text": "x"})).await;
}

#[tokio::test]
async fn types_that_are_not_objects() {
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
async fn maps_need_no_wrapper() {
    let map = BTreeMap::from([("a".to_owned(), 1_u8), ("b".to_owned(), 2)]);
    for mode in MODES {
        let provider = model_for(mode, [answer(mode, r#"{"a": 1, "b": 2}"#)]);
        let output = Output::<BTreeMap<String, u8>>::new(TypedOptions::new());
        let outcome = cycle(&provider)
            .turn(question())
            .with_options(TurnOptions::new())
            .typed_as(output)
            .await
            .unwrap();
        assert_eq!(outcome.value(), Some(&map));
    }
}

#[tokio::test]
async fn a_custom_schema_needs_no_type() {
    let schema = json!({"type": "array", "items": {"type": "string"}});
    let options = TypedOptions::new().with_name("List of words");
    let provider = model_for(MODES[0], [answer(MODES[0], r#"{"value": ["a", "b"]}"#)]);
    let output = Output::<Value>::with_schema(schema, options);
    let outcome = cycle(&provider)
        .turn(question())
        .with_options(TurnOptions::new())
        .typed_as(output)
        .await
        .unwrap();
    assert_eq!(outcome.value(), Some(&json!(["a", "b"])));
    let Some(agcore_chat::ResponseFormat::JsonSchema(format)) = &provider.requests()[0].response_format else {
        panic!("no response format")
    };
    assert_eq!(format.name, "List_of_words");
}
