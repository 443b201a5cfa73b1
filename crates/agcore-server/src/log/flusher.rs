//! [`Flusher`]: writes what runs report while they work, each report some time after it was added.

use std::{
    collections::VecDeque,
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use agcore_chat::Clock;
use agcore_memory::MemoryError;
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::run_log::{FlushQueue, RunLog};

/// The pause after the store has failed.
const PAUSE: Duration = Duration::from_millis(200);

/// The number of logs that are taken from the queue at once.
const TAKEN: usize = 256;

/// Writes the logs that have something to write. One task with one timer serves all runs, and their writes reach the store
/// together, which commits them together.
pub(crate) struct Flusher {
    added: mpsc::UnboundedReceiver<Arc<RunLog>>,
    clock: Arc<dyn Clock>,
    /// How long a log waits, so that what comes next is written with it.
    gather: Duration,
    /// The logs that wait, with the time at which each is due, in this order.
    waiting: VecDeque<(Duration, Arc<RunLog>)>,
    timer: Option<Timer>,
}

/// Ends when the first log is due.
struct Timer {
    due: Duration,
    sleep: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Flusher {
    pub(crate) fn new(clock: Arc<dyn Clock>, gather: Duration) -> (FlushQueue, Self) {
        let (queue, added) = mpsc::unbounded_channel();
        let flusher = Self {
            added,
            clock,
            gather,
            waiting: VecDeque::new(),
            timer: None,
        };
        (queue, flusher)
    }

    /// Writes logs until `stop` is cancelled.
    pub(crate) async fn run(&mut self, stop: &CancellationToken) {
        let mut writes = FuturesUnordered::new();
        let mut added = Vec::with_capacity(TAKEN);
        let mut stopped = pin!(stop.cancelled());
        loop {
            self.set_timer();
            tokio::select! {
                biased;
                () = &mut stopped => return,
                Some((log, result)) = writes.next(), if !writes.is_empty() => self.written(log, result),
                count = self.added.recv_many(&mut added, TAKEN) => {
                    if count == 0 {
                        return;
                    }
                    added.drain(..).for_each(|log| self.wait(self.gather, log));
                }
                () = until_due(&mut self.timer) => {
                    let now = self.clock.monotonic();
                    let due = self.waiting.partition_point(|(due, _)| *due <= now);
                    writes.extend(self.waiting.drain(..due).map(|(_, log)| flush(log)));
                    self.timer = None;
                }
            }
        }
    }

    fn set_timer(&mut self) {
        let Some((due, _)) = self.waiting.front() else {
            return;
        };
        if self.timer.as_ref().is_none_or(|timer| *due < timer.due) {
            let (clock, rest) = (Arc::clone(&self.clock), due.saturating_sub(self.clock.monotonic()));
            self.timer = Some(Timer {
                due: *due,
                sleep: Box::pin(async move { clock.sleep(rest).await }),
            });
        }
    }

    fn wait(&mut self, time: Duration, log: Arc<RunLog>) {
        let due = self.clock.monotonic().saturating_add(time);
        let place = self.waiting.partition_point(|(other, _)| *other <= due);
        self.waiting.insert(place, (due, log));
    }

    fn written(&mut self, log: Arc<RunLog>, result: Result<(), MemoryError>) {
        if let Err(error) = result {
            tracing::warn!(run = log.job.run, ?error, "events were not written yet");
            self.wait(PAUSE, log);
        }
    }
}

async fn until_due(timer: &mut Option<Timer>) {
    match timer {
        Some(timer) => timer.sleep.as_mut().await,
        None => std::future::pending().await,
    }
}

/// Writes a log, unless its run does not report any more: then the code that ends the run writes it.
async fn flush(log: Arc<RunLog>) -> (Arc<RunLog>, Result<(), MemoryError>) {
    let result = match log.is_flushed() {
        true => log.flush().await,
        false => Ok(()),
    };
    (log, result)
}
