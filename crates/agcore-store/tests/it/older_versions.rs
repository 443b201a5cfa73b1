//! The content of the saved databases of older versions. Each was filled by [`fill`], to the extent that its
//! version has the tables.

use agcore_memory::{
    MemoryFilter, MemoryItem, MemoryStore,
    graph::{Direction, Entity, KnowledgeGraph, Relation},
    knowledge::{KnowledgePage, KnowledgeStore},
};
use agcore_session::{
    Actor, ApprovalChange, ApprovalFilter, Billing, CallChange, Checkpoint, CheckpointStore, Commit, EventFilter,
    Journal, MessageFilter, MessageMetadata, MessageRole, Money, NewApproval, NewCheckpoint, NewEvent, NewMessage,
    NewSession, Record, Retention, RunChange, RunFilter, RunKey, RunStatus, SessionOrigin, SessionState, SessionStatus,
    SessionStore, Timestamp, Usage, stream_of,
};
use serde_json::{Value, json};

/// A store that implements every contract of the databases with SQL.
pub(crate) trait AllStores:
    SessionStore + CheckpointStore + MemoryStore + KnowledgeStore + KnowledgeGraph
{
}

impl<S: SessionStore + CheckpointStore + MemoryStore + KnowledgeStore + KnowledgeGraph> AllStores for S {}

/// The last version in which sessions had no parts.
const VERSION_BEFORE_PARTS: u32 = 5;

fn ann() -> Actor {
    Actor::new("acme", "ann").with_line("support")
}

fn data() -> Value {
    json!({"text": "日本 \u{0} 😀", "number": 0.1, "large": u64::MAX})
}

/// Fills a new database.
pub(crate) async fn fill(store: &impl AllStores) {
    let item = MemoryItem::new("notes/tea", "Ann likes green tea. \u{0}").with_owner(ann());
    store.save(item.with_metadata("topic", "food")).await.unwrap();
    let record = |number: u32| Record::new("note", number, Timestamp::from_millis(7), data());
    store.append("notes", 0, vec![record(1), record(2)]).await.unwrap();
    Journal::trim(store, "notes", 2).await.unwrap();

    let new = NewSession::new("talk")
        .with_owner(ann())
        .with_billing(Billing::new("EUR").with_country("DE"))
        .with_origin(SessionOrigin::new("other", 3))
        .with_metadata("a", data());
    store.create(new).await.unwrap();
    let call = MessageMetadata::ToolCall {
        call_id: "c".to_owned(),
        name: "search".to_owned(),
        arguments: data(),
    };
    let result = MessageMetadata::ToolResult {
        call_id: "c".to_owned(),
        name: "search".to_owned(),
        is_error: false,
    };
    let commit = Commit::new()
        .with_record(record(1))
        .with_run(RunChange::new("r", RunStatus::Running).with_input(data()))
        .with_message(NewMessage::new("m1", MessageRole::User, "Hello \u{0}").with_run("r"))
        .with_message(NewMessage::new("m2", MessageRole::Assistant, "").with_metadata(call))
        .with_message(NewMessage::new("m3", MessageRole::Tool, "3 results").with_metadata(result))
        .with_message(
            NewMessage::new("m4", MessageRole::Assistant, "Here they are.")
                .with_metadata(MessageMetadata::AssistantOutput)
                .with_usage(Usage::new(120, 30))
                .with_cost(Money::from_micros(1_500, "EUR")),
        )
        .with_message(NewMessage::audit("m5", "Title").with_cost(Money::from_micros(8, "EUR")))
        .with_event(NewEvent::new("r", "text", data()))
        .with_call(CallChange::start("r", "c", "search", data()))
        .with_call(CallChange::finish("r", "c", data()))
        .with_approval(ApprovalChange::Ask(NewApproval::new("q", "r", data())))
        .with_state(SessionState::running())
        .with_title("Tea");
    store.commit("acme", "talk", 0, commit).await.unwrap();
    let run = RunKey::new("acme", "talk", "r");
    store
        .save_checkpoint(run, 0, NewCheckpoint::snapshot("a", data()))
        .await
        .unwrap();
    store
        .save_checkpoint(run, 1, NewCheckpoint::patch("b", data()))
        .await
        .unwrap();
    let waiting = Commit::new()
        .with_run(RunChange::new("r", RunStatus::Interrupted).with_outcome(data()))
        .with_state(SessionState::waiting_for("c"));
    store.commit("acme", "talk", 1, waiting).await.unwrap();

    let page = KnowledgePage::new("tea", "Tea", "Green tea from Japan.").with_owner(ann());
    let page = page.with_summary("About tea").with_tag("food").with_reference("japan");
    store.upsert(page).await.unwrap();
    let person = Entity::new("ann", "Ann", "person").with_owner(ann()).with_tag("family");
    let tea = Entity::new("tea", "Tea", "drink").with_owner(ann());
    store.save_entities(vec![person, tea]).await.unwrap();
    let relation = Relation::new("ann", "likes", "tea").with_weight(0.5);
    store.save_relations("acme", vec![relation]).await.unwrap();
}

/// Checks that everything is there that a version could store.
pub(crate) async fn check(store: &impl AllStores, version: u32) {
    check_items(store).await;
    check_session(store).await;
    if version >= 2 {
        check_knowledge(store).await;
    }
    if version == VERSION_BEFORE_PARTS {
        check_parts(store).await;
    }
    use_new_features(store).await;
}

/// Checks that contexts and the sessions of flows have become parts. The saved databases of that version have some, which [`fill`] does not
/// write.
async fn check_parts(store: &impl AllStores) {
    let whole = async |tenant: &str, id: &str| {
        let session = store.get_session(tenant, id).await.unwrap().unwrap();
        session.part_of
    };
    for part in ["trip/guide", "trip/r-1/main/answer/1"] {
        assert_eq!(whole("acme", part).await.as_deref(), Some("trip"), "{part}");
    }
    // Of another user, of no session with contexts, and of another tenant.
    for (tenant, id) in [
        ("acme", "trip"),
        ("acme", "trip/other"),
        ("acme", "trip/alone"),
        ("other", "trip/guide"),
    ] {
        assert_eq!(whole(tenant, id).await, None, "{id}");
    }
}

async fn check_items(store: &impl AllStores) {
    let items = MemoryStore::list(store, &MemoryFilter::owned_by(ann())).await.unwrap();
    assert_eq!((items.len(), &*items[0].id), (1, "notes/tea"));
    assert_eq!(items[0].content, "Ann likes green tea. \u{0}");
    assert_eq!(items[0].metadata["topic"], "food");
    let records = store.read("notes", 0).await.unwrap();
    assert_eq!((records.len(), records[0].seq, records[0].record.version), (1, 2, 2));
    assert_eq!(records[0].record.data, data());
    assert_eq!(store.append("notes", 2, Vec::new()).await.unwrap(), 2);
}

async fn check_session(store: &impl AllStores) {
    let session = store.get_session("acme", "talk").await.unwrap().unwrap();
    assert_eq!((&session.owner, session.title.as_deref()), (&ann(), Some("Tea")));
    assert_eq!(session.billing, Some(Billing::new("EUR").with_country("DE")));
    assert_eq!(session.origin, Some(SessionOrigin::new("other", 3)));
    assert_eq!((session.status, session.end), (SessionStatus::Pending, 1));
    assert_eq!(session.pending_tool_call_id.as_deref(), Some("c"));
    assert_eq!((&session.metadata["a"], session.erased_at), (&data(), None));
    assert_eq!(
        store.read(&stream_of("acme", "talk"), 0).await.unwrap()[0].record.data,
        data()
    );
    let messages = store.messages("acme", "talk", &MessageFilter::new()).await.unwrap();
    let texts: Vec<_> = messages
        .iter()
        .map(|message| (message.seq, &*message.content))
        .collect();
    assert_eq!(
        texts,
        [(1, "Hello \u{0}"), (2, ""), (3, "3 results"), (4, "Here they are.")]
    );
    let Some(MessageMetadata::ToolCall { arguments, .. }) = &messages[1].metadata else {
        panic!("{:?}", messages[1]);
    };
    assert_eq!((arguments, messages[0].run.as_deref()), (&data(), Some("r")));
    assert_eq!(messages[3].usage, Some(Usage::new(120, 30)));
    assert_eq!(messages[3].cost, Some(Money::from_micros(1_500, "EUR")));
    let audit = store.messages("acme", "talk", &MessageFilter::audit()).await.unwrap();
    assert_eq!(
        (audit[0].seq, audit[0].cost.clone()),
        (-1, Some(Money::from_micros(8, "EUR")))
    );
    let events = store.events("acme", "talk", &EventFilter::new()).await.unwrap();
    assert_eq!((events.len(), events[0].seq, &events[0].data), (1, 1, &data()));
    let runs = store.runs("acme", "talk", &RunFilter::new()).await.unwrap();
    assert_eq!(
        (runs[0].status, &runs[0].input),
        (RunStatus::Interrupted, &Some(data()))
    );
    let calls = store.calls("acme", "talk", "r").await.unwrap();
    assert_eq!((calls.len(), &calls[0].result), (1, &Some(data())));
    let open = store.approvals(&ApprovalFilter::new("acme")).await.unwrap();
    assert_eq!((open.len(), &*open[0].id, &open[0].question), (1, "q", &data()));
    let checkpoints = store
        .latest_checkpoints(RunKey::new("acme", "talk", "r"))
        .await
        .unwrap();
    let steps: Vec<_> = checkpoints
        .iter()
        .map(|Checkpoint { seq, step, .. }| (*seq, &**step))
        .collect();
    assert_eq!(steps, [(1, "a"), (2, "b")]);
}

async fn check_knowledge(store: &impl AllStores) {
    let page = KnowledgeStore::get(store, "acme", "tea").await.unwrap().unwrap();
    assert_eq!((&*page.title, &*page.content), ("Tea", "Green tea from Japan."));
    assert_eq!(
        (page.tags, page.references),
        (vec!["food".to_owned()], vec!["japan".to_owned()])
    );
    assert_eq!(store.backlinks("acme", "japan").await.unwrap(), ["tea"]);
    let found = store.find_by_keywords("acme", &["ann".to_owned()], 5).await.unwrap();
    assert_eq!(&*found[0].entity.id, "ann");
    let relations = store
        .relations("acme", &["ann".to_owned()], Direction::Outgoing)
        .await
        .unwrap();
    assert_eq!(relations, [Relation::new("ann", "likes", "tea").with_weight(0.5)]);
}

/// Checks that what came later works with the old rows: the waiting run ends, the session is erased, its bill is left.
async fn use_new_features(store: &impl AllStores) {
    store.answer("acme", "talk", "q", json!(true), &ann()).await.unwrap();
    let end = Commit::new()
        .with_run(RunChange::new("r", RunStatus::Running))
        .with_run(RunChange::new("r", RunStatus::Completed))
        .with_state(SessionState::running());
    store.commit("acme", "talk", 1, end).await.unwrap();
    let retention = Retention::new().with_runs_per_session(0);
    assert_eq!(store.prune(&retention, 10).await.unwrap().runs, 1);
    let page = KnowledgePage::new("coffee", "Coffee", "Black.").with_owner(ann());
    KnowledgeStore::add(store, page).await.unwrap();
    assert!(store.erase_session("acme", "talk").await.unwrap());
    assert_eq!(store.get_session("acme", "talk").await.unwrap(), None);
}
