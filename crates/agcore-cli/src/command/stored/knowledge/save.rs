//! `agcore knowledge import`: Markdown files become pages.

use std::collections::{BTreeMap, BTreeSet};

use agcore::{
    chat::Actor,
    memory::knowledge::{KnowledgePage, KnowledgeStore, PageFilter, markdown},
    store::sqlite::SqliteStore,
};
use agcore_args::KnowledgeImportArgs;
use agcore_terminal::render::sanitized_line;
use serde_json::json;

use super::wiki::{BATCH, counted, pages_of, skipped_as_json, tenant};

use crate::{
    command::stored::database::{Database, shown},
    exit::Failure,
    trust_dialog::print_notices,
};

/// Pages that were saved, or did not need to be.
#[derive(Default)]
pub(super) struct Saved {
    pub(super) added: Vec<String>,
    pub(super) replaced: Vec<String>,
    pub(super) unchanged: usize,
}

/// Saves the pages of a folder.
///
/// # Errors
/// When the folder or a file cannot be read, or the database cannot be written.
pub(super) async fn import(args: &KnowledgeImportArgs) -> Result<(), Failure> {
    let folder = markdown::read_folder(&args.folder, &Actor::local()).map_err(unreadable)?;
    if folder.pages.is_empty() && args.delete_others {
        return Err(Failure::usage(format!(
            "{} contains no pages; nothing was deleted\nPages are files that end with .md or .markdown.",
            shown(&args.folder)
        )));
    }
    if args.delete_others && folder.skipped.iter().any(|skipped| skipped.is_page) {
        return Err(Failure::usage(format!(
            "files in {} cannot be read as pages; nothing was changed, because their pages would be deleted\n{}",
            shown(&args.folder),
            problems_of(&folder.skipped)
        )));
    }
    let database = Database::of(&args.database)?;
    let store = database.create().await?;
    let ids: BTreeSet<String> = folder.pages.iter().map(|page| page.id.clone()).collect();
    let saved = save(&store, folder.pages).await?;
    let mut deleted = Vec::new();
    if args.delete_others {
        for page in KnowledgeStore::list(&store, &PageFilter::new(tenant())).await? {
            if !ids.contains(&page.id) && KnowledgeStore::delete(&store, &tenant(), &page.id).await? {
                deleted.push(page.id);
            }
        }
    }
    let deleted = Some(deleted).filter(|_| args.delete_others);
    report(&database, &saved, &folder.skipped, deleted.as_deref())
}

/// Returns a line for each file that cannot be read as a page.
fn problems_of(skipped: &[markdown::Skipped]) -> String {
    let unread = skipped.iter().filter(|skipped| skipped.is_page);
    let lines = unread.map(|skipped| {
        let path = skipped.path.display().to_string();
        format!("{}: {}", sanitized_line(&path), sanitized_line(&skipped.reason))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the failure of a file. A file that does not exist is the user's to correct, and no database is involved.
fn unreadable(error: agcore::memory::MemoryError) -> Failure {
    let causes = std::iter::successors(std::error::Error::source(&error), |&cause| cause.source());
    let message = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
    Failure::usage(message)
}

/// Saves the pages that are new or different.
///
/// # Errors
/// When the database cannot be read or written.
pub(super) async fn save(store: &SqliteStore, pages: Vec<KnowledgePage>) -> Result<Saved, Failure> {
    let mut saved = Saved::default();
    let mut pages = pages.into_iter().peekable();
    while pages.peek().is_some() {
        let batch: Vec<KnowledgePage> = pages.by_ref().take(BATCH).collect();
        let ids: Vec<String> = batch.iter().map(|page| page.id.clone()).collect();
        let known = pages_of(store, &ids).await?.into_iter();
        let known: BTreeMap<String, KnowledgePage> = known.map(|page| (page.id.clone(), page)).collect();
        let mut changed = Vec::with_capacity(batch.len());
        for page in batch {
            match known.get(&page.id) {
                Some(known) if is_same(known, &page) => {
                    saved.unchanged += 1;
                    continue;
                }
                Some(_) => saved.replaced.push(page.id.clone()),
                None => saved.added.push(page.id.clone()),
            }
            changed.push(page);
        }
        if !changed.is_empty() {
            store.upsert_many(changed).await?;
        }
    }
    Ok(saved)
}

/// Returns whether two pages differ in nothing but their times.
fn is_same(known: &KnowledgePage, page: &KnowledgePage) -> bool {
    let mut page = page.clone();
    (page.created_at, page.updated_at, page.version) = (known.created_at, known.updated_at, known.version);
    // A page does not know its file any more after it was exported.
    page.source.clone_from(&known.source);
    page == *known
}

fn report(
    database: &Database,
    saved: &Saved,
    skipped: &[markdown::Skipped],
    deleted: Option<&[String]>,
) -> Result<(), Failure> {
    let notes = skipped.iter().map(|skipped| {
        let path = skipped.path.display().to_string();
        format!(
            "warning: {} was skipped: {}",
            sanitized_line(&path),
            sanitized_line(&skipped.reason)
        )
    });
    print_notices(&notes.collect::<Vec<_>>())?;
    let mut parts = vec![
        counted(saved.added.len(), "was added", "were added"),
        format!("{} replaced", saved.replaced.len()),
        format!("{} unchanged", saved.unchanged),
    ];
    parts.extend(deleted.map(|deleted| format!("{} deleted", deleted.len())));
    let mut result = json!({
        "added": saved.added, "replaced": saved.replaced, "unchanged": saved.unchanged,
        "skipped": skipped_as_json(skipped),
    });
    if let Some(deleted) = deleted {
        result["deleted"] = json!(deleted);
    }
    database.print(result, &format!("{}.", parts.join(", ")))
}
