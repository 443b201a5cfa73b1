//! Runs a parser on a thread of its own.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{limits::Limits, parse::Parser, preprocessed::Preprocessed, problem::FileProblem, work::Work};

/// The stack of a worker in bytes. Parsers limit how deep they nest, but not all of them to what a small stack holds.
const STACK_BYTES: usize = 16 << 20;

/// A file and the parser that reads it.
pub(super) struct Job {
    pub(super) parser: Parser,
    pub(super) name: String,
    pub(super) content: Vec<u8>,
    pub(super) limits: Limits,
}

/// Asks a worker to stop when it is dropped.
#[derive(Debug)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicBool::new(false)))
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Starts a worker, which keeps the permit until it ends. If the parser panics, the receiver gets nothing.
pub(super) fn start(
    job: Job,
    stop: &Stop,
    permit: OwnedSemaphorePermit,
) -> io::Result<oneshot::Receiver<Result<Preprocessed, FileProblem>>> {
    let (sender, receiver) = oneshot::channel();
    let stop = Arc::clone(&stop.0);
    let body = move || {
        // Released at the very end, and also when the parser panics.
        let _permit = permit;
        let work = Work::new(&job.name, &job.content, &job.limits, &stop);
        let result = (job.parser)(&work);
        // After the limit of time, the receiver is gone.
        let _ = sender.send(result);
    };
    let builder = thread::Builder::new()
        .name("agcore-files".to_owned())
        .stack_size(STACK_BYTES);
    builder.spawn(body)?;
    Ok(receiver)
}
