//! `agcore knowledge add` and `import`: files become pages.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use agcore::{
    chat::Actor,
    memory::knowledge::{KnowledgePage, KnowledgeStore, PageFilter, markdown, normalized_tag},
    store::sqlite::SqliteStore,
};
use serde_json::json;

use super::{
    documents::{is_document, pages},
    wiki::{BATCH, counted, pages_of, skipped_as_json, tenant},
};
use crate::{
    args::{KnowledgeAddArgs, KnowledgeImportArgs},
    command::database::{Database, shown},
    exit::Failure,
    input::read_stdin,
    render::sanitized_line,
    trust_dialog::print_notices,
};

/// Pages that were read from files.
#[derive(Default)]
struct Files {
    pages: Vec<KnowledgePage>,
    skipped: Vec<markdown::Skipped>,
    /// What could not be read of files that became pages.
    warnings: Vec<String>,
}

/// Pages that were saved, or did not need to be.
#[derive(Default)]
struct Saved {
    added: Vec<String>,
    replaced: Vec<String>,
    unchanged: usize,
}

/// Saves files as pages.
///
/// # Errors
/// When a file cannot be read as a page, or the database cannot be written.
pub(super) async fn add(args: &KnowledgeAddArgs) -> Result<(), Failure> {
    let mut files = Files::default();
    for path in &args.paths {
        read(path, args, &mut files).await?;
    }
    if let Some(twice) = first_twice(&files.pages) {
        let twice = sanitized_line(twice);
        return Err(Failure::usage(format!(
            "two of the files are the page `{twice}`\nChange the `id` in the front matter of one of them, or add them one \
             after the other."
        )));
    }
    for page in &mut files.pages {
        for tag in &args.tags {
            let tag = normalized_tag(tag);
            if !page.tags.contains(&tag) {
                page.tags.push(tag);
            }
        }
    }
    let database = Database::of(&args.database)?;
    let store = database.create().await?;
    let saved = save(&store, files.pages).await?;
    report(&database, &saved, &files.skipped, &files.warnings, None)
}

/// Saves the pages of a folder.
///
/// # Errors
/// When a file cannot be read as a page, or the database cannot be written.
pub(super) async fn import(args: &KnowledgeImportArgs) -> Result<(), Failure> {
    let folder = markdown::read_folder(&args.folder, &Actor::local()).map_err(unreadable)?;
    if folder.pages.is_empty() && args.delete_others {
        return Err(Failure::usage(format!(
            "{} contains no pages; nothing was deleted\nPages are files that end with .md or .markdown.",
            shown(&args.folder)
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
    report(&database, &saved, &folder.skipped, &[], deleted.as_deref())
}

/// Reads a file, a folder, or standard input.
async fn read(path: &Path, args: &KnowledgeAddArgs, files: &mut Files) -> Result<(), Failure> {
    let is_single = args.paths.len() == 1;
    if path == Path::new("-") {
        let Some(id) = &args.id else {
            return Err(Failure::usage("a page from standard input needs an id; pass --id"));
        };
        let text = read_stdin().await?;
        let page = markdown::from_markdown(id, &text, &Actor::local())?;
        files.pages.push(named(page, args, is_single)?);
    } else if path.is_dir() {
        if args.id.is_some() || args.title.is_some() {
            return Err(Failure::usage(format!(
                "--id and --title are for a single file, but {} is a folder",
                shown(path)
            )));
        }
        let folder = markdown::read_folder(path, &Actor::local()).map_err(unreadable)?;
        files.pages.extend(folder.pages);
        files.skipped.extend(folder.skipped);
    } else if is_document(path) {
        if !is_single && (args.id.is_some() || args.title.is_some()) {
            return Err(several_named());
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let id = args.id.as_deref().unwrap_or(&name);
        let pages = pages(path, id, args.title.as_deref(), &mut files.warnings).await?;
        files.pages.extend(pages);
    } else {
        let page = markdown::read_file(path, &Actor::local()).map_err(unreadable)?;
        files.pages.push(named(page, args, is_single)?);
    }
    Ok(())
}

/// Sets the id and the title that were passed as options.
fn named(mut page: KnowledgePage, args: &KnowledgeAddArgs, is_single: bool) -> Result<KnowledgePage, Failure> {
    if !is_single && (args.id.is_some() || args.title.is_some()) {
        return Err(several_named());
    }
    if let Some(id) = &args.id {
        page.id.clone_from(id);
    }
    if let Some(title) = &args.title {
        page.title.clone_from(title);
    }
    page.check()?;
    Ok(page)
}

fn several_named() -> Failure {
    Failure::usage("--id and --title are for a single file, but several are given")
}

/// Returns the failure of a file. A file that does not exist is the user's to correct, and no database is involved.
fn unreadable(error: agcore::memory::MemoryError) -> Failure {
    let causes = std::iter::successors(std::error::Error::source(&error), |&cause| cause.source());
    let message = causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
    Failure::usage(message)
}

fn first_twice(pages: &[KnowledgePage]) -> Option<&str> {
    let mut ids = BTreeSet::new();
    let twice = pages.iter().find(|page| !ids.insert(&page.id));
    twice.map(|page| page.id.as_str())
}

/// Saves the pages that are new or different.
async fn save(store: &SqliteStore, pages: Vec<KnowledgePage>) -> Result<Saved, Failure> {
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
    page == *known
}

fn report(
    database: &Database,
    saved: &Saved,
    skipped: &[markdown::Skipped],
    warnings: &[String],
    deleted: Option<&[String]>,
) -> Result<(), Failure> {
    let notes = skipped.iter().map(|skipped| {
        let path = skipped.path.display();
        format!("warning: {path} was skipped: {}", skipped.reason)
    });
    let notes = notes.chain(warnings.iter().map(|warning| format!("warning: {warning}")));
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
    if !warnings.is_empty() {
        result["warnings"] = json!(warnings);
    }
    if let Some(deleted) = deleted {
        result["deleted"] = json!(deleted);
    }
    database.print(result, &format!("{}.", parts.join(", ")))
}
