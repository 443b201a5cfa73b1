//! [`StandardPreprocessor`]: reads the formats whose features are enabled.

mod worker;

use std::{pin::pin, sync::Arc};

use agcore_chat::Clock;
use async_trait::async_trait;
use futures_util::future::{Either, select};
use tokio::sync::Semaphore;

use self::worker::{Job, Stop};
use crate::{
    kind::{FileKind, legacy_office, media_type},
    limits::Limits,
    origin::OriginFile,
    parse::{Parser, parser},
    preprocessed::{OtherFile, Preprocessed},
    preprocessor::FilePreprocessor,
    problem::{FileProblem, FileProblemKind},
    work::{exceeded, timed_out},
};

/// The number of files that are read at the same time by default.
const DEFAULT_WORKERS: usize = 4;

/// Reads the formats whose features are enabled, each file on a thread of its own.
///
/// Other kinds of files, such as images, become an [`OtherFile`] without a problem. A thread cannot be ended from outside: a
/// parser that does not return keeps its worker, and when all workers are taken, further files end with
/// [`FileProblemKind::TimedOut`]. A parser that panics ends with [`FileProblemKind::Crashed`]; that needs `panic = "unwind"`.
///
/// ```
/// # #[cfg(feature = "csv")] {
/// use std::sync::Arc;
///
/// use agcore_chat::SystemClock;
/// use agcore_files::{FilePreprocessor, OriginFile, StandardPreprocessor};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let preprocessor = StandardPreprocessor::new(Arc::new(SystemClock::new()));
/// let file = OriginFile::new("prices.csv");
/// let found = preprocessor.preprocess(&file, b"item;price\npear;2\n".to_vec()).await?;
/// assert_eq!(found.tables[0].columns, ["item", "price"]);
/// assert_eq!(found.tables[0].rows, [[json!("pear"), json!("2")]]);
/// # Ok::<(), agcore_files::FileProblem>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct StandardPreprocessor {
    limits: Limits,
    clock: Arc<dyn Clock>,
    workers: Arc<Semaphore>,
}

impl StandardPreprocessor {
    /// Creates a preprocessor with the default limits and four workers.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            limits: Limits::new(),
            clock,
            workers: Arc::new(Semaphore::new(DEFAULT_WORKERS)),
        }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many files are read at the same time, at least one. Clones share their workers.
    #[must_use]
    pub fn with_workers(mut self, workers: usize) -> Self {
        self.workers = Arc::new(Semaphore::new(workers.clamp(1, Semaphore::MAX_PERMITS)));
        self
    }

    /// Returns the limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    async fn run(&self, job: Job, stop: &Stop) -> Result<Preprocessed, FileProblem> {
        let name = job.name.clone();
        let crashed = || {
            let message = "its parser crashed, which is a defect of the parser; report it with the file if you can";
            FileProblem::new(&name, FileProblemKind::Crashed, message)
        };
        // The semaphore is never closed.
        let Ok(permit) = Arc::clone(&self.workers).acquire_owned().await else {
            return Err(crashed());
        };
        let result = worker::start(job, stop, permit).map_err(|error| {
            let message = "the system does not start another thread; try again later";
            FileProblem::new(&name, FileProblemKind::Unavailable, message).with_source(error)
        })?;
        result.await.unwrap_or_else(|_| Err(crashed()))
    }

    /// Runs a parser with the limit of time.
    async fn run_parser(&self, parser: Parser, name: &str, content: Vec<u8>) -> Result<Preprocessed, FileProblem> {
        let job = Job {
            parser,
            name: name.to_owned(),
            content,
            limits: self.limits.clone(),
        };
        // Dropped on every way out, also when this future is.
        let stop = Stop::new();
        let run = pin!(self.run(job, &stop));
        match select(run, self.clock.sleep(self.limits.time)).await {
            Either::Left((result, _)) => result,
            Either::Right(((), _)) => Err(timed_out(name, &self.limits)),
        }
    }
}

#[async_trait]
impl FilePreprocessor for StandardPreprocessor {
    async fn preprocess(&self, file: &OriginFile, content: Vec<u8>) -> Result<Preprocessed, FileProblem> {
        let limit = self.limits.bytes;
        if content.len() > limit {
            return Err(exceeded(&file.name, &format!("it is larger than {limit} bytes")));
        }
        let kind = file.kind.unwrap_or_else(|| FileKind::detect(&file.name, &content));
        if kind == FileKind::Other {
            if let Some(problem) = unreadable(file, &content) {
                return Err(problem);
            }
            let mut other = OtherFile::new(file.clone());
            other.media_type = media_type(&content);
            other.bytes = Some(content.len());
            return Ok(Preprocessed {
                other_files: vec![other],
                ..Preprocessed::new()
            });
        }
        let Some(parser) = parser(kind) else {
            let message =
                format!("this program has no parser for files of the kind {kind}; convert it to another kind");
            return Err(FileProblem::new(&file.name, FileProblemKind::Unsupported, message));
        };
        self.run_parser(parser, &file.name, content).await
    }

    fn max_bytes(&self) -> usize {
        self.limits.bytes
    }
}

/// Returns why a file has no text although its name or its format says so.
fn unreadable(file: &OriginFile, content: &[u8]) -> Option<FileProblem> {
    if let Some((kind, message)) = legacy_office(content) {
        return Some(FileProblem::new(&file.name, kind, message));
    }
    let named = FileKind::from_name(&file.name)?;
    let message = match media_type(content) {
        Some(media_type) => format!("its name is that of a {named} file, but its content is {media_type}; rename it"),
        None if memchr::memchr(0, content).is_some() => {
            "it contains NUL bytes, which texts do not; save it as text in UTF-8".to_owned()
        }
        None => return None,
    };
    Some(FileProblem::new(&file.name, FileProblemKind::Broken, message))
}

#[cfg(test)]
mod tests;
