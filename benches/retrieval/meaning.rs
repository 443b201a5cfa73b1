//! Pages found by their meaning, and by words and meaning together, with a model that a server provides.

use std::{env, sync::Arc};

use agcore_chat::{Embedder, SystemClock};
use agcore_llm::ProviderConfig;
use agcore_memory::{
    knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore},
    search::{InMemoryTextIndex, InMemoryVectorIndex, KnowledgeIndex, MemoryRetriever, RetrievalSettings},
};

use crate::{
    Fallible,
    collection::{Collection, Quality},
};

/// The variable with the URL of a server of embeddings.
const URL: &str = "AGCORE_EMBEDDINGS_URL";

const TENANT: &str = "local";

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

/// Prints a row for vectors alone, and one for texts and vectors: the means over the questions of all collections.
pub(crate) async fn rows(embedder: &Arc<dyn Embedder>, name: &str, collections: &[Collection]) -> Fallible {
    let (mut vectors, mut both) = (Quality::default(), Quality::default());
    for collection in collections {
        let clock = Arc::new(SystemClock::new());
        let store = Arc::new(InMemoryKnowledgeStore::new(clock.clone()));
        let pages = collection.documents.iter();
        let pages = pages.map(|document| KnowledgePage::new(&*document.id, &*document.title, &*document.content));
        store.upsert_many(pages.collect()).await?;
        let index = KnowledgeIndex::new(store, Arc::new(InMemoryTextIndex::new()));
        let index = Arc::new(index.with_vectors(Arc::clone(embedder), Arc::new(InMemoryVectorIndex::new())));
        let mut settings = RetrievalSettings::default();
        settings.record_recalls = false;
        let retriever = MemoryRetriever::new(Arc::clone(&index), clock).with_settings(settings);
        for question in &collection.questions {
            let found = index.search_vectors(TENANT, &question.text, 10).await?;
            let found: Vec<String> = found.into_iter().map(|hit| hit.id).collect();
            vectors.add(&question.answers, &found);
            let found = retriever.retrieve(TENANT, &question.text).await?;
            let found: Vec<String> = found.hits.into_iter().map(|hit| hit.page.id).collect();
            both.add(&question.answers, &found);
        }
    }
    println!("| {name} | vectors | {} |", vectors.cells());
    println!("| {name} | `MemoryRetriever`: texts and vectors | {} |", both.cells());
    Ok(())
}
