//! [`ReplayProvider`]: answers requests from a cassette.

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
    document::{Cassette, CassetteError},
    matcher::{Matcher, Matching, comparable},
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
/// Each exchange is played once. Replies have their original chunks: between two chunks, the stream is pending once. A
/// replay takes no time unless [`with_timings`](Self::with_timings) is set. A call that is cancelled before it starts
/// plays nothing.
///
/// A request that was not recorded is an `InvalidRequest` error, which is not retried. Its message lists the
/// differences to the closest recorded request, with excerpts of both. These may contain user input, but nothing that
/// [`Scrub`] removes. Clones share the cassette.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_llm::{LlmProviderExt, cassette::{Cassette, ReplayProvider}};
///
/// let file = br#"{"agcore_cassette":1}
/// {"call":1,"stream":false,"request":{"messages":[{"role":"user","content":"Hello"}],"user":"u-1"},
///  "chunks":[{"ms":5,"items":[{"text":"Good day."}]}],"end":"ok","ms":5}"#;
/// // The user is different on every run.
/// let replay = ReplayProvider::new(Cassette::parse(file)?).with_ignored("user");
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let response = replay.chat(ChatRequest::new([Message::user("Hello")])).await.unwrap();
/// assert_eq!(response.text(), "Good day.");
/// replay.check_done()?;
/// # Ok::<(), agcore_llm::cassette::CassetteError>(())
/// # }).unwrap();
/// # Ok::<(), agcore_llm::cassette::CassetteError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ReplayProvider {
    info: ProviderInfo,
    matching: Matching,
    scrub: Scrub,
    ignored: Vec<FieldPath>,
    clock: Option<Arc<dyn Clock>>,
    matcher: Arc<Mutex<Matcher>>,
}

impl ReplayProvider {
    /// Creates a provider that plays a cassette with [`Matching::Strict`].
    ///
    /// Its name and model are those of the first exchange, and its capabilities are the defaults. The intact exchanges
    /// of a damaged cassette are played; use [`Cassette::into_intact`] to reject damaged ones.
    pub fn new(cassette: Cassette) -> Self {
        let info = match cassette.exchanges().first() {
            Some(first) => ProviderInfo::new(first.provider.as_str(), first.model.as_str()),
            None => ProviderInfo::new("replay", ""),
        };
        let damage: Vec<_> = cassette.damaged_parts().iter().map(ToString::to_string).collect();
        let damage = (!damage.is_empty()).then(|| damage.join("; "));
        let matcher = Matcher::new(cassette.exchanges().iter().cloned(), damage);
        Self {
            info,
            matching: Matching::Strict,
            scrub: Scrub::new(),
            ignored: Vec::new(),
            clock: None,
            matcher: Arc::new(Mutex::new(matcher)),
        }
        .with_scrub(Scrub::new())
    }

    /// Sets the rule that selects the exchange for a request.
    #[must_use]
    pub fn with_matching(mut self, matching: Matching) -> Self {
        self.matching = matching;
        self
    }

    /// Excludes the values at this path of the request from the comparison, such as `messages[0].content`,
    /// `metadata.*`, `stream` or `extra_headers`.
    #[must_use]
    pub fn with_ignored(mut self, path: &str) -> Self {
        let path = FieldPath::from(path);
        self.matcher().change_calls(|call| path.remove(call));
        self.ignored.push(path);
        self
    }

    /// Sets the rules for removing secrets from requests before they are compared. Use the rules of the recording.
    #[must_use]
    pub fn with_scrub(mut self, scrub: Scrub) -> Self {
        self.matcher().change_calls(|call| scrub.recorded_call(call));
        self.scrub = scrub;
        self
    }

    /// Replays the recorded timings on this clock. The deadlines of calls apply then, too.
    #[must_use]
    pub fn with_timings(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Sets the description of the provider.
    #[must_use]
    pub fn with_info(mut self, info: ProviderInfo) -> Self {
        self.info = info;
        self
    }

    /// Returns the number of exchanges that have not been played.
    pub fn unused(&self) -> usize {
        self.matcher().unused()
    }

    /// Checks that all exchanges have been played.
    ///
    /// # Errors
    /// `Unused`.
    pub fn check_done(&self) -> Result<(), CassetteError> {
        self.matcher().check_done()
    }

    fn matcher(&self) -> MutexGuard<'_, Matcher> {
        self.matcher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the recorded reply to a call.
    ///
    /// # Errors
    /// If no exchange matches the call.
    fn script(&self, call: &Call) -> Result<Script, LlmError> {
        let (request, headers) = self.scrub.request(&call.request).map_err(|error| {
            let message = "cannot compare the request with the recorded ones: it cannot be serialized";
            LlmError::new(LlmErrorKind::InvalidRequest, message).with_source(error)
        })?;
        let call = comparable(request, call.stream, &headers, &self.ignored);
        let exchange = self.matcher().play(&call, self.matching)?;
        Ok(Script::from_exchange(&exchange))
    }
}

impl LlmProvider for ReplayProvider {
    fn open(&self, call: Call) -> ReplyStream {
        ReplyStream::new(ReplayedReply {
            token: call.token.clone(),
            clock: self.clock.clone(),
            deadline: call.deadline,
            start: Duration::ZERO,
            state: State::Unpolled(Box::new((self.clone(), call))),
        })
    }

    fn info(&self) -> &ProviderInfo {
        &self.info
    }
}

/// A reply from a cassette.
struct ReplayedReply {
    token: CancellationToken,
    clock: Option<Arc<dyn Clock>>,
    deadline: Option<Duration>,
    start: Duration,
    state: State,
}

enum State {
    Unpolled(Box<(ReplayProvider, Call)>),
    Playing(Script),
    Waiting(Script, Wait),
    Done,
}

/// The wait for the next chunk. Returns an error if the call is cancelled or times out before.
type Wait = Pin<Box<dyn Future<Output = Result<(), LlmError>> + Send>>;

impl ReplayedReply {
    /// Waits until this time since the start of the call. Returns `None` if it has passed, or if timings are not
    /// replayed.
    fn wait_until(&self, time: Duration) -> Option<Wait> {
        let clock = Arc::clone(self.clock.as_ref()?);
        let elapsed = clock.monotonic().saturating_sub(self.start);
        let overdue = self.deadline.filter(|deadline| *deadline < time);
        let delay = overdue.unwrap_or(time).saturating_sub(elapsed);
        if delay.is_zero() && overdue.is_none() {
            return None;
        }
        let token = self.token.clone();
        Some(Box::pin(async move {
            tokio::select! {
                biased;
                () = token.cancelled() => Err(LlmError::cancelled()),
                () = clock.sleep(delay) => overdue.map_or(Ok(()), |_| Err(deadline_error())),
            }
        }))
    }

    fn end(&mut self, error: LlmError) -> Poll<Option<ReplyItem>> {
        self.state = State::Done;
        Poll::Ready(Some(ReplyItem::End(Err(error))))
    }
}

fn deadline_error() -> LlmError {
    let message = "the recorded reply takes longer than the deadline of the call; extend the deadline";
    LlmError::new(LlmErrorKind::Timeout(TimeoutStage::Total), message)
}

impl Stream for ReplayedReply {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = &mut *self;
        loop {
            if !matches!(this.state, State::Done) && this.token.is_cancelled() {
                return this.end(LlmError::cancelled());
            }
            match &mut this.state {
                State::Done => return Poll::Ready(None),
                State::Unpolled(unpolled) => {
                    let (provider, call) = &**unpolled;
                    this.start = this.clock.as_ref().map(Clock::monotonic).unwrap_or_default();
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
                    Some(Action::WaitUntil(time)) => {
                        let script = std::mem::take(script);
                        this.state = match this.wait_until(time) {
                            Some(wait) => State::Waiting(script, wait),
                            None => State::Playing(script),
                        };
                    }
                    Some(Action::Yield) => {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    None => this.state = State::Done,
                },
            }
        }
    }
}
