//! A reply's steps, played.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::vec::IntoIter;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::closing::Closing;
use super::fault::Ending;
use super::request::Outcome;
use super::socket::Line;
use super::ticket::Ticket;
use super::transmission::Step;

/// The body of a reply: hands its bytes to HTTP, waits where the steps say so, and breaks off where they say so.
pub(crate) struct Player {
    steps: IntoIter<Step>,
    length: Option<u64>,
    stage: Stage,
    ticket: Ticket,
    context: PlayContext,
}

/// What a reply knows of the world while it is played.
#[derive(Clone)]
pub(crate) struct PlayContext {
    pub(crate) line: Arc<Line>,
    pub(crate) closing: Closing,
}

enum Stage {
    Playing,
    /// Until the socket was flushed once more than so often.
    Flushing(u64),
    Waiting(Pin<Box<dyn Future<Output = Waited> + Send>>),
}

/// How a wait ended.
pub(crate) enum Waited {
    /// It is over; the reply goes on.
    Over,
    /// The server closes; the reply breaks off.
    Closed,
}

impl Player {
    pub(crate) fn new(body: Vec<Step>, length: Option<u64>, ticket: Ticket, context: PlayContext) -> Self {
        let mut player = Self {
            steps: body.into_iter(),
            length,
            stage: Stage::Playing,
            ticket,
            context,
        };
        player.settle_if_over();
        player
    }

    /// With a told length HTTP drops the body at its last byte, so the outcome is told as soon as nothing is left to
    /// do but to end.
    fn settle_if_over(&mut self) {
        match self.steps.as_slice() {
            [] => self.ticket.settle(Outcome::Completed),
            [Step::End(Ending::Clean)] => self.ticket.settle(Outcome::Faulted),
            _ => {}
        }
    }

    /// Ready with `Some` frame or error, ready with `None` at the end.
    fn play(&mut self, step: Option<Step>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match step {
            None => {
                self.ticket.settle(Outcome::Completed);
                return Poll::Ready(None);
            }
            Some(Step::End(Ending::Clean)) => {
                self.ticket.settle(Outcome::Faulted);
                return Poll::Ready(None);
            }
            Some(Step::Send(bytes)) => {
                self.settle_if_over();
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            Some(Step::End(ending)) => {
                self.ticket.settle(Outcome::Faulted);
                return Poll::Ready(Some(Err(self.context.break_off(ending))));
            }
            Some(Step::Flush) => self.stage = Stage::Flushing(self.context.line.flushes()),
            Some(wait) => self.stage = Stage::Waiting(Box::pin(self.context.clone().wait(wait))),
        }
        Poll::Pending
    }
}

impl PlayContext {
    /// Waits out a pause or a stall; other steps take no time.
    pub(crate) async fn wait(self, step: Step) -> Waited {
        match step {
            Step::Pause(time) => tokio::time::sleep(time).await,
            Step::Stall(hold) => tokio::select! {
                () = hold.pass() => {}
                () = self.closing.told() => return Waited::Closed,
            },
            Step::Send(_) | Step::Flush | Step::End(_) => {}
        }
        Waited::Over
    }

    /// The error that makes HTTP drop the connection.
    pub(crate) fn break_off(&self, ending: Ending) -> io::Error {
        if ending == Ending::Reset {
            self.line.reset_at_close();
        }
        io::Error::other("the reply breaks off here")
    }
}

impl Body for Player {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let player = self.get_mut();
        loop {
            match &mut player.stage {
                Stage::Playing => {}
                Stage::Flushing(seen) => ready!(player.context.line.poll_flushed_since(*seen, cx)),
                Stage::Waiting(wait) => match ready!(wait.as_mut().poll(cx)) {
                    Waited::Over => {}
                    Waited::Closed => {
                        return Poll::Ready(Some(Err(player.context.break_off(Ending::Abrupt))));
                    }
                },
            }
            player.stage = Stage::Playing;
            let step = player.steps.next();
            if let Poll::Ready(frame) = player.play(step) {
                return Poll::Ready(frame);
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player")
            .field("steps", &self.steps.as_slice())
            .field("length", &self.length)
            .finish()
    }
}
