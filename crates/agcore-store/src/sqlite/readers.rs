//! [`Readers`]: the threads that read.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::thread::{self, gone, panicked};
use crate::error::StoreError;

/// The capacity of the queue of reads. When it is full, callers wait until there is space.
const QUEUE: usize = 1024;

/// Sends reads to the threads, which end with the last sender.
#[derive(Debug)]
pub(super) struct Readers(mpsc::Sender<Job>);

type Job = Box<dyn FnOnce(&Connection) + Send>;

impl Readers {
    /// Starts the threads, each with a connection that this function opens.
    ///
    /// # Errors
    /// When a connection cannot be opened or a thread cannot be started.
    pub(super) async fn start(
        threads: usize,
        open: impl Fn() -> Result<Connection, StoreError> + Send + Sync + 'static,
    ) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel::<Job>(QUEUE);
        let (queue, open) = (Arc::new(Mutex::new(queue)), Arc::new(open));
        for number in 0..threads {
            let (queue, open) = (Arc::clone(&queue), Arc::clone(&open));
            let name = format!("agcore-sqlite-reader-{number}");
            thread::start(&name, move || open(), move |connection| read_all(&connection, &queue)).await?;
        }
        Ok(Self(jobs))
    }

    /// Runs a read on one of the threads.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (done, result) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // Nothing waits for the result any more if the future was dropped.
            if !done.is_closed() {
                let read = catch_unwind(AssertUnwindSafe(|| job(connection))).unwrap_or_else(|_| Err(panicked()));
                let _ = done.send(read);
            }
        });
        self.0.send(job).await.map_err(|_| gone())?;
        result.await.unwrap_or_else(|_| Err(gone()))
    }
}

fn read_all(connection: &Connection, queue: &Mutex<mpsc::Receiver<Job>>) {
    loop {
        // One thread waits for the next job, the others wait for the lock.
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        match next {
            Some(job) => job(connection),
            None => return,
        }
    }
}
