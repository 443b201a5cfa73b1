//! [`Service`]: handles a request from its arrival to the start of its reply.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Request, Response};

use crate::mock_server::{
    behavior::{Behavior, Mismatch, test_failure},
    compose::{Step, Transmission, compose},
    reply::{ApiError, Ending, Reply},
    request::{Outcome, RecordedRequest},
    server::{
        dispatch::dispatch,
        options::MockOptions,
        outcome_guard::OutcomeGuard,
        reply_body::{ReplyBody, ReplyContext, WaitOutcome},
        request_log::RequestLog,
        shutdown::ShutdownSignal,
        socket::ConnectionState,
    },
};

/// The size limit of a request, in bytes.
const MAX_REQUEST_BYTES: usize = 64 << 20;

/// The state shared by all connections.
pub(crate) struct Service {
    pub(crate) options: MockOptions,
    pub(crate) behavior: Box<dyn Behavior>,
    pub(crate) log: RequestLog,
    pub(crate) shutdown: ShutdownSignal,
    panics: Mutex<Vec<String>>,
    /// Held while a request is numbered and its reply is selected, so that replies follow the order of the numbers.
    order: Mutex<()>,
}

impl Service {
    pub(crate) fn new(options: MockOptions, behavior: Box<dyn Behavior>, shutdown: ShutdownSignal) -> Self {
        let log = RequestLog::new(options.recording);
        Self {
            options,
            behavior,
            log,
            shutdown,
            panics: Mutex::default(),
            order: Mutex::new(()),
        }
    }

    /// Verifies the behavior and those of custom routes.
    pub(crate) fn verify(&self) -> Result<(), Mismatch> {
        let panics = self.panics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = panics.first() {
            return Err(Mismatch::Panicked {
                count: panics.len(),
                message: first.clone(),
            });
        }
        let routes = self.options.routes.iter().map(|route| &route.behavior);
        routes.chain([&self.behavior]).try_for_each(Behavior::verify)
    }

    /// Reads a request, selects its reply, and starts the reply. An error makes hyper close the connection.
    pub(crate) async fn serve(
        self: Arc<Self>,
        connection: Arc<ConnectionState>,
        request: Request<Incoming>,
    ) -> io::Result<Response<ReplyBody>> {
        let (head, body) = request.into_parts();
        let body = Limited::new(body, MAX_REQUEST_BYTES).collect().await;
        let (request, reply) = match body {
            Ok(body) => self.record_and_dispatch(&head, body.to_bytes()),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => self.reject_as_too_large(&head),
            Err(error) => return Err(io::Error::other(error)),
        };
        let outcome = OutcomeGuard::new(request.number(), self.log.clone(), self.shutdown.clone());
        let context = ReplyContext {
            connection,
            shutdown: self.shutdown.clone(),
        };
        respond(compose(&reply, &request), outcome, context).await
    }

    fn record_and_dispatch(&self, head: &Parts, body: Bytes) -> (RecordedRequest, Reply) {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let request = self.record(head, body);
        let dispatched = catch_unwind(AssertUnwindSafe(|| dispatch(&self.options, &*self.behavior, &request)));
        let reply = dispatched.unwrap_or_else(|panic| {
            let message = panic_text(&*panic);
            self.panics
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(message.to_owned());
            test_failure(format!("the behavior panicked: {message}"))
        });
        (request, reply)
    }

    fn reject_as_too_large(&self, head: &Parts) -> (RecordedRequest, Reply) {
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

/// Performs the steps before the headers, then responds with the headers and the body.
async fn respond(
    transmission: Transmission,
    mut outcome: OutcomeGuard,
    context: ReplyContext,
) -> io::Result<Response<ReplyBody>> {
    for step in transmission.prelude {
        if let Step::End(ending) = step {
            outcome.record(Outcome::Faulted);
            return Err(context.abort(ending));
        }
        if matches!(context.clone().wait(step).await, WaitOutcome::ShuttingDown) {
            return Err(context.abort(Ending::Abrupt));
        }
    }
    let mut response = Response::builder().status(transmission.status);
    for (name, value) in transmission.headers {
        response = response.header(name, value);
    }
    let body = ReplyBody::new(transmission.body, transmission.content_length, outcome, context);
    response.body(body).map_err(io::Error::other)
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}
