//! `agcore knowledge add`: files become pages.

use std::{path::Path, sync::Arc};

use agcore::{
    chat::{Actor, SystemClock},
    files::StandardPreprocessor,
    ingest::{FileOutcome, FileStatus, Ingest, IngestError},
    memory::knowledge::{KnowledgePage, markdown},
    store::sqlite::SqliteStore,
};
use agcore_args::KnowledgeAddArgs;
use agcore_terminal::render::sanitized_line;
use serde_json::{Value, json};

use super::{progress::ProgressLine, save::save, wiki::counted};

use crate::{
    command::stored::database::{Database, shown},
    exit::Failure,
    input::read_stdin,
    trust_dialog::print_notices,
};

/// The results of all files.
#[derive(Default)]
struct Summary {
    added: Vec<String>,
    changed: Vec<String>,
    removed: Vec<String>,
    unchanged: u64,
    pages_saved: u64,
    pages_deleted: u64,
    /// Files and folders that are not read, with the reasons.
    skipped: Vec<(String, String)>,
    /// Files of kinds without text, with the reasons.
    without_text: Vec<(String, String)>,
    /// Files that cannot be read, with the reasons.
    failed: Vec<(String, String)>,
    warnings: Vec<String>,
}

/// Saves files as pages. Those that cannot be read do not keep the others from being saved.
///
/// # Errors
/// When a file cannot be read, or the database cannot be written.
pub(super) async fn add(args: &KnowledgeAddArgs) -> Result<(), Failure> {
    check_options(args)?;
    let mut summary = Summary::default();
    let is_there = |path: &&std::path::PathBuf| path.as_path() == Path::new("-") || path.exists();
    let (there, missing): (Vec<_>, Vec<_>) = args.paths.iter().partition(is_there);
    for path in missing {
        let reason = path.symlink_metadata().err().map(|error| error.to_string());
        summary.fail(
            &shown(path),
            &reason.unwrap_or_else(|| "it is a link to nothing".to_owned()),
        );
    }
    // Without a file, there is nothing for which a database would be created.
    if there.is_empty() {
        return summary.finish(args, None);
    }
    let database = Database::of(&args.database)?;
    let store = database.create().await?;
    let ingest = ingest(&store, args);
    for path in there {
        match path.as_path() {
            input if input == Path::new("-") => add_input(&store, args, &mut summary).await?,
            folder if folder.is_dir() => add_folder(&ingest, folder, &database, &mut summary).await?,
            file => add_file(&ingest, file, &mut summary).await?,
        }
    }
    summary.finish(args, Some(&database))
}

/// Checks that `--id`, `--title` and `--name` fit, that standard input has an id, and that stores can keep the tags.
fn check_options(args: &KnowledgeAddArgs) -> Result<(), Failure> {
    let is_named = args.id.is_some() || args.title.is_some();
    if is_named && let Some(folder) = args.paths.iter().find(|path| path.is_dir()) {
        return Err(Failure::usage(format!(
            "--id and --title are for a single file, but {} is a folder",
            shown(folder)
        )));
    }
    if (is_named || args.name.is_some()) && args.paths.len() > 1 {
        return Err(Failure::usage(
            "--id, --title and --name are for a single file or folder, but several are given",
        ));
    }
    if args.id.is_none() && args.paths.iter().any(|path| path == Path::new("-")) {
        return Err(Failure::usage("a page from standard input needs an id; pass --id"));
    }
    let tagged = KnowledgePage::new("page", "", "");
    let tagged = args.tags.iter().fold(tagged, KnowledgePage::with_tag);
    Ok(tagged.check()?)
}

fn ingest(store: &SqliteStore, args: &KnowledgeAddArgs) -> Ingest {
    let preprocessor = StandardPreprocessor::new(Arc::new(SystemClock::new()));
    let mut ingest = Ingest::new(Arc::new(store.clone()), Arc::new(preprocessor));
    for tag in &args.tags {
        ingest = ingest.with_tag(tag);
    }
    if let Some(name) = &args.name {
        ingest = ingest.with_name(name);
    }
    if let Some(id) = &args.id {
        ingest = ingest.with_page_id(id);
    }
    match &args.title {
        Some(title) => ingest.with_title(title),
        None => ingest,
    }
}

/// Saves standard input as a page.
async fn add_input(store: &SqliteStore, args: &KnowledgeAddArgs, summary: &mut Summary) -> Result<(), Failure> {
    let text = read_stdin().await?;
    let id = args.id.as_deref().unwrap_or_default();
    let mut page = markdown::from_markdown(id, &text, &Actor::local())?;
    id.clone_into(&mut page.id);
    if let Some(title) = &args.title {
        page.title.clone_from(title);
    }
    let page = args.tags.iter().fold(page, KnowledgePage::with_tag);
    page.check()?;
    let saved = save(store, vec![page]).await?;
    summary.pages_saved += (saved.added.len() + saved.replaced.len()) as u64;
    summary.unchanged += saved.unchanged as u64;
    summary.added.extend(saved.added);
    summary.changed.extend(saved.replaced);
    Ok(())
}

async fn add_folder(ingest: &Ingest, folder: &Path, database: &Database, summary: &mut Summary) -> Result<(), Failure> {
    let mut line = ProgressLine::new(database.as_json);
    let report = ingest
        .folder(folder, |progress| line.show(progress.done, progress.total))
        .await;
    line.clear();
    let report = match report {
        Ok(report) => report,
        Err(error) => return summary.stop(folder, error),
    };
    summary.unchanged += report.unchanged;
    for file in report.files {
        summary.add(file);
    }
    let left_out = report.left_out.into_iter();
    summary.skipped.extend(left_out.map(|left| (left.path, left.reason)));
    Ok(())
}

async fn add_file(ingest: &Ingest, file: &Path, summary: &mut Summary) -> Result<(), Failure> {
    match ingest.file(file).await {
        // A person wants to read this one.
        Ok(FileOutcome {
            status: FileStatus::Skipped(reason),
            ..
        }) => summary.fail(&shown(file), &reason),
        Ok(outcome) => summary.add(outcome),
        Err(error) => return summary.stop(file, error),
    }
    Ok(())
}

impl Summary {
    fn add(&mut self, file: FileOutcome) {
        self.pages_saved += file.pages.saved;
        self.pages_deleted += file.pages.deleted;
        let warnings = file.warnings.iter();
        let warning = |text: &String| format!("a part of {} was not read: {text}", sanitized_line(&file.source));
        self.warnings.extend(warnings.map(warning));
        match file.status {
            FileStatus::Added => self.added.push(file.source),
            FileStatus::Changed => self.changed.push(file.source),
            FileStatus::Removed => self.removed.push(file.source),
            FileStatus::Failed(reason) => self.fail(&file.source, &reason),
            FileStatus::Skipped(reason) => self.without_text.push((file.source, reason)),
            _ => self.unchanged += 1,
        }
    }

    fn fail(&mut self, path: &str, reason: &str) {
        self.failed.push((path.to_owned(), sanitized_line(reason)));
    }

    /// Notes that a folder or file cannot be read at all, or returns the failure of the database.
    fn stop(&mut self, path: &Path, error: IngestError) -> Result<(), Failure> {
        match error {
            IngestError::Folder(problem) => {
                self.fail(&shown(path), problem.message());
                Ok(())
            }
            IngestError::Store(error) => Err(error.into()),
            other => Err(Failure::task(other.to_string())),
        }
    }

    /// Prints the result.
    ///
    /// # Errors
    /// When a file cannot be read.
    fn finish(self, args: &KnowledgeAddArgs, database: Option<&Database>) -> Result<(), Failure> {
        let line = |(path, reason): &(String, String)| format!("cannot read {}: {reason}", sanitized_line(path));
        let lines: Vec<String> = self.failed.iter().map(line).collect();
        let lines = lines.join("\n");
        let good = self.added.len() + self.changed.len() + self.removed.len();
        let Some(database) = database.filter(|_| good > 0 || self.unchanged > 0 || self.failed.is_empty()) else {
            return Err(Failure::usage(match args.paths.as_slice() {
                [path] if !path.is_dir() => lines,
                _ => format!("none of the files can be read; nothing was saved\n{lines}"),
            }));
        };
        print_notices(&self.notices())?;
        database.print(self.as_json(), &self.text())?;
        match self.failed.len() {
            0 => Ok(()),
            1 => Err(Failure::task(format!(
                "1 file could not be read; everything else is saved\n{lines}"
            ))),
            count => Err(Failure::task(format!(
                "{count} files could not be read; everything else is saved\n{lines}"
            ))),
        }
    }

    fn notices(&self) -> Vec<String> {
        // Files without text are not named, because folders have many pictures.
        let named = self.skipped.iter().map(|(path, reason)| {
            format!(
                "warning: {} was skipped: {}",
                sanitized_line(path),
                sanitized_line(reason)
            )
        });
        let warnings = self
            .warnings
            .iter()
            .map(|warning| format!("warning: {}", sanitized_line(warning)));
        named.chain(warnings).collect()
    }

    fn text(&self) -> String {
        let files = match self.added.len() {
            1 => "1 file was added".to_owned(),
            count => format!("{count} files were added"),
        };
        let mut text = format!("{files}, {} changed, {} unchanged", self.changed.len(), self.unchanged);
        if !self.removed.is_empty() {
            text += &format!(", {} removed", self.removed.len());
        }
        if !self.without_text.is_empty() {
            text += &format!(", {} without text skipped", self.without_text.len());
        }
        let saved = usize::try_from(self.pages_saved).unwrap_or(usize::MAX);
        text += &format!(
            ". {}, {} deleted.",
            counted(saved, "was saved", "were saved"),
            self.pages_deleted
        );
        text
    }

    fn as_json(&self) -> Value {
        let pairs = |pairs: &[(String, String)]| -> Value {
            let pair = |(path, reason): &(String, String)| json!({ "path": path, "reason": reason });
            pairs.iter().map(pair).collect()
        };
        let mut result = json!({
            "added": self.added, "changed": self.changed, "removed": self.removed, "unchanged": self.unchanged,
            "pages_saved": self.pages_saved, "pages_deleted": self.pages_deleted,
            "skipped": pairs(&[self.skipped.as_slice(), &self.without_text].concat()), "failed": pairs(&self.failed),
        });
        if !self.warnings.is_empty() {
            result["warnings"] = json!(self.warnings);
        }
        result
    }
}
