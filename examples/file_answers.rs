//! Questions about a folder of files: passages with citations that point at the line, the heading or the cells of the answer.
//!
//! The folder is read into a SQLite file. Reading it again costs nothing: only files that have changed are read, and deleted ones
//! disappear. One that cannot be read does not stop the others.
//!
//! Run it: `cargo run --example file_answers`, or with a real model, as the [README](README.md) describes.

use std::{error::Error, fs, path::Path, sync::Arc};

use agcore::{
    chat::{SystemClock, ToolCall},
    files::StandardPreprocessor,
    ingest::{Ingest, IngestReport},
    memory::search::{Keywords, KnowledgeIndex, MemoryRetriever, best_citation},
    store::sqlite::SqliteStore,
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let folder = directory.path().join("handbook");
    write_files(&folder)?;

    let clock = SystemClock::shared();
    let store = Arc::new(SqliteStore::open(directory.path().join("agcore.db"), clock.clone()).await?);
    let preprocessor = Arc::new(StandardPreprocessor::new(clock.clone()));
    let ingest = Ingest::new(store.clone(), preprocessor);
    print(&ingest.folder(&folder, |_| ()).await?);

    let texts = Arc::new(store.text_index());
    let retriever = MemoryRetriever::new(Arc::new(KnowledgeIndex::new(store, texts)), clock);
    for question in [
        "When do I water tomatoes?",
        "What is the price of a rose?",
        "海滨化工的联系人是谁？",
        "How long is the warranty?",
    ] {
        println!("{question}");
        let found = retriever.retrieve("local", question).await?;
        if let Some(hit) = found.hits.first() {
            println!("  {}", best_citation(&Keywords::new(), &hit.page, question));
        }
    }

    // The second time, only what has changed is read.
    fs::write(folder.join("prices.csv"), "plant,price\ntomato,3.40\nrose,7.90\n")?;
    fs::remove_file(folder.join("warranty.html"))?;
    print(&ingest.folder(&folder, |_| ()).await?);

    // An agent finds passages with the tool `retrieve`, whose results say how to cite them.
    let model = agcore_examples::model(offline())?;
    let session = agcore::agent(model).with_knowledge(retriever).session()?;
    let question = "What is the price of a rose?";
    println!("{question}\n  {}", session.turn(question).await?.text());
    Ok(())
}

fn print(report: &IngestReport) {
    let pages = report.pages();
    println!(
        "pages: {} saved, {} deleted; files: {} unchanged",
        pages.saved, pages.deleted, report.unchanged
    );
    for (file, reason) in report.failed() {
        println!("  {file}: {reason}");
    }
}

fn write_files(folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir(folder)?;
    let garden =
        "# Garden\n\n## Tomatoes\n\nWater them at the foot in the morning.\n\n## Roses\n\nCut them in spring.\n";
    fs::write(folder.join("garden.md"), garden)?;
    fs::write(folder.join("prices.csv"), "plant,price\ntomato,3.20\nrose,7.50\n")?;
    // As Excel writes it in China, in the encoding GBK.
    let customers = b"\xbf\xcd\xbb\xa7,\xc1\xaa\xcf\xb5\xc8\xcb\n\xba\xa3\xb1\xf5\xbb\xaf\xb9\xa4,\xb3\xc2\xbe\xb2\n";
    fs::write(folder.join("customers.csv"), customers)?;
    let warranty = "<h1>Warranty</h1><h2>Duration</h2><p>The warranty is 24 months long.</p>";
    fs::write(folder.join("warranty.html"), warranty)?;
    fs::write(folder.join("broken.pdf"), "%PDF-1.7\n")?;
    Ok(())
}

/// The model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function(
            "call_1",
            "retrieve",
            r#"{"query": "price of a rose"}"#,
        )]),
        ScriptStep::text("A rose costs 7.90 [handbook/prices.csv, lines 2 to 3]."),
    ])
}
