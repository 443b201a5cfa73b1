//! Turns of a conversation.

use agcore_memory::search::{Turn, TurnIndex};

fn index(texts: &[&str]) -> TurnIndex {
    let mut index = TurnIndex::new();
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
