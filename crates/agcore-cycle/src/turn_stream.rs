//! [`TurnStream`] and [`TextStream`]: a turn whose events or text are read while it runs.

mod wake_flag;

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use agcore_chat::{EventKind, StreamEvent, Text, TextEvent};
use futures_core::Stream;

use self::wake_flag::WakeFlag;
use crate::{error::CycleError, observer::Observer, outcome::TurnOutcome};

/// The events of a turn.
///
/// Polling the stream drives the turn itself; there is no background task. Dropping the stream cancels the turn. Calls
/// that were already sent still count, as [`LlmCycle`](crate::LlmCycle) describes. Read the events, then call
/// [`finish`](Self::finish) for the outcome.
///
/// ```
/// use agcore_chat::{ChatResponse, EventKind, TextEvent};
/// use agcore_cycle::LlmCycle;
/// use agcore_llm::{SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Good day.")) });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
///
/// let mut events = cycle.turn("Hello").stream();
/// let mut text = String::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::Text(TextEvent::Text(piece)) = &event.kind {
///         text.push_str(piece);
///     }
/// }
/// let outcome = events.finish().await?;
/// assert_eq!(text, outcome.text());
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[must_use = "a turn does nothing unless its stream is polled"]
pub struct TurnStream<'a, R = Result<TurnOutcome, CycleError>> {
    observer: Observer,
    state: State<'a, R>,
    flag: Arc<WakeFlag>,
    /// Sets the flag.
    waker: Waker,
}

enum State<'a, R> {
    Running(Pin<Box<dyn Future<Output = R> + Send + 'a>>),
    /// The outcome, until somebody takes it.
    Done(Option<R>),
}

impl<'a, R> TurnStream<'a, R> {
    /// Creates a stream of the events that `turn` sends to its observer while it runs.
    ///
    /// For code that wraps turns of the loop in turns of its own; everybody else gets a stream from
    /// [`CycleTurn::stream`](crate::CycleTurn::stream).
    pub fn new<F>(turn: impl FnOnce(Observer) -> F) -> Self
    where
        F: Future<Output = R> + Send + 'a,
    {
        let (observer, flag) = (Observer::new(), WakeFlag::new());
        Self {
            state: State::Running(Box::pin(turn(observer.clone()))),
            observer,
            // A clone, because only clones are recognized as the same waker wherever the compiler places their functions.
            waker: Waker::from(Arc::clone(&flag)).clone(),
            flag,
        }
    }

    /// Returns the next event, or `None` at the end of the turn.
    ///
    /// Cancel safe: no event is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<StreamEvent> {
        poll_fn(|cx| self.poll_event(cx)).await
    }

    /// Runs the rest of the turn, discards its events and returns its outcome.
    pub async fn finish(mut self) -> R {
        loop {
            while self.next().await.is_some() {}
            if let Some(outcome) = self.take_outcome() {
                return outcome;
            }
        }
    }

    fn take_outcome(&mut self) -> Option<R> {
        match &mut self.state {
            State::Running(_) => None,
            State::Done(outcome) => outcome.take(),
        }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        if let Some(event) = self.observer.pop() {
            return Poll::Ready(Some(event));
        }
        let State::Running(future) = &mut self.state else {
            return Poll::Ready(None);
        };
        if self.flag.take(cx)
            && let Poll::Ready(outcome) = future.as_mut().poll(&mut Context::from_waker(&self.waker))
        {
            self.state = State::Done(Some(outcome));
            return Poll::Ready(self.observer.pop());
        }
        self.observer.poll_pop(cx).map(Some)
    }
}

// Only the boxed future is ever pinned.
impl<R> Unpin for TurnStream<'_, R> {}

impl<R> Stream for TurnStream<'_, R> {
    type Item = StreamEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        self.get_mut().poll_event(cx)
    }
}

impl<R> fmt::Debug for TurnStream<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnStream")
            .field("done", &matches!(self.state, State::Done(_)))
            .finish_non_exhaustive()
    }
}

/// The text that the model writes during a turn, piece by piece.
///
/// A turn that fails ends with an `Err` item. With [`MidStream::Restart`](agcore_llm::layer::retry::MidStream::Restart)
/// a stream that breaks starts over, so text may come twice; read the events of a [`TurnStream`] to notice that.
///
/// ```
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::LlmCycle;
/// use agcore_llm::{SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Good day.")) });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
///
/// let mut answer = String::new();
/// let mut text = cycle.turn("Hello").text_stream();
/// while let Some(piece) = text.next().await {
///     answer.push_str(&piece?);
/// }
/// assert_eq!(answer, "Good day.");
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[must_use = "a turn does nothing unless its stream is polled"]
pub struct TextStream<'a, O = TurnOutcome, E = CycleError> {
    events: TurnStream<'a, Result<O, E>>,
    outcome: Option<O>,
}

impl<'a, O, E> TextStream<'a, O, E> {
    /// Creates a stream of the text among these events.
    pub fn new(events: TurnStream<'a, Result<O, E>>) -> Self {
        Self { events, outcome: None }
    }

    /// Returns the next piece of text, or `None` at the end of the turn.
    ///
    /// Cancel safe: no text is lost when the future is dropped.
    ///
    /// # Errors
    /// The last item is the error of a turn that failed.
    pub async fn next(&mut self) -> Option<Result<Text, E>> {
        poll_fn(|cx| self.poll_text(cx)).await
    }

    /// Returns the outcome of the turn once the stream has ended without an error.
    pub fn outcome(&self) -> Option<&O> {
        self.outcome.as_ref()
    }

    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Text, E>>> {
        loop {
            match self.events.poll_event(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(event)) => {
                    // What sub-agents write is not part of the answer.
                    if let (EventKind::Text(TextEvent::Text(text)), None) = (event.kind, event.parent) {
                        return Poll::Ready(Some(Ok(text)));
                    }
                }
                // The turn may have ended with events still in the queue.
                Poll::Ready(None) => match self.events.take_outcome() {
                    Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                    Some(Ok(outcome)) => self.outcome = Some(outcome),
                    None => return Poll::Ready(None),
                },
            }
        }
    }
}

// Nothing in it is ever pinned.
impl<O, E> Unpin for TextStream<'_, O, E> {}

impl<O, E> Stream for TextStream<'_, O, E> {
    type Item = Result<Text, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_text(cx)
    }
}

impl<O, E> fmt::Debug for TextStream<'_, O, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextStream").finish_non_exhaustive()
    }
}
