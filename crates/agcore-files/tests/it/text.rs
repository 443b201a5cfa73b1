//! Plain text.

use agcore_files::FileKind;

use crate::support::{document, patient, problem, read_with};

#[test]
fn blocks_are_put_together_up_to_the_length_of_a_passage() {
    let text = "First line\nsecond line\n\n\nAnother block.\r\n\r\nLast.";
    let whole = document("notes.txt", text.as_bytes());
    assert_eq!((whole.kind, whole.title), (FileKind::Text, None));
    assert_eq!(whole.passages.len(), 1);
    assert_eq!(whole.passages[0].text, text);

    let found = read_with(patient().with_passage_chars(25), "notes.txt", text.as_bytes()).unwrap();
    let passages = &found.documents[0].passages;
    let found: Vec<_> = passages
        .iter()
        .map(|passage| (passage.text.as_str(), passage.position.line))
        .collect();
    assert_eq!(
        found,
        [
            ("First line\nsecond line", Some(1)),
            ("Another block.\r\n\r\nLast.", Some(5))
        ]
    );
    assert_eq!((passages[1].position.start, passages[1].position.end), (25, 48));
}

#[test]
fn texts_without_words_have_no_passages() {
    assert!(document("empty.txt", b"").passages.is_empty());
    assert!(document("blank.txt", b" \n\t\n \r\n").passages.is_empty());
}

#[test]
fn limits_are_named() {
    use agcore_files::FileProblemKind::LimitExceeded;
    problem(
        patient().with_bytes(3),
        "a.txt",
        b"four",
        LimitExceeded,
        "larger than 3 bytes",
    );
    let limits = patient().with_passages(1).with_passage_chars(4);
    problem(
        limits.clone(),
        "a.txt",
        b"four five",
        LimitExceeded,
        "more than 1 passages",
    );
    problem(limits, "a.txt", b"four\n\nfive", LimitExceeded, "more than 1 passages");
    problem(
        patient().with_passages(0),
        "a.txt",
        b"x",
        LimitExceeded,
        "more than 0 passages",
    );
}
