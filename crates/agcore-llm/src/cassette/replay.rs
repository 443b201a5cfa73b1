//! [`ReplayProvider`]: answers from a cassette.

mod script;

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use agcore_chat::Clock;
use futures_core::Stream;
use tokio_util::sync::CancellationToken;

use self::script::{Action, Script};
use super::{
    book::{Book, Matching, question},
    document::{Cassette, CassetteError},
    path::FieldPath,
    scrub::Scrub,
};
use crate::{
    provider::{Call, LlmProvider, ProviderInfo},
    reply::{ReplyItem, ReplyStream},
};
use agcore_wire::{LlmError, LlmErrorKind, TimeoutStage};

/// A provider that answers from a cassette, without a network.
///
/// Each exchange is played once. Pieces of a reply come as they came: what came together comes together, and between two
/// chunks the stream is pending once. It takes no time, unless [`with_timings`](Self::with_timings) is asked for. A call
/// that is cancelled before it begins plays nothing.
///
/// A request that was not recorded is an `InvalidRequest`, which is not retried; its message lists the places at which it
/// differs from the nearest recorded one, with excerpts of both: it may hold what users said, though nothing that
/// [`Scrub`] takes out. Clones share the cassette.
#[derive(Debug, Clone)]
pub struct ReplayProvider {
    info: ProviderInfo,
    matching: Matching,
    scrub: Scrub,
    ignored: Vec<FieldPath>,
    clock: Option<Arc<dyn Clock>>,
    book: Arc<Mutex<Book>>,
}

impl ReplayProvider {
    /// Plays a cassette, strictly. It goes by the name and model of the first exchange, with the default capabilities. A
    /// cassette that may be damaged is best handed through [`Cassette::into_whole`]; else its exchanges that can be read
    /// are played.
    pub fn new(cassette: Cassette) -> Self {
        let info = match cassette.exchanges().first() {
            Some(first) => ProviderInfo::new(first.provider.as_str(), first.model.as_str()),
            None => ProviderInfo::new("replay", ""),
        };
        let damage = cassette.damage().iter().map(ToString::to_string).collect::<Vec<_>>();
        let damage = (!damage.is_empty()).then(|| damage.join("; "));
        let book = Book::new(cassette.exchanges().iter().cloned(), damage);
        Self {
            info,
            matching: Matching::Strict,
            scrub: Scrub::new(),
            ignored: Vec::new(),
            clock: None,
            book: Arc::new(Mutex::new(book)),
        }
        .with_scrub(Scrub::new())
    }

    /// Sets which exchange answers a request.
    pub fn with_matching(mut self, matching: Matching) -> Self {
        self.matching = matching;
        self
    }

    /// Leaves what stands at this path of the request out of the comparison: `messages[0].content`, `metadata.*`, `stream`,
    /// `extra_headers`.
    pub fn with_ignored(mut self, path: &str) -> Self {
        let path = FieldPath::from(path);
        self.book().change_questions(|question| path.remove(question));
        self.ignored.push(path);
        self
    }

    /// Sets what is taken out of requests before they are compared: what was taken out when they were recorded.
    pub fn with_scrub(mut self, scrub: Scrub) -> Self {
        self.book().change_questions(|question| scrub.clean_question(question));
        self.scrub = scrub;
        self
    }

    /// Replays the timings, on this clock. Then the call's deadline counts, too.
    pub fn with_timings(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Sets what the provider says of itself.
    pub fn with_info(mut self, info: ProviderInfo) -> Self {
        self.info = info;
        self
    }

    /// How many exchanges were not played.
    pub fn unused(&self) -> usize {
        self.book().unused()
    }

    /// Checks that all exchanges were played.
    ///
    /// # Errors
    /// `Unused`.
    pub fn check_done(&self) -> Result<(), CassetteError> {
        self.book().check_done()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What answers a call.
    ///
    /// # Errors
    /// When nothing does.
    fn script(&self, call: &Call) -> Result<Script, LlmError> {
        let (request, headers) = self.scrub.written(&call.request).map_err(|error| {
            let message = "the request cannot be compared with recorded ones, as it has no JSON form";
            LlmError::new(LlmErrorKind::InvalidRequest, message).with_source(error)
        })?;
        let question = question(request, call.stream, &headers, &self.ignored);
        let exchange = self.book().play(&question, self.matching)?;
        Ok(Script::of(&exchange))
    }
}

impl LlmProvider for ReplayProvider {
    fn open(&self, call: Call) -> ReplyStream {
        ReplyStream::new(Replaying {
            token: call.token.clone(),
            clock: self.clock.clone(),
            deadline: call.deadline,
            begun: Duration::ZERO,
            state: State::Asked(Box::new((self.clone(), call))),
        })
    }

    fn info(&self) -> &ProviderInfo {
        &self.info
    }
}

/// A reply out of a cassette.
struct Replaying {
    token: CancellationToken,
    clock: Option<Arc<dyn Clock>>,
    deadline: Option<Duration>,
    begun: Duration,
    state: State,
}

enum State {
    /// Not polled yet.
    Asked(Box<(ReplayProvider, Call)>),
    Playing(Script),
    Waiting(Script, Wait),
    Done,
}

/// Waits for the next piece; an error when the call ends before.
type Wait = Pin<Box<dyn Future<Output = Result<(), LlmError>> + Send>>;

impl Replaying {
    /// Waits until so long after the call began; `None` when that is past, or nobody asked for timings.
    fn wait_until(&self, at: Duration) -> Option<Wait> {
        let clock = Arc::clone(self.clock.as_ref()?);
        let spent = clock.monotonic().saturating_sub(self.begun);
        let overdue = self.deadline.filter(|deadline| *deadline < at);
        let delay = overdue.unwrap_or(at).saturating_sub(spent);
        if delay.is_zero() && overdue.is_none() {
            return None;
        }
        let token = self.token.clone();
        Some(Box::pin(async move {
            tokio::select! {
                biased;
                () = token.cancelled() => Err(LlmError::cancelled()),
                () = clock.sleep(delay) => overdue.map_or(Ok(()), |_| Err(too_late())),
            }
        }))
    }

    fn end(&mut self, error: LlmError) -> Poll<Option<ReplyItem>> {
        self.state = State::Done;
        Poll::Ready(Some(ReplyItem::End(Err(error))))
    }
}

fn too_late() -> LlmError {
    let message = "the recorded reply takes longer than the call's deadline; give it more time";
    LlmError::new(LlmErrorKind::Timeout(TimeoutStage::Total), message)
}

impl Stream for Replaying {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = &mut *self;
        loop {
            if !matches!(this.state, State::Done) && this.token.is_cancelled() {
                return this.end(LlmError::cancelled());
            }
            match &mut this.state {
                State::Done => return Poll::Ready(None),
                State::Asked(asked) => {
                    let (provider, call) = &**asked;
                    this.begun = this.clock.as_ref().map(Clock::monotonic).unwrap_or_default();
                    match provider.script(call) {
                        Ok(script) => this.state = State::Playing(script),
                        Err(error) => return this.end(error),
                    }
                }
                State::Waiting(script, wait) => match ready!(wait.as_mut().poll(cx)) {
                    Ok(()) => this.state = State::Playing(std::mem::take(script)),
                    Err(error) => return this.end(error),
                },
                State::Playing(script) => match script.next() {
                    Some(Action::Item(item)) => return Poll::Ready(Some(item)),
                    Some(Action::End(end)) => {
                        this.state = State::Done;
                        return Poll::Ready(end.map(ReplyItem::End));
                    }
                    Some(Action::Until(at)) => {
                        let script = std::mem::take(script);
                        this.state = match this.wait_until(at) {
                            Some(wait) => State::Waiting(script, wait),
                            None => State::Playing(script),
                        };
                    }
                    Some(Action::Pause) => {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    None => this.state = State::Done,
                },
            }
        }
    }
}
