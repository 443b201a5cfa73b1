//! Documents that are made to break a reader.

use agcore_document::{DocumentError, ErrorKind, Format, FrontMatter, Limits, Place};

const ALL: [Format; 3] = [Format::Toml, Format::Yaml, Format::Json];

fn refused(format: Format, text: &str) -> DocumentError {
    match format.parse(text) {
        Ok(_) => panic!("{format:?} reads {:?}", text.chars().take(40).collect::<String>()),
        Err(error) => error,
    }
}

#[test]
fn ten_megabytes_are_refused_before_they_are_read() {
    let text = "a".repeat(10_000_000);
    for format in ALL {
        let error = refused(format, &text);
        let most = Limits::default().max_bytes;
        assert_eq!(error.kind, ErrorKind::TooLarge { unit: "bytes", most });
        assert_eq!(
            error.to_string(),
            "1:1: the document has more than 8388608 bytes; split it"
        );
    }
    let text = format!("---\na: {text}\n---\n");
    let error = FrontMatter::split(&text).unwrap().unwrap().parse().unwrap_err();
    assert!(matches!(error.kind, ErrorKind::TooLarge { .. }));
}

#[test]
fn many_values_end_with_an_error() {
    let limits = Limits::default().with_max_values(30_000);
    // On one line, whose columns are not counted from its start for each value.
    let items = "1,".repeat(100_000);
    for (format, text) in [
        (Format::Toml, format!("a = [{items}]")),
        (Format::Yaml, format!("a: [{items}]")),
        (Format::Json, format!("{{\"a\": [{items}1]}}")),
    ] {
        let error = format.parse_within(&text, &limits).unwrap_err();
        assert!(
            matches!(error.kind, ErrorKind::TooLarge { unit: "values", .. }),
            "{error}"
        );
    }
}

#[test]
fn deep_nesting_ends_with_an_error() {
    for (format, before, open) in [
        (Format::Yaml, "", "["),
        (Format::Yaml, "", "{a: "),
        (Format::Yaml, "", "- "),
        (Format::Yaml, "", "? "),
        (Format::Json, "", "["),
        (Format::Json, "", "{\"a\":"),
        (Format::Toml, "a = ", "["),
        (Format::Toml, "a = ", "{a = "),
        (Format::Toml, "", "a."),
        (Format::Toml, "[", "a."),
        (Format::Toml, "[[", "a."),
    ] {
        for count in [65, 100, 100_000] {
            refused(format, &format!("{before}{}", open.repeat(count)));
        }
    }
    // Complete documents that are just as deep as the limit, and one deeper.
    let list = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for (format, before) in [(Format::Yaml, "a: "), (Format::Toml, "a = ")] {
        format.parse(&format!("{before}{}", list(63))).unwrap();
        let error = refused(format, &format!("{before}{}", list(64)));
        assert_eq!(error.kind, ErrorKind::TooDeep(64), "{error}");
    }
    Format::Json.parse(&list(64)).unwrap();
    assert_eq!(refused(Format::Json, &list(65)).kind, ErrorKind::TooDeep(64));
    let keys = vec!["a"; 65].join(".");
    assert_eq!(
        refused(Format::Toml, &format!("{keys} = 1")).kind,
        ErrorKind::TooDeep(64)
    );
}

#[test]
fn headers_of_many_tables_end_with_an_error() {
    // Each header is short, and each table is inside of the one before.
    let names: Vec<String> = (1..=80)
        .map(|depth| format!("[{}]\n", vec!["a"; depth].join(".")))
        .collect();
    refused(Format::Toml, &names.concat());
}

#[test]
fn nul_is_refused() {
    for (format, text) in [
        (Format::Toml, "a = 1\nb = \"\0\""),
        (Format::Yaml, "a: 1\nb: \0\nc: 2"),
        (Format::Json, "{\"a\": 1,\n\"b\"\0: 2}"),
    ] {
        let error = refused(format, text);
        assert_eq!((error.place.line, error.place.column > 3), (2, true), "{error}");
        assert_eq!(error.kind.to_string(), "the text has a NUL character; remove it");
    }
}

#[test]
fn one_byte_order_mark_is_skipped() {
    for (format, text) in [
        (Format::Toml, "a = 1"),
        (Format::Yaml, "a: 1"),
        (Format::Json, "{\"a\": 1}"),
    ] {
        assert_eq!(format.parse(&format!("\u{feff}{text}")), format.parse(text));
    }
    refused(Format::Json, "\u{feff}\u{feff}1");
}

#[test]
fn lines_may_end_as_on_windows() {
    for (format, text) in [
        (Format::Toml, "a = 1\r\n\r\nb = ["),
        (Format::Yaml, "a: 1\r\n\r\nb: 'x"),
        (Format::Json, "{\"a\": 1,\r\n\r\n\"b\": x}"),
    ] {
        let complete = text.replace('[', "2").replace("'x", "2").replace('x', "2");
        let root = format.parse(&complete).unwrap();
        assert_eq!(root.member("b").unwrap().place, Place::new(3, 1), "{format:?}");
        assert!(refused(format, text).place.line >= 3, "{format:?}");
    }
}

#[test]
fn tabs_are_space_except_at_the_start_of_lines_of_yaml() {
    for (format, text) in [
        (Format::Toml, "\ta\t=\t[1,\t2]\t\n"),
        (Format::Yaml, "a:\t[1,\t2]\t\n"),
        (Format::Json, "\t{\t\"a\"\t:\t[1,\t2]\t}\t"),
    ] {
        let root = format.parse(text).unwrap();
        assert_eq!(root.to_json(), serde_json::json!({"a": [1, 2]}), "{format:?}");
    }
    let error = refused(Format::Yaml, "a:\n\tb: 1\n");
    assert!(
        matches!(error.kind, ErrorKind::Syntax(_)) && error.place.line == 2,
        "{error}"
    );
}

#[test]
fn half_of_a_character_is_refused() {
    let error = refused(Format::Json, "{\"a\": \"\\ud83c\"}");
    assert_eq!(error.place, Place::new(1, 7));
    let root = Format::Json.parse("{\"a\": \"\\ud83c\\udf75\"}").unwrap();
    assert_eq!(root.to_json(), serde_json::json!({"a": "🍵"}));
}

#[test]
fn every_beginning_of_a_document_is_read_or_refused() {
    for (format, text) in [
        (
            Format::Toml,
            "a = 'é'\n[b.c]\nx = [1, {y = 2026-01-01}]\n[[d]]\n\"e\" = \"\"\"\nf\"\"\"\n",
        ),
        (
            Format::Yaml,
            "a: 'é'\nb: &x {c: [1, 'y']}\nd:\n  - e: |\n      f\n  - *x\n? g\n: h\n",
        ),
        (
            Format::Json,
            "{\"a\": \"\\u00e9\", \"b\": [1.5e3, true, null, {\"c\": []}]}",
        ),
    ] {
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            if let Err(error) = format.parse(&text[..end]) {
                assert!(!error.kind.to_string().is_empty() && error.place.line >= 1, "{error}");
            }
        }
    }
}
