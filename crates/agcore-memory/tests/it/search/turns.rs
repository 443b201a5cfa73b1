//! Turns of a conversation.

use std::sync::Arc;

use agcore_memory::{
    knowledge::{KnowledgePage, KnowledgeStore},
    search::{Channel, MemoryRetriever, RetrievalSettings, RetrievedPage, Turn, TurnIndex},
};

use super::Wiki;

fn index(texts: &[&str]) -> TurnIndex {
    let index = TurnIndex::new();
    for (number, text) in texts.iter().enumerate() {
        let speaker = if number % 2 == 0 { "Ann" } else { "Ben" };
        index.push(Turn::new(number.to_string(), speaker, *text));
    }
    index
}

fn found(index: &TurnIndex, query: &str, limit: usize) -> Vec<String> {
    let hits = index.search(query, limit).unwrap();
    hits.into_iter().map(|hit| hit.id).collect()
}

#[test]
fn neighbors_of_a_match_are_found_after_it() {
    let index = index(&["x one", "x two", "the red bicycle", "y three", "y four", "z five"]);
    assert_eq!(found(&index, "bicycle", 10), ["2", "1", "3"]);
    assert_eq!(found(&index, "bicycle", 1), ["2"]);
    assert_eq!(found(&index, "one", 10), ["0", "1"]);
    assert_eq!(found(&index, "five", 10), ["5", "4"]);
    assert_eq!(found(&index, "nothing", 10), [""; 0]);
    let hits = index.search("bicycle", 10).unwrap();
    assert!(hits[0].score <= 1.0 && hits[0].score > 1.5 * hits[1].score, "{hits:?}");
}

#[test]
fn speakers_are_part_of_a_turn() {
    let index = index(&["tea", "tea", "coffee"]);
    assert_eq!(found(&index, "What does Ben drink?", 1), ["1"]);
}

#[test]
fn short_conversations_are_found() {
    assert_eq!(found(&index(&[]), "tea", 3), [""; 0]);
    assert_eq!(found(&index(&["tea"]), "tea", 3), ["0"]);
    assert!(TurnIndex::default().search(&"x".repeat(1_000_000), 1).is_err());
}

/// Returns the ids of what was found, with whether each is a turn.
async fn retrieved(retriever: &MemoryRetriever, tenant: &str, query: &str) -> Vec<(String, bool)> {
    let hits = retriever.retrieve(tenant, query).await.unwrap().hits;
    let is_turn = |hit: &RetrievedPage| hit.breakdown.channel(Channel::Turns).is_some();
    hits.into_iter()
        .map(|hit| (hit.page.id.clone(), is_turn(&hit)))
        .collect()
}

#[tokio::test]
async fn turns_are_a_channel_of_the_retriever() {
    // A page and a turn have the same id.
    let wiki = Wiki::with([KnowledgePage::new("2", "Bicycles", "How to mend a bicycle.")]).await;
    let turns = Arc::new(index(&["x one", "x two", "the red bicycle"]));
    let retriever = wiki.retriever().with_turns("local", Arc::clone(&turns));
    let found = retrieved(&retriever, "local", "red bicycle").await;
    assert_eq!(found, [("2".into(), false), ("2".into(), true), ("1".into(), true)]);
    let hits = retriever.retrieve("local", "red bicycle").await.unwrap().hits;
    assert_eq!(hits[1].page.content, "the red bicycle");
    assert_eq!(hits[1].breakdown.channels.len(), 1);
    // Only pages have statistics.
    let recalls = wiki.store.recall_statistics("local", 10).await.unwrap();
    assert_eq!((recalls.len(), recalls[0].recalls), (1, 2));
    // Later turns are found as well.
    turns.push(Turn::new("3", "Ben", "a green bicycle"));
    assert!(
        retrieved(&retriever, "local", "green")
            .await
            .contains(&("3".into(), true))
    );
}

#[tokio::test]
async fn turns_belong_to_a_tenant() {
    let wiki = Wiki::with([]).await;
    let retriever = wiki.retriever().with_turns("acme", Arc::new(index(&["tea"])));
    assert_eq!(retrieved(&retriever, "local", "tea").await, []);
    assert_eq!(retrieved(&retriever, "acme", "tea").await, [("0".into(), true)]);
    let mut settings = RetrievalSettings::default();
    settings.use_turns = false;
    let without = retriever.with_settings(settings);
    assert_eq!(retrieved(&without, "acme", "tea").await, []);
}
