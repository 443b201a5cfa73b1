//! Saving, finding and erasing entities.

use std::{sync::Arc, time::Duration};

use agcore_memory::{
    Actor, MemoryErrorKind, Timestamp,
    graph::{Direction, Entity, KnowledgeGraph, MAX_DESCRIPTION_BYTES, Relation},
    knowledge::TagCount,
};

use crate::{clock::ManualClock, stores::KnowledgeGraphSubject};

async fn open(subject: &dyn KnowledgeGraphSubject) -> Arc<dyn KnowledgeGraph> {
    subject.knowledge_graph(Arc::new(ManualClock::new())).await
}

async fn get(graph: &dyn KnowledgeGraph, id: &str) -> Option<Entity> {
    graph.entities("local", &[id.to_owned()]).await.unwrap().pop()
}

fn entity(id: &str) -> Entity {
    Entity::new(id, id, "thing")
}

/// Checks that saving an id again replaces the entity, and keeps its relations and the time of the first save.
pub async fn saves_and_replaces(subject: &dyn KnowledgeGraphSubject) {
    let clock = Arc::new(ManualClock::new());
    let graph = subject.knowledge_graph(Arc::clone(&clock) as _).await;
    graph
        .save_entities(vec![entity("a").with_tag("old"), entity("b")])
        .await
        .unwrap();
    graph
        .save_relations("local", vec![Relation::new("a", "knows", "b")])
        .await
        .unwrap();
    let first = get(&*graph, "a").await.unwrap();
    assert!(first.created_at == first.updated_at && first.created_at > Timestamp::default());
    clock.advance(Duration::from_secs(1));
    graph
        .save_entities(vec![Entity::new("a", "Ann", "person")])
        .await
        .unwrap();
    let second = get(&*graph, "a").await.unwrap();
    assert_eq!(
        (second.name.as_str(), second.kind.as_str(), second.tags.len()),
        ("Ann", "person", 0)
    );
    assert_eq!(second.created_at, first.created_at);
    assert_eq!(second.updated_at, first.updated_at.after(Duration::from_secs(1)));
    let relations = graph
        .relations("local", &["b".to_owned()], Direction::Both)
        .await
        .unwrap();
    assert_eq!(relations.len(), 1);
    assert_eq!(graph.find_tags("local", "", 9).await.unwrap(), []);
    assert_eq!(graph.find_by_keywords("local", &["a".to_owned()], 9).await.unwrap(), []);
}

/// Checks that if one entity or relation is not acceptable, none is saved; of an id that occurs twice, the last one counts.
pub async fn saves_all_or_none(subject: &dyn KnowledgeGraphSubject) {
    let graph = open(subject).await;
    let error = graph.save_entities(vec![entity("a"), entity("")]).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
    assert_eq!(get(&*graph, "a").await, None);
    let twice = ["one", "two"].map(|name| Entity::new("a", name, "thing"));
    graph.save_entities(twice.to_vec()).await.unwrap();
    assert_eq!(get(&*graph, "a").await.unwrap().name, "two");
    let relations = vec![Relation::new("a", "x", "a"), Relation::new("a", "y", "missing")];
    graph.save_relations("local", relations).await.unwrap_err();
    let relations = graph
        .relations("local", &["a".to_owned()], Direction::Both)
        .await
        .unwrap();
    assert_eq!(relations, []);
    graph.save_entities(Vec::new()).await.unwrap();
    graph.save_relations("local", Vec::new()).await.unwrap();
}

/// Checks that an entity comes back as it was saved, and that several come in the order of their ids.
pub async fn keeps_every_member(subject: &dyn KnowledgeGraphSubject) {
    let graph = open(subject).await;
    let mut saved = Entity::new("ä/%2F", "日本 '\"", "ort\\")
        .with_description("\u{0}\u{10}😀\r\n")
        .with_owner(Actor::new("acme", "ann").with_line("support"))
        .with_tag("zoo")
        .with_tag("animal");
    let other = entity("z").with_owner(Actor::new("acme", "ben"));
    graph.save_entities(vec![other, saved.clone()]).await.unwrap();
    let ids = ["ä/%2F", "missing", "z", "z"].map(str::to_owned);
    let found = graph.entities("acme", &ids).await.unwrap();
    assert_eq!(found.len(), 2);
    (saved.created_at, saved.updated_at) = (found[1].created_at, found[1].updated_at);
    assert_eq!(found[1], saved);
    let longest = entity("long").with_description("é".repeat(MAX_DESCRIPTION_BYTES / 2));
    graph.save_entities(vec![longest.clone()]).await.unwrap();
    assert_eq!(get(&*graph, "long").await.unwrap().description, longest.description);
}

/// Checks that an entity of a tenant does not exist for another one.
pub async fn keeps_tenants_apart(subject: &dyn KnowledgeGraphSubject) {
    let graph = open(subject).await;
    for tenant in ["one", "two"] {
        let of = |id: &str| {
            Entity::new(id, tenant, "thing")
                .with_tag(tenant)
                .with_owner(Actor::new(tenant, "u"))
        };
        graph.save_entities(vec![of("a"), of("b")]).await.unwrap();
    }
    graph
        .save_relations("one", vec![Relation::new("a", "x", "b")])
        .await
        .unwrap();
    let ids = ["a".to_owned()];
    assert_eq!(graph.entities("two", &ids).await.unwrap()[0].name, "two");
    assert_eq!(graph.relations("two", &ids, Direction::Both).await.unwrap(), []);
    assert_eq!(graph.find_by_keywords("two", &["one".to_owned()], 9).await.unwrap(), []);
    assert_eq!(graph.find_tags("two", "", 9).await.unwrap(), [TagCount::new("two", 2)]);
    assert!(
        !graph
            .remove_relation("two", &Relation::new("a", "x", "b"))
            .await
            .unwrap()
    );
    assert!(graph.remove_entity("two", "a").await.unwrap());
    assert_eq!(graph.entities("one", &ids).await.unwrap().len(), 1);
    assert_eq!(graph.relations("one", &ids, Direction::Both).await.unwrap().len(), 1);
    assert_eq!(graph.entities("three", &ids).await.unwrap(), []);
}

/// Checks that what a database could not keep is refused by every store, and nothing is saved.
pub async fn refuses_unacceptable_input(subject: &dyn KnowledgeGraphSubject) {
    let graph = open(subject).await;
    let long = "x".repeat(100_000);
    let mut many = entity("a");
    many.tags = (0..9).map(|number| number.to_string()).collect();
    let mut upper = entity("a");
    upper.tags = vec!["Upper".to_owned()];
    let entities = [
        entity("a\0"),
        entity(&long),
        Entity::new("a", "", "thing"),
        Entity::new("a", "a\0", "thing"),
        Entity::new("a", "a", ""),
        entity("a").with_description(long.as_str()),
        entity("a").with_tag(""),
        entity("a").with_owner(Actor::new("", "u")),
        many,
        upper,
    ];
    for entity in entities {
        let error = graph.save_entities(vec![entity]).await.unwrap_err();
        assert_eq!(error.kind(), MemoryErrorKind::InvalidInput, "{error}");
    }
    assert_eq!(get(&*graph, "a").await, None);
    graph.save_entities(vec![entity("a")]).await.unwrap();
    let relations = [
        Relation::new("a", "", "a"),
        Relation::new("a", "x\0", "a"),
        Relation::new("", "x", "a"),
        Relation::new("a", "x", "a").with_weight(1.1),
        Relation::new("a", "x", "a").with_weight(-0.1),
        Relation::new("a", "x", "a").with_weight(f64::NAN),
    ];
    for relation in relations {
        let error = graph.save_relations("local", vec![relation]).await.unwrap_err();
        assert_eq!(error.kind(), MemoryErrorKind::InvalidInput, "{error}");
    }
    for id in ["", "a\0", long.as_str()] {
        assert_eq!(get(&*graph, id).await, None);
        assert!(!graph.remove_entity("local", id).await.unwrap());
        let ids = [id.to_owned()];
        assert_eq!(graph.relations("local", &ids, Direction::Both).await.unwrap(), []);
        assert_eq!(graph.find_by_keywords("local", &ids, 9).await.unwrap(), []);
    }
}

/// Checks that entities are found by words of their names, tags and descriptions, those with the best matches first.
pub async fn finds_by_keywords(subject: &dyn KnowledgeGraphSubject) {
    let graph = open(subject).await;
    let entities = vec![
        Entity::new("1", "Green Gardens", "firm").with_description("Grows tomatoes in 东京."),
        Entity::new("2", "Tomato", "plant").with_tag("garden"),
        Entity::new("3", "Ann", "person").with_description("Works in a garden."),
        Entity::new("4", "京都", "city"),
    ];
    graph.save_entities(entities).await.unwrap();
    let find = async |keywords: &[&str], limit| {
        let keywords: Vec<String> = keywords.iter().map(|keyword| (*keyword).to_owned()).collect();
        let hits = graph.find_by_keywords("local", &keywords, limit).await.unwrap();
        hits.into_iter()
            .map(|hit| (hit.entity.id, hit.score))
            .collect::<Vec<_>>()
    };
    let hit = |id: &str, score| (id.to_owned(), score);
    assert_eq!(
        find(&["garden"], 9).await,
        [hit("1", 1.0), hit("2", 0.8), hit("3", 0.4)]
    );
    assert_eq!(find(&["garden"], 2).await.len(), 2);
    assert_eq!(
        find(&["garden", "tomato"], 9).await,
        [hit("2", 0.9), hit("1", 0.7), hit("3", 0.2)]
    );
    assert_eq!(find(&["京都"], 9).await, [hit("4", 1.0)]);
    assert_eq!(find(&["东京", "%", "_"], 9).await[0].0, "1");
    assert_eq!(find(&["%"], 9).await, []);
    assert_eq!(find(&[], 9).await, []);
}

/// Checks that tags are counted, those of most entities first.
pub async fn counts_tags(subject: &dyn KnowledgeGraphSubject) {
    let graph = open(subject).await;
    let entities = vec![
        entity("1").with_tag("tea").with_tag("food"),
        entity("2").with_tag("tea").with_tag("team"),
        entity("3").with_tag("a_b"),
    ];
    graph.save_entities(entities).await.unwrap();
    let tags = async |prefix: &str, limit| graph.find_tags("local", prefix, limit).await.unwrap();
    let count = TagCount::new;
    assert_eq!(
        tags("", 9).await,
        [count("tea", 2), count("a_b", 1), count("food", 1), count("team", 1)]
    );
    assert_eq!(tags("tea", 9).await, [count("tea", 2), count("team", 1)]);
    assert_eq!(tags("", 1).await, [count("tea", 2)]);
    assert_eq!(tags("_", 9).await, []);
    assert!(graph.remove_entity("local", "1").await.unwrap());
    assert_eq!(tags("tea", 9).await, [count("tea", 1), count("team", 1)]);
}

/// Checks that erasing removes the entities of a user in all lines of business with their relations, and of no other.
pub async fn erases_a_user(subject: &dyn KnowledgeGraphSubject) {
    let graph = open(subject).await;
    let of = |id: &str, owner: Actor| entity(id).with_owner(owner);
    let entities = vec![
        of("a", Actor::new("t", "ann")),
        of("b", Actor::new("t", "ann").with_line("sales")),
        of("c", Actor::new("t", "bob")),
        of("a", Actor::new("u", "ann")),
    ];
    graph.save_entities(entities).await.unwrap();
    let relations = vec![Relation::new("a", "x", "c"), Relation::new("c", "x", "c")];
    graph.save_relations("t", relations).await.unwrap();
    assert_eq!(graph.erase_entities(&Actor::new("t", "ann")).await.unwrap(), 2);
    assert_eq!(graph.erase_entities(&Actor::new("t", "ann")).await.unwrap(), 0);
    let all = ["a", "b", "c"].map(str::to_owned);
    let left = graph.entities("t", &all).await.unwrap();
    assert_eq!(left.iter().map(|entity| entity.id.as_str()).collect::<Vec<_>>(), ["c"]);
    assert_eq!(graph.relations("t", &all, Direction::Both).await.unwrap().len(), 1);
    assert_eq!(graph.entities("u", &all).await.unwrap().len(), 1);
}
