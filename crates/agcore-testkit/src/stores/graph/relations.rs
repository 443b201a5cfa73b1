//! Relations, and the entities that they lead to.

use std::sync::Arc;

use agcore_memory::{
    MemoryErrorKind,
    graph::{Direction, Entity, KnowledgeGraph, MAX_DEPTH, RelatedQuery, Relation},
};

use crate::{clock::ManualClock, stores::KnowledgeGraphSubject};

/// Opens a graph with entities named after their ids.
async fn open(subject: &dyn KnowledgeGraphSubject, ids: &[&str], relations: Vec<Relation>) -> Arc<dyn KnowledgeGraph> {
    let graph = subject.knowledge_graph(Arc::new(ManualClock::new())).await;
    let entities = ids.iter().map(|id| Entity::new(*id, *id, "thing")).collect();
    graph.save_entities(entities).await.unwrap();
    graph.save_relations("local", relations).await.unwrap();
    graph
}

async fn relations(graph: &dyn KnowledgeGraph, id: &str, direction: Direction) -> Vec<Relation> {
    graph.relations("local", &[id.to_owned()], direction).await.unwrap()
}

/// Returns the ids of related entities with their scores and distances.
async fn related(graph: &dyn KnowledgeGraph, id: &str, query: RelatedQuery) -> Vec<(String, f64, u32)> {
    let related = graph.related("local", id, &query).await.unwrap();
    let related = related.into_iter();
    related
        .map(|related| (related.entity.id, related.score, related.distance))
        .collect()
}

fn ids(related: Vec<(String, f64, u32)>) -> Vec<String> {
    related.into_iter().map(|(id, ..)| id).collect()
}

/// Checks that a relation needs both of its entities.
pub async fn relations_need_their_entities(subject: &dyn KnowledgeGraphSubject) {
    let graph = open(subject, &["a"], Vec::new()).await;
    for (source, target) in [("a", "b"), ("b", "a")] {
        let error = graph
            .save_relations("local", vec![Relation::new(source, "x", target)])
            .await
            .unwrap_err();
        assert_eq!(error.kind(), MemoryErrorKind::NotFound, "{error}");
        assert!(error.to_string().contains("`b`"), "{error}");
    }
    let error = graph
        .save_relations("other", vec![Relation::new("a", "x", "a")])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::NotFound);
    assert_eq!(relations(&*graph, "a", Direction::Both).await, []);
}

/// Checks that a relation is identified by its entities and its type, and that saving it again replaces its weight.
pub async fn relations_replace_their_weight(subject: &dyn KnowledgeGraphSubject) {
    let saved = vec![
        Relation::new("b", "x", "a"),
        Relation::new("a", "y", "b").with_weight(0.25),
        Relation::new("a", "x", "b").with_weight(0.5),
        Relation::new("a", "y", "b").with_weight(0.75),
    ];
    let graph = open(subject, &["a", "b"], saved).await;
    let expected = [
        Relation::new("a", "x", "b").with_weight(0.5),
        Relation::new("a", "y", "b").with_weight(0.75),
        Relation::new("b", "x", "a"),
    ];
    assert_eq!(relations(&*graph, "a", Direction::Both).await, expected);
    graph
        .save_relations("local", vec![Relation::new("a", "x", "b").with_weight(0.0)])
        .await
        .unwrap();
    assert_eq!(relations(&*graph, "a", Direction::Outgoing).await[0].weight, 0.0);
    assert!(graph.remove_relation("local", &expected[0]).await.unwrap());
    assert!(!graph.remove_relation("local", &expected[0]).await.unwrap());
    assert_eq!(relations(&*graph, "a", Direction::Both).await, expected[1..]);
}

/// Checks that the relations of an entity are removed with it, and do not come back.
pub async fn removing_an_entity_removes_its_relations(subject: &dyn KnowledgeGraphSubject) {
    let saved = vec![
        Relation::new("a", "x", "b"),
        Relation::new("b", "x", "a"),
        Relation::new("b", "x", "c"),
    ];
    let graph = open(subject, &["a", "b", "c"], saved).await;
    assert!(graph.remove_entity("local", "a").await.unwrap());
    assert!(!graph.remove_entity("local", "a").await.unwrap());
    assert_eq!(
        relations(&*graph, "b", Direction::Both).await,
        [Relation::new("b", "x", "c")]
    );
    graph.save_entities(vec![Entity::new("a", "a", "thing")]).await.unwrap();
    assert_eq!(relations(&*graph, "a", Direction::Both).await, []);
}

/// Checks that scores are the product of the weights on the best way, divided by its length.
pub async fn scores_by_distance_and_weight(subject: &dyn KnowledgeGraphSubject) {
    let saved = vec![
        Relation::new("a", "x", "b").with_weight(0.5),
        Relation::new("b", "x", "c"),
        Relation::new("a", "x", "c").with_weight(0.125),
        Relation::new("c", "x", "d"),
        Relation::new("d", "x", "e"),
    ];
    let graph = open(subject, &["a", "b", "c", "d", "e"], saved).await;
    let found = related(&*graph, "a", RelatedQuery::new(3)).await;
    let expected = [
        ("b", 0.5, 1),
        ("c", 0.25, 1),
        ("d", 0.5 / 3.0, 2),
        ("e", 0.125 / 3.0, 3),
    ];
    assert_eq!(
        found,
        expected.map(|(id, score, distance)| (id.to_owned(), score, distance))
    );
    assert_eq!(
        ids(related(&*graph, "a", RelatedQuery::new(4)).await),
        ["b", "c", "d", "e"]
    );
    assert_eq!(
        ids(related(&*graph, "a", RelatedQuery::new(4).with_limit(2)).await),
        ["b", "c"]
    );
    assert_eq!(related(&*graph, "a", RelatedQuery::new(0)).await, []);
    assert_eq!(related(&*graph, "missing", RelatedQuery::new(2)).await, []);
    let error = graph
        .related("local", "a", &RelatedQuery::new(MAX_DEPTH + 1))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
}

/// Checks that relations are followed in the given direction only, and only those of the given types.
pub async fn follows_directions_and_types(subject: &dyn KnowledgeGraphSubject) {
    let saved = vec![
        Relation::new("a", "likes", "b"),
        Relation::new("b", "knows", "c"),
        Relation::new("d", "likes", "a"),
        Relation::new("e", "likes", "d"),
    ];
    let graph = open(subject, &["a", "b", "c", "d", "e"], saved).await;
    let query = || RelatedQuery::new(2);
    let find = async |query| ids(related(&*graph, "a", query).await);
    assert_eq!(find(query()).await, ["b", "d", "c", "e"]);
    assert_eq!(find(query().with_direction(Direction::Outgoing)).await, ["b", "c"]);
    assert_eq!(find(query().with_direction(Direction::Incoming)).await, ["d", "e"]);
    assert_eq!(find(query().with_kind("likes")).await, ["b", "d", "e"]);
    assert_eq!(find(query().with_kind("likes").with_kind("knows")).await.len(), 4);
    assert_eq!(find(query().with_kind("hates")).await, [""; 0]);
    assert_eq!(
        relations(&*graph, "a", Direction::Incoming).await,
        [Relation::new("d", "likes", "a")]
    );
    assert_eq!(
        relations(&*graph, "a", Direction::Outgoing).await,
        [Relation::new("a", "likes", "b")]
    );
}

/// Checks that cycles lead neither back to the start nor on for ever.
pub async fn cycles_end(subject: &dyn KnowledgeGraphSubject) {
    let saved = vec![
        Relation::new("a", "x", "a"),
        Relation::new("a", "x", "b"),
        Relation::new("b", "x", "c"),
        Relation::new("c", "x", "a"),
        Relation::new("c", "x", "b"),
    ];
    let graph = open(subject, &["a", "b", "c"], saved).await;
    let query = RelatedQuery::new(MAX_DEPTH).with_direction(Direction::Outgoing);
    let found = related(&*graph, "a", query).await;
    assert_eq!(found, [("b".to_owned(), 1.0, 1), ("c".to_owned(), 0.5, 2)]);
}
