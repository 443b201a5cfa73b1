//! The sequence of changes, which indexes follow.

use std::collections::BTreeMap;

use agcore_memory::{
    Actor, Timestamp,
    knowledge::{KnowledgePage, KnowledgeStore, Position},
};
use futures_util::future::join_all;

use super::opened::{open, page};
use crate::stores::KnowledgeStoreSubject;

/// An index that follows a store.
#[derive(Default)]
struct Follower {
    titles: BTreeMap<String, String>,
    position: Option<Position>,
    resets: u32,
}

impl Follower {
    async fn follow(&mut self, store: &dyn KnowledgeStore, limit: u64) {
        loop {
            let changes = store.changes("local", self.position, limit).await.unwrap();
            let number = changes.saved.len() + changes.deleted.len();
            assert!(number as u64 <= limit, "{number} changes instead of {limit}");
            assert!(
                !changes.has_more || number > 0,
                "there are more changes, but none comes"
            );
            if changes.is_reset {
                self.titles.clear();
                self.resets += 1;
            }
            for id in changes.deleted {
                self.titles.remove(&id);
            }
            for page in changes.saved {
                self.titles.insert(page.id, page.title);
            }
            self.position = changes.position;
            if !changes.has_more {
                return;
            }
        }
    }

    fn ids(&self) -> Vec<&str> {
        self.titles.keys().map(String::as_str).collect()
    }
}

/// Checks that following the changes leads to the stored pages, and that nothing changes when nothing is written.
pub async fn changes_lead_to_every_state(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let store = &*opened.store;
    assert_eq!(store.changes("local", None, 9).await.unwrap().position, None);
    let mut follower = Follower::default();
    follower.follow(store, 100).await;
    let mut random = 7_u64;
    for step in 0..200 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let id = ((random >> 33) % 12).to_string();
        match (random >> 40) % 4 {
            0 => drop(store.delete("local", &id).await.unwrap()),
            1 => drop(store.add(page(&id)).await),
            _ => store
                .upsert(KnowledgePage::new(&*id, step.to_string(), ""))
                .await
                .unwrap(),
        }
        if step % 7 == 0 {
            follower.follow(store, 1 + step % 5).await;
        }
    }
    follower.follow(store, 3).await;
    let mut fresh = Follower::default();
    fresh.follow(store, 100).await;
    assert_eq!(follower.titles, fresh.titles);
    assert_eq!(follower.position, fresh.position);
    assert!(follower.resets <= 1, "the index was rebuilt {} times", follower.resets);
    let again = store.changes("local", follower.position, 100).await.unwrap();
    assert!(again.is_empty() && !again.has_more, "{again:?}");
    assert_eq!(again.position, follower.position);
    let mut stored = store
        .list(&agcore_memory::knowledge::PageFilter::new("local"))
        .await
        .unwrap();
    stored.sort_by(|one, other| one.id.cmp(&other.id));
    let stored: Vec<_> = stored.into_iter().map(|page| (page.id, page.title)).collect();
    assert_eq!(follower.titles.into_iter().collect::<Vec<_>>(), stored);
}

/// Checks that a change contains no more than the limit, and the last state of a page only.
pub async fn changes_are_paged(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    for id in ["a", "b", "c", "a"] {
        opened.save(KnowledgePage::new(id, id, "")).await;
    }
    opened.store.delete("local", "b").await.unwrap();
    let first = opened.store.changes("local", None, 2).await.unwrap();
    assert!(first.has_more);
    let saved: Vec<&str> = first.saved.iter().map(|page| page.id.as_str()).collect();
    assert_eq!(saved, ["c", "a"]);
    let second = opened.store.changes("local", first.position, 2).await.unwrap();
    assert!(!second.has_more && !second.is_reset);
    assert_eq!(
        (second.saved.len(), second.deleted.as_slice()),
        (0, &["b".to_owned()][..])
    );
    let at_least_one = opened.store.changes("local", None, 0).await.unwrap();
    assert_eq!(at_least_one.saved.len(), 1);
}

/// Checks that an index learns of deletions, and not of pages that were deleted and saved again.
pub async fn deletions_are_changes(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    for id in ["a", "b"] {
        opened.save(page(id)).await;
    }
    let mut follower = Follower::default();
    follower.follow(&*opened.store, 10).await;
    opened.store.delete("local", "a").await.unwrap();
    opened.store.delete("local", "missing").await.unwrap();
    let changes = opened.store.changes("local", follower.position, 10).await.unwrap();
    assert_eq!(
        (changes.saved.len(), changes.deleted.as_slice()),
        (0, &["a".to_owned()][..])
    );
    opened.save(page("a")).await;
    let changes = opened.store.changes("local", follower.position, 10).await.unwrap();
    assert_eq!((changes.saved.len(), changes.deleted.len()), (1, 0));
    follower.follow(&*opened.store, 10).await;
    assert_eq!(follower.ids(), ["a", "b"]);
}

/// Checks that a position that the store cannot know, for example because it was restored from a backup, leads to everything.
pub async fn unknown_positions_lead_to_everything(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let elsewhere = Position::new(u64::MAX, 3);
    let changes = opened.store.changes("local", Some(elsewhere), 10).await.unwrap();
    assert!(
        changes.is_reset,
        "an index of another store has pages that do not exist"
    );
    assert_eq!(changes.position, None);
    opened.save(page("a")).await;
    let position = opened.store.changes("local", None, 10).await.unwrap().position.unwrap();
    let from_the_future = Position::new(position.generation, position.change + 5);
    for unknown in [elsewhere, from_the_future, Position::new(u64::MAX, u64::MAX)] {
        let changes = opened.store.changes("local", Some(unknown), 10).await.unwrap();
        assert!(changes.is_reset, "{unknown:?}");
        assert_eq!(changes.saved.len(), 1);
        assert_eq!(changes.position, Some(position));
    }
}

/// Checks that after an erasure, an index that knew the erased pages starts again: the store must not remember their ids.
pub async fn erasure_resets_the_sequence(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    opened.save(page("a").with_owner(Actor::user("ann"))).await;
    opened.save(page("b")).await;
    opened.save(page("c")).await;
    let mut follower = Follower::default();
    follower.follow(&*opened.store, 10).await;
    opened.store.delete("local", "c").await.unwrap();
    assert_eq!(opened.store.erase(&Actor::user("ann")).await.unwrap(), 1);
    let changes = opened.store.changes("local", follower.position, 10).await.unwrap();
    assert!(changes.is_reset && changes.deleted.is_empty(), "{changes:?}");
    follower.follow(&*opened.store, 1).await;
    assert_eq!(follower.ids(), ["b"]);
    assert!(opened.get("b").await.unwrap().created_at > Timestamp::default());
}

/// Checks that of many writers at a time, no change is missed by an index that follows meanwhile.
pub async fn sixty_four_writers_leave_no_gaps(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let store = &*opened.store;
    let write = |number: u32| async move {
        store
            .upsert(KnowledgePage::new(number.to_string(), "", ""))
            .await
            .unwrap();
        let deleted = number.is_multiple_of(8);
        if deleted {
            store.delete("local", &number.to_string()).await.unwrap();
        }
    };
    let writers = join_all((0..64).map(write));
    let follow = async {
        let mut follower = Follower::default();
        for _ in 0..20 {
            follower.follow(store, 5).await;
        }
        follower
    };
    let (mut follower, _) = futures_util::future::join(follow, writers).await;
    follower.follow(store, 5).await;
    assert_eq!(follower.titles.len(), 56);
}
