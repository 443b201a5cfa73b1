//! The turns of conversations, with `TurnIndex`.

use agcore_memory::search::{Turn, TurnIndex};

use crate::{
    Fallible,
    collection::{Collection, Quality},
};

/// The categories of questions.
const CATEGORIES: [&str; 5] = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"];

/// Prints rows for all questions and for each category, of all conversations and of those that no setting was chosen on.
pub(crate) fn rows(conversations: &[Collection]) -> Fallible {
    // The rows, and which questions each has: those of some conversations and categories.
    let mut rows: Vec<(String, usize, Vec<u64>, Quality)> = Vec::new();
    for (conversations, first) in [("", 0), (" of conversations 6 to 10", 5)] {
        let mut row = |name: &str, categories| {
            rows.push((format!("{name}{conversations}"), first, categories, Quality::default()));
        };
        row("all", (1..=5).collect());
        row("categories 1 to 4", (1..=4).collect());
        (1..).zip(CATEGORIES).for_each(|(number, name)| row(name, vec![number]));
    }
    for (number, conversation) in conversations.iter().enumerate() {
        let index = TurnIndex::new();
        for document in &conversation.documents {
            index.push(Turn::new(
                document.id.as_str(),
                document.title.as_str(),
                document.content.as_str(),
            ));
        }
        for question in &conversation.questions {
            let hits = index.search(&question.text, 10)?;
            let found: Vec<String> = hits.into_iter().map(|hit| hit.id).collect();
            for (_, first, categories, quality) in &mut rows {
                if number >= *first && categories.contains(&question.category) {
                    quality.add(&question.answers, &found);
                }
            }
        }
    }
    for (name, .., quality) in &rows {
        println!("| LoCoMo, {name} | `TurnIndex` | {} |", quality.cells());
    }
    Ok(())
}
