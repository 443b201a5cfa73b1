//! The behaviors of stores of sources. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

use std::{sync::Arc, time::Duration};

use agcore_chat::SourcePosition;
use agcore_memory::{
    Actor, MemoryErrorKind,
    knowledge::{KnowledgePage, KnowledgeSource, PageFilter, PageSource, SourceChanges, SourceStore},
};

use crate::{clock::ManualClock, stores::SourceStoreSubject};

async fn open(subject: &dyn SourceStoreSubject) -> (Arc<dyn SourceStore>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new());
    let store = subject.source_store(Arc::clone(&clock) as _).await;
    (store, clock)
}

/// Returns a page of a source, whose id has this number.
fn page(source: &str, number: u32, content: &str) -> KnowledgePage {
    let place = PageSource::new(source, SourcePosition::new().with_page(number).with_headings(["\0 %_"]));
    KnowledgePage::new(format!("{source}/{number:04}"), "T", content).with_source(place)
}

async fn ids(store: &dyn SourceStore, tenant: &str) -> Vec<String> {
    let mut ids: Vec<String> = store
        .list(&PageFilter::new(tenant))
        .await
        .unwrap()
        .into_iter()
        .map(|page| page.id)
        .collect();
    ids.sort_unstable();
    ids
}

fn numbers(changes: SourceChanges) -> (u64, u64, u64) {
    (changes.saved, changes.kept, changes.deleted)
}

/// Checks that a source and its pages come back with all members, that the time of the first save stays, and that a source which
/// can no longer be read keeps its pages.
pub async fn saves_sources_with_their_pages(subject: &dyn SourceStoreSubject) {
    let (store, clock) = open(subject).await;
    assert_eq!(store.source("local", "a.pdf").await.unwrap(), None);
    let mut source = KnowledgeSource::new("a.pdf", "f1").with_location("/x/\0a.pdf");
    (source.title, source.bytes) = (Some("A".to_owned()), 7);
    source.warnings = vec!["a page is missing".to_owned()];
    let pages = vec![page("a.pdf", 1, "one"), page("a.pdf", 2, "two")];
    let changes = store.put_source(source.clone(), pages.clone()).await.unwrap();
    assert_eq!(numbers(changes), (2, 0, 0));
    let saved = store.source("local", "a.pdf").await.unwrap().unwrap();
    assert_eq!((saved.pages, saved.added_at), (2, saved.updated_at));
    let mut without_store = saved.clone();
    (without_store.pages, without_store.added_at) = (0, source.added_at);
    without_store.updated_at = source.updated_at;
    assert_eq!(without_store, source);
    let found = store.get("local", "a.pdf/0002").await.unwrap().unwrap();
    assert_eq!(found.source, pages[1].source);

    clock.advance(Duration::from_secs(5));
    let failed = KnowledgeSource::new("a.pdf", "f2").with_problem("it is broken");
    assert_eq!(numbers(store.put_source(failed, Vec::new()).await.unwrap()), (0, 2, 0));
    let failed = store.source("local", "a.pdf").await.unwrap().unwrap();
    assert_eq!((failed.pages, failed.problem.as_deref()), (2, Some("it is broken")));
    assert_eq!(ids(&*store, "local").await, ["a.pdf/0001", "a.pdf/0002"]);
    assert_eq!(failed.added_at, saved.added_at);
    assert_eq!(failed.updated_at, saved.updated_at.after(Duration::from_secs(5)));
}

/// Checks that pages that stay the same keep their versions, so that no index reads them again.
pub async fn keeps_pages_that_stay_the_same(subject: &dyn SourceStoreSubject) {
    let (store, _) = open(subject).await;
    let first = vec![page("a", 1, "one"), page("a", 2, "two")];
    store.put_source(KnowledgeSource::new("a", "f1"), first).await.unwrap();
    let before = store.get("local", "a/0001").await.unwrap().unwrap();
    let second = vec![page("a", 1, "one"), page("a", 2, "2")];
    let changes = store.put_source(KnowledgeSource::new("a", "f2"), second).await.unwrap();
    assert_eq!(numbers(changes), (1, 1, 0));
    assert_eq!(store.get("local", "a/0001").await.unwrap().unwrap(), before);
    assert_eq!(store.get("local", "a/0002").await.unwrap().unwrap().content, "2");
    // Another place is another page.
    let mut moved = page("a", 1, "one");
    moved.source = Some(PageSource::new("a", SourcePosition::new().with_page(9)));
    let changes = store
        .put_source(KnowledgeSource::new("a", "f3"), vec![moved, page("a", 2, "2")])
        .await;
    assert_eq!(numbers(changes.unwrap()), (1, 1, 0));
}

/// Checks that pages that the source no longer has are deleted, and no others.
pub async fn replaces_the_pages_of_a_source(subject: &dyn SourceStoreSubject) {
    let (store, _) = open(subject).await;
    store.upsert(KnowledgePage::new("a/0009", "T", "own")).await.unwrap();
    store
        .put_source(KnowledgeSource::new("ab", "f"), vec![page("ab", 1, "x")])
        .await
        .unwrap();
    let pages = (1..=3).map(|number| page("a", number, "x")).collect();
    store.put_source(KnowledgeSource::new("a", "f1"), pages).await.unwrap();
    let changes = store
        .put_source(KnowledgeSource::new("a", "f2"), vec![page("a", 2, "x")])
        .await;
    assert_eq!(numbers(changes.unwrap()), (0, 1, 2));
    assert_eq!(ids(&*store, "local").await, ["a/0002", "a/0009", "ab/0001"]);
    assert_eq!(store.source("local", "a").await.unwrap().unwrap().fingerprint, "f2");
}

/// Checks that nothing changes if the source or one of its pages is refused.
pub async fn saves_a_source_as_a_whole_or_not(subject: &dyn SourceStoreSubject) {
    let (store, _) = open(subject).await;
    let mut taken = page("b", 1, "other");
    taken.id = "taken".to_owned();
    store
        .put_source(KnowledgeSource::new("b", "f"), vec![taken])
        .await
        .unwrap();
    store
        .put_source(KnowledgeSource::new("a", "f1"), vec![page("a", 1, "one")])
        .await
        .unwrap();
    let mut of_other = page("a", 2, "mine");
    of_other.id = "taken".to_owned();
    let foreign = page("a", 2, "x").with_owner(Actor::new("acme", "ann"));
    let mut without_id = page("a", 2, "x");
    without_id.id = String::new();
    for (bad, kind) in [
        (of_other, MemoryErrorKind::AlreadyExists),
        (foreign, MemoryErrorKind::InvalidInput),
        (without_id, MemoryErrorKind::InvalidInput),
        (page("a", 1, "twice"), MemoryErrorKind::InvalidInput),
        (page("c", 2, "of another source"), MemoryErrorKind::InvalidInput),
        (
            KnowledgePage::new("a/0002", "T", "of no source"),
            MemoryErrorKind::InvalidInput,
        ),
    ] {
        let put = store.put_source(KnowledgeSource::new("a", "f2"), vec![page("a", 1, "changed"), bad]);
        assert_eq!(put.await.unwrap_err().kind(), kind);
    }
    let with_problem = KnowledgeSource::new("a", "f2").with_problem("broken");
    let put = store.put_source(with_problem, vec![page("a", 1, "changed")]).await;
    assert_eq!(put.unwrap_err().kind(), MemoryErrorKind::InvalidInput);
    let put = store.put_source(KnowledgeSource::new("", "f"), Vec::new()).await;
    assert_eq!(put.unwrap_err().kind(), MemoryErrorKind::InvalidInput);
    assert_eq!(store.source("local", "a").await.unwrap().unwrap().fingerprint, "f1");
    assert_eq!(store.get("local", "a/0001").await.unwrap().unwrap().content, "one");
    assert_eq!(store.get("local", "taken").await.unwrap().unwrap().content, "other");
    assert_eq!(ids(&*store, "local").await, ["a/0001", "taken"]);
}

/// Checks that a page without a source is replaced, and that a page which was changed into one without stays.
pub async fn takes_over_pages_without_a_source(subject: &dyn SourceStoreSubject) {
    let (store, _) = open(subject).await;
    store.upsert(KnowledgePage::new("a/0001", "T", "own")).await.unwrap();
    let pages = vec![page("a", 1, "one"), page("a", 2, "two")];
    store.put_source(KnowledgeSource::new("a", "f1"), pages).await.unwrap();
    assert_eq!(store.get("local", "a/0001").await.unwrap().unwrap().content, "one");
    let mut edited = store.get("local", "a/0002").await.unwrap().unwrap();
    (edited.content, edited.source) = ("edited".to_owned(), None);
    store.update(edited).await.unwrap();
    assert_eq!(store.delete_source("local", "a").await.unwrap(), Some(1));
    assert_eq!(ids(&*store, "local").await, ["a/0002"]);
}

/// Checks that a source is deleted with its pages, and only they are.
pub async fn deletes_sources_with_their_pages(subject: &dyn SourceStoreSubject) {
    let (store, _) = open(subject).await;
    for source in ["a", "a/0001", "b"] {
        let pages = vec![page(source, 1, "x")];
        let mut pages: Vec<KnowledgePage> = pages;
        pages[0].id = format!("page of {source}");
        store
            .put_source(KnowledgeSource::new(source, "f"), pages)
            .await
            .unwrap();
    }
    assert_eq!(store.delete_source("local", "no").await.unwrap(), None);
    assert_eq!(store.delete_source("local", "\0").await.unwrap(), None);
    assert_eq!(store.delete_source("local", "a").await.unwrap(), Some(1));
    assert_eq!(store.delete_source("local", "a").await.unwrap(), None);
    assert_eq!(ids(&*store, "local").await, ["page of a/0001", "page of b"]);
    assert_eq!(store.source("local", "a").await.unwrap(), None);
}

/// Checks prefixes, pages and the order of the list.
pub async fn lists_sources_in_pages(subject: &dyn SourceStoreSubject) {
    let (store, _) = open(subject).await;
    for id in ["b", "a_", "a", "ab", "a%", "é"] {
        store
            .put_source(KnowledgeSource::new(id, "f"), Vec::new())
            .await
            .unwrap();
    }
    let list = async |prefix: &str, after: Option<&str>, limit: u64| -> Vec<String> {
        let found = store.sources("local", prefix, after, limit).await.unwrap();
        found.into_iter().map(|source| source.id).collect()
    };
    assert_eq!(list("", None, 100).await, ["a", "a%", "a_", "ab", "b", "é"]);
    assert_eq!(list("a", None, 2).await, ["a", "a%"]);
    assert_eq!(list("a", Some("a%"), 2).await, ["a_", "ab"]);
    assert_eq!(list("a_", None, 9).await, ["a_"]);
    assert_eq!(list("a", Some("ab"), 9).await, [""; 0]);
    assert_eq!(list("b", Some("a"), 9).await, ["b"]);
    assert_eq!(list("", None, 0).await, [""; 0]);
}

/// Checks that a tenant neither sees nor changes the sources of another one.
pub async fn keeps_sources_of_tenants_apart(subject: &dyn SourceStoreSubject) {
    let (store, _) = open(subject).await;
    let acme = Actor::new("acme", "ann");
    for owner in [Actor::local(), acme.clone()] {
        let pages = vec![page("a", 1, &owner.tenant).with_owner(owner.clone())];
        let source = KnowledgeSource::new("a", "f").with_owner(owner);
        store.put_source(source, pages).await.unwrap();
    }
    assert_eq!(store.sources("acme", "", None, 9).await.unwrap().len(), 1);
    assert_eq!(store.delete_source("local", "a").await.unwrap(), Some(1));
    assert_eq!(store.source("acme", "a").await.unwrap().unwrap().owner, acme);
    assert_eq!(store.get("acme", "a/0001").await.unwrap().unwrap().content, "acme");
}

/// Checks that the pages that sources get and lose are changes, which an index reads.
pub async fn indexes_follow_sources(subject: &dyn SourceStoreSubject) {
    let (store, _) = open(subject).await;
    let pages = vec![page("a", 1, "one"), page("a", 2, "two")];
    store.put_source(KnowledgeSource::new("a", "f1"), pages).await.unwrap();
    let first = store.changes("local", None, 100).await.unwrap();
    let saved = |ids: &[KnowledgePage]| ids.iter().map(|page| page.id.clone()).collect::<Vec<_>>();
    assert_eq!(saved(&first.saved), ["a/0001", "a/0002"]);
    let pages = vec![page("a", 1, "one"), page("a", 3, "three")];
    store.put_source(KnowledgeSource::new("a", "f2"), pages).await.unwrap();
    let second = store.changes("local", first.position, 100).await.unwrap();
    assert!(!second.is_reset);
    assert_eq!(
        (saved(&second.saved), second.deleted.clone()),
        (vec!["a/0003".to_owned()], vec!["a/0002".to_owned()])
    );
    assert_eq!(second.saved[0].source, page("a", 3, "").source);
    store.delete_source("local", "a").await.unwrap();
    let third = store.changes("local", second.position, 100).await.unwrap();
    assert_eq!(third.deleted, ["a/0001", "a/0003"]);
}

/// Checks that the sources of a user are erased with the user's pages, in all lines of business.
pub async fn erases_the_sources_of_a_user(subject: &dyn SourceStoreSubject) {
    let (store, _) = open(subject).await;
    let ann = Actor::new("acme", "ann");
    for (id, owner) in [
        ("a", ann.clone()),
        ("b", ann.clone().with_line("sales")),
        ("c", Actor::new("acme", "bob")),
        ("d", Actor::new("other", "ann")),
    ] {
        let pages = vec![page(id, 1, "x").with_owner(owner.clone())];
        let source = KnowledgeSource::new(id, "f").with_owner(owner);
        store.put_source(source, pages).await.unwrap();
    }
    assert_eq!(store.erase(&ann).await.unwrap(), 2);
    let left = store.sources("acme", "", None, 9).await.unwrap();
    assert_eq!(left.iter().map(|source| source.id.as_str()).collect::<Vec<_>>(), ["c"]);
    assert_eq!(store.sources("other", "", None, 9).await.unwrap().len(), 1);
}
