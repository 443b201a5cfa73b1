//! The graph channel of the retriever.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_memory::{
    MemoryError, MemoryErrorKind,
    graph::{Direction, Entity, EntityHit, InMemoryGraph, KnowledgeGraph, Relation},
    knowledge::{KnowledgePage, TagCount},
    search::{Channel, Fusion, MemoryRetriever, RetrievalSettings},
};
use agcore_testkit::clock::ManualClock;
use async_trait::async_trait;

use super::{Wiki, retrieved};

/// Ann leads Apollo, which is built in Ulm.
async fn graph() -> Arc<InMemoryGraph> {
    let graph = InMemoryGraph::new(Arc::new(ManualClock::new()));
    let entities = [
        ("ann", "Ann", "person"),
        ("apollo", "Apollo", "project"),
        ("ulm", "Ulm", "city"),
    ];
    let entities = entities.map(|(id, name, kind)| Entity::new(id, name, kind));
    graph.save_entities(entities.to_vec()).await.unwrap();
    let relations = vec![
        Relation::new("ann", "leads", "apollo"),
        Relation::new("apollo", "built in", "ulm"),
    ];
    graph.save_relations("local", relations).await.unwrap();
    Arc::new(graph)
}

async fn wiki() -> Wiki {
    Wiki::with([
        KnowledgePage::new("apollo", "Apollo", "Due in May."),
        KnowledgePage::new("minutes/7", "Minutes", "Nothing was decided.").with_tag("Ulm"),
        KnowledgePage::new("lunch", "Lunch", "Soup on Mondays."),
    ])
    .await
}

#[tokio::test]
async fn pages_about_related_entities_are_found_the_closest_first() {
    let (wiki, graph) = (wiki().await, graph().await);
    assert_eq!(retrieved(&wiki.retriever(), "What is Ann doing?").await, [""; 0]);

    let retriever = wiki.retriever().with_graph(graph);
    assert_eq!(
        retrieved(&retriever, "What is Ann doing?").await,
        ["apollo", "minutes/7"]
    );
    let hits = retriever.retrieve("local", "What is Ann doing?").await.unwrap().hits;
    let graph = hits[0].breakdown.channel(Channel::Graph).unwrap();
    assert!(graph.rank == 1 && graph.score > 0.0);
    assert!(hits[0].breakdown.channel(Channel::Text).is_none());
}

#[tokio::test]
async fn a_page_that_both_channels_find_comes_first() {
    let (wiki, graph) = (wiki().await, graph().await);
    let retriever = wiki.retriever().with_graph(graph);
    let hits = retriever
        .retrieve("local", "Is Apollo or the soup due?")
        .await
        .unwrap()
        .hits;
    assert_eq!(hits[0].page.id, "apollo");
    assert_eq!(hits[0].breakdown.channels.len(), 2);
    assert!(hits.iter().any(|hit| hit.page.id == "lunch"), "{hits:?}");
}

#[tokio::test]
async fn weights_include_the_graph() {
    let (wiki, graph) = (wiki().await, graph().await);
    let mut settings = RetrievalSettings::default();
    settings.fusion = Fusion::weights();
    let retriever = wiki.retriever().with_graph(graph).with_settings(settings);
    assert_eq!(retrieved(&retriever, "What is Ann doing?").await[0], "apollo");
}

#[tokio::test]
async fn the_graph_can_be_left_out_and_belongs_to_a_tenant() {
    let (wiki, graph) = (wiki().await, graph().await);
    let mut settings = RetrievalSettings::default();
    settings.use_graph = false;
    let without = wiki.retriever().with_graph(graph.clone()).with_settings(settings);
    assert_eq!(retrieved(&without, "What is Ann doing?").await, [""; 0]);
    let found = wiki
        .retriever()
        .with_graph(graph)
        .retrieve("other", "What is Ann doing?")
        .await;
    assert!(found.unwrap().hits.is_empty());
}

#[tokio::test]
async fn queries_without_keywords_find_nothing_in_the_graph() {
    let (wiki, graph) = (wiki().await, graph().await);
    let retriever = wiki.retriever().with_graph(graph);
    for query in ["", "the of and", "?!"] {
        assert_eq!(retrieved(&retriever, query).await, [""; 0], "{query:?}");
    }
}

#[tokio::test]
async fn a_graph_that_fails_does_not_hide_the_other_channels() {
    let wiki = wiki().await;
    let retriever: MemoryRetriever = wiki.retriever().with_graph(Arc::new(BrokenGraph));
    let found = retriever.retrieve("local", "soup on Mondays").await.unwrap();
    assert_eq!(found.hits[0].page.id, "lunch");
    assert_eq!(found.failures[0].channel, Channel::Graph);
    assert_eq!(found.failures[0].error.kind(), MemoryErrorKind::Unavailable);
}

/// A graph whose storage is away.
#[derive(Debug)]
struct BrokenGraph;

fn away<T>() -> Result<T, MemoryError> {
    Err(MemoryError::new(MemoryErrorKind::Unavailable, "the database is away"))
}

#[async_trait]
impl KnowledgeGraph for BrokenGraph {
    async fn save_entities(&self, _: Vec<Entity>) -> Result<(), MemoryError> {
        away()
    }

    async fn save_relations(&self, _: &str, _: Vec<Relation>) -> Result<(), MemoryError> {
        away()
    }

    async fn entities(&self, _: &str, _: &[String]) -> Result<Vec<Entity>, MemoryError> {
        away()
    }

    async fn relations(&self, _: &str, _: &[String], _: Direction) -> Result<Vec<Relation>, MemoryError> {
        away()
    }

    async fn remove_entity(&self, _: &str, _: &str) -> Result<bool, MemoryError> {
        away()
    }

    async fn remove_relation(&self, _: &str, _: &Relation) -> Result<bool, MemoryError> {
        away()
    }

    async fn find_by_keywords(&self, _: &str, _: &[String], _: usize) -> Result<Vec<EntityHit>, MemoryError> {
        away()
    }

    async fn find_tags(&self, _: &str, _: &str, _: u64) -> Result<Vec<TagCount>, MemoryError> {
        away()
    }

    async fn erase_entities(&self, _: &Actor) -> Result<u64, MemoryError> {
        away()
    }
}
