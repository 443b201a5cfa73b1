//! The rules that all formats share.

use agcore_document::{ErrorKind, Format, Limits, Place, Value};
use proptest::prelude::*;
use serde_json::json;

const ALL: [Format; 3] = [Format::Toml, Format::Yaml, Format::Json];

/// Returns a document with the member `a` in each format.
fn documents(toml: &str, yaml: &str, json: &str) -> [(Format, String); 3] {
    [
        (Format::Toml, format!("a = {toml}\n")),
        (Format::Yaml, format!("a: {yaml}\n")),
        (Format::Json, format!("{{\"a\": {json}}}\n")),
    ]
}

#[test]
fn all_formats_are_read_alike() {
    let expected = json!({"a": [1, -2, 0.5, true, "x\n"], "b": {"c": "é"}});
    let texts = [
        "a = [1, -2, 0.5, true, \"x\\n\"]\n[b]\nc = \"é\"\n",
        "a: [1, -2, 0.5, true, \"x\\n\"]\nb:\n  c: é\n",
        "{\"a\": [1, -2, 0.5, true, \"x\\n\"], \"b\": {\"c\": \"\\u00e9\"}}",
    ];
    for (format, text) in ALL.into_iter().zip(texts) {
        let root = format.parse(text).unwrap();
        assert_eq!(root.to_json(), expected, "{format:?}");
        let names: Vec<&str> = root.members().iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["a", "b"], "{format:?}");
    }
}

#[test]
fn values_have_places() {
    for (format, text) in documents("\"é\" # 1", "é # 1", "\"é\"") {
        let root = format.parse(&format!("\u{feff}{text}")).unwrap();
        let member = root.member("a").unwrap();
        let expected = match format {
            Format::Toml => (Place::new(1, 1), Place::new(1, 5)),
            Format::Yaml => (Place::new(1, 1), Place::new(1, 4)),
            _ => (Place::new(1, 2), Place::new(1, 7)),
        };
        assert_eq!((member.place, member.node.place), expected, "{format:?}");
    }
    let root = Format::Toml.parse("[a.b]\nx = 1\n[[c]]\ny = 2\n").unwrap();
    let c = root.member("c").unwrap();
    let Value::List(items) = &c.node.value else {
        panic!("{c:?}")
    };
    assert_eq!((c.place, items[0].place), (Place::new(3, 3), Place::new(3, 1)));
    let a = root.member("a").unwrap();
    assert_eq!(
        a.node.member("b").unwrap().node.member("x").unwrap().place,
        Place::new(2, 1)
    );
    // JSON that a program has written, in lines.
    let root = Format::Json
        .parse("{\n  \"a\": [\n    {\"\\u0062\": null}\n  ]\n}")
        .unwrap();
    let Value::List(items) = &root.member("a").unwrap().node.value else {
        panic!("{root:?}")
    };
    let b = items[0].member("b").unwrap();
    assert_eq!((b.place, b.node.place), (Place::new(3, 6), Place::new(3, 16)));
}

#[test]
fn numbers_keep_their_digits() {
    let big = "123456789012345678901234567890";
    for (text, decimal) in [("7", "7"), ("1.10", "1.10"), (big, big), ("1e3", "1e3"), ("-0", "-0")] {
        for (format, document) in documents(text, text, text) {
            let node = format.parse(&document).unwrap().member("a").unwrap().node.clone();
            assert_eq!(node.value, Value::Number(decimal.to_owned()), "{format:?} {text}");
        }
    }
    let toml = |text: &str| Format::Toml.parse(&format!("a = {text}"));
    for (text, decimal) in [
        ("0x1F", "31"),
        ("0o17", "15"),
        ("0b101", "5"),
        ("1_000", "1000"),
        ("1_0.5", "10.5"),
    ] {
        let node = toml(text).unwrap().member("a").unwrap().node.clone();
        assert_eq!(node.value, Value::Number(decimal.to_owned()), "{text}");
    }
    for text in ["inf", "-inf", "nan", "0xffffffffffffffffffffffffffffffffff"] {
        let error = toml(text).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Unsupported(_)), "{error}");
        assert_eq!(error.place, Place::new(1, 5));
    }
    assert_eq!(Format::Json.parse("1e999").unwrap().to_json(), json!("1e999"));
    assert_eq!(Format::Yaml.parse("+5").unwrap().to_json(), json!(5));
}

#[test]
fn dates_are_texts() {
    for (format, text) in documents(
        "2026-01-31T12:00:00Z",
        "2026-01-31T12:00:00Z",
        "\"2026-01-31T12:00:00Z\"",
    ) {
        let root = format.parse(&text).unwrap();
        assert_eq!(root.to_json(), json!({"a": "2026-01-31T12:00:00Z"}), "{format:?}");
    }
}

#[test]
fn a_key_occurs_once() {
    for (format, text, line, column) in [
        (Format::Toml, "a = 1\nb = 2\na = 3", 3, 1),
        (Format::Toml, "\"a\" = 1\n'a' = 3\n", 2, 1),
        (Format::Toml, "[a]\n[b]\n[a]\n", 3, 2),
        (Format::Toml, "a.b = 1\n[a]\n", 2, 2),
        (Format::Toml, "x = {a = 1, a = 2}", 1, 13),
        (Format::Yaml, "a: 1\nb: 2\na: 3", 3, 1),
        (Format::Yaml, "a: 1\n'a': 3", 2, 1),
        (Format::Json, "{\"a\": 1,\n\"\\u0061\": 2}", 2, 1),
    ] {
        let error = format.parse(text).unwrap_err();
        assert_eq!(error.kind, ErrorKind::DuplicateKey("a".to_owned()), "{text}: {error}");
        assert_eq!(error.place, Place::new(line, column), "{text}");
    }
    // Mistakes at a name that have other reasons.
    for text in [
        "a = 1\nb = a",
        "a b = 1",
        "a = 1\na",
        "[a",
        "x = {a = 1, a}",
        "a = \"b\nb = 1",
    ] {
        let error = Format::Toml.parse(text).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Syntax(_)), "{text}: {error:?}");
    }
}

#[test]
fn empty_documents_are_empty_tables() {
    for text in ["", "\n\n", "# nothing\n", "\u{feff}"] {
        for format in [Format::Toml, Format::Yaml] {
            let root = format.parse(text).unwrap();
            assert_eq!(
                (root.members(), root.to_json()),
                (&[][..], json!({})),
                "{format:?} {text:?}"
            );
        }
    }
    let error = Format::Json.parse("").unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Syntax(_)), "{error:?}");
}

#[test]
fn limits_are_the_same() {
    let refused = |limits: &Limits, documents: &[(Format, String); 3]| {
        documents
            .clone()
            .map(|(format, text)| match format.parse_within(&text, limits) {
                Ok(_) => "",
                Err(error) => match error.kind {
                    ErrorKind::TooLarge { unit, .. } => unit,
                    ErrorKind::TooDeep(_) => "levels",
                    other => panic!("{other:?}"),
                },
            })
    };
    let list = documents("[1, 2, 3]", "[1, 2, 3]", "[1, 2, 3]");
    assert_eq!(refused(&Limits::default().with_max_values(5), &list), [""; 3]);
    assert_eq!(refused(&Limits::default().with_max_values(4), &list), ["values"; 3]);
    assert_eq!(refused(&Limits::default().with_max_depth(2), &list), [""; 3]);
    assert_eq!(refused(&Limits::default().with_max_depth(1), &list), ["levels"; 3]);
    assert_eq!(refused(&Limits::default().with_max_bytes(5), &list), ["bytes"; 3]);
}

#[test]
fn the_name_of_a_file_shows_its_format() {
    assert_eq!(Format::of_file("a.b/c.TOML"), Some(Format::Toml));
    assert_eq!(Format::of_file("x.json"), Some(Format::Json));
    assert_eq!(Format::of_file("toml"), None);
}

#[test]
fn values_are_shown_shortly() {
    let shown = |text: &str| Format::Yaml.parse(text).unwrap().shown();
    assert_eq!(shown("[1, 2]"), "a list of 2");
    assert_eq!(shown("{a: 1}"), "a table with 1 members");
    assert_eq!(shown(&"x".repeat(1_000)).len(), 66);
}

proptest! {
    #[test]
    fn any_json_is_read_by_both(texts in proptest::collection::vec(".{0,20}", 0..5), number in any::<i64>()) {
        let texts: Vec<String> = texts.into_iter().map(|text| text.replace('\0', "")).collect();
        let value = json!({"texts": texts, "number": number});
        for format in [Format::Yaml, Format::Json] {
            prop_assert_eq!(format.parse(&value.to_string()).unwrap().to_json(), value.clone());
        }
    }

    #[test]
    fn no_text_is_read_with_a_panic(text in "[\\[\\]{}=:,'\".#a1 \n\\\\u-]{0,80}") {
        for format in ALL {
            if let Err(error) = format.parse(&text) {
                prop_assert!(error.place.line <= text.lines().count() + 1, "{error}");
            }
        }
    }
}
