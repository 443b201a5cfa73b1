//! `agcore knowledge`: pages of a wiki.

mod wiki;
mod progress;
mod save;
mod add;
mod sources;
mod search;
mod export;

use agcore::{
    chat::text::suggestion,
    memory::knowledge::{KnowledgeStore, PageFilter, PageSummary, markdown},
    store::sqlite::SqliteStore,
};
use agcore_args::{FileArgs, KnowledgeCommand, KnowledgeDeleteArgs, KnowledgeListArgs, KnowledgeShowArgs};
use agcore_terminal::{
    render::{sanitized, sanitized_line},
    table::table,
};
use serde_json::json;

use self::wiki::{counted, filter, index_of, open, tenant};

use crate::{exit::Failure, stdout::print, trust_dialog::print_notices};

/// Runs `agcore knowledge`.
///
/// # Errors
/// When a file or the database cannot be read or written, or a page does not exist.
pub(crate) async fn run(command: &KnowledgeCommand) -> Result<(), Failure> {
    match command {
        KnowledgeCommand::Add(args) => add::add(args).await,
        KnowledgeCommand::Files(args) => sources::files(args).await,
        KnowledgeCommand::Remove(args) => sources::remove(args).await,
        KnowledgeCommand::Search(args) => search::search(args).await,
        KnowledgeCommand::List(args) => list(args).await,
        KnowledgeCommand::Show(args) => show(args).await,
        KnowledgeCommand::Delete(args) => delete(args).await,
        KnowledgeCommand::Import(args) => save::import(args).await,
        KnowledgeCommand::Export(args) => export::export(args).await,
        KnowledgeCommand::Rebuild(args) => rebuild(args).await,
    }
}

async fn list(args: &KnowledgeListArgs) -> Result<(), Failure> {
    let (database, store) = open(&args.database).await?;
    let mut filter = filter(&args.pages);
    filter.limit = args.limit;
    let pages = KnowledgeStore::list(&store, &filter).await?;
    if database.as_json {
        return print(&format!("{:#}\n", json!({ "pages": pages })));
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

async fn rebuild(args: &FileArgs) -> Result<(), Failure> {
    let (database, store) = open(args).await?;
    let pages = index_of(store).rebuild(&tenant()).await?;
    let pages = usize::try_from(pages).unwrap_or(usize::MAX);
    let text = format!("{} indexed again.", counted(pages, "was", "were"));
    database.print(json!({ "pages": pages }), &text)
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
