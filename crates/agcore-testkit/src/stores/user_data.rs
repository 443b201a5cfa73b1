//! The behaviors of stores that keep everything of a user. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

use std::{collections::BTreeMap, sync::Arc};

use agcore_memory::{
    MemoryItem, MemoryStore,
    graph::{Entity, Relation},
    knowledge::KnowledgePage,
};
use agcore_schedule::{NewSchedule, Occurrence, ScheduleStore, Timing};
use agcore_session::{
    Actor, ApprovalChange, Billing, CallChange, Commit, Journal, MessageRole, Money, NewApproval, NewCheckpoint,
    NewEvent, NewMessage, NewSession, Record, RunChange, RunKey, RunStatus, SessionWriter, Timestamp, conversations_of,
    id,
    quota::{AllowanceKey, Quota, QuotaAmount, QuotaDefaults, QuotaReport, QuotaScope, QuotaWindow},
};
use agcore_store::{
    StoreError, StoreErrorKind,
    user_data::{UserDataRow, UserDataStore, erase_user_data, export_user_data},
};
use agcore_webhook::{NewWebhook, SigningSecret, WebhookScope};
use serde_json::json;

use super::UserDataSubject;
use crate::clock::ManualClock;

async fn open(subject: &dyn UserDataSubject) -> Arc<dyn UserDataStore> {
    subject.user_data_store(Arc::new(ManualClock::new())).await
}

/// Stores one row of each kind for an owner. All of them contain the word.
async fn fill(store: &dyn UserDataStore, owner: &Actor, word: &str) {
    let item = MemoryItem::new(format!("item/{word}"), word).with_owner(owner.clone());
    store.save(item).await.unwrap();
    let page = KnowledgePage::new(format!("page-{word}"), word, word).with_owner(owner.clone());
    store.upsert(page).await.unwrap();
    let entity = |id: &str| Entity::new(format!("{id} {word}"), word, "thing").with_owner(owner.clone());
    store.save_entities(vec![entity("a"), entity("b")]).await.unwrap();
    let relation = Relation::new(format!("a {word}"), "likes", format!("b {word}"));
    store.save_relations(&owner.tenant, vec![relation]).await.unwrap();
    let line = owner.line.as_deref().unwrap_or_default();
    let stream = conversations_of(owner) + &id::join([line, word]);
    let record = || Record::new("note", 1, Timestamp::default(), json!(word));
    store.append(&stream, 0, vec![record(), record()]).await.unwrap();
    let session = format!("session {word}");
    let new = NewSession::new(&*session)
        .with_owner(owner.clone())
        .with_billing(Billing::new("EUR"));
    SessionWriter::create(store, new).await.unwrap();
    let commit = Commit::new()
        .with_record(record())
        .with_run(RunChange::new("r", RunStatus::Running).with_input(json!(word)))
        .with_message(NewMessage::new("m", MessageRole::User, word).with_cost(Money::from_micros(5, "EUR")))
        .with_message(NewMessage::audit("a", word).with_cost(Money::from_micros(7, "EUR")))
        .with_event(NewEvent::new("r", "text", json!(word)))
        .with_call(CallChange::start("r", "c", "search", json!(word)))
        .with_approval(ApprovalChange::Ask(NewApproval::new("q", "r", json!(word))))
        .with_title(word);
    store.commit(&owner.tenant, &session, 0, commit).await.unwrap();
    let run = RunKey::new(&owner.tenant, &session, "r");
    let checkpoint = NewCheckpoint::snapshot("a", json!(word));
    store.save_checkpoint(run, 0, checkpoint).await.unwrap();
    let new = NewSchedule::new(format!("schedule {word}"), Timing::cron("* * * * *"), json!(word));
    let schedule = ScheduleStore::create(store, new.with_owner(owner.clone()))
        .await
        .unwrap();
    let occurrence = Occurrence::started(Timestamp::from_millis(1), None);
    let recorded = ScheduleStore::record(store, &schedule, vec![occurrence], schedule.next_at).await;
    assert!(recorded.unwrap());
    let secret = SigningSecret::new([7; 32]).unwrap();
    let webhook = format!("webhook {word}");
    let new = NewWebhook::new(&*webhook, "https://example.com/hook", secret);
    store.create_webhook(new.with_owner(owner.clone())).await.unwrap();
    store.test_webhook(&owner.tenant, &webhook).await.unwrap();
}

/// The number of rows that [`fill`] stores, by kind.
const FILLED: [(&str, usize); 16] = [
    ("approval", 1),
    ("call", 1),
    ("checkpoint", 1),
    ("delivery", 1),
    ("entity", 2),
    ("event", 1),
    ("item", 1),
    ("message", 2),
    ("occurrence", 1),
    ("page", 1),
    ("record", 3),
    ("relation", 1),
    ("run", 1),
    ("schedule", 1),
    ("session", 1),
    ("webhook", 1),
];

/// Sets a quota of a user and one of the whole tenant, and counts a run.
async fn limit(store: &dyn UserDataStore, user: &Actor) {
    for scope in [QuotaScope::User(user.user.to_string()), QuotaScope::Tenant] {
        let quota = Quota::new(scope, QuotaWindow::Month).with_runs(50).with_tokens(1_000);
        store.set_quota(&user.tenant, &quota).await.unwrap();
    }
    let counted = store.count_run(user, &QuotaDefaults::default()).await;
    assert_eq!(counted.unwrap(), Ok(()));
}

/// Returns the lines of an export.
async fn export(store: &dyn UserDataStore, user: &Actor) -> Vec<String> {
    let mut lines = Vec::new();
    let mut write = |row: UserDataRow| {
        let line = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<UserDataRow>(&line).unwrap(), row);
        lines.push(line);
        Ok(())
    };
    let rows = export_user_data(store, user, &mut write).await.unwrap();
    assert_eq!(rows, lines.len() as u64);
    lines
}

fn kinds(lines: &[String]) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for line in lines {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        *kinds.entry(line["row"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    kinds
}

fn filled(times: usize) -> BTreeMap<String, usize> {
    let counts = FILLED.iter();
    counts
        .map(|(kind, count)| ((*kind).to_owned(), count * times))
        .collect()
}

/// Fills a store for a user with two lines of business, and for others with similar names.
async fn users(store: &dyn UserDataStore) -> (Actor, Vec<(Actor, &'static str)>) {
    let ann = Actor::new("acme", "ann");
    fill(store, &ann, "PLUM").await;
    fill(store, &ann.clone().with_line("sales"), "PEAR").await;
    let others = vec![
        (Actor::new("acme", "ann/sales"), "FIG"),
        (Actor::new("acme", "an"), "LIME"),
        (Actor::new("acme", "ann%"), "KIWI"),
        (Actor::new("other", "ann"), "DATE"),
    ];
    for (other, word) in &others {
        fill(store, other, word).await;
    }
    (ann, others)
}

/// Checks that an export has every row of a user once, and none of another one.
pub async fn exports_everything_of_a_user(subject: &dyn UserDataSubject) {
    let store = open(subject).await;
    let (ann, others) = users(&*store).await;
    let lines = export(&*store, &ann).await;
    assert_eq!(kinds(&lines), filled(2));
    for line in &lines {
        assert!(line.contains("PLUM") || line.contains("PEAR"), "{line}");
        assert!(!line.contains("whsec_"), "the secret of a webhook: {line}");
    }
    // The line of business of the actor does not matter.
    assert_eq!(export(&*store, &ann.clone().with_line("unknown")).await, lines);
    // The messages of a webhook of the whole tenant are about other users.
    let new = NewWebhook::new("wide", "https://example.com/wide", SigningSecret::new([7; 32]).unwrap());
    let new = new.with_owner(ann.clone()).with_scope(WebhookScope::Tenant);
    store.create_webhook(new).await.unwrap();
    store.test_webhook("acme", "wide").await.unwrap();
    assert_eq!(export(&*store, &ann).await, lines);
    // Lines of business share the quotas of a user.
    limit(&*store, &ann.clone().with_line("sales")).await;
    let with_quotas = export(&*store, &ann).await;
    let kinds_of_quotas = kinds(&with_quotas[lines.len()..]);
    assert_eq!(
        kinds_of_quotas,
        [("quota".to_owned(), 1), ("usage".to_owned(), 4)].into()
    );
    assert_eq!(with_quotas[..lines.len()], lines);
    assert!(
        with_quotas[lines.len()].contains(r#""user":"ann""#),
        "{:?}",
        with_quotas[lines.len()]
    );
    assert!(
        with_quotas[lines.len() + 1].contains(r#""runs":1"#),
        "{:?}",
        with_quotas[lines.len() + 1]
    );
    for (other, word) in &others {
        let lines = export(&*store, other).await;
        assert_eq!(kinds(&lines), filled(1), "{other}");
        assert!(lines.iter().all(|line| line.contains(word)), "{other}");
    }
    assert!(export(&*store, &Actor::new("acme", "nobody")).await.is_empty());
}

/// Checks that rows of several pages are exported once and completely.
pub async fn exports_many_rows_once(subject: &dyn UserDataSubject) {
    const MANY: usize = 450;
    let store = open(subject).await;
    let ann = Actor::user("ann");
    let items = (0..MANY).map(|number| MemoryItem::new(format!("{number}"), "x").with_owner(ann.clone()));
    store.save_many(items.collect()).await.unwrap();
    let session = NewSession::new("s").with_owner(ann.clone());
    SessionWriter::create(&*store, session).await.unwrap();
    let mut commit = Commit::new().with_run(RunChange::new("r", RunStatus::Running));
    for number in 0..MANY {
        commit = commit
            .with_message(NewMessage::new(format!("m{number}"), MessageRole::User, "x"))
            .with_message(NewMessage::audit(format!("a{number}"), "x"))
            .with_event(NewEvent::new("r", "text", json!(number)));
    }
    store.commit("local", "s", 0, commit).await.unwrap();
    let mut lines = export(&*store, &ann).await;
    let kinds = kinds(&lines);
    assert_eq!(
        (kinds["item"], kinds["message"], kinds["event"]),
        (MANY, 2 * MANY, MANY)
    );
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 4 * MANY + 2);
}

/// Checks that an export ends with the error of its writer, such as a full disk.
pub async fn a_failing_writer_ends_the_export(subject: &dyn UserDataSubject) {
    let store = open(subject).await;
    let ann = Actor::user("ann");
    fill(&*store, &ann, "x").await;
    let mut rows = 0;
    let mut write = |_| {
        rows += 1;
        match rows {
            5 => Err(StoreError::new(StoreErrorKind::Storage, "the disk is full")),
            _ => Ok(()),
        }
    };
    let error = export_user_data(&*store, &ann, &mut write).await.unwrap_err();
    assert_eq!((error.message(), rows), ("the disk is full", 5));
    assert_eq!(kinds(&export(&*store, &ann).await), filled(1));
}

/// Checks that an erasure leaves the bill of a user and nothing else, and leaves others alone.
pub async fn erases_everything_but_the_bill(subject: &dyn UserDataSubject) {
    let store = open(subject).await;
    let (ann, others) = users(&*store).await;
    let mut before = Vec::new();
    limit(&*store, &ann).await;
    for (other, _) in &others {
        limit(&*store, other).await;
        before.push(export(&*store, other).await);
    }
    let key = AllowanceKey::new(ann.clone(), "session PLUM", "r");
    let allowance = store.open_allowance(&key, &QuotaDefaults::default()).await;
    let held = QuotaAmount::new().with_tokens(70);
    let drawn = store
        .draw(&allowance.unwrap().unwrap(), &QuotaReport::default(), &[held])
        .await;
    assert_eq!(drawn.unwrap(), Ok(0));
    let erased = erase_user_data(&*store, &ann).await.unwrap();
    assert_eq!((erased.items, erased.pages, erased.entities), (2, 2, 4));
    assert_eq!((erased.conversations, erased.sessions), (2, 2));
    assert_eq!((erased.schedules, erased.webhooks), (2, 2));
    let left = export(&*store, &ann).await;
    let expected = [("message".to_owned(), 4), ("session".to_owned(), 2)];
    assert_eq!(kinds(&left), expected.into_iter().collect());
    let text = left.concat();
    assert!(!text.contains("PLUM") && !text.contains("PEAR"), "{text}");
    let costs: i64 = left
        .iter()
        .filter_map(|line| match serde_json::from_str(line).unwrap() {
            UserDataRow::Message { message, .. } => message.cost.map(|cost| cost.micros),
            _ => None,
        })
        .sum();
    assert_eq!(costs, 2 * (5 + 7));
    for ((other, _), before) in others.iter().zip(before) {
        assert_eq!(export(&*store, other).await, before, "{other}");
    }
    // What the tenant has used stays, with what calls in flight may use.
    let quotas = store.quota_usage(&ann, &QuotaDefaults::default()).await.unwrap();
    assert_eq!(quotas.len(), 1);
    assert_eq!(
        (quotas[0].used, quotas[0].held),
        (held.with_runs(4), QuotaAmount::new())
    );
    // Nothing is left to be erased.
    assert_eq!(erase_user_data(&*store, &ann).await.unwrap(), Default::default());
    assert_eq!(export(&*store, &ann).await, left);
}

/// Checks that an erasure that ended in the middle is completed by the next one.
pub async fn an_interrupted_erasure_is_completed_by_the_next(subject: &dyn UserDataSubject) {
    let store = open(subject).await;
    let (ann, _) = users(&*store).await;
    // What a first call has done before its process died.
    assert!(store.erase_session("acme", "session PLUM").await.unwrap());
    assert_eq!(MemoryStore::erase(&*store, &ann).await.unwrap(), 2);
    let stream = conversations_of(&ann) + &id::join(["", "PLUM"]);
    assert!(Journal::delete(&*store, &stream).await.unwrap());
    let erased = erase_user_data(&*store, &ann).await.unwrap();
    assert_eq!((erased.items, erased.pages, erased.entities), (0, 2, 4));
    assert_eq!((erased.conversations, erased.sessions), (1, 1));
    let left = kinds(&export(&*store, &ann).await);
    assert_eq!((left.len(), left["message"], left["session"]), (2, 4, 2));
}

/// Checks that lists come in the order of their ids, continue after any id, and have no more rows than asked for.
pub async fn lists_are_paged_by_id(subject: &dyn UserDataSubject) {
    let store = open(subject).await;
    let ann = Actor::user("ann");
    for word in ["b", "c", "a"] {
        fill(&*store, &ann, word).await;
    }
    let ids = |items: Vec<MemoryItem>| items.into_iter().map(|item| item.id).collect::<Vec<_>>();
    let items = async |after: Option<&str>, limit| ids(store.items_of(&ann, after, limit).await.unwrap());
    assert_eq!(items(None, 2).await, ["item/a", "item/b"]);
    assert_eq!(items(Some("item/b"), 2).await, ["item/c"]);
    assert_eq!(items(Some("item/aa"), 9).await, ["item/b", "item/c"]);
    assert_eq!(items(Some("item/c"), 9).await, [""; 0]);
    assert_eq!(items(None, 0).await, [""; 0]);
    let pages = store.pages_of(&ann, Some("page-a"), 1).await.unwrap();
    assert_eq!((pages.len(), &*pages[0].id, &*pages[0].content), (1, "page-b", "b"));
    let entities = store.entities_of(&ann, Some("a c"), 2).await.unwrap();
    assert_eq!((entities.len(), &*entities[0].id), (2, "b a"));
    let sessions = store.sessions_of(&ann, None, 1).await.unwrap();
    assert_eq!((sessions.len(), &*sessions[0].id), (1, "session a"));
    let schedules = store.schedules_of(&ann, Some("schedule a"), 1).await.unwrap();
    assert_eq!((schedules.len(), &*schedules[0].id), (1, "schedule b"));
    let webhooks = store.webhooks_of(&ann, Some("webhook a"), 1).await.unwrap();
    assert_eq!((webhooks.len(), &*webhooks[0].id), (1, "webhook b"));
    let streams = store
        .streams("conversation/local/", Some("conversation/local/ann/%-/a"), 1)
        .await;
    assert_eq!(streams.unwrap(), ["conversation/local/ann/%-/b"]);
    assert_eq!(store.streams("session/local/", None, 9).await.unwrap().len(), 3);
}
