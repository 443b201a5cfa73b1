//! Random changes of pages, and indexes that must follow them.

use std::{env, sync::Arc};

use agcore_chat::{Embedder, Embeddings, Fault};
use agcore_memory::{
    Actor,
    knowledge::{KnowledgePage, KnowledgeStore},
    search::{InMemoryTextIndex, InMemoryVectorIndex, KnowledgeIndex, TextIndex, VectorIndex},
};
use async_trait::async_trait;

const WORDS: [&str; 12] = [
    "tea", "green", "water", "garden", "rose", "bee", "番茄", "浇水", "rust", "stone", "the", "of",
];

/// The number of changes that indexes have to follow.
pub(crate) fn change_count() -> usize {
    match env::var_os("AGCORE_SOAK") {
        Some(_) => 10_000,
        None => 300,
    }
}

/// Makes vectors of the numbers of words.
pub(crate) struct WordCounts;

#[async_trait]
impl Embedder for WordCounts {
    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, Fault> {
        let vector = |text: &&str| WORDS.iter().map(|word| text.matches(word).count() as f32).collect();
        Ok(Embeddings::new(texts.iter().map(vector).collect()))
    }
}

/// A store with indexes that follow it.
pub(crate) struct Followed {
    pub(crate) store: Arc<dyn KnowledgeStore>,
    pub(crate) texts: Arc<dyn TextIndex>,
    pub(crate) vectors: Arc<dyn VectorIndex>,
}

impl Followed {
    pub(crate) fn index(&self) -> KnowledgeIndex {
        let index = KnowledgeIndex::new(Arc::clone(&self.store), Arc::clone(&self.texts));
        index.with_vectors(Arc::new(WordCounts), Arc::clone(&self.vectors))
    }

    /// Changes pages without end, while the indexes follow. Calls a function after each change.
    pub(crate) async fn change_forever(&self, seed: u64, changed: impl Fn(&str)) {
        let following = async {
            let index = self.index();
            loop {
                index.search("local", "tea", 5).await.unwrap();
                index.search_vectors("local", "tea", 5).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let changing = async {
            let mut random = fastrand::Rng::with_seed(seed);
            loop {
                self.change(&mut random).await;
                changed("changed");
            }
        };
        futures_util::future::join(following, changing).await;
    }

    async fn change(&self, random: &mut fastrand::Rng) {
        let id = |random: &mut fastrand::Rng| format!("page {}", random.u32(..400));
        match random.u32(..200) {
            0 => drop(self.store.erase(&Actor::user("ann")).await.unwrap()),
            1..50 => drop(self.store.delete("local", &id(random)).await.unwrap()),
            _ => {
                let pages = (0..random.usize(1..4)).map(|_| {
                    let words: Vec<&str> = (0..random.usize(..30)).map(|_| WORDS[random.usize(..12)]).collect();
                    let page = KnowledgePage::new(id(random), WORDS[random.usize(..12)], words.join(" "));
                    match random.u32(..10) {
                        0 => page.with_owner(Actor::user("ann")),
                        _ => page,
                    }
                });
                self.store.upsert_many(pages.collect()).await.unwrap();
            }
        }
    }

    /// Applies all changes to the indexes.
    async fn refresh(&self) {
        let index = self.index();
        index.refresh("local").await.unwrap();
        index.search_vectors("local", "tea", 1).await.unwrap();
    }

    /// Checks that the indexes find the same as new ones, with the same scores.
    pub(crate) async fn assert_equals_a_rebuild(&self) {
        let rebuilt = Self {
            store: Arc::clone(&self.store),
            texts: Arc::new(InMemoryTextIndex::new()),
            vectors: Arc::new(InMemoryVectorIndex::new()),
        };
        // A server may still be completing what a killed process has sent.
        loop {
            self.refresh().await;
            rebuilt.refresh().await;
            let texts = self.texts.position("local").await.unwrap() == rebuilt.texts.position("local").await.unwrap();
            let vectors =
                self.vectors.position("local").await.unwrap() == rebuilt.vectors.position("local").await.unwrap();
            if texts && vectors {
                break;
            }
        }
        for word in WORDS {
            let query = format!("{word} rose tea");
            let found = self.texts.search("local", &query, 1000).await.unwrap();
            let expected = rebuilt.texts.search("local", &query, 1000).await.unwrap();
            assert_eq!(found, expected, "{query}");
            let vector = WordCounts.embed(&[&query]).await.unwrap().vectors.remove(0);
            let found = self.vectors.search("local", &vector, 1000).await.unwrap();
            let expected = rebuilt.vectors.search("local", &vector, 1000).await.unwrap();
            assert_eq!(found, expected, "{query}");
        }
        let pages = self.texts.count("local").await.unwrap();
        assert_eq!(pages, rebuilt.texts.count("local").await.unwrap());
    }
}

/// The times between kills: a number of changes, different each time.
pub(crate) fn changes_before_kill(round: u64) -> usize {
    5 + usize::try_from(round * 37 % 61).unwrap()
}
