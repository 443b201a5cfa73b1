//! [`Switching`]: a call that goes to one of several, and to another one when that fails. Who is asked, and whether another
//! one may help, is told by a [`Course`]; this is the stream around it.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use agcore_chat::{AnsweredBy, Clock, Fault, Text};
use futures_core::Stream;

use super::{
    attempt::Attempt,
    retry::MidStream,
    wait::{Wait, wait},
};
use crate::{
    error::{LlmError, LlmErrorKind},
    provider::{Call, LlmProvider},
    reply::{Notice, ReplyItem, ReplyStream, cut},
};

/// Somebody who can be asked.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) provider: Arc<dyn LlmProvider>,
    /// Asked instead of the request's model.
    pub(super) model: Option<Arc<str>>,
    /// The key's label.
    pub(super) key: Option<Text>,
}

impl Target {
    /// Who it is, for this call.
    fn who(&self, call: &Call) -> AnsweredBy {
        let info = self.provider.info();
        let model = match (&self.model, call.request.model.as_str()) {
            (Some(model), _) => Text::from(Arc::clone(model)),
            (None, "") => Text::from(Arc::clone(&info.model)),
            (None, model) => Text::from(model),
        };
        let mut who = AnsweredBy::new(Arc::clone(&info.name), model);
        who.key.clone_from(&self.key);
        who
    }

    fn open(&self, mut call: Call) -> ReplyStream {
        if let Some(model) = self.model.as_deref().filter(|model| *model != call.request.model) {
            let request = Arc::make_mut(&mut call.request);
            model.clone_into(&mut request.model);
        }
        self.provider.open(call)
    }
}

/// What is done next.
pub(super) enum Next {
    Ask(Arc<Target>),
    Wait { limit: Text, delay: Duration },
    Fail(LlmError),
}

/// Decides for one call who is asked, and learns what came of it.
pub(super) trait Course: Send + Unpin + 'static {
    /// Whom to ask now; `left` is the time that the call still has.
    fn choose(&mut self, call: &Call, left: Option<Duration>) -> Next;

    /// The one that was asked has answered to the end.
    fn succeeded(&mut self);

    /// The one that was asked has failed. `None` when another one may be asked, never when `may_switch` is false.
    fn failed(&mut self, error: LlmError, may_switch: bool) -> Option<LlmError>;
}

/// A call that goes to one of several.
pub(super) struct Switching<C> {
    course: C,
    call: Call,
    clock: Arc<dyn Clock>,
    mid_stream: MidStream,
    /// When it was first polled, where a deadline needs it.
    begun: Duration,
    attempt: Attempt,
    asked: Option<Arc<Target>>,
    /// Whether it was told who answers.
    told: bool,
    /// Follows what was handed out last.
    held: Option<ReplyItem>,
    state: State,
}

enum State {
    New,
    Reading(ReplyStream),
    Waiting(Wait),
    Done,
}

impl<C: Course> Switching<C> {
    pub(super) fn stream(course: C, call: Call, clock: Arc<dyn Clock>, mid_stream: MidStream) -> ReplyStream {
        ReplyStream::new(Self {
            course,
            call,
            clock,
            mid_stream,
            begun: Duration::ZERO,
            attempt: Attempt::default(),
            asked: None,
            told: false,
            held: None,
            state: State::New,
        })
    }

    /// The time that is left; the clock is only asked where there is a deadline.
    fn left(&self) -> Option<Duration> {
        let deadline = self.call.deadline?;
        let spent = self.clock.monotonic().saturating_sub(self.begun);
        Some(deadline.saturating_sub(spent))
    }

    /// Goes on with whom the course says; `failed` is the attempt before, with why it failed.
    fn proceed(&mut self, failed: Option<(Attempt, Fault)>) -> Option<ReplyItem> {
        if self.call.token.is_cancelled() {
            return Some(self.end(Err(LlmError::cancelled())));
        }
        let left = self.left();
        match self.course.choose(&self.call, left) {
            Next::Ask(target) => {
                let mut call = self.call.clone();
                call.deadline = left;
                self.state = State::Reading(target.open(call));
                self.asked = Some(target);
                self.told = false;
                failed.map(|failed| self.again(failed, Duration::ZERO))
            }
            Next::Wait { limit, delay } => {
                self.state = State::Waiting(wait(Arc::clone(&self.clock), delay, self.call.token.clone()));
                Some(match failed {
                    Some(failed) => self.again(failed, delay),
                    None => ReplyItem::Notice(Notice::Waiting { limit, delay }),
                })
            }
            Next::Fail(error) => Some(self.end(Err(error))),
        }
    }

    fn again(&self, (attempt, fault): (Attempt, Fault), delay: Duration) -> ReplyItem {
        ReplyItem::Notice(attempt.followed_by(self.call.attempt, delay, fault))
    }

    fn end(&mut self, end: Result<(), LlmError>) -> ReplyItem {
        self.state = State::Done;
        ReplyItem::End(end)
    }

    /// Looks at an item on its way out.
    fn pass(&mut self, item: ReplyItem) -> ReplyItem {
        match item {
            ReplyItem::Delta(delta) => {
                self.attempt.take(&delta);
                self.after_who(ReplyItem::Delta(delta))
            }
            ReplyItem::End(Ok(())) => {
                self.course.succeeded();
                let end = self.end(Ok(()));
                self.after_who(end)
            }
            ReplyItem::End(Err(error)) => self.failed(error),
            ReplyItem::Notice(notice) => {
                self.note(&notice);
                ReplyItem::Notice(notice)
            }
        }
    }

    /// Before the first piece of an answer it is told whose it is, unless a layer below has done so.
    fn after_who(&mut self, item: ReplyItem) -> ReplyItem {
        if std::mem::replace(&mut self.told, true) {
            return item;
        }
        let Some(target) = &self.asked else {
            return item;
        };
        let who = target.who(&self.call);
        record(&who);
        self.held = Some(item);
        ReplyItem::Notice(Notice::AnsweredBy(who))
    }

    fn note(&mut self, notice: &Notice) {
        match notice {
            // A layer below has begun anew, and told of what was lost.
            Notice::RetryScheduled { .. } | Notice::Restarted { .. } => {
                self.call.attempt = self.call.attempt.saturating_add(1);
                self.attempt = Attempt::default();
            }
            Notice::AnsweredBy(_) => self.told = true,
            Notice::Waiting { .. } => {}
        }
    }

    fn failed(&mut self, error: LlmError) -> ReplyItem {
        let may_switch = *error.kind() != LlmErrorKind::Cancelled
            && !self.call.token.is_cancelled()
            && (!self.attempt.handed_out() || self.mid_stream == MidStream::Restart)
            && self.left() != Some(Duration::ZERO);
        let fault = error.fault();
        if let Some(error) = self.course.failed(error, may_switch) {
            return self.end(Err(error));
        }
        self.call.attempt = self.call.attempt.saturating_add(1);
        let attempt = std::mem::take(&mut self.attempt);
        match self.proceed(Some((attempt, fault))) {
            Some(item) => item,
            // `proceed` always tells what follows a failure.
            None => self.end(Err(cut())),
        }
    }
}

/// Notes in the span that the caller is in who answers, where it has these fields.
fn record(who: &AnsweredBy) {
    let (provider, model) = (who.provider.as_str(), who.model.as_str());
    let span = tracing::Span::current();
    span.record("gen_ai.provider.name", provider)
        .record("gen_ai.request.model", model);
    if let Some(key) = &who.key {
        span.record("agcore.key", key.as_str());
    }
    tracing::debug!(provider, model, key = who.key.as_deref(), "answered by");
}

impl<C: Course> Stream for Switching<C> {
    type Item = ReplyItem;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = self.get_mut();
        if let Some(item) = this.held.take() {
            return Poll::Ready(Some(item));
        }
        loop {
            let item = match &mut this.state {
                State::Done => return Poll::Ready(None),
                State::New => {
                    if this.call.deadline.is_some() {
                        this.begun = this.clock.monotonic();
                    }
                    this.proceed(None)
                }
                State::Reading(reply) => {
                    let item = ready!(Pin::new(reply).poll_next(cx));
                    let item = item.unwrap_or_else(|| ReplyItem::End(Err(cut())));
                    Some(this.pass(item))
                }
                State::Waiting(wait) => match ready!(wait.as_mut().poll(cx)) {
                    true => Some(this.end(Err(LlmError::cancelled()))),
                    false => this.proceed(None),
                },
            };
            if item.is_some() {
                return Poll::Ready(item);
            }
        }
    }
}
