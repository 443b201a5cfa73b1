//! Documents as values with places, and what is refused.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests may fail loudly"
)]

use agcore_yaml::{Limits, Node, Place, Value, parse};
use proptest::prelude::*;
use serde_json::json;

fn read(text: &str) -> Node {
    parse(text, &Limits::default()).unwrap().unwrap()
}

#[track_caller]
fn refused(text: &str, limits: &Limits, place: &str, problem: &str, member: &str) {
    let error = parse(text, limits).unwrap_err();
    let found = (error.place.to_string(), error.problem.as_str(), error.member.as_str());
    assert_eq!(found, (place.to_owned(), problem, member), "{text:?}");
}

#[test]
fn values_have_places() {
    let root = read("\u{feff}# models\nname: tea\nkinds:\n  - text\n  - {a: 1}\n");
    assert_eq!(root.place, Place::new(2, 1));
    let [name, kinds] = root.members() else {
        panic!("{root:?}")
    };
    assert_eq!((name.place, name.node.place), (Place::new(2, 1), Place::new(2, 7)));
    let Value::List(items) = &kinds.node.value else {
        panic!("{kinds:?}")
    };
    assert_eq!(
        (items[0].place, items[1].members()[0].place),
        (Place::new(4, 5), Place::new(5, 6))
    );
    assert_eq!(read("é: 日本").members()[0].node.place, Place::new(1, 4));
    assert_eq!(parse("# nothing\n", &Limits::default()), Ok(None));
}

#[test]
fn scalars_follow_the_core_schema() {
    let scalar = |text: &str| read(text).value;
    for text in ["null", "~", "NULL"] {
        assert_eq!(scalar(text), Value::Null, "{text}");
    }
    assert_eq!(
        (scalar("True"), scalar("FALSE")),
        (Value::Bool(true), Value::Bool(false))
    );
    for number in [
        "0",
        "-12",
        "+7",
        "0.10",
        "1e3",
        "1.5E-7",
        ".5",
        "123456789012345678901234567890",
    ] {
        assert_eq!(scalar(number), Value::Number(number.to_owned()));
    }
    for text in [
        "yes", "no", "0x1F", "0o17", ".inf", "-.nan", "1_000", "12:30", "1.2.3", "'7'", "\"true\"", "!!str 7", "NaN",
        "1e",
    ] {
        assert!(matches!(scalar(text), Value::Text(_)), "{text}: {:?}", scalar(text));
    }
}

#[test]
fn json_is_read_and_written() {
    let value = json!({"a": [1, -2, 0.5, u64::MAX, null, true, "x\n"], "b": {}, "c": []});
    assert_eq!(read(&value.to_string()).to_json(), value);
    assert_eq!(read("1e999").to_json(), json!("1e999"));
    assert_eq!(read("+5").to_json(), json!(5));
}

#[test]
fn values_are_shown_shortly() {
    assert_eq!(read("[1, 2]").shown(), "a list of 2");
    assert_eq!(read("{a: 1}").shown(), "a table with 1 members");
    assert_eq!(read(&"x".repeat(1_000)).shown().len(), 66);
}

#[test]
fn problems_have_a_place_and_a_member() {
    let all = Limits::default();
    refused(
        "a: 1\nb: 2\na: 3",
        &all,
        "3:1",
        "the key \"a\" occurs twice in one table",
        "",
    );
    refused("a:\n  - 7: x", &all, "2:5", "a key must be a text; quote it", "a[0]");
    refused(
        "a: !!int 7",
        &all,
        "1:4",
        "the only tag that is supported is !!str; remove it",
        "a",
    );
    refused(
        "a: !t []",
        &all,
        "1:4",
        "lists and tables cannot have tags; remove it",
        "a",
    );
    refused(
        "a: 1\n---\nb: 2",
        &all,
        "2:1",
        "a second document begins; write everything in one",
        "",
    );
    refused(
        "a: &x [*x]",
        &all,
        "1:8",
        "an alias refers to a value that contains it",
        "a[0]",
    );
    let shallow = Limits::default().with_max_depth(2);
    let few = Limits::default().with_max_values(3);
    let plain = Limits::default().without_aliases();
    refused(
        "a: {b: {c: 1}}",
        &shallow,
        "1:8",
        "more than 2 lists and tables are nested",
        "a.b",
    );
    refused(
        "[1, 2, 3, 4]",
        &few,
        "1:8",
        "more than 3 values; split the document, or use fewer aliases",
        "[2]",
    );
    refused(
        "a: &x 1\nb: *x",
        &plain,
        "2:4",
        "aliases are not supported; repeat the value",
        "b",
    );
    assert!(parse("a: [", &all).unwrap_err().place.line >= 1);
}

#[test]
fn aliases_repeat_values_within_the_limit() {
    assert_eq!(
        read("a: &x {b: 1}\nc: *x").to_json(),
        json!({"a": {"b": 1}, "c": {"b": 1}})
    );
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let before = vec![format!("*a{}", level - 1); 10].join(", ");
        text += &format!("a{level}: &a{level} [{before}]\n");
    }
    let error = parse(&text, &Limits::default()).unwrap_err();
    assert!(error.problem.contains("more than 2000000 values"), "{error}");
}

#[test]
fn deep_nesting_ends_with_an_error() {
    for open in ["[", "{a: ", "- "] {
        assert!(parse(&open.repeat(100_000), &Limits::default()).is_err(), "{open}");
    }
}

proptest! {
    #[test]
    fn no_text_is_read_with_a_panic(text in "[\\[\\]{}:,&*!'\"|>#a1 \n\t\u{feff}é-]{0,80}") {
        if let Err(error) = parse(&text, &Limits::default()) {
            prop_assert!(error.place.line <= text.lines().count() + 1, "{error}");
        }
    }

    #[test]
    fn any_json_is_read_back(texts in proptest::collection::vec(".{0,20}", 0..5), number in any::<i64>()) {
        let value = json!({"texts": texts, "number": number});
        prop_assert_eq!(read(&value.to_string()).to_json(), value);
    }
}
