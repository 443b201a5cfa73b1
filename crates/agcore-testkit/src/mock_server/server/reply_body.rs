//! [`ReplyBody`]: the HTTP body of a reply, which performs the steps of its transmission.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::vec::IntoIter;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::mock_server::{
    compose::Step,
    reply::Ending,
    request::Outcome,
    server::{outcome_guard::OutcomeGuard, shutdown::ShutdownSignal, socket::ConnectionState},
};

/// The body of a reply. It passes bytes to hyper, waits, and ends as its steps require.
pub(crate) struct ReplyBody {
    steps: IntoIter<Step>,
    content_length: Option<u64>,
    state: State,
    outcome: OutcomeGuard,
    context: ReplyContext,
}

/// The connection and the server that a reply belongs to.
#[derive(Clone)]
pub(crate) struct ReplyContext {
    pub(crate) connection: Arc<ConnectionState>,
    pub(crate) shutdown: ShutdownSignal,
}

enum State {
    /// Ready for the next step.
    Running,
    /// Waiting until the socket has been flushed more often than this.
    Flushing(u64),
    Waiting(Pin<Box<dyn Future<Output = WaitOutcome> + Send>>),
}

/// The outcome of waiting for a pause or a stall.
pub(crate) enum WaitOutcome {
    /// The wait has ended, and the reply continues.
    Elapsed,
    /// The server is shutting down, and the reply is aborted.
    ShuttingDown,
}

impl ReplyBody {
    pub(crate) fn new(
        body: Vec<Step>,
        content_length: Option<u64>,
        outcome: OutcomeGuard,
        context: ReplyContext,
    ) -> Self {
        let mut body = Self {
            steps: body.into_iter(),
            content_length,
            state: State::Running,
            outcome,
            context,
        };
        body.record_outcome_if_last();
        body
    }

    /// Records the outcome if no step is left except the end. This cannot wait for the next poll: if the
    /// `content-length` is known, hyper drops the body after its last byte.
    fn record_outcome_if_last(&mut self) {
        match self.steps.as_slice() {
            [] => self.outcome.record(Outcome::Completed),
            [Step::End(Ending::Clean)] => self.outcome.record(Outcome::Faulted),
            _ => {}
        }
    }

    /// Performs a step. Returns `Pending` if the next step may start only when the new state allows it.
    fn perform(&mut self, step: Option<Step>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match step {
            None => {
                self.outcome.record(Outcome::Completed);
                return Poll::Ready(None);
            }
            Some(Step::End(Ending::Clean)) => {
                self.outcome.record(Outcome::Faulted);
                return Poll::Ready(None);
            }
            Some(Step::Send(bytes)) => {
                self.record_outcome_if_last();
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            Some(Step::End(ending)) => {
                self.outcome.record(Outcome::Faulted);
                return Poll::Ready(Some(Err(self.context.abort(ending))));
            }
            Some(Step::Flush) => self.state = State::Flushing(self.context.connection.flushes()),
            Some(wait) => self.state = State::Waiting(Box::pin(self.context.clone().wait(wait))),
        }
        Poll::Pending
    }
}

impl ReplyContext {
    /// Waits for the duration of a pause or a stall. Other steps take no time.
    pub(crate) async fn wait(self, step: Step) -> WaitOutcome {
        match step {
            Step::Pause(time) => tokio::time::sleep(time).await,
            Step::Stall(hold) => tokio::select! {
                () = hold.wait() => {}
                () = self.shutdown.wait() => return WaitOutcome::ShuttingDown,
            },
            Step::Send(_) | Step::Flush | Step::End(_) => {}
        }
        WaitOutcome::Elapsed
    }

    /// Prepares the end of the connection and returns the error that makes hyper close it.
    pub(crate) fn abort(&self, ending: Ending) -> io::Error {
        if ending == Ending::Reset {
            self.connection.reset_on_close();
        }
        io::Error::other("the mock server aborted the reply")
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let body = self.get_mut();
        loop {
            match &mut body.state {
                State::Running => {}
                State::Flushing(flushes) => ready!(body.context.connection.poll_flushed_since(*flushes, cx)),
                State::Waiting(wait) => match ready!(wait.as_mut().poll(cx)) {
                    WaitOutcome::Elapsed => {}
                    WaitOutcome::ShuttingDown => {
                        return Poll::Ready(Some(Err(body.context.abort(Ending::Abrupt))));
                    }
                },
            }
            body.state = State::Running;
            let step = body.steps.next();
            if let Poll::Ready(frame) = body.perform(step) {
                return Poll::Ready(frame);
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.content_length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl fmt::Debug for ReplyBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyBody")
            .field("steps", &self.steps.as_slice())
            .field("content_length", &self.content_length)
            .finish()
    }
}
