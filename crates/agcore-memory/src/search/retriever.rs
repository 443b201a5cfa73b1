//! [`MemoryRetriever`]: finds the pages for a query.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use agcore_chat::{Actor, Clock, Timestamp};

use super::{
    embedder_calls::EmbedderCalls,
    fusion::{Channel, ChannelScore, Fusion, ScoreBreakdown, Span, scaled},
    graph_channel::related_pages,
    knowledge_index::KnowledgeIndex,
    overlap::overlap,
    retrieval::{ChannelFailure, Retrieval, RetrievalSettings, RetrievedPage, Scorer},
    text_index::{IndexHit, check_query},
    turns::{Turn, TurnIndex},
};
use crate::{
    error::{MemoryError, MemoryErrorKind},
    graph::KnowledgeGraph,
    knowledge::{KnowledgePage, Position},
};

/// The age at which the recency of a page has fallen to e^−1.
const RECENT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The lowest score of a page that overlaps with the query.
const MIN_OVERLAP: f64 = 0.1;

/// Finds the pages for a query, by several channels whose results are combined.
///
/// Retrievers that share a [`KnowledgeIndex`] share its store and indexes. What other programs write to the store is found, too.
#[derive(Clone)]
pub struct MemoryRetriever {
    index: Arc<KnowledgeIndex>,
    graph: Option<Arc<dyn KnowledgeGraph>>,
    turns: Option<Turns>,
    clock: Arc<dyn Clock>,
    settings: RetrievalSettings,
}

/// The turns of a conversation.
#[derive(Debug, Clone)]
struct Turns {
    tenant: String,
    index: Arc<TurnIndex>,
}

impl fmt::Debug for MemoryRetriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryRetriever")
            .field("index", &self.index)
            .field("graph", &self.graph)
            .field("turns", &self.turns)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The results of a channel.
struct Found {
    channel: Channel,
    hits: Vec<IndexHit>,
}

impl Found {
    fn span(&self) -> Span {
        let score = |hit: Option<&IndexHit>| hit.map_or(0.0, |hit| hit.score);
        Span {
            channel: self.channel,
            best: score(self.hits.first()),
            worst: score(self.hits.last()),
        }
    }
}

/// A page or a turn, which may have the same id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Page(String),
    Turn(String),
}

impl Key {
    /// Returns the id of a page.
    fn page(&self) -> Option<&String> {
        match self {
            Self::Page(id) => Some(id),
            Self::Turn(_) => None,
        }
    }
}

impl MemoryRetriever {
    /// Creates a retriever with default settings.
    pub fn new(index: Arc<KnowledgeIndex>, clock: Arc<dyn Clock>) -> Self {
        Self {
            index,
            graph: None,
            turns: None,
            clock,
            settings: RetrievalSettings::default(),
        }
    }

    /// Sets the options.
    #[must_use]
    pub fn with_settings(mut self, settings: RetrievalSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Adds a graph: pages about the entities that a query names, and about entities related to them, are found as well.
    ///
    /// An entity stands for the page with its id, and for the pages that have its name as a tag.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::SystemClock;
    /// use agcore_memory::{
    ///     graph::{Entity, InMemoryGraph, KnowledgeGraph, Relation},
    ///     knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore},
    ///     search::{Channel, InMemoryTextIndex, KnowledgeIndex, MemoryRetriever},
    /// };
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let clock = Arc::new(SystemClock::new());
    /// let store = Arc::new(InMemoryKnowledgeStore::new(clock.clone()));
    /// store.add(KnowledgePage::new("apollo", "Apollo", "Due in May.")).await?;
    /// let graph = Arc::new(InMemoryGraph::new(clock.clone()));
    /// graph.save_entities(vec![Entity::new("ann", "Ann", "person"), Entity::new("apollo", "Apollo", "project")]).await?;
    /// graph.save_relations("local", vec![Relation::new("ann", "leads", "apollo")]).await?;
    ///
    /// let index = Arc::new(KnowledgeIndex::new(store, Arc::new(InMemoryTextIndex::new())));
    /// let retriever = MemoryRetriever::new(index, clock).with_graph(graph);
    /// // The page does not contain the name of Ann, who leads the project.
    /// let found = retriever.retrieve("local", "What does Ann work on?").await?;
    /// assert_eq!(found.hits[0].page.id, "apollo");
    /// assert!(found.hits[0].breakdown.channel(Channel::Graph).is_some());
    /// # Ok::<(), agcore_memory::MemoryError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_graph(mut self, graph: Arc<dyn KnowledgeGraph>) -> Self {
        self.graph = Some(graph);
        self
    }

    /// Adds the turns of a conversation, which only queries of this tenant find.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::SystemClock;
    /// use agcore_memory::{
    ///     knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore},
    ///     search::{Channel, InMemoryTextIndex, KnowledgeIndex, MemoryRetriever, Turn, TurnIndex},
    /// };
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let clock = Arc::new(SystemClock::new());
    /// let store = Arc::new(InMemoryKnowledgeStore::new(clock.clone()));
    /// store.add(KnowledgePage::new("bikes", "Bicycles", "How to mend a bicycle.")).await?;
    /// let turns = Arc::new(TurnIndex::new());
    /// turns.push(Turn::new("1", "Ann", "My red bicycle is from Ulm."));
    ///
    /// let index = Arc::new(KnowledgeIndex::new(store, Arc::new(InMemoryTextIndex::new())));
    /// let retriever = MemoryRetriever::new(index, clock).with_turns("local", turns);
    /// let found = retriever.retrieve("local", "Where is the red bicycle from?").await?;
    /// let turn = found.hits.iter().find(|hit| hit.breakdown.channel(Channel::Turns).is_some()).unwrap();
    /// assert_eq!(turn.page.content, "My red bicycle is from Ulm.");
    /// assert_eq!(found.hits.len(), 2);
    /// # Ok::<(), agcore_memory::MemoryError>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn with_turns(mut self, tenant: impl Into<String>, turns: Arc<TurnIndex>) -> Self {
        let tenant = tenant.into();
        self.turns = Some(Turns { tenant, index: turns });
        self
    }

    /// Returns the index.
    pub fn index(&self) -> &Arc<KnowledgeIndex> {
        &self.index
    }

    /// Returns the pages of a tenant that match best, and records their recalls.
    ///
    /// If a channel fails and another one does not, its results are missing and the failure is part of the result.
    ///
    /// # Errors
    /// - [`InvalidInput`](MemoryErrorKind::InvalidInput) if the query has more than [`MAX_QUERY_BYTES`](super::MAX_QUERY_BYTES).
    /// - Other errors when all channels fail, or the store does.
    pub async fn retrieve(&self, tenant: &str, query: &str) -> Result<Retrieval, MemoryError> {
        check_query(query)?;
        let mut retrieval = Retrieval::default();
        let (mut found, mut embedded) = (Vec::new(), Vec::new());
        let mut keep = |channel, hits: Result<Vec<IndexHit>, MemoryError>| match hits {
            Ok(hits) => found.push(Found { channel, hits }),
            Err(error) => retrieval.failures.push(ChannelFailure { channel, error }),
        };
        let candidates = self.settings.candidates.max(self.settings.max_results);
        match self.settings.scorer {
            Scorer::Bm25 => keep(Channel::Text, self.index.search(tenant, query, candidates).await),
            Scorer::Overlap => keep(Channel::Overlap, self.overlapping(tenant, query, candidates).await),
        }
        if self.settings.use_vectors && self.index.has_vectors() {
            let mut calls = EmbedderCalls::noted(Arc::clone(&self.clock));
            let index = &self.index;
            let hits = index.search_vectors_for(tenant, query, candidates, &mut calls).await;
            keep(Channel::Vector, hits);
            embedded = calls.into_calls();
        }
        if let Some(graph) = self.graph.as_ref().filter(|_| self.settings.use_graph) {
            let hits = related_pages(&**graph, &**self.index.store(), tenant, query, candidates).await;
            keep(Channel::Graph, hits);
        }
        if let Some(turns) = self.turns_of(tenant) {
            keep(Channel::Turns, turns.search(query, candidates));
        }
        if found.is_empty() {
            let error = retrieval.failures.into_iter().next().map(|failure| failure.error);
            return Err(error.unwrap_or_else(|| MemoryError::new(MemoryErrorKind::Retrieval, "there is no channel")));
        }
        retrieval.calls = embedded;
        retrieval.hits = self.rank(tenant, found).await?;
        let of_store = |hit: &&RetrievedPage| hit.breakdown.channel(Channel::Turns).is_none();
        let recalls = retrieval.hits.iter().filter(of_store);
        let recalls: Vec<(String, f64)> = recalls.map(|hit| (hit.page.id.clone(), hit.score)).collect();
        if self.settings.record_recalls && !recalls.is_empty() {
            self.index.store().record_recalls(tenant, &recalls).await?;
        }
        Ok(retrieval)
    }

    fn turns_of(&self, tenant: &str) -> Option<&TurnIndex> {
        let turns = self.turns.as_ref().filter(|_| self.settings.use_turns);
        turns.filter(|turns| turns.tenant == tenant).map(|turns| &*turns.index)
    }

    /// Compares every page of a tenant with the query.
    async fn overlapping(&self, tenant: &str, query: &str, limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        let mut hits = Vec::new();
        let mut position: Option<Position> = None;
        loop {
            let changes = self.index.store().changes(tenant, position, 128).await?;
            let scores = changes
                .saved
                .iter()
                .map(|page| IndexHit::new(&*page.id, overlap(query, page)));
            // A page that changed meanwhile comes again, with its last state.
            hits.retain(|hit: &IndexHit| !changes.is_reset && !changes.saved.iter().any(|page| page.id == hit.id));
            hits.extend(scores.filter(|hit| hit.score > 0.0));
            hits.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| one.id.cmp(&other.id)));
            hits.truncate(limit);
            position = changes.position;
            if !changes.has_more {
                return Ok(hits);
            }
        }
    }

    /// Combines the results of channels.
    async fn rank(&self, tenant: &str, found: Vec<Found>) -> Result<Vec<RetrievedPage>, MemoryError> {
        let spans: Vec<Span> = found.iter().map(Found::span).collect();
        let mut breakdowns: BTreeMap<Key, ScoreBreakdown> = BTreeMap::new();
        for Found { channel, hits } in found {
            for (rank, hit) in (1..).zip(hits) {
                let score = hit.score;
                let key = match channel {
                    Channel::Turns => Key::Turn(hit.id),
                    _ => Key::Page(hit.id),
                };
                let breakdown = breakdowns.entry(key).or_default();
                breakdown.channels.push(ChannelScore { channel, rank, score });
            }
        }
        let ids: Vec<String> = breakdowns.keys().filter_map(Key::page).cloned().collect();
        // Only weights need to know the pages before they are ranked.
        if matches!(self.settings.fusion, Fusion::Weights { .. }) {
            self.describe(tenant, &ids, &mut breakdowns).await?;
        }
        let least = self.least(&spans);
        let mut ranked: Vec<(f64, Key)> = breakdowns
            .iter()
            .map(|(key, breakdown)| (self.score(breakdown, &spans), key.clone()))
            .filter(|(score, _)| *score >= least)
            .collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        ranked.truncate(self.settings.max_results);
        let ids: Vec<String> = ranked.iter().filter_map(|(_, key)| key.page().cloned()).collect();
        if !matches!(self.settings.fusion, Fusion::Weights { .. }) {
            self.describe(tenant, &ids, &mut breakdowns).await?;
        }
        let pages = self.index.store().get_many(tenant, &ids).await?;
        let mut pages: BTreeMap<String, KnowledgePage> =
            pages.into_iter().map(|page| (page.id.clone(), page)).collect();
        let hits = ranked.into_iter().filter_map(|(score, key)| {
            // A page that was deleted meanwhile is left out.
            let page = match &key {
                Key::Page(id) => pages.remove(id)?,
                Key::Turn(id) => page_of(self.turns_of(tenant)?.get(id)?, tenant),
            };
            let breakdown = breakdowns.remove(&key).unwrap_or_default();
            Some(RetrievedPage { page, score, breakdown })
        });
        Ok(hits.collect())
    }

    /// Sets the recency and the references of pages.
    async fn describe(
        &self,
        tenant: &str,
        ids: &[String],
        breakdowns: &mut BTreeMap<Key, ScoreBreakdown>,
    ) -> Result<(), MemoryError> {
        let now: Timestamp = self.clock.now().into();
        let counts = self.index.store().count_backlinks(tenant, ids).await?;
        let most = counts.iter().copied().max().unwrap_or(0) as f64;
        for (id, count) in ids.iter().zip(counts) {
            if let Some(breakdown) = breakdowns.get_mut(&Key::Page(id.clone())) {
                breakdown.references = scaled(count as f64, most);
            }
        }
        for page in self.index.store().get_many(tenant, ids).await? {
            if let Some(breakdown) = breakdowns.get_mut(&Key::Page(page.id)) {
                let age = now.since(page.updated_at);
                breakdown.recency = (-age.as_secs_f64() / RECENT.as_secs_f64()).exp();
            }
        }
        Ok(())
    }

    /// Returns the score of a page, from 0 to 1.
    fn score(&self, breakdown: &ScoreBreakdown, spans: &[Span]) -> f64 {
        match (&self.settings.fusion, spans, breakdown.channels.as_slice()) {
            (fusion @ Fusion::Weights { .. }, ..) => fusion.score(breakdown, spans),
            // Nothing to combine.
            (_, [span], [only]) => match span.channel {
                Channel::Overlap | Channel::Vector => only.score.clamp(0.0, 1.0),
                Channel::Text | Channel::Graph | Channel::Turns => scaled(only.score, span.best),
            },
            (fusion, ..) => fusion.score(breakdown, spans),
        }
    }

    fn least(&self, spans: &[Span]) -> f64 {
        let default = match (&self.settings.fusion, spans) {
            (Fusion::Weights { .. }, _) => MIN_OVERLAP,
            (_, [span]) if span.channel == Channel::Overlap => MIN_OVERLAP,
            _ => 0.0,
        };
        self.settings.min_score.unwrap_or(default)
    }
}

/// Returns a turn as a page of a tenant.
fn page_of(turn: Turn, tenant: &str) -> KnowledgePage {
    let mut owner = Actor::local();
    owner.tenant = tenant.into();
    KnowledgePage::new(turn.id, turn.title, turn.text).with_owner(owner)
}
