//! The turns of conversations, with `TurnIndex`.

use agcore_memory::search::{Turn, TurnIndex};

use crate::{
    Fallible,
    collection::{Collection, Quality},
};

/// The categories of questions.
const CATEGORIES: [&str; 5] = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"];

/// Prints rows for all questions, for each category, and for the conversations that no setting was chosen on.
pub(crate) fn rows(conversations: &[Collection]) -> Fallible {
    let mut categories: [Quality; 5] = Default::default();
    let (mut all, mut without_adversarial, mut later) = Default::default();
    for (number, conversation) in conversations.iter().enumerate() {
        let mut index = TurnIndex::new();
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
            let category = usize::try_from(question.category)?;
            let add = |quality: &mut Quality| quality.add(&question.answers, &found);
            add(&mut all);
            if category < 5 {
                add(&mut without_adversarial);
            }
            if number >= 5 {
                add(&mut later);
            }
            if let Some(quality) = categories.get_mut(category.wrapping_sub(1)) {
                add(quality);
            }
        }
    }
    let row = |name: &str, quality: &Quality| println!("| LoCoMo, {name} | `TurnIndex` | {} |", quality.cells());
    row("all", &all);
    row("conversations 6 to 10", &later);
    row("categories 1 to 4", &without_adversarial);
    for (name, quality) in CATEGORIES.iter().zip(&categories) {
        row(name, quality);
    }
    Ok(())
}
