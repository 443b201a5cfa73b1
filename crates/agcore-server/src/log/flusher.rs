//! [`Flusher`]: writes what runs report while they work, each report some time after it was added.

use std::{
    collections::VecDeque,
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use agcore_chat::Clock;
use agcore_session::{SessionError, SessionErrorKind, SessionEvents, SessionStore};
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    committer::PreparedWrite,
    run_log::{FlushQueue, RunLog},
};

/// The pause after the store has failed.
const PAUSE: Duration = Duration::from_millis(200);

/// The pause between writes. Logs that become due meanwhile are written together.
const PACE: Duration = Duration::from_millis(10);

/// Writes the logs that have unwritten reports. One task with one timer serves all runs, and their writes reach the store
/// together, which commits them together.
pub(crate) struct Flusher {
    added: mpsc::UnboundedReceiver<(Duration, Arc<RunLog>)>,
    clock: Arc<dyn Clock>,
    /// How long a log waits, so that what comes next is written with it.
    gather: Duration,
    store: Arc<dyn SessionStore>,
    /// The logs that wait, with the time at which each is due, in this order.
    waiting: VecDeque<(Duration, Arc<RunLog>)>,
    /// The earliest time of the next write.
    next_write: Duration,
    timer: Option<Timer>,
}

/// The write of a log, together with those of others.
struct Prepared {
    log: Arc<RunLog>,
    write: PreparedWrite,
}

/// Ends when the first log is due, or the next write.
struct Timer {
    due: Duration,
    sleep: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Flusher {
    pub(crate) fn new(store: Arc<dyn SessionStore>, clock: Arc<dyn Clock>, gather: Duration) -> (FlushQueue, Self) {
        let (queue, added) = mpsc::unbounded_channel();
        let flusher = Self {
            added,
            clock,
            gather,
            store,
            waiting: VecDeque::new(),
            next_write: Duration::ZERO,
            timer: None,
        };
        (queue, flusher)
    }

    /// Writes logs until `stop` is cancelled.
    pub(crate) async fn run(&mut self, stop: &CancellationToken) {
        let (mut batches, mut writes) = (FuturesUnordered::new(), FuturesUnordered::new());
        // The events of the next write. They lock their logs, which must end with this call.
        let mut ready = Vec::new();
        let mut stopped = pin!(stop.cancelled());
        loop {
            let is_timed = self.set_timer(!ready.is_empty());
            tokio::select! {
                biased;
                () = &mut stopped => break,
                Some(written) = batches.next(), if !batches.is_empty() => {
                    let written: Vec<(Arc<RunLog>, _)> = written;
                    written.into_iter().for_each(|(log, result)| self.written(log, result));
                }
                Some((log, result)) = writes.next(), if !writes.is_empty() => self.written(log, result),
                // Nothing that is added is due before the timer ends, so it need not wake this task.
                added = self.added.recv(), if !is_timed => match added {
                    Some((time, log)) => self.wait(time.saturating_add(self.gather), log),
                    None => break,
                },
                () = until_due(&mut self.timer) => {
                    self.timer = None;
                    // What models write at this moment belongs to it.
                    tokio::task::yield_now().await;
                    let now = self.clock.monotonic();
                    writes.extend(self.prepare(now, &mut ready).into_iter().map(flush));
                    if !ready.is_empty() && self.next_write <= now {
                        self.next_write = now.saturating_add(PACE);
                        batches.push(write(Arc::clone(&self.store), std::mem::take(&mut ready)));
                    }
                }
            }
        }
        drop(ready);
        // What they write is read by the code that ends the runs.
        while batches.next().await.is_some() {}
        while writes.next().await.is_some() {}
    }

    /// Prepares the writes of all logs that are due. Returns those that must be written alone.
    fn prepare(&mut self, now: Duration, ready: &mut Vec<(Prepared, SessionEvents)>) -> Vec<Arc<RunLog>> {
        while let Ok((time, log)) = self.added.try_recv() {
            self.wait(time.saturating_add(self.gather), log);
        }
        let due = self.waiting.partition_point(|(due, _)| *due <= now);
        let mut alone = Vec::new();
        // Of others, the code that ends the run writes them.
        let due = self
            .waiting
            .drain(..due)
            .map(|(_, log)| log)
            .filter(|log| log.is_flushed());
        for log in due {
            match log.committer.prepare() {
                Some((write, events)) => ready.push((Prepared { log, write }, events)),
                None => alone.push(log),
            }
        }
        alone
    }

    /// Sets the timer to the time at which the next log or write is due. Returns whether it ends before anything that is added
    /// from here on is due.
    fn set_timer(&mut self, is_ready: bool) -> bool {
        let first = self.waiting.front().map(|(due, _)| *due);
        let write = is_ready.then_some(self.next_write);
        let Some(due) = first.into_iter().chain(write).min() else {
            return false;
        };
        let now = self.clock.monotonic();
        if self.timer.as_ref().is_none_or(|timer| due < timer.due) {
            let (clock, rest) = (Arc::clone(&self.clock), due.saturating_sub(now));
            self.timer = Some(Timer {
                due,
                sleep: Box::pin(async move { clock.sleep(rest).await }),
            });
        }
        due <= now.saturating_add(self.gather)
    }

    fn wait(&mut self, due: Duration, log: Arc<RunLog>) {
        let place = self.waiting.partition_point(|(other, _)| *other <= due);
        self.waiting.insert(place, (due, log));
    }

    fn written(&mut self, log: Arc<RunLog>, result: Result<(), SessionError>) {
        if let Err(error) = result {
            if matches!(error.kind(), SessionErrorKind::Fenced | SessionErrorKind::NotFound) {
                // Another worker has the run, or it was deleted.
                tracing::debug!(
                    run = log.job.run,
                    ?error,
                    "events of a run are not written here any more"
                );
                return;
            }
            tracing::warn!(run = log.job.run, ?error, "events were not written yet");
            let pause = match error.kind() {
                // It is written alone then, from the end that the session has.
                SessionErrorKind::Conflict { .. } => Duration::ZERO,
                _ => PAUSE,
            };
            self.wait(self.clock.monotonic().saturating_add(pause), log);
        }
    }
}

async fn until_due(timer: &mut Option<Timer>) {
    match timer {
        Some(timer) => timer.sleep.as_mut().await,
        None => std::future::pending().await,
    }
}

/// Writes a log alone.
async fn flush(log: Arc<RunLog>) -> (Arc<RunLog>, Result<(), SessionError>) {
    let result = log.flush().await;
    (log, result)
}

/// Writes logs together.
async fn write(
    store: Arc<dyn SessionStore>,
    batch: Vec<(Prepared, SessionEvents)>,
) -> Vec<(Arc<RunLog>, Result<(), SessionError>)> {
    let (prepared, events): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
    let results = store.commit_events(events).await;
    let written = prepared.into_iter().zip(results);
    let finish = |(Prepared { log, write }, result)| {
        let result = log.committer.finish(write, result);
        (log, result)
    };
    written.map(finish).collect()
}
