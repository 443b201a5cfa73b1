//! [`related_pages`]: the pages about the entities that a query names, and about those related to them.

use std::collections::BTreeMap;

use super::text_index::IndexHit;
use crate::{
    error::MemoryError,
    graph::{KnowledgeGraph, RelatedQuery},
    keywords::{KeywordExtractor, Keywords},
    knowledge::{KnowledgeStore, PageFilter, check_tag, normalized_tag},
};

/// The number of entities that a query may name.
const SEEDS: usize = 8;

/// The largest distance of related entities.
const DEPTH: u32 = 2;

/// The number of entities whose pages are looked up.
const ENTITIES: usize = 16;

/// Returns pages of a tenant, the best first. The score of a page, from 0 to 1, is that of its best entity: how well the query
/// names the entity, or that score reduced along the relations that lead to it.
///
/// An entity stands for the page with its id, and for the pages that have its name as a tag.
///
/// # Errors
/// When the graph or the store fails.
pub(super) async fn related_pages(
    graph: &dyn KnowledgeGraph,
    store: &dyn KnowledgeStore,
    tenant: &str,
    query: &str,
    limit: usize,
) -> Result<Vec<IndexHit>, MemoryError> {
    let entities = entities(graph, tenant, query).await?;
    let ids: Vec<String> = entities.iter().map(|(id, ..)| id.clone()).collect();
    let own = store.get_many(tenant, &ids).await?;
    let mut scores: BTreeMap<String, f64> = BTreeMap::new();
    for (id, name, score) in entities {
        let own = own.iter().filter(|page| page.id == id).map(|page| page.id.clone());
        for page in own.chain(tagged(store, tenant, &name, limit).await?) {
            let best = scores.entry(page).or_default();
            *best = best.max(score);
        }
    }
    let mut hits: Vec<IndexHit> = scores.into_iter().map(|(id, score)| IndexHit::new(id, score)).collect();
    hits.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| one.id.cmp(&other.id)));
    hits.truncate(limit);
    Ok(hits)
}

/// Returns ids, names and scores of entities, the best first.
async fn entities(
    graph: &dyn KnowledgeGraph,
    tenant: &str,
    query: &str,
) -> Result<Vec<(String, String, f64)>, MemoryError> {
    let keywords = Keywords::new().keywords(query);
    if keywords.is_empty() {
        return Ok(Vec::new());
    }
    let seeds = graph.find_by_keywords(tenant, &keywords, SEEDS).await?;
    let mut found: BTreeMap<String, (String, f64)> = BTreeMap::new();
    for seed in seeds {
        for related in graph
            .related(tenant, &seed.entity.id, &RelatedQuery::new(DEPTH))
            .await?
        {
            keep(
                &mut found,
                related.entity.id,
                related.entity.name,
                seed.score * related.score,
            );
        }
        keep(&mut found, seed.entity.id, seed.entity.name, seed.score);
    }
    let mut found: Vec<(String, String, f64)> =
        found.into_iter().map(|(id, (name, score))| (id, name, score)).collect();
    found.sort_by(|one, other| other.2.total_cmp(&one.2).then_with(|| one.0.cmp(&other.0)));
    found.truncate(ENTITIES);
    Ok(found)
}

fn keep(found: &mut BTreeMap<String, (String, f64)>, id: String, name: String, score: f64) {
    let best = found.entry(id).or_insert((name, 0.0));
    best.1 = best.1.max(score);
}

/// Returns the ids of the pages that have the name of an entity as a tag.
async fn tagged(
    store: &dyn KnowledgeStore,
    tenant: &str,
    name: &str,
    limit: usize,
) -> Result<Vec<String>, MemoryError> {
    let tag = normalized_tag(name);
    // A name that cannot be a tag is on no page.
    if check_tag(&tag).is_err() {
        return Ok(Vec::new());
    }
    let filter = PageFilter::new(tenant).with_tag(tag).with_limit(limit as u64);
    let pages = store.list(&filter).await?;
    Ok(pages.into_iter().map(|page| page.id).collect())
}
