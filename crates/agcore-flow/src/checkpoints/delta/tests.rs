//! Values of every form, and random ones.

use std::collections::{BTreeMap, HashMap};

use serde_json::{json, value::RawValue};

use super::*;

/// Asserts that the changes lead from the old value to the JSON form of the new one. Returns their number.
#[track_caller]
fn check<T: Serialize + ?Sized>(old: &Value, new: &T) -> usize {
    let expected = serde_json::to_value(new).unwrap();
    let patch = diff(old, new).unwrap();
    let mut found = old.clone();
    json_patch::patch(&mut found, &patch).unwrap_or_else(|error| panic!("{error}: {patch} on {old}"));
    assert_eq!(found, expected, "{patch} on {old}");
    assert_eq!(patch.is_empty(), *old == expected, "{patch} on {old}");
    patch.len()
}

#[derive(Serialize, Clone)]
enum Kind {
    Unit,
    New(Vec<u8>),
    Tuple(i8, f32),
    Struct { a: Option<char>, b: () },
}

#[derive(Serialize, Clone)]
#[serde(tag = "type")]
enum Tagged {
    One { a: u8 },
    Two,
}

#[derive(Serialize, Clone)]
struct Pair(String, i128);

#[derive(Serialize, Clone)]
struct Everything {
    kinds: Vec<Kind>,
    tagged: Tagged,
    pair: Pair,
    numbers: BTreeMap<u64, f64>,
    flags: HashMap<bool, Option<i64>>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
    raw: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

fn everything() -> Everything {
    Everything {
        kinds: vec![
            Kind::Unit,
            Kind::New(vec![1, 2]),
            Kind::Tuple(-1, 0.5),
            Kind::Struct { a: Some('/'), b: () },
        ],
        tagged: Tagged::One { a: 1 },
        pair: Pair("~/\u{1F600}".to_owned(), i128::from(u64::MAX)),
        numbers: BTreeMap::from([(1, 0.1), (2, f64::NAN)]),
        flags: HashMap::from([(true, Some(-1)), (false, None)]),
        rest: BTreeMap::from([("a/b~c".to_owned(), json!({"": [1, {"x": null}]}))]),
        raw: RawValue::from_string("{\"raw\": [1]}".to_owned()).unwrap(),
        missing: Some("here".to_owned()),
    }
}

#[test]
fn every_form_is_compared() {
    let first = everything();
    let old = serde_json::to_value(&first).unwrap();
    assert_eq!(check(&old, &first), 0, "nothing has changed");
    check(&Value::Null, &first);
    check(&json!([1]), &first);
    check(&json!({"other": 1, "kinds": {}}), &first);

    let mut next = first.clone();
    next.kinds.insert(0, Kind::New(Vec::new()));
    next.kinds[3] = Kind::Unit;
    check(&old, &next);
    let mut next = first.clone();
    next.kinds.clear();
    next.tagged = Tagged::Two;
    next.missing = None;
    next.rest = BTreeMap::from([("new".to_owned(), json!(1))]);
    next.raw = RawValue::from_string("2".to_owned()).unwrap();
    next.numbers.insert(3, -0.0);
    next.flags.remove(&true);
    next.pair.1 = 7;
    check(&old, &next);
    check(&serde_json::to_value(&next).unwrap(), &first);

    // A member that is pushed is one change, whatever is before it.
    let mut longer = first.clone();
    longer.kinds.push(Kind::New(vec![3]));
    assert_eq!(check(&old, &longer), 1);
    assert_eq!(check(&serde_json::to_value(&longer).unwrap(), &first), 1);
}

#[test]
fn random_values_are_compared() {
    fn value(random: &mut fastrand::Rng, depth: u32) -> Value {
        let count = random.usize(..4);
        match random.u8(..if depth == 0 { 5 } else { 8 }) {
            0 => Value::Null,
            1 => json!(random.bool()),
            2 => json!(random.i64(-2..2)),
            3 => json!(f64::from(random.i8(..)) / 4.0),
            4 => json!(["", "a", "~0", "a/b", "日本"][random.usize(..5)]),
            5 | 6 => (0..count).map(|_| value(random, depth - 1)).collect(),
            _ => {
                let names = ["", "0", "a", "a/b", "~", "-"];
                let member =
                    |random: &mut fastrand::Rng| (names[random.usize(..6)].to_owned(), value(random, depth - 1));
                Value::Object((0..count).map(|_| member(random)).collect())
            }
        }
    }
    for seed in 0..5000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (old, new) = (value(&mut random, 4), value(&mut random, 4));
        check(&old, &new);
    }
}

#[test]
fn values_without_a_json_form_are_errors() {
    let keys = HashMap::from([(vec![1], 1)]);
    for old in [json!({}), json!(null)] {
        assert!(diff(&old, &keys).is_err());
        assert!(diff(&old, &u128::MAX).is_err());
    }
}
