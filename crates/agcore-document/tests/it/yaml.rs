//! The peculiarities of YAML: places, the core schema, aliases, tags.

use agcore_document::{DocumentError, ErrorKind, Format, Limits, Node, Place, Value};
use proptest::prelude::*;
use serde_json::json;

fn read(text: &str) -> Node {
    Format::Yaml.parse(text).unwrap()
}

fn refused(text: &str) -> DocumentError {
    Format::Yaml.parse(text).unwrap_err()
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
        "007",
        "123456789012345678901234567890",
    ] {
        assert_eq!(scalar(number), Value::Number(number.to_owned()));
    }
    assert_eq!(scalar("0x1F"), Value::Number("31".to_owned()));
    assert_eq!(scalar("0o17"), Value::Number("15".to_owned()));
    for text in [
        "yes",
        "no",
        "0x",
        "0xg",
        "0b1",
        ".inf",
        "-.nan",
        "1_000",
        "12:30",
        "1.2.3",
        "'7'",
        "\"true\"",
        "!!str 7",
        "NaN",
        "1e",
        "2026-01-31",
    ] {
        assert!(matches!(scalar(text), Value::Text(_)), "{text}: {:?}", scalar(text));
    }
}

#[test]
fn problems_have_a_place_and_a_path() {
    let check = |text: &str, place: &str, path: &str, problem: &str| {
        let error = refused(text);
        let found = (error.place.to_string(), error.path.to_string(), error.kind.to_string());
        assert_eq!(found, (place.to_owned(), path.to_owned(), problem.to_owned()), "{text}");
    };
    check("a:\n  - 7: x", "2:5", "a[0]", "a key must be a text; quote it");
    check("[1]: x", "1:1", "", "a key must be a text; quote it");
    check(
        "a: !!int 7",
        "1:4",
        "a",
        "the only tag that is supported is !!str; remove it",
    );
    check("a: !t []", "1:4", "a", "lists and tables cannot have tags; remove it");
    check(
        "a: 1\n---\nb: 2",
        "2:1",
        "",
        "a second document begins; write everything in one",
    );
    check(
        "a: &x [*x]",
        "1:8",
        "a[0]",
        "an alias refers to a value that contains it",
    );
    check(
        "a: 1\nb: {c: 2, c: 3}",
        "2:11",
        "b",
        "the key \"c\" occurs twice in one table; remove one of them",
    );
    assert!(matches!(refused("a: [").kind, ErrorKind::Syntax(_)));
}

#[test]
fn aliases_repeat_values() {
    let root = read("a: &x {b: 1}\nc: *x");
    assert_eq!(root.to_json(), json!({"a": {"b": 1}, "c": {"b": 1}}));
    // The value is where it is used, and its parts are where they are written.
    let used = &root.member("c").unwrap().node;
    assert_eq!(
        (used.place, used.members()[0].place),
        (Place::new(2, 4), Place::new(1, 8))
    );
}

#[test]
fn aliases_count_as_what_they_repeat() {
    let refused = |text: &str, limits: &Limits| match Format::Yaml.parse_within(text, limits).unwrap_err().kind {
        ErrorKind::TooLarge { unit, .. } => unit,
        ErrorKind::TooDeep(_) => "levels",
        other => panic!("{other:?}"),
    };
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let before = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb += &format!("a{level}: &a{level} [{before}]\n");
    }
    assert_eq!(refused(&bomb, &Limits::default()), "values");
    let long = "x".repeat(100_000);
    let texts = format!("a: &a {long}\nb: [{}]", vec!["*a"; 1_000].join(", "));
    assert_eq!(refused(&texts, &Limits::default()), "bytes");
    // Anchors inside of each other are kept as often as there are anchors.
    let nested: String = (0..60).map(|level| format!("&a{level} [")).collect();
    let nested = format!("{nested}{long}{}", "]".repeat(60));
    let limits = Limits::default().with_max_bytes(1 << 20);
    assert_eq!(refused(&nested, &limits), "bytes");
    let deep = Limits::default().with_max_depth(3);
    assert_eq!(refused("a: &x [[1]]\nb: [*x]", &deep), "levels");
}

proptest! {
    #[test]
    fn no_text_is_read_with_a_panic(text in "[\\[\\]{}:,&*!'\"|>#a1 \n\t\u{feff}é-]{0,80}") {
        if let Err(error) = Format::Yaml.parse(&text) {
            prop_assert!(error.place.line <= text.lines().count() + 1, "{error}");
        }
    }
}
