//! Contexts from serializable values contain the same data as their JSON.

use std::{collections::BTreeMap, error::Error};

use agcore_prompt::{PromptErrorKind, PromptTemplate, Value};
use serde::{Serialize, Serializer};

/// Checks that a value converts and prints as it does with serde_json, both as a tree and from a snapshot.
#[track_caller]
fn check<T: Serialize>(value: T) {
    let json = serde_json::to_value(&value).unwrap();
    assert_eq!(
        Value::from_serialize(&value).unwrap(),
        Value::from(json.clone()),
        "{json}"
    );
    let printed = PromptTemplate::compile("{{#each this}}{{this}}{{/each}}")
        .unwrap()
        .render_from(&[[value]])
        .unwrap();
    assert_eq!(printed, format!("[{json}]"));
}

/// Checks that a value cannot be serialized, for this reason.
#[track_caller]
fn check_error<T: Serialize>(value: T, expected: &str) {
    let error = Value::from_serialize(&value).unwrap_err();
    assert_eq!(error.kind(), &PromptErrorKind::Context);
    assert_eq!(error.source().unwrap().to_string(), expected);
    assert!(PromptTemplate::compile("x").unwrap().render_from(&value).is_err());
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Newtype(i32);

#[derive(Serialize)]
struct Pair(i32, &'static str);

#[derive(Serialize)]
struct Fields {
    z: i32,
    a: Option<Box<Fields>>,
    #[serde(rename = "名")]
    name: char,
}

#[derive(Serialize)]
enum Shape {
    Unit,
    Newtype(Pair),
    Tuple(i32, Vec<Self>),
    Struct { x: Unit, y: BTreeMap<&'static str, Self> },
}

#[test]
fn serializes_scalars() {
    check(true);
    check((i8::MIN, i16::MIN, i32::MIN, i64::MIN));
    check((u8::MAX, u16::MAX, u32::MAX, u64::MAX));
    check((i128::from(i64::MIN), u128::from(u64::MAX)));
    check((1.5f64, 1e300, f64::MIN_POSITIVE, f64::NAN.to_bits()));
    check(('é', "text", String::from("\n"), None::<i32>, Some("x"), ()));
    assert_eq!(Value::from_serialize(&0.1f32).unwrap(), Value::Float(0.1));
}

#[test]
fn serializes_compound_types() {
    check((Unit, Newtype(1), Pair(2, "b")));
    check(Fields {
        z: 1,
        a: Some(Box::new(Fields {
            z: 2,
            a: None,
            name: 'x',
        })),
        name: '名',
    });
    check([
        Shape::Unit,
        Shape::Newtype(Pair(1, "a")),
        Shape::Tuple(1, vec![Shape::Unit, Shape::Tuple(2, vec![])]),
    ]);
    check(Shape::Struct {
        x: Unit,
        y: BTreeMap::from([("k", Shape::Newtype(Pair(1, "")))]),
    });
    check(Vec::<i32>::new());
    check(BTreeMap::<String, i32>::new());
    check(serde_json::json!({"a": [1, [2, {"b": {}}], []], "c": {"d": null}}));
}

#[test]
fn serializes_bytes_as_an_array() {
    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(&[1, 255])
        }
    }
    check(Bytes);
}

#[test]
fn serializes_scalar_map_keys() {
    check(BTreeMap::from([("a", 1)]));
    check(BTreeMap::from([(-1i64, 1), (2, 2)]));
    check(BTreeMap::from([(u64::MAX, 1)]));
    check(BTreeMap::from([(true, 1)]));
    check(BTreeMap::from([('x', 1)]));
    check(
        BTreeMap::from([(Some("x"), 1)])
            .into_iter()
            .map(|(key, value)| (key.unwrap(), value))
            .collect::<BTreeMap<_, _>>(),
    );
    check_error(
        BTreeMap::from([((), 1)]),
        "map key must be a string, an integer or a boolean",
    );
    check_error(
        BTreeMap::from([(vec![1], 1)]),
        "map key must be a string, an integer or a boolean",
    );
}

#[test]
fn keeps_the_first_value_of_a_repeated_field() {
    #[derive(Serialize)]
    struct Flat {
        name: &'static str,
        #[serde(flatten)]
        more: BTreeMap<&'static str, [i32; 2]>,
    }
    let flat = Flat {
        name: "declared",
        more: BTreeMap::from([("a", [1, 2]), ("name", [3, 4]), ("z", [5, 6])]),
    };
    let value = Value::from_serialize(&flat).unwrap();
    assert_eq!(value.to_string(), r#"{"name":"declared","a":[1,2],"z":[5,6]}"#);
    let source = "{{name}} {{z.1}}{{#each this}} {{@key}}{{/each}}";
    assert_eq!(
        PromptTemplate::compile(source).unwrap().render_from(&flat).unwrap(),
        "declared 6 name a z"
    );
}

#[test]
fn rejects_values_that_cannot_be_serialized() {
    struct Failing;
    impl Serialize for Failing {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("not today"))
        }
    }
    struct Endless;
    impl Serialize for Endless {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq([Endless])
        }
    }
    check_error([Failing], "not today");
    check_error(Endless, "nested more than 128 levels deep");
    check_error(
        i128::MAX,
        "integer 170141183460469231731687303715884105727 is out of range",
    );
    check_error(
        u128::MAX,
        "integer 340282366920938463463374607431768211455 is out of range",
    );
}

#[test]
fn large_objects_keep_their_order() {
    let fields: Vec<(String, usize)> = (0..500).map(|at| (format!("field {at}"), at)).collect();
    let object: serde_json::Map<_, _> = fields.iter().map(|(name, at)| (name.clone(), (*at).into())).collect();
    check(&object);
    let value = Value::from(object);
    assert_eq!(value.get("field 499"), Some(&Value::Integer(499)));
    assert_eq!(
        value.as_object().unwrap().keys().collect::<Vec<_>>(),
        fields.iter().map(|(name, _)| name).collect::<Vec<_>>()
    );
}
