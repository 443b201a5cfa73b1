//! `agcore knowledge files` and `remove`: the files from which pages were made.

use agcore::{
    chat::text::suggestion,
    memory::knowledge::{KnowledgeSource, SourceStore},
    store::sqlite::SqliteStore,
};
use agcore_args::{KnowledgeFilesArgs, KnowledgeRemoveArgs};
use agcore_terminal::{render::sanitized_line, table::table};
use serde_json::json;

use super::wiki::{counted, open, tenant};

use crate::{exit::Failure, stdout::print, trust_dialog::print_notices};

/// The number of records that are read together.
const BATCH: u64 = 1000;

/// Lists the files.
///
/// # Errors
/// When the database cannot be read.
pub(super) async fn files(args: &KnowledgeFilesArgs) -> Result<(), Failure> {
    let (database, store) = open(&args.database).await?;
    let mut files = all(&store, args.prefix.as_deref().unwrap_or_default()).await?;
    files.retain(|file| !args.failed || file.problem.is_some());
    if database.as_json {
        return print(&format!("{:#}\n", json!({ "files": files })));
    }
    if files.is_empty() {
        return print_notices(&["There are no such files; `agcore knowledge add FILE` adds one.".to_owned()]);
    }
    print(&table(&files.iter().map(row).collect::<Vec<_>>()))
}

/// Returns a row of the list: the file, its pages, the day on which it was read, and why it can no longer be.
fn row(file: &KnowledgeSource) -> [String; 4] {
    let read = file.updated_at.to_string();
    let pages = match file.pages {
        1 => "1 page".to_owned(),
        pages => format!("{pages} pages"),
    };
    [
        sanitized_line(&file.id),
        pages,
        read.split('T').next().unwrap_or_default().to_owned(),
        sanitized_line(file.problem.as_deref().unwrap_or_default()),
    ]
}

/// Removes files with their pages, all of them or none.
///
/// # Errors
/// When one of them does not exist, or the database cannot be written.
pub(super) async fn remove(args: &KnowledgeRemoveArgs) -> Result<(), Failure> {
    let (database, store) = open(&args.database).await?;
    let known: Vec<String> = all(&store, "").await?.into_iter().map(|file| file.id).collect();
    let is_below = |id: &String, folder: &String| {
        id.strip_prefix(folder.as_str())
            .is_some_and(|rest| rest.starts_with('/'))
    };
    let mut removed: Vec<&String> = Vec::new();
    let mut problems = Vec::new();
    for file in &args.files {
        let folder = file.trim_end_matches('/').to_owned();
        let before = removed.len();
        removed.extend(known.iter().filter(|id| *id == file || is_below(id, &folder)));
        if removed.len() == before {
            let near = suggestion(file, &known);
            problems.push(format!("there is no file or folder `{}`{near}", sanitized_line(file)));
        }
    }
    if !problems.is_empty() {
        problems.push("Run `agcore knowledge files` to see all files.".to_owned());
        return Err(Failure::usage(problems.join("\n")));
    }
    removed.sort_unstable();
    removed.dedup();
    let mut pages = 0;
    for id in &removed {
        pages += store.delete_source(&tenant(), id).await?.unwrap_or(0);
    }
    let files = match removed.len() {
        1 => "1 file was removed".to_owned(),
        count => format!("{count} files were removed"),
    };
    let deleted = usize::try_from(pages).unwrap_or(usize::MAX);
    let text = format!("{files}; {} deleted.", counted(deleted, "was", "were"));
    database.print(json!({ "removed": removed, "pages_deleted": pages }), &text)
}

async fn all(store: &SqliteStore, prefix: &str) -> Result<Vec<KnowledgeSource>, Failure> {
    let mut files: Vec<KnowledgeSource> = Vec::new();
    loop {
        let after = files.last().map(|file| file.id.clone());
        let found = store.sources(&tenant(), prefix, after.as_deref(), BATCH).await?;
        if found.is_empty() {
            return Ok(files);
        }
        files.extend(found);
    }
}
