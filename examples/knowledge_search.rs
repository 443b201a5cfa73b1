//! A wiki in English and Chinese: pages in a SQLite file, searched by words, edited as Markdown files, and given to a model.
//!
//! Searching needs no model: BM25 ranks the pages, with stems of English words and pairs of Chinese characters. The index follows the
//! store, so that a page is found as soon as any program has saved it.
//!
//! Run it: `cargo run --example knowledge_search`, or with a real model, as the [README](README.md) describes.

use std::{error::Error, fs, sync::Arc};

use agcore::{
    ChatRequest, LlmProvider, LlmProviderExt, Message,
    chat::{Actor, SystemClock},
    memory::{
        knowledge::{KnowledgePage, KnowledgeStore, markdown},
        search::{Channel, InMemoryTextIndex, KnowledgeIndex, MemoryRetriever},
    },
    store::sqlite::SqliteStore,
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let clock = SystemClock::shared();
    let store = SqliteStore::open(directory.path().join("agcore.db"), clock.clone()).await?;
    let store: Arc<dyn KnowledgeStore> = Arc::new(store);
    store.upsert_many(pages()).await?;

    let index = KnowledgeIndex::new(Arc::clone(&store), Arc::new(InMemoryTextIndex::new()));
    let retriever = MemoryRetriever::new(Arc::new(index), clock);
    for query in [
        "When should I be watering my tomato?",
        "番茄什么时候浇水？",
        "bitter tea",
        "绿茶为什么发苦",
        "怎么运行 cargo test",
        "zeppelin",
    ] {
        search(&retriever, query).await?;
    }

    // People edit the wiki with any editor.
    let folder = directory.path().join("wiki");
    let all: Vec<KnowledgePage> = store.changes("local", None, 100).await?.saved;
    markdown::write_folder(&folder, &all)?;
    let file = folder.join(markdown::file_name("garden/tomatoes"));
    let text = fs::read_to_string(&file)?;
    println!("the first lines of garden/tomatoes.md:");
    for line in text.lines().take(4) {
        println!("  {line}");
    }
    fs::write(&file, text + "\nProtect them from blight with a roof.\n")?;
    let edited = markdown::read_folder(&folder, &Actor::local())?;
    store.upsert_many(edited.pages).await?;
    search(&retriever, "blight").await?;

    let model = agcore_examples::model(offline())?;
    answer(&model, &retriever, "How do I keep my tomatoes healthy?").await?;

    println!(
        "pages that refer to tea/green: {:?}",
        store.backlinks("local", "tea/green").await?
    );
    let recalled = store.recall_statistics("local", 1).await?;
    println!("most often found: {} ({} times)", recalled[0].id, recalled[0].recalls);
    Ok(())
}

async fn search(retriever: &MemoryRetriever, query: &str) -> Result<(), Box<dyn Error>> {
    println!("{query}");
    let retrieval = retriever.retrieve("local", query).await?;
    if retrieval.hits.is_empty() {
        println!("  nothing");
    }
    for hit in retrieval.hits.iter().take(2) {
        let bm25 = hit.breakdown.channel(Channel::Text).map_or(0.0, |text| text.score);
        println!(
            "  {:.2} (BM25 {bm25:.2}) {}: {}",
            hit.score, hit.page.id, hit.page.title
        );
    }
    Ok(())
}

/// Lets a model answer a question from the pages that are found.
async fn answer(
    model: &Arc<dyn LlmProvider>,
    retriever: &MemoryRetriever,
    question: &str,
) -> Result<(), Box<dyn Error>> {
    let mut prompt = String::from("Answer from these pages, and name the page:\n");
    for hit in retriever.retrieve("local", question).await?.hits.iter().take(3) {
        prompt += &format!("<page id=\"{}\">\n{}</page>\n", hit.page.id, hit.page.content);
    }
    let reply = model
        .chat(ChatRequest::new(vec![Message::system(prompt), Message::user(question)]))
        .await?;
    println!("{question}\n  {}", reply.text());
    Ok(())
}

/// The model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    ScriptedProvider::new([ScriptStep::text(
        "Water them at the foot, and protect them with a roof (garden/tomatoes).",
    )])
}

fn pages() -> Vec<KnowledgePage> {
    vec![
        KnowledgePage::new(
            "garden/tomatoes",
            "Growing tomatoes",
            "Water them at the foot in the morning.\n",
        )
        .with_tag("garden"),
        KnowledgePage::new("garden/fanqie", "种番茄", "早上在根部浇水，每周摘掉侧芽。\n").with_tag("garden"),
        KnowledgePage::new(
            "tea/green",
            "Green tea",
            "Two minutes are enough, or it turns bitter.\n",
        )
        .with_tag("tea"),
        KnowledgePage::new("tea/lvcha", "泡绿茶", "开水放凉到八十度再泡，时间太长会发苦。\n")
            .with_tag("tea")
            .with_reference("tea/green"),
        KnowledgePage::new("rust/ceshi", "Rust 测试", "运行 cargo test，失败的种子要提交。\n").with_tag("rust"),
    ]
}
