//! Values as types.

use std::collections::BTreeMap;

use agcore_document::{ErrorKind, Expected, Format, Found, Members, Place, Placed, ScalarOr};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tea {
    name: String,
    #[serde(default)]
    minutes: u8,
    weight: Option<f64>,
    #[serde(default)]
    tags: Vec<String>,
    kind: Option<Kind>,
    pair: Option<(u64, String)>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Green,
    Black,
    Blend(Vec<String>),
    Aged { years: u32 },
}

fn read<T: DeserializeOwned>(text: &str) -> T {
    Format::Yaml.parse(text).unwrap().read().unwrap()
}

#[track_caller]
fn refused<T: DeserializeOwned + std::fmt::Debug>(text: &str, expected: &str) {
    let error = Format::Yaml.parse(text).unwrap().read::<T>().unwrap_err();
    assert_eq!(error.to_string(), expected, "{text}");
}

#[test]
fn types_are_read() {
    let text = "name: Sencha\nminutes: 2\nweight: 10\ntags: [a, 'b']\nkind: green\npair: [1, x]\n";
    let expected = Tea {
        name: "Sencha".to_owned(),
        minutes: 2,
        weight: Some(10.0),
        tags: vec!["a".to_owned(), "b".to_owned()],
        kind: Some(Kind::Green),
        pair: Some((1, "x".to_owned())),
    };
    assert_eq!(read::<Tea>(text), expected);
    assert_eq!(read::<Kind>("blend: [a]"), Kind::Blend(vec!["a".to_owned()]));
    assert_eq!(read::<Kind>("aged: {years: 3}"), Kind::Aged { years: 3 });
    let tea: Tea = read("{name: x, weight: ~, kind: null}");
    assert_eq!((tea.weight, tea.kind), (None, None));
    let map: BTreeMap<String, serde_json::Value> = read("b: [1, -1, 0.5]\na: {x: ~, y: true}");
    assert_eq!(json!(map), json!({"b": [1, -1, 0.5], "a": {"x": null, "y": true}}));
}

#[test]
fn numbers_fit_their_types_exactly() {
    assert_eq!(read::<u64>("18446744073709551615"), u64::MAX);
    assert_eq!(read::<i128>("-170141183460469231731687303715884105728"), i128::MIN);
    assert_eq!(read::<u8>("+7"), 7);
    assert_eq!(read::<f32>("0.5"), 0.5);
    refused::<u8>(
        "256",
        "1:1: expected a whole number from 0 to 255, found the number 256",
    );
    refused::<i8>(
        "-129",
        "1:1: expected a whole number from -128 to 127, found the number -129",
    );
    refused::<u64>("-1", "1:1: expected a whole number of at least 0, found the number -1");
    refused::<i64>(
        "9223372036854775808",
        "1:1: expected a whole number, found the number 9223372036854775808",
    );
    refused::<u32>("1.0", "1:1: expected a whole number, found the number 1.0");
    refused::<u32>("'1'", "1:1: expected a whole number, found the text \"1\"");
    refused::<f64>("1e999", "1:1: expected a number, found the number 1e999");
}

#[test]
fn problems_name_the_value() {
    refused::<Tea>("name: 7", "1:7: name: expected a text, found the number 7; quote it");
    refused::<Tea>("name: [7]", "1:7: name: expected a text, found a list");
    refused::<Tea>("name: x\ntags: a", "2:7: tags: expected a list, found the text \"a\"");
    refused::<Tea>("name: x\ntags: [a, ~]", "2:11: tags[1]: expected a text, found nothing");
    refused::<Tea>("- x", "1:1: expected a table, found a list");
    refused::<Tea>("minutes: 2", "1:1: the member `name` is missing; add it");
    refused::<Tea>(
        "name: x\nnmae: y",
        "2:1: there is no member `nmae`; did you mean `name`?",
    );
    refused::<Tea>(
        "name: x\ncolor: y",
        "2:1: there is no member `color`; use one of `name`, `minutes`, `weight`, `tags`, `kind`, `pair`",
    );
    refused::<Tea>(
        "name: x\nkind: gren",
        "2:7: kind: the name \"gren\" is not known; did you mean `green`?",
    );
    refused::<Tea>(
        "name: x\nkind: 7",
        "2:7: kind: expected one of `green`, `black`, `blend`, `aged`, found the number 7",
    );
    refused::<Tea>(
        "name: x\nkind: aged",
        "2:7: kind: expected a table with the member `aged`, found the text \"aged\"",
    );
    refused::<Tea>(
        "name: x\nkind: {green: 1}",
        "2:7: kind: expected the text `green`, found a table",
    );
    refused::<Tea>(
        "name: x\nkind: {aged: {years: x}}",
        "2:22: kind.aged.years: expected a whole number, found the text \"x\"",
    );
    refused::<Tea>("name: x\npair: [1]", "2:7: pair: expected a list of 2, found a list");
    refused::<Vec<bool>>("[true, 1]", "1:8: [1]: expected true or false, found the number 1");
    let long = format!("name: {{x: {}}}", "y".repeat(100));
    refused::<BTreeMap<String, BTreeMap<String, u8>>>(
        &long,
        &format!(
            "1:11: name.x: expected a whole number, found the text {:?}",
            "y".repeat(64) + "…"
        ),
    );
}

#[test]
fn kinds_are_data() {
    let error = Format::Toml
        .parse("name = \"x\"\nminutes = 300")
        .unwrap()
        .read::<Tea>()
        .unwrap_err();
    assert_eq!(
        (error.place, error.path.to_string().as_str()),
        (Place::new(2, 11), "minutes")
    );
    let expected = Expected::Whole { least: 0, most: 255 };
    let found = Found::Number("300".to_owned());
    assert_eq!(error.kind, ErrorKind::OutOfRange { expected, found });
    let error = Format::Toml.parse("[x]\nname = \"x\"\nmintes = 3").unwrap();
    let error = error.read::<BTreeMap<String, Tea>>().unwrap_err();
    assert_eq!(
        (error.path.to_string().as_str(), error.kind.nearest()),
        ("x", Some("minutes"))
    );
    let error = Format::Yaml
        .parse("x: {}")
        .unwrap()
        .read::<BTreeMap<String, Tea>>()
        .unwrap_err();
    let missing = ErrorKind::MissingField("name".to_owned());
    assert_eq!((error.path.to_string().as_str(), error.kind), ("x", missing));
}

#[test]
fn a_type_may_refuse_a_value_in_its_own_words() {
    #[derive(Debug)]
    struct Even;

    impl<'de> Deserialize<'de> for Even {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            match u8::deserialize(deserializer)? % 2 {
                0 => Ok(Self),
                _ => Err(serde::de::Error::custom("the number is odd; add 1")),
            }
        }
    }
    refused::<BTreeMap<String, Vec<Even>>>("a: [2, 3]", "1:8: a[1]: the number is odd; add 1");
    refused::<Vec<std::net::IpAddr>>("[127.0.0.1, x]", "1:13: [1]: invalid IP address syntax");
}

#[test]
fn places_are_those_of_values_and_names() {
    let root = Format::Toml.parse("b = 1\na = [\"x\"]").unwrap();
    let members: Members<serde_json::Value> = root.read().unwrap();
    let places: Vec<(&str, Place)> = members
        .iter()
        .map(|(name, _)| (name.value.as_str(), name.place))
        .collect();
    assert_eq!(places, [("b", Place::new(1, 1)), ("a", Place::new(2, 1))]);
    let map: BTreeMap<Placed<String>, Placed<serde_json::Value>> = root.read().unwrap();
    let places: Vec<Place> = map.values().map(|value| value.place).collect();
    assert_eq!(places, [Place::new(2, 5), Place::new(1, 5)]);
    refused::<Placed<Vec<Placed<u8>>>>("[1, x]", "1:5: [1]: expected a whole number, found the text \"x\"");
}

#[test]
fn a_value_may_be_short_or_long() {
    type Limit = ScalarOr<u32, BTreeMap<String, u32>>;

    assert_eq!(read::<Limit>("3"), ScalarOr::Scalar(3));
    assert_eq!(
        read::<Limit>("{visits: 3}"),
        ScalarOr::Other(BTreeMap::from([("visits".to_owned(), 3)]))
    );
    refused::<Limit>("x", "1:1: expected a whole number, found the text \"x\"");
    refused::<Limit>("~", "1:1: expected a whole number, found nothing");
    refused::<Limit>(
        "{visits: x}",
        "1:10: visits: expected a whole number, found the text \"x\"",
    );
    refused::<Limit>("[3]", "1:1: expected a table, found a list");
}
