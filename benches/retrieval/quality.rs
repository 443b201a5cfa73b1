//! The quality of retrieval: how often the right pages are found.

use std::path::Path;

use crate::{
    Fallible,
    collection::{Collection, Quality},
    engine::{ENGINES, open, unavailable},
};

pub(crate) const HEAD: &str = "\
| collection | index | questions | nDCG@10 | recall@10 | first | in the first five |
|---|---|---|---|---|---|---|";

/// Prints a row for each index: the means over the questions of all collections. Each collection has an index of its own.
pub(crate) async fn rows(folder: &Path, name: &str, collections: &[Collection]) -> Fallible {
    for engine in ENGINES {
        if let Some(reason) = unavailable(engine).await {
            println!("| {name} | {engine} | skipped: {reason} | | | | |");
            continue;
        }
        let mut all = Quality::default();
        for collection in collections {
            let quality = measure(folder, engine, collection, &mut all).await?;
            // The own sets differ in their languages.
            if name == "own sets" {
                println!("| {} | {engine} | {} |", collection.name, quality.cells());
            }
        }
        println!("| {name} | {engine} | {} |", all.cells());
    }
    Ok(())
}

async fn measure(folder: &Path, engine: &str, collection: &Collection, all: &mut Quality) -> Fallible<Quality> {
    let folder = tempfile::tempdir_in(folder)?;
    let mut index = open(engine, folder.path(), true).await?;
    index.add(&collection.documents).await?;
    let mut quality = Quality::default();
    for question in &collection.questions {
        let found = index.search(&question.text, 10).await?;
        quality.add(&question.answers, &found);
        all.add(&question.answers, &found);
    }
    Ok(quality)
}
