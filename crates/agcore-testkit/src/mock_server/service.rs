//! One request from arrival to reply.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Request, Response};

use super::api_error::ApiError;
use super::behaviour::Behaviour;
use super::closing::Closing;
use super::compose::compose;
use super::decide::decide;
use super::fault::Ending;
use super::log::Log;
use super::options::MockOptions;
use super::player::{PlayContext, Player, Waited};
use super::reply::Reply;
use super::request::{Outcome, RecordedRequest};
use super::script::out_of_play;
use super::socket::Line;
use super::ticket::Ticket;
use super::transmission::{Step, Transmission};
use super::verdict::Mismatch;

/// The largest request that is read, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// What all connections share.
pub(crate) struct Service {
    pub(crate) options: MockOptions,
    pub(crate) behaviour: Box<dyn Behaviour>,
    pub(crate) log: Log,
    pub(crate) closing: Closing,
    panics: Mutex<Vec<String>>,
    /// Held while a request gets its number and its reply is decided, so that both follow one order.
    order: Mutex<()>,
}

impl Service {
    pub(crate) fn new(options: MockOptions, behaviour: Box<dyn Behaviour>, closing: Closing) -> Self {
        let log = Log::new(options.recording);
        Self {
            options,
            behaviour,
            log,
            closing,
            panics: Mutex::default(),
            order: Mutex::new(()),
        }
    }

    /// Whether the behaviour and its routes are content.
    pub(crate) fn verdict(&self) -> Result<(), Mismatch> {
        let panics = self.panics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = panics.first() {
            return Err(Mismatch::Panicked {
                count: panics.len(),
                message: first.clone(),
            });
        }
        let routes = self.options.routes.iter().map(|route| &route.behaviour);
        routes.chain([&self.behaviour]).try_for_each(Behaviour::verdict)
    }

    /// Reads a request, decides its reply, and begins to play it. An error makes HTTP drop the connection.
    pub(crate) async fn serve(
        self: Arc<Self>,
        line: Arc<Line>,
        request: Request<Incoming>,
    ) -> io::Result<Response<Player>> {
        let (head, body) = request.into_parts();
        let body = Limited::new(body, MOST_BYTES).collect().await;
        let (request, reply) = match body {
            Ok(body) => self.take(&head, body.to_bytes()),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => self.refuse(&head),
            Err(error) => return Err(io::Error::other(error)),
        };
        let ticket = Ticket::new(request.number(), self.log.clone(), self.closing.clone());
        let context = PlayContext {
            line,
            closing: self.closing.clone(),
        };
        respond(compose(&reply, &request), ticket, context).await
    }

    fn take(&self, head: &Parts, body: Bytes) -> (RecordedRequest, Reply) {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let request = self.record(head, body);
        let decided = catch_unwind(AssertUnwindSafe(|| decide(&self.options, &*self.behaviour, &request)));
        let reply = decided.unwrap_or_else(|panic| {
            let message = panic_text(&*panic);
            self.panics
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(message.to_owned());
            out_of_play(format!("the behaviour panicked: {message}"))
        });
        (request, reply)
    }

    fn refuse(&self, head: &Parts) -> (RecordedRequest, Reply) {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        (self.record(head, Bytes::new()), Reply::error(ApiError::new(413)))
    }

    fn record(&self, head: &Parts, body: Bytes) -> RecordedRequest {
        let request = RecordedRequest::new(self.log.count(), head, body, &self.options.prefixes);
        self.log.add(&request);
        request
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service")
            .field("options", &self.options)
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}

async fn respond(sent: Transmission, mut ticket: Ticket, context: PlayContext) -> io::Result<Response<Player>> {
    for step in sent.prelude {
        if let Step::End(ending) = step {
            ticket.settle(Outcome::Faulted);
            return Err(context.break_off(ending));
        }
        if matches!(context.clone().wait(step).await, Waited::Closed) {
            return Err(context.break_off(Ending::Abrupt));
        }
    }
    let mut response = Response::builder().status(sent.status);
    for (name, value) in sent.headers {
        response = response.header(name, value);
    }
    response
        .body(Player::new(sent.body, sent.length, ticket, context))
        .map_err(io::Error::other)
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}
