//! `agcore knowledge add` and `import`: files become pages.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use agcore::{
    chat::Actor,
    memory::knowledge::{KnowledgePage, KnowledgeStore, PageFilter, markdown, normalized_tag},
    store::sqlite::SqliteStore,
};
use agcore_terminal::render::sanitized_line;
use serde_json::json;

use super::{
    documents::{Content, is_part, read as read_content, split},
    wiki::{BATCH, counted, pages_of, skipped_as_json, tenant},
};
use crate::{
    args::{KnowledgeAddArgs, KnowledgeImportArgs},
    command::stored::database::{Database, shown},
    exit::Failure,
    input::read_stdin,
    trust_dialog::print_notices,
};

/// Pages that were read from files.
#[derive(Default)]
struct Files {
    pages: Vec<KnowledgePage>,
    /// The files that cannot be read as pages.
    failed: Vec<Failed>,
    /// The files and folders that are not pages.
    skipped: Vec<markdown::Skipped>,
    /// The missing parts of files that were read.
    warnings: Vec<String>,
    /// The ids and the names of the files. Earlier versions of them may have had other parts.
    sources: Vec<(String, String)>,
}

/// A file that cannot be added.
struct Failed {
    path: PathBuf,
    reason: String,
}

impl Failed {
    /// Describes the failure in one line that names the path.
    fn line(&self) -> String {
        let (path, reason) = (shown(&self.path), sanitized_line(&self.reason));
        match reason.contains(&path) {
            true => reason,
            false => format!("{path}: {reason}"),
        }
    }
}

/// Pages that were saved, or did not need to be.
#[derive(Default)]
struct Saved {
    added: Vec<String>,
    replaced: Vec<String>,
    unchanged: usize,
}

/// Saves files as pages. Those that cannot be read do not keep the others from being saved.
///
/// # Errors
/// When a file cannot be read as a page, or the database cannot be written.
pub(super) async fn add(args: &KnowledgeAddArgs) -> Result<(), Failure> {
    check_names(args)?;
    let mut files = Files::default();
    for path in &args.paths {
        match read(path, args, &mut files).await {
            Err(failure) if failure.is_cancelled() || args.paths.len() == 1 => return Err(failure),
            Err(failure) => files.fail(path, failure.to_string()),
            Ok(()) => {}
        }
    }
    if files.pages.is_empty() && !files.failed.is_empty() {
        return Err(Failure::usage(format!(
            "none of the files can be read as a page; nothing was saved\n{}",
            lines_of(&files.failed)
        )));
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
    let ids: BTreeSet<String> = files.pages.iter().map(|page| page.id.clone()).collect();
    let saved = save(&store, files.pages).await?;
    let deleted = delete_old_parts(&store, &files.sources, &ids).await?;
    let deleted = Some(deleted).filter(|deleted| !deleted.is_empty());
    let (skipped, warnings) = (&files.skipped, &files.warnings);
    report(
        &database,
        &saved,
        skipped,
        warnings,
        deleted.as_deref(),
        Some(&files.failed),
    )?;
    match files.failed.len() {
        0 => Ok(()),
        count => Err(Failure::task(format!(
            "{} could not be added; everything else is saved\n{}",
            match count {
                1 => "1 file".to_owned(),
                count => format!("{count} files"),
            },
            lines_of(&files.failed)
        ))),
    }
}

/// Checks that `--id` and `--title` are for one file, and that standard input has an id.
fn check_names(args: &KnowledgeAddArgs) -> Result<(), Failure> {
    let is_named = args.id.is_some() || args.title.is_some();
    if is_named && let Some(folder) = args.paths.iter().find(|path| path.is_dir()) {
        return Err(Failure::usage(format!(
            "--id and --title are for a single file, but {} is a folder",
            shown(folder)
        )));
    }
    if is_named && args.paths.len() > 1 {
        return Err(Failure::usage(
            "--id and --title are for a single file, but several are given",
        ));
    }
    if args.id.is_none() && args.paths.iter().any(|path| path == Path::new("-")) {
        return Err(Failure::usage("a page from standard input needs an id; pass --id"));
    }
    Ok(())
}

impl Files {
    /// Notes that a file cannot be added.
    fn fail(&mut self, path: &Path, reason: String) {
        self.failed.push(Failed {
            path: path.to_owned(),
            reason,
        });
    }
}

/// Returns a line for each file that cannot be added.
fn lines_of(failed: &[Failed]) -> String {
    failed.iter().map(Failed::line).collect::<Vec<_>>().join("\n")
}

/// Deletes the parts of files that are no longer among their parts. Returns their ids.
async fn delete_old_parts(
    store: &SqliteStore,
    sources: &[(String, String)],
    ids: &BTreeSet<String>,
) -> Result<Vec<String>, Failure> {
    let mut deleted = Vec::new();
    for (id, name) in sources {
        let filter = PageFilter::new(tenant()).with_prefix(format!("{id}/"));
        for page in KnowledgeStore::list(store, &filter).await? {
            let is_old = is_part(&page.id, &page.summary, id, name) && !ids.contains(&page.id);
            if is_old && KnowledgeStore::delete(store, &tenant(), &page.id).await? {
                deleted.push(page.id);
            }
        }
    }
    Ok(deleted)
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
    report(&database, &saved, &folder.skipped, &[], deleted.as_deref(), None)
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

/// Reads a file, a folder, or standard input.
async fn read(path: &Path, args: &KnowledgeAddArgs, files: &mut Files) -> Result<(), Failure> {
    if let Some(id) = args.id.as_ref().filter(|_| path == Path::new("-")) {
        let text = read_stdin().await?;
        let page = markdown::from_markdown(id, &text, &Actor::local())?;
        files.pages.push(named(page, args)?);
        return Ok(());
    }
    if !path.is_dir() {
        return read_file(path, args, files).await;
    }
    let folder = markdown::read_folder(path, &Actor::local()).map_err(unreadable)?;
    for page in folder.pages {
        let name = page.id.clone();
        if let Err(failure) = add_note(files, page, &name).await {
            // A page does not know its file, but usually has its name.
            files.fail(&path.join(&name), failure.to_string());
        }
    }
    for skipped in folder.skipped {
        match skipped.is_page {
            true => files.fail(&path.join(skipped.path), skipped.reason),
            false => files.skipped.push(skipped),
        }
    }
    Ok(())
}

async fn read_file(path: &Path, args: &KnowledgeAddArgs, files: &mut Files) -> Result<(), Failure> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id = args.id.as_deref().unwrap_or(&stem);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match read_content(path, id, args.title.as_deref()).await? {
        Content::Pages(pages, warnings) => {
            files.pages.extend(pages);
            files.sources.push((id.to_owned(), name.into_owned()));
            files.warnings.extend(warnings);
        }
        Content::Note(text) => {
            let page = markdown::from_markdown(&stem, &text, &Actor::local());
            let page = page.map_err(|error| Failure::usage(format!("{}: {error}", shown(path))))?;
            add_note(files, named(page, args)?, &name).await?;
        }
    }
    Ok(())
}

/// Adds a note, or its parts if it is long.
async fn add_note(files: &mut Files, note: KnowledgePage, name: &str) -> Result<(), Failure> {
    let parts = split(&note, name).await?;
    files.sources.push((note.id.clone(), name.to_owned()));
    files.pages.extend(parts.unwrap_or_else(|| vec![note]));
    Ok(())
}

/// Sets the id and the title that were passed as options.
fn named(mut page: KnowledgePage, args: &KnowledgeAddArgs) -> Result<KnowledgePage, Failure> {
    if let Some(id) = &args.id {
        page.id.clone_from(id);
    }
    if let Some(title) = &args.title {
        page.title.clone_from(title);
    }
    page.check()?;
    Ok(page)
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
    failed: Option<&[Failed]>,
) -> Result<(), Failure> {
    let notes = skipped.iter().map(|skipped| {
        let path = skipped.path.display().to_string();
        format!(
            "warning: {} was skipped: {}",
            sanitized_line(&path),
            sanitized_line(&skipped.reason)
        )
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
    if let Some(failed) = failed {
        let of = |failed: &Failed| json!({ "path": failed.path.display().to_string(), "reason": failed.reason });
        result["failed"] = failed.iter().map(of).collect();
    }
    if let Some(deleted) = deleted {
        result["deleted"] = json!(deleted);
    }
    database.print(result, &format!("{}.", parts.join(", ")))
}
