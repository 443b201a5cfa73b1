//! [`overlap`]: how similar a query and a page are, by their characters.

use std::collections::HashMap;

use crate::knowledge::KnowledgePage;

/// Returns how similar a query and a page are, from 0 to 1: the share of pairs of characters that they have in common (Dice), with
/// the title counting .5, the summary .3 and the content .2.
///
/// This needs no index and tolerates misspelled words, but it does not know which words are rare, and long pages get low scores.
///
/// ```
/// use agcore_memory::{knowledge::KnowledgePage, search::overlap};
///
/// let page = KnowledgePage::new("tomatoes", "Tomatoes", "");
/// assert_eq!(overlap("tomatoes", &page), 0.5);
/// assert!(overlap("tomatos", &page) > 0.3);
/// assert_eq!(overlap("xyz", &page), 0.0);
/// ```
pub fn overlap(query: &str, page: &KnowledgePage) -> f64 {
    let query = pairs(query);
    let part = |text: &str, weight: f64| weight * dice(&query, &pairs(text));
    part(&page.title, 0.5) + part(&page.summary, 0.3) + part(&page.content, 0.2)
}

/// Counts the pairs of neighbouring characters within words. A single character is its own pair.
fn pairs(text: &str) -> HashMap<(char, char), u32> {
    let mut pairs = HashMap::new();
    let lower = text.to_lowercase();
    for word in lower.split(|character: char| !character.is_alphanumeric()) {
        let mut characters = word.chars();
        let Some(mut last) = characters.next() else {
            continue;
        };
        if word.len() == last.len_utf8() {
            *pairs.entry((last, '\0')).or_default() += 1;
        }
        for next in characters {
            *pairs.entry((last, next)).or_default() += 1;
            last = next;
        }
    }
    pairs
}

fn dice(one: &HashMap<(char, char), u32>, other: &HashMap<(char, char), u32>) -> f64 {
    let number = |pairs: &HashMap<_, u32>| pairs.values().map(|number| u64::from(*number)).sum::<u64>();
    let all = number(one) + number(other);
    if all == 0 {
        return 0.0;
    }
    let common = one
        .iter()
        .map(|(pair, number)| u64::from((*number).min(other.get(pair).copied().unwrap_or(0))));
    2.0 * common.sum::<u64>() as f64 / all as f64
}
