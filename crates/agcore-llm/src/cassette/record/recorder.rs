//! [`ExchangeRecorder`]: an exchange that is being recorded.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use agcore_chat::{ChatRequest, Clock};

use crate::{
    cassette::{
        ending::Ending,
        exchange::{Chunk, Exchange},
        item::RecordedItem,
        scrub::Scrub,
        sink::CassetteSink,
    },
    provider::{Call, ProviderInfo},
};

/// The maximum number of problems that are kept.
const MAX_PROBLEMS: usize = 16;

/// An exchange that was not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordingProblem {
    /// The number of the call, from 1.
    pub call: u64,
    /// The reason why the exchange was not recorded.
    pub reason: String,
}

impl fmt::Display for RecordingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} was not recorded: {}", self.call, self.reason)
    }
}

/// The state shared by the exchanges of a recording.
#[derive(Debug, Clone)]
pub(super) struct Recorder {
    sink: Arc<dyn CassetteSink>,
    scrub: Arc<Scrub>,
    clock: Arc<dyn Clock>,
    calls: Arc<AtomicU64>,
    problems: Arc<Mutex<Vec<RecordingProblem>>>,
}

impl Recorder {
    pub(super) fn new(sink: Arc<dyn CassetteSink>, clock: Arc<dyn Clock>) -> Self {
        Self {
            sink,
            scrub: Arc::new(Scrub::new()),
            clock,
            calls: Arc::default(),
            problems: Arc::default(),
        }
    }

    pub(super) fn set_scrub(&mut self, scrub: Scrub) {
        self.scrub = Arc::new(scrub);
    }

    pub(super) fn problems(&self) -> Vec<RecordingProblem> {
        self.problem_list().clone()
    }

    fn problem_list(&self) -> MutexGuard<'_, Vec<RecordingProblem>> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, call: u64, recorder: &mut ExchangeRecorder, end: Ending) {
        if let Err(reason) = self.try_write(call, recorder, end) {
            self.report(RecordingProblem { call, reason });
        }
    }

    fn try_write(&self, call: u64, recorder: &mut ExchangeRecorder, end: Ending) -> Result<(), String> {
        let request = serde_json::to_value(&*recorder.request)
            .map_err(|error| format!("cannot serialize the request: {error}"))?;
        let mut exchange = Exchange {
            call,
            provider: recorder.provider.to_string(),
            model: recorder.model.to_string(),
            stream: recorder.stream,
            request,
            headers: recorder.request.extra_headers.clone(),
            chunks: std::mem::take(&mut recorder.chunks),
            end,
            ms: recorder.elapsed_ms(),
        };
        let scrubbed = self.scrub.exchange(&mut exchange);
        scrubbed.map_err(|error| format!("the exchange is invalid after secrets were removed: {error}"))?;
        let written = self.sink.record(&exchange);
        written.map_err(|error| format!("cannot write the cassette: {error}"))
    }

    fn report(&self, problem: RecordingProblem) {
        let mut problems = self.problem_list();
        if problems.is_empty() {
            tracing::warn!(%problem, "an exchange is missing from the cassette; further ones are not logged");
        }
        if problems.len() < MAX_PROBLEMS {
            problems.push(problem);
        }
    }
}

/// An exchange that is being recorded.
#[derive(Debug)]
pub(super) struct ExchangeRecorder {
    recorder: Recorder,
    provider: Arc<str>,
    model: Arc<str>,
    stream: bool,
    request: Arc<ChatRequest>,
    /// The number of the call and its start; `None` before the reply is polled.
    started: Option<(u64, Duration)>,
    chunks: Vec<Chunk>,
    /// Whether the next item belongs to the last chunk.
    in_chunk: bool,
}

impl ExchangeRecorder {
    pub(super) fn new(recorder: Recorder, call: &Call, info: &ProviderInfo) -> Self {
        Self {
            recorder,
            provider: Arc::clone(&info.name),
            model: Arc::clone(&info.model),
            stream: call.stream,
            request: Arc::clone(&call.request),
            started: None,
            chunks: Vec::new(),
            in_chunk: false,
        }
    }

    /// Starts the call, unless it has started already. Called whenever the reply is polled.
    pub(super) fn start(&mut self) {
        let recorder = &self.recorder;
        self.started.get_or_insert_with(|| {
            let call = recorder.calls.fetch_add(1, Ordering::Relaxed) + 1;
            (call, recorder.clock.monotonic())
        });
    }

    /// Ends the current chunk.
    pub(super) fn end_chunk(&mut self) {
        self.in_chunk = false;
    }

    /// Adds an item to the current chunk, or starts a new one.
    pub(super) fn push(&mut self, item: RecordedItem) {
        match self.chunks.last_mut().filter(|_| self.in_chunk) {
            Some(chunk) => chunk.items.push(item),
            None => {
                let ms = self.elapsed_ms();
                self.chunks.push(Chunk { ms, items: vec![item] });
            }
        }
        self.in_chunk = true;
    }

    /// Writes the exchange, if the call has started.
    pub(super) fn finish(mut self, end: Ending) {
        if let Some((call, _)) = self.started {
            self.recorder.clone().write(call, &mut self, end);
        }
    }

    /// Returns the milliseconds since the start of the call.
    fn elapsed_ms(&self) -> u64 {
        let now = self.recorder.clock.monotonic();
        let elapsed = self
            .started
            .map_or(Duration::ZERO, |(_, start)| now.saturating_sub(start));
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }
}
