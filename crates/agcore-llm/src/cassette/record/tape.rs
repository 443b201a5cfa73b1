//! [`Tape`]: an exchange while it is recorded.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use agcore_chat::{ChatRequest, Clock};
use serde_json::Value;

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

/// How many problems are kept in words.
const MOST: usize = 16;

/// An exchange that was not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordingProblem {
    /// Which call it was, from 1.
    pub call: u64,
    /// Why it was not recorded.
    pub why: String,
}

impl fmt::Display for RecordingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} was not recorded: {}", self.call, self.why)
    }
}

/// What the exchanges of a recording share.
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

    fn write(&self, call: u64, tape: &mut Tape, end: Ending) {
        if let Err(why) = self.try_write(call, tape, end) {
            self.complain(RecordingProblem { call, why });
        }
    }

    fn try_write(&self, call: u64, tape: &mut Tape, end: Ending) -> Result<(), String> {
        let (request, headers) = tape
            .asked()
            .map_err(|error| format!("the request has no JSON form: {error}"))?;
        let mut exchange = Exchange {
            call,
            provider: tape.provider.to_string(),
            model: tape.model.to_string(),
            stream: tape.stream,
            request,
            headers,
            chunks: std::mem::take(&mut tape.chunks),
            end,
            ms: tape.ms(),
        };
        let cleaned = self.scrub.clean(&mut exchange);
        cleaned.map_err(|error| format!("what is left when secrets are taken out is no exchange: {error}"))?;
        let kept = self.sink.keep(&exchange);
        kept.map_err(|error| format!("the cassette cannot be written: {error}"))
    }

    fn complain(&self, problem: RecordingProblem) {
        let mut problems = self.problem_list();
        if problems.is_empty() {
            tracing::warn!(%problem, "an exchange is missing from the cassette; others may follow untold");
        }
        if problems.len() < MOST {
            problems.push(problem);
        }
    }
}

/// An exchange while it is recorded.
#[derive(Debug)]
pub(super) struct Tape {
    recorder: Recorder,
    provider: Arc<str>,
    model: Arc<str>,
    stream: bool,
    request: Arc<ChatRequest>,
    /// Which call it is and when it began; none before it is polled.
    begun: Option<(u64, Duration)>,
    chunks: Vec<Chunk>,
    /// Whether what comes next came together with what came last.
    goes_on: bool,
}

impl Tape {
    pub(super) fn new(recorder: Recorder, call: &Call, info: &ProviderInfo) -> Self {
        Self {
            recorder,
            provider: Arc::clone(&info.name),
            model: Arc::clone(&info.model),
            stream: call.stream,
            request: Arc::clone(&call.request),
            begun: None,
            chunks: Vec::new(),
            goes_on: false,
        }
    }

    /// The reply is polled; the first time, the call begins.
    pub(super) fn begin(&mut self) {
        let recorder = &self.recorder;
        self.begun.get_or_insert_with(|| {
            let call = recorder.calls.fetch_add(1, Ordering::Relaxed) + 1;
            (call, recorder.clock.monotonic())
        });
    }

    /// There is nothing for now.
    pub(super) fn pause(&mut self) {
        self.goes_on = false;
    }

    pub(super) fn take(&mut self, item: RecordedItem) {
        match self.chunks.last_mut().filter(|_| self.goes_on) {
            Some(chunk) => chunk.items.push(item),
            None => {
                let ms = self.ms();
                self.chunks.push(Chunk { ms, items: vec![item] });
            }
        }
        self.goes_on = true;
    }

    /// Writes the exchange, if the call had begun.
    pub(super) fn finish(mut self, end: Ending) {
        if let Some((call, _)) = self.begun {
            self.recorder.clone().write(call, &mut self, end);
        }
    }

    /// What was asked.
    ///
    /// # Errors
    /// When it has no JSON form.
    fn asked(&self) -> Result<(Value, Vec<(String, String)>), serde_json::Error> {
        let request = serde_json::to_value(&*self.request)?;
        Ok((request, self.request.extra_headers.clone()))
    }

    /// Milliseconds since the call began.
    fn ms(&self) -> u64 {
        let now = self.recorder.clock.monotonic();
        let spent = self
            .begun
            .map_or(Duration::ZERO, |(_, begun)| now.saturating_sub(begun));
        u64::try_from(spent.as_millis()).unwrap_or(u64::MAX)
    }
}
