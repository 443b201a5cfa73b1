//! Saves what was read of a file.

use agcore_files::{FileProblem, FileProblemKind};
use agcore_memory::{
    MemoryError, MemoryErrorKind,
    knowledge::{KnowledgePage, KnowledgeSource, SourceChanges, SourceStore},
};

use crate::{
    prepared::{Naming, Prepared},
    report::{FileOutcome, FileStatus},
};

/// Saves a file with its pages.
///
/// # Errors
/// When the store fails. Pages that it refuses are an outcome.
pub(super) async fn save(
    store: &dyn SourceStore,
    naming: &Naming,
    prepared: Prepared,
    known: Option<&KnowledgeSource>,
) -> Result<FileOutcome, MemoryError> {
    let outcome = |status: FileStatus| FileOutcome::new(naming.source.as_str(), status);
    match prepared {
        Prepared::Pages(source, pages) => save_pages(store, naming, (*source, pages), known).await,
        Prepared::Unchanged => Ok(match known.and_then(|known| known.problem.clone()) {
            Some(problem) => outcome(FileStatus::Failed(problem)),
            None => outcome(FileStatus::Unchanged),
        }),
        Prepared::NoText(reason) => {
            let deleted = delete(store, naming, known).await?;
            Ok(outcome(FileStatus::Skipped(reason)).with_pages(deleted))
        }
        Prepared::Problem(source, problem) => save_problem(store, *source, &problem).await,
        Prepared::Gone => {
            let deleted = delete(store, naming, known).await?;
            Ok(outcome(FileStatus::Removed).with_pages(deleted))
        }
    }
}

async fn save_pages(
    store: &dyn SourceStore,
    naming: &Naming,
    (source, mut pages): (KnowledgeSource, Vec<KnowledgePage>),
    known: Option<&KnowledgeSource>,
) -> Result<FileOutcome, MemoryError> {
    let warnings = source.warnings.clone();
    let mut saved = store.put_source(source.clone(), pages.clone()).await;
    if matches!(&saved, Err(error) if error.kind() == MemoryErrorKind::AlreadyExists) && rename(naming, &mut pages) {
        // Another file has the same name with another extension, or is in another folder.
        saved = store.put_source(source.clone(), pages).await;
    }
    let mut outcome = match saved {
        Ok(changes) => {
            let is_known = known.is_some_and(|known| known.problem.is_none());
            let status = if is_known {
                FileStatus::Changed
            } else {
                FileStatus::Added
            };
            FileOutcome::new(source.id, status).with_pages(changes)
        }
        Err(error) if is_refusal(&error) => {
            let mut source = source;
            // Tried again the next time: what is in its way may be gone.
            source.fingerprint = String::new();
            source.warnings.clear();
            source.problem = Some(error.to_string());
            let problem = FileProblem::new(&source.id, FileProblemKind::Broken, error.to_string());
            save_problem(store, source, &problem).await?
        }
        Err(error) => return Err(error),
    };
    outcome.warnings = warnings;
    Ok(outcome)
}

/// Gives pages whose ids begin with the path of the file without its extension the id of the source instead. Returns whether that
/// is another one.
fn rename(naming: &Naming, pages: &mut [KnowledgePage]) -> bool {
    let mut is_renamed = false;
    for page in pages {
        let Some(rest) = page.id.strip_prefix(&naming.page) else {
            continue;
        };
        if naming.page != naming.source && (rest.is_empty() || rest.starts_with('/')) {
            page.id = format!("{}{rest}", naming.source);
            is_renamed = true;
        }
    }
    is_renamed
}

/// Saves the record of a file that cannot be read. The pages of an earlier content stay.
async fn save_problem(
    store: &dyn SourceStore,
    source: KnowledgeSource,
    problem: &FileProblem,
) -> Result<FileOutcome, MemoryError> {
    let status = FileStatus::Failed(problem.message().to_owned());
    let outcome = FileOutcome::new(source.id.as_str(), status);
    match store.put_source(source, Vec::new()).await {
        Ok(changes) => Ok(outcome.with_pages(changes)),
        // The id itself is refused.
        Err(error) if is_refusal(&error) => Ok(outcome),
        Err(error) => Err(error),
    }
}

async fn delete(
    store: &dyn SourceStore,
    naming: &Naming,
    known: Option<&KnowledgeSource>,
) -> Result<SourceChanges, MemoryError> {
    let mut changes = SourceChanges::default();
    if known.is_some() {
        let deleted = store.delete_source(&naming.owner.tenant, &naming.source).await?;
        changes.deleted = deleted.unwrap_or(0);
    }
    Ok(changes)
}

/// Returns whether the store refuses a file, and others need not fail.
fn is_refusal(error: &MemoryError) -> bool {
    matches!(
        error.kind(),
        MemoryErrorKind::InvalidInput | MemoryErrorKind::AlreadyExists
    )
}
