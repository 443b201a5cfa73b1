//! The sets of the repository, which tests hold to their floors.

use agcore_memory::search::TextDocument;

use crate::{
    Fallible,
    collection::{Collection, Question},
};

const SETS: [(&str, &str); 4] = [
    (
        "English",
        include_str!("../../crates/agcore-memory/tests/it/search/sets/english.txt"),
    ),
    (
        "Chinese",
        include_str!("../../crates/agcore-memory/tests/it/search/sets/chinese.txt"),
    ),
    (
        "Japanese",
        include_str!("../../crates/agcore-memory/tests/it/search/sets/japanese.txt"),
    ),
    (
        "mixed",
        include_str!("../../crates/agcore-memory/tests/it/search/sets/mixed.txt"),
    ),
];

/// Reads the sets.
pub(crate) fn read() -> Fallible<Vec<Collection>> {
    SETS.iter().map(|(name, text)| parse(name, text)).collect()
}

fn parse(name: &str, text: &str) -> Fallible<Collection> {
    let (pages, queries) = text.split_once("# Queries").ok_or("a set has no queries")?;
    let mut collection = Collection {
        name: name.to_owned(),
        ..Collection::default()
    };
    for row in pages.lines().skip(1).filter(|line| !line.is_empty()) {
        let [id, title, text] = cells(row)?;
        collection.documents.push(TextDocument::new(id, title, text));
    }
    for row in queries.lines().skip(1).filter(|line| !line.is_empty()) {
        let [text, answers] = cells(row)?;
        collection.questions.push(Question {
            text: text.to_owned(),
            answers: answers.split(", ").map(str::to_owned).collect(),
            category: 0,
        });
    }
    Ok(collection)
}

fn cells<const N: usize>(row: &str) -> Fallible<[&str; N]> {
    let cells: Vec<&str> = row.split(" | ").collect();
    cells
        .try_into()
        .map_err(|_| format!("the row `{row}` does not have {N} cells").into())
}
