//! `agcore knowledge`: pages of a wiki.

mod save;
mod search;
mod export;

use agcore::{
    chat::Actor,
    memory::knowledge::{KnowledgePage, KnowledgeStore, PageFilter, PageSummary, markdown},
    store::sqlite::SqliteStore,
};
use serde_json::{Value, json};

use super::database::Database;
use crate::{
    args::{FileArgs, KnowledgeCommand, KnowledgeDeleteArgs, KnowledgeListArgs, KnowledgeShowArgs, PageArgs},
    exit::{Failure, suggestion},
    process::print,
    render::{sanitized, sanitized_line},
    table::table,
    trust_dialog::print_notices,
};

/// The number of pages that are read or saved together.
const BATCH: usize = 256;

/// Runs `agcore knowledge`.
///
/// # Errors
/// When a file or the database cannot be read or written, or a page does not exist.
pub(crate) async fn run(command: &KnowledgeCommand) -> Result<(), Failure> {
    match command {
        KnowledgeCommand::Add(args) => save::add(args).await,
        KnowledgeCommand::Search(args) => search::search(args).await,
        KnowledgeCommand::List(args) => list(args).await,
        KnowledgeCommand::Show(args) => show(args).await,
        KnowledgeCommand::Delete(args) => delete(args).await,
        KnowledgeCommand::Import(args) => save::import(args).await,
        KnowledgeCommand::Export(args) => export::export(args).await,
    }
}

/// Opens a database that exists.
async fn open(args: &FileArgs) -> Result<(Database, SqliteStore), Failure> {
    let database = Database::of(args)?;
    let store = database.open("agcore knowledge add").await?;
    Ok((database, store))
}

/// Returns the tenant of the program's user.
fn tenant() -> String {
    Actor::local().tenant.to_string()
}

/// Returns the filter for these options.
fn filter(args: &PageArgs) -> PageFilter {
    let filter = PageFilter::new(tenant()).with_prefix(args.prefix.as_deref().unwrap_or_default());
    args.tags.iter().fold(filter, PageFilter::with_tag)
}

async fn list(args: &KnowledgeListArgs) -> Result<(), Failure> {
    let (database, store) = open(&args.database).await?;
    let mut filter = filter(&args.pages);
    filter.limit = args.limit;
    let pages = KnowledgeStore::list(&store, &filter).await?;
    if database.as_json {
        return print(&format!("{:#}\n", json!(pages)));
    }
    if pages.is_empty() {
        return print_notices(&["There are no such pages; `agcore knowledge add FILE` adds one.".to_owned()]);
    }
    print(&table(&pages.iter().map(row).collect::<Vec<_>>()))
}

/// Returns a row of the list: id, title, tags and the day of the last change.
fn row(page: &PageSummary) -> [String; 4] {
    let changed = page.updated_at.to_string();
    let day = changed.split('T').next().unwrap_or_default();
    [
        sanitized_line(&page.id),
        sanitized_line(&page.title),
        sanitized_line(&page.tags.join(", ")),
        day.to_owned(),
    ]
}

async fn show(args: &KnowledgeShowArgs) -> Result<(), Failure> {
    let (database, store) = open(&args.database).await?;
    let Some(page) = KnowledgeStore::get(&store, &tenant(), &args.id).await? else {
        return Err(missing(&store, &[&args.id]).await?);
    };
    if database.as_json {
        return print(&format!("{:#}\n", json!(page)));
    }
    let text = markdown::to_markdown(&page);
    print(&sanitized(&text))?;
    if text.ends_with('\n') { Ok(()) } else { print("\n") }
}

async fn delete(args: &KnowledgeDeleteArgs) -> Result<(), Failure> {
    let (database, store) = open(&args.database).await?;
    let tenant = tenant();
    let mut unknown = Vec::new();
    for id in &args.ids {
        if KnowledgeStore::get(&store, &tenant, id).await?.is_none() {
            unknown.push(id.as_str());
        }
    }
    if !unknown.is_empty() {
        return Err(missing(&store, &unknown).await?);
    }
    let mut deleted = Vec::new();
    for id in &args.ids {
        // Named twice, or deleted meanwhile by another program.
        if KnowledgeStore::delete(&store, &tenant, id).await? {
            deleted.push(id);
        }
    }
    let text = format!("{} deleted.", counted(deleted.len(), "was", "were"));
    database.print(json!({ "deleted": deleted }), &text)
}

/// Returns the failure for ids that do not exist.
async fn missing(store: &SqliteStore, ids: &[&str]) -> Result<Failure, Failure> {
    let known = KnowledgeStore::list(store, &PageFilter::new(tenant())).await?;
    let known: Vec<String> = known.into_iter().map(|page| page.id).collect();
    let problems = ids.iter().map(|id| {
        let near = suggestion(id, &known);
        format!("there is no page `{}`{near}", sanitized_line(id))
    });
    let problems: Vec<String> = problems.collect();
    Ok(Failure::usage(format!(
        "{}\nRun `agcore knowledge list` to see all pages.",
        problems.join("\n")
    )))
}

/// Returns pages in the order of their ids.
async fn pages_of(store: &SqliteStore, ids: &[String]) -> Result<Vec<KnowledgePage>, Failure> {
    let mut pages = Vec::with_capacity(ids.len());
    for ids in ids.chunks(BATCH) {
        pages.extend(KnowledgeStore::get_many(store, &tenant(), ids).await?);
    }
    Ok(pages)
}

/// Returns `1 page was` or `3 pages were`.
fn counted(number: usize, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 page {one}"),
        number => format!("{number} pages {many}"),
    }
}

/// Returns files and folders that were not read, as JSON.
fn skipped_as_json(skipped: &[markdown::Skipped]) -> Value {
    let skipped = skipped.iter().map(|skipped| {
        let path = skipped.path.display().to_string();
        json!({ "path": path, "reason": skipped.reason })
    });
    skipped.collect()
}
