//! `agcore knowledge search`.

use std::{collections::BTreeSet, sync::Arc};

use agcore::{
    chat::SystemClock,
    memory::{
        knowledge::KnowledgePage,
        search::{KeywordExtractor, Keywords, MemoryRetriever, RetrievalSettings, RetrievedPage, best_citation},
    },
};
use agcore_args::KnowledgeSearchArgs;
use agcore_terminal::render::{sanitized_line, truncated};
use serde_json::json;

use super::wiki::{index_of, open, tenant};

use crate::{exit::Failure, stdout::print, trust_dialog::print_notices};

/// The maximum width of the line of a page that is shown.
const EXCERPT: usize = 100;

/// Finds the pages that match best, and prints them.
///
/// # Errors
/// When the query is too long, or the database cannot be read.
pub(super) async fn search(args: &KnowledgeSearchArgs) -> Result<(), Failure> {
    let (database, store) = open(&args.database).await?;
    let index = index_of(store);
    let mut settings = RetrievalSettings::default();
    settings.max_results = usize::try_from(args.limit).unwrap_or(usize::MAX);
    // Recalls are counted for agents, not for people who look around.
    settings.record_recalls = false;
    let retriever = MemoryRetriever::new(Arc::new(index), Arc::new(SystemClock::new())).with_settings(settings);
    let query = args.query.join(" ");
    let found = retriever.retrieve(&tenant(), &query).await?;
    if database.as_json {
        let hits = found.hits.iter().map(|hit| {
            let mut shown = json!(hit);
            shown["citation"] = json!(best_citation(&Keywords::new(), &hit.page, &query));
            shown
        });
        return print(&format!("{:#}\n", json!({ "hits": hits.collect::<Vec<_>>() })));
    }
    if found.hits.is_empty() {
        return print_notices(&["No page matches.".to_owned()]);
    }
    let keywords: BTreeSet<String> = Keywords::new().keywords(&query).into_iter().collect();
    let lines = found.hits.iter().map(|hit| line(hit, &query, &keywords));
    print(&lines.collect::<String>())
}

/// Formats a result: the score, the id and the title, and below them the place in a file and the line that matches best.
fn line(hit: &RetrievedPage, query: &str, keywords: &BTreeSet<String>) -> String {
    let (id, title) = (sanitized_line(&hit.page.id), sanitized_line(&hit.page.title));
    let excerpt = excerpt(&hit.page, keywords);
    let excerpt = match excerpt.is_empty() {
        true => String::new(),
        false => format!("      {}\n", truncated(excerpt, EXCERPT)),
    };
    let cited = || best_citation(&Keywords::new(), &hit.page, query).to_string();
    let place = hit.page.source.as_ref().map(|_| sanitized_line(&cited()));
    let place = place.map(|place| format!("      {place}\n")).unwrap_or_default();
    format!("{:.2}  {id}  {title}\n{place}{excerpt}", hit.score)
}

/// Returns the line of the summary or the content with most of the keywords, and of equal ones the first.
fn excerpt<'p>(page: &'p KnowledgePage, keywords: &BTreeSet<String>) -> &'p str {
    let extractor = Keywords::new();
    let matches = |line: &str| {
        let mut found = BTreeSet::new();
        extractor.terms(line, &mut |term| {
            if let Some(keyword) = keywords.get(term) {
                found.insert(keyword);
            }
        });
        found.len()
    };
    // The summary of a part of a file is its place.
    let is_place = page.source.is_some() && page.summary == page.citation().to_string();
    let summary = if is_place { "" } else { &page.summary };
    let lines = summary.lines().chain(page.content.lines()).map(str::trim);
    let mut best = (0, "");
    for line in lines.filter(|line| !line.is_empty()) {
        let number = matches(line);
        if best.1.is_empty() || number > best.0 {
            best = (number, line);
        }
    }
    best.1
}
