//! Pages found by [`MemoryRetriever`]: by each scorer, by their meaning with a model that a server provides, and by words and
//! meaning together.

use std::{env, sync::Arc};

use agcore_chat::{Embedder, SystemClock};
use agcore_llm::ProviderConfig;
use agcore_memory::{
    knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore},
    search::{
        Fusion, InMemoryTextIndex, InMemoryVectorIndex, KnowledgeIndex, MemoryRetriever, RetrievalSettings, Scorer,
    },
};

use crate::{
    Fallible,
    collection::{Collection, Quality},
};

/// The variable with the URL of a server of embeddings.
const URL: &str = "AGCORE_EMBEDDINGS_URL";

const TENANT: &str = "local";

/// The pages of a question that are compared with the judgements.
const DEPTH: usize = 10;

/// A way to search.
struct Way {
    name: &'static str,
    scorer: Scorer,
    fusion: Fusion,
    /// Whether the results of the embedder are fused with those of the scorer.
    is_hybrid: bool,
}

const WAYS: [Way; 6] = [
    Way {
        name: "`MemoryRetriever`: overlap",
        scorer: Scorer::Overlap,
        fusion: Fusion::relative_score(),
        is_hybrid: false,
    },
    Way {
        name: "`MemoryRetriever`: BM25",
        scorer: Scorer::Bm25,
        fusion: Fusion::relative_score(),
        is_hybrid: false,
    },
    Way {
        name: "`MemoryRetriever`: BM25, weights",
        scorer: Scorer::Bm25,
        fusion: Fusion::weights(),
        is_hybrid: false,
    },
    Way {
        name: "`MemoryRetriever`: BM25 and vectors",
        scorer: Scorer::Bm25,
        fusion: Fusion::relative_score(),
        is_hybrid: true,
    },
    Way {
        name: "`MemoryRetriever`: BM25 and vectors, reciprocal ranks",
        scorer: Scorer::Bm25,
        fusion: Fusion::reciprocal_rank(),
        is_hybrid: true,
    },
    Way {
        name: "`MemoryRetriever`: BM25 and vectors, weights",
        scorer: Scorer::Bm25,
        fusion: Fusion::weights(),
        is_hybrid: true,
    },
];

/// Returns the model, if there is one.
pub(crate) fn embedder() -> Fallible<Option<Arc<dyn Embedder>>> {
    let Ok(url) = env::var(URL) else {
        println!("\nskipped: vectors; run `AGCORE_SOAK=1 cargo xtask bench retrieval`, or set {URL}\n");
        return Ok(None);
    };
    let config = ProviderConfig::parse("openai:all-MiniLM-L6-v2")?.with_base_url(url);
    let embedder = config.with_api_key("none").build_embedder()?;
    Ok(Some(Arc::new(embedder.with_max_concurrent(1).with_max_inputs(4))))
}

/// Prints a row for each way to search, and one for vectors alone: the means over the questions of all collections. Without an
/// embedder, the rows with vectors are left out.
pub(crate) async fn rows(embedder: Option<&Arc<dyn Embedder>>, name: &str, collections: &[Collection]) -> Fallible {
    let mut ways: Vec<(&Way, Quality)> = WAYS
        .iter()
        .filter(|way| embedder.is_some() || !way.is_hybrid)
        .map(|way| (way, Quality::default()))
        .collect();
    let mut vectors = Quality::default();
    for collection in collections {
        let index = Arc::new(index(embedder, collection).await?);
        for question in &collection.questions {
            for (way, quality) in &mut ways {
                let found = way.search(&index, &question.text).await?;
                quality.add(&question.answers, &found);
            }
            if embedder.is_some() {
                let found = index.search_vectors(TENANT, &question.text, DEPTH).await?;
                let found: Vec<String> = found.into_iter().map(|hit| hit.id).collect();
                vectors.add(&question.answers, &found);
            }
        }
    }
    if embedder.is_some() {
        println!("| {name} | vectors | {} |", vectors.cells());
    }
    for (way, quality) in &ways {
        println!("| {name} | {} | {} |", way.name, quality.cells());
    }
    Ok(())
}

/// Returns the indexes of a collection's documents.
async fn index(embedder: Option<&Arc<dyn Embedder>>, collection: &Collection) -> Fallible<KnowledgeIndex> {
    let store = Arc::new(InMemoryKnowledgeStore::new(Arc::new(SystemClock::new())));
    let pages = collection.documents.iter();
    let pages = pages.map(|document| KnowledgePage::new(&*document.id, &*document.title, &*document.content));
    store.upsert_many(pages.collect()).await?;
    let index = KnowledgeIndex::new(store, Arc::new(InMemoryTextIndex::new()));
    Ok(match embedder {
        Some(embedder) => index.with_vectors(Arc::clone(embedder), Arc::new(InMemoryVectorIndex::new())),
        None => index,
    })
}

impl Way {
    async fn search(&self, index: &Arc<KnowledgeIndex>, question: &str) -> Fallible<Vec<String>> {
        let mut settings = RetrievalSettings::default();
        settings.max_results = DEPTH;
        settings.scorer = self.scorer;
        settings.fusion = self.fusion;
        settings.use_vectors = self.is_hybrid;
        settings.record_recalls = false;
        let clock = Arc::new(SystemClock::new());
        let retriever = MemoryRetriever::new(Arc::clone(index), clock).with_settings(settings);
        let found = retriever.retrieve(TENANT, question).await?;
        Ok(found.hits.into_iter().map(|hit| hit.page.id).collect())
    }
}
