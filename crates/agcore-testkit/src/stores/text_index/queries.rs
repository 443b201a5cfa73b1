//! Queries of all kinds.

use agcore_memory::{
    MemoryErrorKind,
    search::{MAX_QUERY_BYTES, TextDocument},
};

use super::opened::{document, open};
use crate::stores::TextIndexSubject;

/// Words are found in titles, summaries and contents, in all forms, and in scripts without spaces.
pub async fn finds_words_of_all_scripts(subject: &dyn TextIndexSubject) {
    let mut opened = open(subject).await;
    assert_eq!(opened.found("tea").await, [""; 0], "an empty index finds nothing");
    let mut summed = document("summed", "x");
    summed.summary = "about bees".to_owned();
    let documents = vec![
        TextDocument::new("titled", "Growing Roses", "x"),
        summed,
        document("chinese", "早上浇水最好。"),
        document("japanese", "東京で寿司を食べました"),
        document("mixed", "用Rust写的程序"),
        document("accents", "Café Müller"),
    ];
    opened.apply(documents, &[]).await;
    for (query, expected) in [
        ("rose", "titled"),
        ("grow", "titled"),
        ("BEE", "summed"),
        ("什么时候浇水", "chinese"),
        ("水", "chinese"),
        ("寿司", "japanese"),
        ("rust程序", "mixed"),
        ("cafe", "accents"),
        ("ｍüller", "accents"),
    ] {
        assert_eq!(
            opened.found(query).await.first().map(String::as_str),
            Some(expected),
            "{query}"
        );
    }
    assert_eq!(opened.index.count("local").await.unwrap(), 6);
}

/// Rare words count more than frequent ones, short documents more than long ones, and titles more than contents.
pub async fn ranks_by_relevance(subject: &dyn TextIndexSubject) {
    let mut opened = open(subject).await;
    let mut documents: Vec<_> = (0..50)
        .map(|number| document(&format!("tea-{number:02}"), "green tea today"))
        .collect();
    documents.push(document("rare", "zeppelin tomorrow"));
    documents.push(document(
        "long",
        &format!("zeppelin {}", "and so on without end ".repeat(20)),
    ));
    documents.push(TextDocument::new("titled", "bicycle", "one two"));
    documents.push(TextDocument::new("mentioned", "one", "bicycle two"));
    opened.apply(documents, &[]).await;
    let found = opened.found("tea zeppelin").await;
    assert_eq!((found[0].as_str(), found.len()), ("rare", 10));
    assert_eq!(opened.found("zeppelin").await, ["rare", "long"]);
    assert_eq!(opened.found("bicycles").await, ["titled", "mentioned"]);
    let hits = opened.index.search("local", "tea zeppelin", 100).await.unwrap();
    assert!(hits.iter().all(|hit| hit.score > 0.0) && hits.is_sorted_by(|one, other| one.score >= other.score));
    assert_eq!(hits.len(), 52);
}

/// No character of a query is an operator, and too long queries are refused.
pub async fn queries_are_plain_text(subject: &dyn TextIndexSubject) {
    let mut opened = open(subject).await;
    opened.apply(vec![document("a", "the tea is in the x")], &[]).await;
    for query in [
        "",
        " ",
        "?",
        "\0",
        "zzz",
        "\"",
        "*",
        "a:",
        "(",
        "'; DROP TABLE text_indexes; --",
    ] {
        assert_eq!(opened.found(query).await, [""; 0], "{query:?}");
    }
    for query in [
        "x",
        "the",
        "TEA",
        "tea AND NOT (x",
        "title:tea^2 OR \"",
        "tea* ~",
        "-tea",
        "+zzz tea",
        "te\0 tea",
    ] {
        assert_eq!(opened.found(query).await, ["a"], "{query:?}");
    }
    let error = opened
        .index
        .search("local", &"x".repeat(1_000_000), 10)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
    assert_eq!(opened.found(&"tea ".repeat(MAX_QUERY_BYTES / 4)).await, ["a"]);
    let many: String = (0..9_000).map(|number| format!("w{number} ")).collect();
    assert_eq!(opened.found(&many).await, [""; 0]);
}

/// A limit cuts the list. Documents with equal scores are in the order of their ids.
pub async fn limits_the_results(subject: &dyn TextIndexSubject) {
    let mut opened = open(subject).await;
    // Not saved in the order of their ids, and more than a block of any kind.
    let documents = (0..700)
        .rev()
        .map(|number| document(&format!("{number:03}"), "tea"))
        .collect();
    opened.apply(documents, &[]).await;
    for limit in [0, 1, 5, 699, 700, 1000] {
        let hits = opened.index.search("local", "tea", limit).await.unwrap();
        let ids: Vec<String> = hits.into_iter().map(|hit| hit.id).collect();
        let expected: Vec<String> = (0..limit.min(700)).map(|number| format!("{number:03}")).collect();
        assert_eq!(ids, expected, "{limit}");
    }
}

/// Documents of several megabytes and words without end do no harm.
pub async fn large_documents_are_found(subject: &dyn TextIndexSubject) {
    let mut opened = open(subject).await;
    let many: String = (0..100_000).map(|number| format!("w{number} ")).collect();
    let documents = vec![
        document("many", &many),
        document("one", &"y".repeat(3_000_000)),
        document("nul", "tea\0cup \u{10}0"),
        document("empty", ""),
    ];
    opened.apply(documents, &[]).await;
    assert_eq!(opened.found("w77777").await, ["many"]);
    assert_eq!(opened.found("cup").await, ["nul"]);
    assert_eq!(opened.index.count("local").await.unwrap(), 4);
    opened.apply(vec![document("many", "less")], &["one", "empty"]).await;
    assert_eq!(opened.found("w77777").await, [""; 0]);
    assert_eq!(opened.found("less").await, ["many"]);
    assert_eq!(opened.index.count("local").await.unwrap(), 2);
}
