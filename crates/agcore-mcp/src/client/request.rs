//! [`Requests`]: requests to a server, with limits, progress and cancellation.

use std::{
    error::Error,
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use agcore_chat::Progress;
use agcore_trace::TraceContext;
use rmcp::{
    Peer, RoleClient, ServiceError,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientRequest, GetExtensions as _, GetMeta as _,
        ProgressToken, RequestId, RequestMetaObject, ServerResult, SubscriptionFilter,
    },
    service::{PeerRequestOptions, Subscription},
};
use tokio::{
    sync::oneshot,
    time::{Instant, Sleep, sleep_until},
};

use super::answer::Answerer;
use crate::{
    error::{McpError, McpErrorKind, quote},
    inbox::Inbox,
    process::Process,
    transport::tap::Link,
};

/// The longest time that an error waits for the exit status of a process whose output ended.
const EXIT_GRACE: Duration = Duration::from_millis(600);

/// The limits of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Without progress.
    pub(crate) idle: Duration,
    /// In any case.
    pub(crate) total: Duration,
}

impl Limits {
    /// Creates limits for a request without progress.
    pub(crate) fn within(limit: Duration) -> Self {
        Self {
            idle: limit,
            total: limit,
        }
    }
}

/// The time at which a request has exceeded its limits.
struct Deadline {
    limits: Limits,
    start: Instant,
    idle_since: Instant,
}

impl Deadline {
    fn new(limits: Limits) -> Self {
        let start = Instant::now();
        Self {
            limits,
            start,
            idle_since: start,
        }
    }

    /// Restarts the limit without progress.
    fn extend(&mut self) {
        self.idle_since = Instant::now();
    }

    /// Returns when the request must be checked.
    fn next(&self) -> Instant {
        (self.start + self.limits.total).min(self.idle_since + self.limits.idle)
    }

    /// Returns the limit that is exceeded.
    fn exceeded(&self) -> Option<Duration> {
        let now = Instant::now();
        if now >= self.start + self.limits.total {
            Some(self.limits.total)
        } else {
            (now >= self.idle_since + self.limits.idle).then_some(self.limits.idle)
        }
    }
}

/// An event for a request that waits.
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time exists, on the stack of its call; boxing the response would allocate for each call"
)]
enum Event {
    Progress(Progress),
    /// `None` if the connection ended.
    Response(Option<Result<ServerResult, ServiceError>>),
    Ended,
    Alarm,
}

/// Waits for the next event, with one timer and one inbox: thousands of requests may wait here.
fn next_event(
    inbox: &Inbox,
    response: &mut oneshot::Receiver<Result<ServerResult, ServiceError>>,
    alarm: Pin<&mut Sleep>,
    context: &mut Context<'_>,
) -> Poll<Event> {
    if let Poll::Ready(progress) = inbox.poll(context) {
        return Poll::Ready(progress.map_or(Event::Ended, Event::Progress));
    }
    if let Poll::Ready(response) = Pin::new(response).poll(context) {
        return Poll::Ready(Event::Response(response.ok()));
    }
    alarm.poll(context).map(|()| Event::Alarm)
}

/// Continues the trace at the server, in the members of `_meta` that the protocol reserves for that. Baggage is not sent.
fn add_context(meta: &mut RequestMetaObject, context: &TraceContext) {
    meta.set_traceparent(context.traceparent());
    if let Some(state) = context.tracestate() {
        meta.set_tracestate(state);
    }
}

/// Sends requests over one connection.
#[derive(Debug, Clone)]
pub(crate) struct Requests {
    pub(crate) server: Arc<str>,
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) link: Arc<Link>,
    pub(crate) process: Option<Arc<Process>>,
    pub(crate) answerer: Answerer,
}

impl Requests {
    /// Sends a request and waits for its result. `on_progress` receives progress in its order, before the result.
    ///
    /// When the future is dropped or a limit is exceeded, the request is cancelled at the server.
    pub(crate) async fn send(
        &self,
        what: &str,
        request: impl Into<ClientRequest>,
        limits: Limits,
        on_progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<ServerResult, McpError> {
        let mut request = request.into();
        let inbox = Inbox::default();
        request.extensions_mut().insert(inbox.clone());
        if let Some(context) = agcore_trace::current() {
            add_context(request.get_meta_mut(), &context);
        }
        let sent = self
            .peer
            .send_cancellable_request(request, PeerRequestOptions::no_options());
        let Ok(mut handle) = sent.await else {
            return Err(self.closed(what).await);
        };
        let mut guard = CancelGuard {
            requests: self,
            pending: Some((handle.id.clone(), handle.progress_token.clone())),
        };
        let mut deadline = Deadline::new(limits);
        let mut alarm = pin!(sleep_until(deadline.next()));
        let response = loop {
            match poll_fn(|context| next_event(&inbox, &mut handle.rx, alarm.as_mut(), context)).await {
                Event::Response(response) => break response,
                // What arrived before the end of the connection has been delivered.
                Event::Ended => break handle.rx.try_recv().ok(),
                // The alarm is not moved: it is checked when it rings.
                Event::Progress(step) => {
                    on_progress(step);
                    deadline.extend();
                }
                Event::Alarm => {
                    if self.answerer.is_waiting() {
                        // The server may be waiting for the person.
                        deadline.extend();
                    }
                    if let Some(limit) = deadline.exceeded() {
                        return Err(self.timeout(what, limit));
                    }
                    alarm.as_mut().reset(deadline.next());
                }
            }
        };
        guard.disarm();
        while let Some(step) = inbox.take() {
            on_progress(step);
        }
        match response {
            Some(Ok(result)) => Ok(result),
            Some(Err(error)) => Err(self.error(what, error).await),
            None => Err(self.closed(what).await),
        }
    }

    /// Opens a subscription of the revision without sessions.
    pub(crate) async fn listen(&self, filter: SubscriptionFilter, limit: Duration) -> Result<Subscription, McpError> {
        let what = "subscriptions/listen";
        match tokio::time::timeout(limit, self.peer.listen(filter)).await {
            Ok(Ok(subscription)) => Ok(subscription),
            Ok(Err(error)) => Err(self.error(what, error).await),
            Err(_) => Err(self.timeout(what, limit)),
        }
    }

    /// Creates the error for an answer of the wrong type.
    pub(crate) fn unexpected(&self, what: &str, expected: &str) -> McpError {
        McpError::new(
            McpErrorKind::Protocol,
            format!(
                "the MCP server {:?} answered {what} with something other than {expected}",
                self.server
            ),
        )
    }

    /// Creates the error for a connection that ended, with the reason, if the server is a process.
    pub(crate) async fn closed(&self, what: &str) -> McpError {
        closed(
            &self.server,
            self.process.as_deref(),
            &format!("before it answered {what}"),
        )
        .await
    }

    fn timeout(&self, what: &str, limit: Duration) -> McpError {
        McpError::new(
            McpErrorKind::Timeout,
            format!(
                "the MCP server {:?} did not answer {what} within {limit:?}; its effects, if any, are unknown",
                self.server
            ),
        )
    }

    async fn error(&self, what: &str, error: ServiceError) -> McpError {
        match error {
            ServiceError::McpError(data) => McpError::from_response(&self.server, what, data.code.0, &data.message),
            ServiceError::TransportClosed => self.closed(what).await,
            ServiceError::TransportSend(cause) => match &self.process {
                Some(_) => self.closed(what).await,
                None => transport_error(&self.server, what, &cause),
            },
            other => McpError::new(
                McpErrorKind::Protocol,
                format!("{what} failed at the MCP server {:?}: {other}", self.server),
            ),
        }
    }
}

/// Creates the error for a request that could not be sent. The cause is not attached: it may contain a URL with keys.
pub(crate) fn transport_error(server: &str, what: &str, cause: &(dyn Error + 'static)) -> McpError {
    #[cfg(feature = "client-http")]
    if let Some(error) = crate::transport::http_error(server, what, cause) {
        return error;
    }
    let mut innermost = cause;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let reason = quote(&innermost.to_string());
    McpError::new(
        McpErrorKind::Closed,
        format!("{what} cannot be sent to the MCP server {server:?}: {reason}"),
    )
}

/// Creates the error for a connection that ended.
pub(crate) async fn closed(server: &str, process: Option<&Process>, when: &str) -> McpError {
    let Some(process) = process else {
        return McpError::new(
            McpErrorKind::Closed,
            format!("the connection to the MCP server {server:?} ended {when}"),
        );
    };
    let end = match tokio::time::timeout(EXIT_GRACE, process.exited()).await {
        Ok(status) => format!("ended {when}: {status}"),
        Err(_) => format!("closed its output {when}"),
    };
    let output = match process.stderr().text() {
        text if text.is_empty() => "it wrote nothing to stderr".to_owned(),
        text => format!("its last output on stderr: {text}"),
    };
    McpError::new(
        McpErrorKind::Closed,
        format!("the MCP server {server:?} {end}; {output}"),
    )
}

/// Cancels a request at the server, unless it was answered.
struct CancelGuard<'a> {
    requests: &'a Requests,
    pending: Option<(RequestId, ProgressToken)>,
}

impl CancelGuard<'_> {
    /// Ends the request without a notification.
    fn disarm(&mut self) {
        if let Some((_, token)) = self.pending.take() {
            self.requests.link.remove_route(&token);
        }
    }
}

impl Drop for CancelGuard<'_> {
    fn drop(&mut self) {
        let Some((id, token)) = self.pending.take() else {
            return;
        };
        self.requests.link.remove_route(&token);
        // Without a runtime, the connection has ended.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let peer = self.requests.peer.clone();
        runtime.spawn(async move {
            let reason = "the caller does not wait any longer".to_owned();
            let params = CancelledNotificationParam::new(Some(id), Some(reason));
            let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}
