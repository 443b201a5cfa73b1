//! The tools of a wiki.

use std::sync::Arc;

use agcore_agent::{AgentBuilder, AgentSession, KnowledgeTools, agent};
use agcore_chat::{Actor, ToolCall};
use agcore_memory::{
    knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore},
    search::{InMemoryTextIndex, KnowledgeIndex, MemoryRetriever},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{Permission, PermissionConfig, PermissionRules};
use serde_json::{Value, json};

struct Wiki {
    store: Arc<InMemoryKnowledgeStore>,
    retriever: MemoryRetriever,
}

impl Wiki {
    async fn new() -> Self {
        let clock = Arc::new(ManualClock::new());
        let store = Arc::new(InMemoryKnowledgeStore::new(Arc::clone(&clock) as _));
        let index = KnowledgeIndex::new(Arc::clone(&store) as _, Arc::new(InMemoryTextIndex::new()));
        let wiki = Self {
            retriever: MemoryRetriever::new(Arc::new(index), clock),
            store,
        };
        let page = KnowledgePage::new("garden/tomatoes", "种番茄", "早上浇水最好。").with_tag("garden");
        wiki.store.add(page.with_owner(Actor::user("ann"))).await.unwrap();
        let long = KnowledgePage::new("long", "Long", format!("bees {}", "字".repeat(10_000)));
        wiki.store.add(long.with_owner(Actor::user("bob"))).await.unwrap();
        wiki
    }

    async fn page(&self, id: &str) -> Option<KnowledgePage> {
        self.store.get("local", id).await.unwrap()
    }
}

/// Returns a session of ann whose model makes these calls one after the other.
fn session(tools: impl Into<KnowledgeTools>, rules: PermissionRules, calls: &[(&str, Value)]) -> AgentSession {
    let steps = calls.iter().map(|(name, arguments)| {
        ScriptStep::calls([ToolCall::function(format!("call_{name}"), *name, arguments.to_string())])
    });
    let model = ScriptedProvider::new(steps.chain([ScriptStep::text("done")]));
    let builder: AgentBuilder = agent(model).with_knowledge(tools).with_permissions(rules);
    builder.session().unwrap().with_actor(Actor::user("ann"))
}

fn all_allowed() -> PermissionRules {
    let all = [Permission::Read, Permission::Write, Permission::Delete];
    PermissionRules::new(PermissionConfig::new().with_allowed(all).with_denied([]))
}

/// Makes calls, and returns their results as the model sees them.
async fn results(tools: impl Into<KnowledgeTools>, rules: PermissionRules, calls: &[(&str, Value)]) -> Vec<String> {
    let session = session(tools, rules, calls);
    session.turn("go").await.unwrap();
    let messages = session.messages().await;
    let results = messages
        .iter()
        .filter(|message| message.role() == agcore_chat::Role::Tool);
    results.map(|message| message.text().to_string()).collect()
}

#[tokio::test]
async fn pages_are_found_with_their_ids() {
    let wiki = Wiki::new().await;
    let calls = [
        ("retrieve", json!({"query": "番茄什么时候浇水？"})),
        ("retrieve", json!({"query": "bees", "limit": 1})),
        ("retrieve", json!({"query": "zeppelin"})),
        ("retrieve", json!({"query": "x".repeat(70_000)})),
    ];
    let results = results(wiki.retriever.clone(), PermissionRules::default(), &calls).await;
    let found: Value = serde_json::from_str(&results[0]).unwrap();
    let page = &found["pages"][0];
    assert_eq!(
        (&page["id"], &page["content"]),
        (&"garden/tomatoes".into(), &"早上浇水最好。".into())
    );
    assert_eq!(
        (&page["tags"][0], &page["score"], page.get("passages")),
        (&"garden".into(), &1.0.into(), None)
    );
    let found: Value = serde_json::from_str(&results[1]).unwrap();
    let long = &found["pages"][0];
    let part = long["passages"][0]["text"].as_str().unwrap();
    assert!(part.starts_with("bees 字") && part.chars().count() <= 4000, "{long}");
    assert_eq!((&long["characters"], long.get("content")), (&10_005.into(), None));
    assert_eq!(results[2], json!({"pages": []}).to_string());
    assert!(results[3].contains("the query has 70000 bytes"), "{}", results[3]);
    // What was found is counted.
    let recalls = wiki.store.recall_statistics("local", 5).await.unwrap();
    assert_eq!(recalls.len(), 2);
}

#[tokio::test]
async fn a_fact_far_behind_the_beginning_of_a_page_is_returned_and_read_on() {
    let wiki = Wiki::new().await;
    for (id, number, filler, fact) in [
        (
            "manual",
            500,
            "The pump hums in the cellar all day. ",
            "The reset code of the pump is 4711.",
        ),
        (
            "megabyte",
            28_000,
            "The motor runs in the attic all night. ",
            "The reset code of the motor is 0815.",
        ),
        ("手册", 2_000, "水泵整天在地下室里嗡嗡作响。", "水泵的复位密码是4711。"),
    ] {
        let filler = filler.repeat(number);
        let text = format!("# Operation\n\n{filler}\n\n## Reset\n\n{fact}\n\nThen wait.\n\n# End\n\n{filler}");
        wiki.store.add(KnowledgePage::new(id, id, text)).await.unwrap();
    }
    let calls = [
        ("retrieve", json!({"query": "reset code of the pump", "limit": 1})),
        ("retrieve", json!({"query": "reset code of the motor", "limit": 1})),
        ("retrieve", json!({"query": "水泵的复位密码是什么？", "limit": 1})),
    ];
    let found = results(wiki.retriever.clone(), PermissionRules::default(), &calls).await;
    for (result, fact) in found
        .iter()
        .zip(["pump is 4711.", "motor is 0815.", "水泵的复位密码是4711。"])
    {
        let page = &serde_json::from_str::<Value>(result).unwrap()["pages"][0];
        let passages = page["passages"].as_array().unwrap();
        let passage = passages
            .iter()
            .find(|passage| passage["text"].as_str().unwrap().contains(fact))
            .unwrap();
        // With its neighborhood, and its section.
        assert!(passage["text"].as_str().unwrap().contains("Then wait."), "{passage}");
        assert!(result.chars().count() < 6000, "{}", result.len());
        let start = passage["start"].as_u64().unwrap();
        let calls = [
            ("read_page", json!({"id": page["id"], "start": start})),
            ("read_page", json!({"id": page["id"], "start": 100_000_000})),
            ("read_page", json!({"id": "nowhere"})),
        ];
        let read = results(wiki.retriever.clone(), PermissionRules::default(), &calls).await;
        let part: Value = serde_json::from_str(&read[0]).unwrap();
        assert!(part["text"].as_str().unwrap().contains(fact), "{part}");
        assert!(
            part["next"].as_u64() == part["end"].as_u64() && part["previous"].as_u64().unwrap() < start,
            "{part}"
        );
        assert!(read[1].contains("pass a smaller `start`"), "{}", read[1]);
        assert!(read[2].contains("there is no page `nowhere`"), "{}", read[2]);
    }
}

#[tokio::test]
async fn a_page_is_read_from_beginning_to_end() {
    let wiki = Wiki::new().await;
    let (mut start, mut text) = (0, String::new());
    loop {
        let calls = [("read_page", json!({"id": "long", "start": start}))];
        let read = results(wiki.retriever.clone(), PermissionRules::default(), &calls).await;
        let part: Value = serde_json::from_str(&read[0]).unwrap();
        text += part["text"].as_str().unwrap();
        match part["next"].as_u64() {
            Some(next) => start = next,
            None => break,
        }
    }
    assert_eq!(text, wiki.page("long").await.unwrap().content);
}

#[tokio::test]
async fn pages_are_saved_changed_and_deleted() {
    let wiki = Wiki::new().await;
    let calls = [
        (
            "remember",
            json!({"title": "Pruning Roses", "content": "In spring.", "tags": ["Garden "]}),
        ),
        ("remember", json!({"title": "pruning roses", "content": "In autumn."})),
        (
            "update_page",
            json!({"id": "pruning-roses", "content": "In early spring.", "references": ["garden/tomatoes"]}),
        ),
        (
            "update_page",
            json!({"id": "pruning-roses", "content": "In early spring."}),
        ),
        ("retrieve", json!({"query": "early"})),
        ("forget", json!({"id": "garden/tomatoes"})),
        ("forget", json!({"id": "garden/tomatoes"})),
        ("remember", json!({"title": "?", "content": ""})),
    ];
    let results = results(wiki.retriever.clone(), all_allowed(), &calls).await;
    assert_eq!(results[0], r#"{"saved":"pruning-roses"}"#);
    assert!(
        results[1].contains("there is a page `pruning-roses` already; change it with `update_page`"),
        "{}",
        results[1]
    );
    assert_eq!(results[2], r#"{"updated":"pruning-roses"}"#);
    assert!(results[3].contains("nothing would change"), "{}", results[3]);
    assert!(results[4].contains("In early spring."), "{}", results[4]);
    assert_eq!(results[5], r#"{"deleted":true}"#);
    assert!(
        results[6].contains("there is no page `garden/tomatoes`"),
        "{}",
        results[6]
    );
    assert!(results[7].contains("the id is empty"), "{}", results[7]);
    let page = wiki.page("pruning-roses").await.unwrap();
    assert_eq!(
        (page.title.as_str(), page.tags.as_slice()),
        ("Pruning Roses", &["garden".to_owned()][..])
    );
    assert_eq!(
        (page.references, page.owner),
        (vec!["garden/tomatoes".to_owned()], Actor::user("ann"))
    );
    assert_eq!(wiki.page("garden/tomatoes").await, None);
}

#[tokio::test]
async fn pages_of_others_are_changed_only_if_they_are_shared() {
    let wiki = Wiki::new().await;
    let calls = [
        ("update_page", json!({"id": "long", "title": "mine"})),
        ("forget", json!({"id": "long"})),
    ];
    for result in results(wiki.retriever.clone(), all_allowed(), &calls).await {
        assert!(result.contains("the page `long` belongs to another user"), "{result}");
    }
    assert_eq!(wiki.page("long").await.unwrap().title, "Long");
    let shared = KnowledgeTools::new(wiki.retriever.clone()).with_shared_pages();
    results(shared, all_allowed(), &calls[..1]).await;
    let page = wiki.page("long").await.unwrap();
    assert_eq!((page.title.as_str(), page.owner), ("mine", Actor::user("bob")));
    // Another tenant has other pages.
    let session = session(
        wiki.retriever.clone(),
        all_allowed(),
        &[("forget", json!({"id": "long"}))],
    );
    let session = session.with_actor(Actor::new("other", "bob"));
    session.turn("go").await.unwrap();
    assert!(wiki.page("long").await.is_some());
}

#[tokio::test]
async fn permissions_apply() {
    let wiki = Wiki::new().await;
    let calls = [("forget", json!({"id": "garden/tomatoes"}))];
    let denied = results(wiki.retriever.clone(), PermissionRules::default(), &calls).await;
    assert!(denied[0].contains("denied"), "{}", denied[0]);
    assert!(wiki.page("garden/tomatoes").await.is_some());
    let calls = [("remember", json!({"title": "a", "content": "b"}))];
    let tools = KnowledgeTools::new(wiki.retriever.clone()).with_read_only();
    let unknown = results(tools, all_allowed(), &calls).await;
    assert!(unknown[0].contains("there is no tool named"), "{}", unknown[0]);
    assert_eq!(wiki.page("a").await, None);
}
