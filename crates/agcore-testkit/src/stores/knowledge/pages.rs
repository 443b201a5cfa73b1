//! Saving, reading and deleting.

use std::time::Duration;

use agcore_memory::{
    Actor, MemoryErrorKind, Timestamp,
    knowledge::{KnowledgePage, PageFilter},
};

use super::opened::{open, page};
use crate::stores::KnowledgeStoreSubject;

/// Checks that saving an id again replaces the page and keeps the time of the first save.
pub async fn saves_and_replaces(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    assert_eq!(opened.get("a").await, None);
    let first = KnowledgePage::new("a", "one", "1").with_tag("x").with_reference("y");
    opened.save(first.with_summary("s")).await;
    let first = opened.get("a").await.unwrap();
    assert!(first.created_at == first.updated_at && first.created_at > Timestamp::default());
    opened.save(KnowledgePage::new("a", "two", "2").with_tag("z")).await;
    let second = opened.get("a").await.unwrap();
    assert_eq!((second.title.as_str(), second.content.as_str()), ("two", "2"));
    assert_eq!((second.summary.as_str(), second.references.len()), ("", 0));
    assert_eq!(second.tags, ["z"]);
    assert_eq!(second.created_at, first.created_at);
    assert_eq!(second.updated_at, first.updated_at.after(Duration::from_secs(1)));
    assert_eq!(opened.store.count(&PageFilter::new("local")).await.unwrap(), 1);
    assert_eq!(opened.ids(PageFilter::new("local").with_tag("x")).await, [""; 0]);
    assert_eq!(opened.store.backlinks("local", "y").await.unwrap(), [""; 0]);
}

/// Checks that if one page is not acceptable, none is saved; of an id that occurs twice, the last page counts.
pub async fn saves_all_or_none(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let error = opened.store.upsert_many(vec![page("a"), page("")]).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
    assert_eq!(opened.get("a").await, None);
    let pages = ["one", "two"].map(|title| KnowledgePage::new("a", title, "").with_tag(title));
    opened.store.upsert_many(pages.to_vec()).await.unwrap();
    assert_eq!(opened.get("a").await.unwrap().title, "two");
    assert_eq!(opened.ids(PageFilter::new("local").with_tag("one")).await, [""; 0]);
    opened.store.upsert_many(Vec::new()).await.unwrap();
    assert_eq!(opened.all_ids().await, ["a"]);
}

/// Checks that an id that exists is not added again, and that the page stays as it is.
pub async fn adds_only_what_is_new(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    opened.store.add(KnowledgePage::new("a", "one", "")).await.unwrap();
    let before = opened.get("a").await;
    let error = opened.store.add(KnowledgePage::new("a", "two", "")).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::AlreadyExists, "{error}");
    assert!(error.to_string().contains("`a`"), "{error}");
    assert_eq!(opened.get("a").await, before);
    assert!(opened.store.delete("local", "a").await.unwrap());
    opened.store.add(KnowledgePage::new("a", "three", "")).await.unwrap();
    assert_eq!(opened.get("a").await.unwrap().title, "three");
}

/// Checks that an id that does not exist is not updated.
pub async fn updates_only_what_exists(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let error = opened.store.update(page("a")).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::NotFound, "{error}");
    assert_eq!(opened.get("a").await, None);
    opened.save(page("a")).await;
    opened
        .store
        .update(KnowledgePage::new("a", "new", "").with_tag("t"))
        .await
        .unwrap();
    assert_eq!(opened.get("a").await.unwrap().title, "new");
    assert_eq!(opened.ids(PageFilter::new("local").with_tag("t")).await, ["a"]);
    let other = page("a").with_owner(Actor::new("other", "u"));
    assert_eq!(
        opened.store.update(other).await.unwrap_err().kind(),
        MemoryErrorKind::NotFound
    );
}

/// Checks that a page comes back as it was saved, and keeps a time of creation that it brings along.
pub async fn keeps_every_member(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let mut page = KnowledgePage::new("ä/%2F", "\u{0}日本😀\r\n", "\u{0}\u{10}\u{202e}\u{10}0")
        .with_summary("'\"\\\u{0}")
        .with_owner(Actor::new("acme", "ann").with_line("support"))
        .with_tag("zoo")
        .with_tag("日本 a")
        .with_reference("z")
        .with_reference("a/b c");
    page.created_at = Timestamp::from_millis(1_234);
    opened.store.upsert(page.clone()).await.unwrap();
    let stored = opened.store.get("acme", "ä/%2F").await.unwrap().unwrap();
    page.updated_at = stored.updated_at;
    page.version = stored.version;
    assert_eq!(stored, page);
    let ids = ["missing".to_owned(), page.id.clone(), page.id.clone()];
    assert_eq!(
        opened.store.get_many("acme", &ids).await.unwrap(),
        [page.clone(), page.clone()]
    );
    let listed = opened.store.list(&PageFilter::new("acme")).await.unwrap();
    assert_eq!(listed, [page.clone().into()]);
    let changes = opened.store.changes("acme", None, 10).await.unwrap();
    assert_eq!(changes.saved, [page]);
}

/// Checks that a page of a tenant does not exist for another one.
pub async fn keeps_tenants_apart(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let of = |tenant: &str| {
        KnowledgePage::new("a", tenant, "")
            .with_owner(Actor::new(tenant, "u"))
            .with_tag(tenant)
            .with_reference("b")
    };
    opened.save(of("one")).await;
    opened.save(of("two")).await;
    let store = &opened.store;
    assert_eq!(store.get("one", "a").await.unwrap().unwrap().title, "one");
    assert!(store.delete("two", "a").await.unwrap());
    assert!(!store.delete("two", "a").await.unwrap());
    assert!(store.get("one", "a").await.unwrap().is_some());
    assert_eq!(store.tags("two", "", 10).await.unwrap(), []);
    assert_eq!(store.tags("one", "", 10).await.unwrap().len(), 1);
    assert_eq!(store.backlinks("two", "b").await.unwrap(), [""; 0]);
    assert_eq!(store.backlinks("one", "b").await.unwrap(), ["a"]);
    assert_eq!(store.count_backlinks("two", &["b".into()]).await.unwrap(), [0]);
    assert_eq!(store.changes("one", None, 10).await.unwrap().saved.len(), 1);
    assert_eq!(store.changes("two", None, 10).await.unwrap().saved, []);
    store.record_recalls("two", &[("a".into(), 1.0)]).await.unwrap();
    assert_eq!(store.recall_statistics("one", 10).await.unwrap(), []);
    assert_eq!(store.count(&PageFilter::new("three")).await.unwrap(), 0);
}

/// Checks that deleting removes one page, and that its tags and references go with it.
pub async fn deletes(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    opened.save(page("a").with_tag("t").with_reference("b")).await;
    opened.save(page("b").with_tag("t")).await;
    assert!(opened.store.delete("local", "a").await.unwrap());
    assert!(!opened.store.delete("local", "a").await.unwrap());
    assert_eq!(opened.all_ids().await, ["b"]);
    assert_eq!(opened.store.tags("local", "", 10).await.unwrap()[0].count, 1);
    assert_eq!(opened.store.backlinks("local", "b").await.unwrap(), [""; 0]);
    // A page that is saved again is a new one.
    opened.save(page("a")).await;
    let again = opened.get("a").await.unwrap();
    assert_eq!(again.created_at, again.updated_at);
}

/// Checks that characters with a meaning in queries of databases are nothing but characters.
pub async fn special_characters_are_data(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let ids = [
        "%", "_", "*", "'", "\"", "\\", "a%b", "a_b", "axb", "[a]", "--", "日本", "😀",
    ];
    for id in ids {
        opened.save(page(id).with_tag(id).with_reference(id)).await;
    }
    for id in ids {
        assert_eq!(opened.ids(PageFilter::new("local").with_tag(id)).await, [id]);
        assert_eq!(opened.store.backlinks("local", id).await.unwrap(), [id]);
        assert_eq!(opened.get(id).await.unwrap().id, id);
    }
    assert_eq!(opened.ids(PageFilter::new("local").with_prefix("a_")).await, ["a_b"]);
    assert_eq!(opened.store.tags("local", "a_", 10).await.unwrap()[0].tag, "a_b");
    assert_eq!(opened.store.tags("local", "%", 10).await.unwrap().len(), 1);
    assert!(opened.store.delete("local", "_").await.unwrap());
    assert_eq!(opened.all_ids().await.len(), ids.len() - 1);
}

/// Checks that what a database could not keep is refused by every store, and nothing is saved.
pub async fn refuses_unacceptable_pages(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let long = "x".repeat(10_000);
    let mut upper = page("a");
    upper.tags = vec!["Upper".to_owned()];
    let mut many = page("a");
    many.tags = (0..100_000).map(|number| number.to_string()).collect();
    let pages = [
        page(""),
        page("a\0"),
        page(&long),
        page("a").with_owner(Actor::new("", "u")),
        page("a").with_owner(Actor::new("t", "u\0")),
        page("a").with_reference(""),
        page("a").with_reference(long.as_str()),
        page("a").with_tag(""),
        page("a").with_tag("a\0"),
        KnowledgePage::new("a", "", "x".repeat(50_000_000)),
        upper,
        many,
    ];
    for page in pages {
        for saved in [
            opened.store.upsert(page.clone()).await,
            opened.store.add(page.clone()).await,
            opened.store.update(page.clone()).await,
        ] {
            let error = saved.unwrap_err();
            assert_eq!(error.kind(), MemoryErrorKind::InvalidInput, "{error}");
        }
    }
    assert_eq!(opened.all_ids().await, [""; 0]);
    for id in ["", "a\0", long.as_str()] {
        assert_eq!(opened.get(id).await, None);
        assert!(!opened.store.delete("local", id).await.unwrap());
        assert_eq!(opened.store.backlinks("local", id).await.unwrap(), [""; 0]);
        let ids = [id.to_owned()];
        assert_eq!(opened.store.count_backlinks("local", &ids).await.unwrap(), [0]);
        assert_eq!(opened.store.get_many("local", &ids).await.unwrap(), []);
    }
    let filter = PageFilter::new("local").with_prefix("a\0");
    let error = opened.store.list(&filter).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
    let filter = PageFilter::new("local").with_tag("");
    let error = opened.store.count(&filter).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
}

/// Checks that a page of the maximum size, with as many tags and references as are allowed, is kept.
pub async fn keeps_large_content(subject: &dyn KnowledgeStoreSubject) {
    use agcore_memory::knowledge::{MAX_PAGE_BYTES, MAX_REFERENCES, MAX_TAGS};

    let opened = open(subject).await;
    let mut large = KnowledgePage::new("large", "", "é".repeat(MAX_PAGE_BYTES / 2));
    large.tags = (0..MAX_TAGS).map(|number| format!("tag {number}")).collect();
    large.references = (0..MAX_REFERENCES).map(|number| format!("page {number}")).collect();
    opened.save(large.clone()).await;
    let stored = opened.get("large").await.unwrap();
    assert!(stored.content == large.content, "the content has changed");
    assert_eq!((stored.tags, stored.references), (large.tags, large.references));
}

/// Checks that erasing removes the pages of a user in all lines of business, and of no other.
pub async fn erases_a_user(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let of = |id: &str, owner: Actor| page(id).with_owner(owner).with_tag("t").with_reference("x");
    opened.save(of("a", Actor::new("t", "ann"))).await;
    opened.save(of("b", Actor::new("t", "ann").with_line("sales"))).await;
    opened.save(of("c", Actor::new("t", "bob"))).await;
    opened.save(of("d", Actor::new("u", "ann"))).await;
    assert_eq!(opened.store.erase(&Actor::new("t", "ann")).await.unwrap(), 2);
    assert_eq!(opened.store.erase(&Actor::new("t", "ann")).await.unwrap(), 0);
    assert_eq!(opened.ids(PageFilter::new("t")).await, ["c"]);
    assert_eq!(opened.ids(PageFilter::new("u")).await, ["d"]);
    assert_eq!(opened.store.tags("t", "", 9).await.unwrap()[0].count, 1);
    assert_eq!(opened.store.backlinks("t", "x").await.unwrap(), ["c"]);
}
