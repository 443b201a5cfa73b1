//! Reads documents whole and in pieces, and refuses broken ones.

use serde_json::{Map, json};

use super::*;

/// A document with everything that the reader treats specially.
const DOCUMENT: &str = r#" {"a": "plain", "é\"\\\/\n\u00e9\ud83d\ude00": [1, -2, 0, 1.5, 1e3, 12345678901234567890, true, false, null],
    "o": {"list": [[], {}, [ ], { }, [[1], {"x": "\"]"}]], "": ""}, "字": "x\ty"}
"#;

/// Reads a value with the methods for objects, lists and text.
fn read(json: &mut JsonReader<'_>) -> Result<Value> {
    match json.peek() {
        Some(b'{') => {
            let (mut object, mut members) = (json.object("an object")?, Map::new());
            while let Some(name) = json.next_name(&mut object)? {
                members.insert(name.into_owned(), read(json)?);
            }
            Ok(Value::Object(members))
        }
        Some(b'[') => {
            let (mut list, mut items) = (json.list("a list")?, Vec::new());
            while json.next_item(&mut list)? {
                items.push(read(json)?);
            }
            Ok(Value::Array(items))
        }
        Some(b'"') => Ok(json.str()?.as_ref().into()),
        _ => json.value(),
    }
}

/// Reads a whole document with `read`.
fn whole<'de, T>(bytes: &'de [u8], read: impl FnOnce(&mut JsonReader<'de>) -> Result<T>) -> Result<T> {
    let mut json = JsonReader::from_bytes(bytes)?;
    let value = read(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Checks that the document is read, and skipped, like serde_json does it.
fn check(document: &[u8]) {
    let shown = String::from_utf8_lossy(document);
    let (found, expected) = (whole(document, read), serde_json::from_slice::<Value>(document));
    match (&found, &expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{shown}"),
        (Err(found), Err(expected)) => assert_eq!(found.to_string(), expected.to_string(), "{shown}"),
        _ => panic!("{shown}: {found:?}, but serde_json: {expected:?}"),
    }
    if let Ok(text) = std::str::from_utf8(document) {
        let is_skipped = whole(document, JsonReader::skip).is_ok();
        assert_eq!(is_skipped, serde_json::from_str::<IgnoredAny>(text).is_ok(), "{shown}");
    }
}

#[test]
fn reads_and_rejects_what_serde_json_does() {
    let document = DOCUMENT.as_bytes();
    check(document);
    for at in 0..document.len() {
        check(&document[..at]);
        check(&[&document[..at], &document[at + 1..]].concat());
        for byte in *b" \"\\{}[]:,0-.eEtnu/x\x00\x1f\x7f\xff" {
            let mut changed = document.to_vec();
            changed[at] = byte;
            check(&changed);
            changed.insert(at, document[at]);
            check(&changed);
        }
    }
}

#[test]
fn numbers_are_those_of_serde_json() {
    for number in [
        "00",
        "01",
        "-",
        "-0",
        "-01",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+5",
        "1-1",
        "1e999",
        "999999999999999999",
    ] {
        check(number.as_bytes());
        check(format!("[{number}]").as_bytes());
    }
}

#[test]
fn values_of_other_types_count_as_absent() {
    let text = |json: &str| whole(json.as_bytes(), JsonReader::text).unwrap();
    let string = |json: &str| whole(json.as_bytes(), JsonReader::non_empty_string).unwrap();
    let check = |json: &str, expected: Option<&str>| {
        assert_eq!(text(json).as_deref(), expected, "{json}");
        assert_eq!(string(json).as_deref(), expected, "{json}");
    };
    check(r#""a\n\u00e9""#, Some("a\né"));
    check("12", Some("12"));
    check("-1.50", Some("-1.5"));
    for absent in ["\"\"", "null", "true", "[\"a\"]", "{\"a\": 1}"] {
        check(absent, None);
    }
    let str = |json: &'static str| whole(json.as_bytes(), |json| json.str().map(Cow::into_owned)).unwrap();
    assert_eq!(
        (str("\"a\""), str("1"), str("null")),
        ("a".into(), "".into(), "".into())
    );
}

#[test]
fn counts_are_read_from_text_and_floats() {
    let count = |json: &str| whole(json.as_bytes(), JsonReader::count).unwrap();
    for (json, expected) in [
        ("0", Some(0)),
        ("999999999999999999", Some(999_999_999_999_999_999)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("12.0", Some(12)),
        ("12.5", None),
        ("-1", None),
        ("\" 7 \"", Some(7)),
        ("\"x\"", None),
        ("null", None),
        ("[1]", None),
    ] {
        assert_eq!(count(json), expected, "{json}");
    }
}

#[test]
fn empty_values_are_absent_and_others_of_a_wrong_type() {
    let object = |json: &str| JsonReader::from_bytes(json.as_bytes()).unwrap().object("usage");
    let list = |json: &str| JsonReader::from_bytes(json.as_bytes()).unwrap().list("calls");
    for absent in ["null", "\"\""] {
        assert!(object(absent).unwrap().is_absent() && list(absent).unwrap().is_absent());
    }
    assert!(object("[]").unwrap().is_absent() && list("{}").unwrap().is_absent());
    assert_eq!(
        (object("{}").unwrap(), list("[]").unwrap()),
        (Progress::First, Progress::First)
    );

    let error = |json: &str| object(json).unwrap_err().to_string();
    assert_eq!(
        error("\n  7"),
        "invalid type: integer `7`, expected usage at line 2 column 3"
    );
    assert_eq!(
        error("\"x\""),
        "invalid type: string \"x\", expected usage at line 1 column 1"
    );
    assert_eq!(
        error("[1]"),
        "invalid type: sequence, expected usage at line 1 column 1"
    );
}

#[test]
fn raw_json_is_unchanged() {
    let raw = r#"{"a" : [1.50, "\u00e9"]}"#;
    assert_eq!(
        whole(raw.as_bytes(), |json| json.raw().map(str::to_owned)).unwrap(),
        raw
    );
    assert_eq!(
        whole(raw.as_bytes(), JsonReader::value).unwrap(),
        json!({"a": [1.5, "é"]})
    );
}

#[test]
fn a_value_that_was_read_before_is_skipped_at_once() {
    let check = |document: &str, known: &str, expected: bool| {
        let mut json = JsonReader::from_bytes(document.as_bytes()).unwrap();
        assert_eq!(json.skip_same(known), expected, "{document}");
        let rest = if expected { "" } else { document.trim_start() };
        assert_eq!(&document[json.at..], rest, "{document}");
    };
    check(r#"{"a":1}"#, r#"{"a":1}"#, true);
    check(" [1]", "[1]", true);
    check(r#""text""#, r#""text""#, true);
    check(r#"{"a":12}"#, r#"{"a":1}"#, false);
    check("12", "1", false);
    check("1", "1", false);
}
