//! JSON.

use agcore_files::FileProblemKind::{Broken, LimitExceeded};
use serde_json::{Value, json};

use crate::support::{document, patient, problem, read, read_with};

#[test]
fn lists_of_flat_objects_are_tables() {
    let found = read("a.json", br#"[{"a": 1, "b": "x"}, {"b": null, "c": true}]"#);
    assert!(found.documents.is_empty());
    assert_eq!(found.tables[0].columns, ["a", "b", "c"]);
    let rows = [
        [json!(1), json!("x"), Value::Null],
        [Value::Null, Value::Null, json!(true)],
    ];
    assert_eq!(found.tables[0].rows, rows);
    // JSON Lines.
    let found = read("a.jsonl", b"{\"a\": 1}\n{\"a\": 2}\n");
    assert_eq!(found.tables[0].rows, [[json!(1)], [json!(2)]]);
}

#[test]
fn everything_else_is_cut_below_its_members() {
    let small = document("a.json", br#"{"name": "x", "list": [1, {"y": []}]}"#);
    assert_eq!(small.passages.len(), 1);
    assert_eq!(small.passages[0].position.headings, [""; 0]);

    let json = json!({"intro": "hi", "plan": {"steps": ["a".repeat(30), "b".repeat(30)], "n": 7}, "tail": [1]});
    let found = read_with(patient().with_passage_chars(40), "a.json", json.to_string().as_bytes()).unwrap();
    let found: Vec<_> = found.documents[0]
        .passages
        .iter()
        .map(|passage| {
            (
                passage.position.headings.join("."),
                passage.text.replace(char::is_whitespace, ""),
            )
        })
        .collect();
    let expected = [
        ("", "intro:hi".to_owned()),
        ("plan.steps", format!("0:{}", "a".repeat(30))),
        ("plan.steps", format!("1:{}", "b".repeat(30))),
        ("plan", "n:7".to_owned()),
        ("", "tail:[1]".to_owned()),
    ];
    assert_eq!(found, expected.map(|(path, text)| (path.to_owned(), text)));
}

#[test]
fn long_texts_in_json_are_cut() {
    let json = json!({"text": "word ".repeat(100)}).to_string();
    let found = read_with(patient().with_passage_chars(50), "a.json", json.as_bytes()).unwrap();
    let passages = &found.documents[0].passages;
    assert!(
        passages.iter().all(|passage| passage.text.chars().count() <= 50),
        "{passages:?}"
    );
    assert_eq!(
        passages
            .iter()
            .map(|passage| passage.text.matches("word").count())
            .sum::<usize>(),
        100
    );
}

#[test]
fn errors_name_the_line() {
    problem(
        patient(),
        "a.json",
        b"{\n\"a\": 1,\n}",
        Broken,
        "not valid JSON in line 3",
    );
    problem(patient(), "a.jsonl", b"{}\n{}\n{]", Broken, "not valid JSON in line 3");
    problem(patient(), "a.json", b"", Broken, "empty");
}

#[test]
fn hostile_values_are_refused() {
    problem(
        patient(),
        "deep.json",
        "[".repeat(1_000_000).as_bytes(),
        Broken,
        "not valid JSON",
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    problem(patient(), "deep.json", deep.as_bytes(), Broken, "not valid JSON");
    let many = format!("[{}0]", "0,".repeat(2_000_000));
    problem(
        patient(),
        "many.json",
        many.as_bytes(),
        LimitExceeded,
        "more than 1000000 cells",
    );
    // Each object adds a column, so that the table would have a billion cells.
    let wide: Vec<String> = (0..30_000).map(|number| format!("{{\"c{number}\":1}}")).collect();
    let wide = format!("[{}]", wide.join(","));
    problem(
        patient(),
        "wide.json",
        wide.as_bytes(),
        LimitExceeded,
        "more than 1000000 cells",
    );
}
