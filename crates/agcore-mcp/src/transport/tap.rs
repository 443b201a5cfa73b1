//! [`Tap`]: observes the messages of a connection, in their order.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_chat::Progress;
use rmcp::{
    RoleClient,
    model::{
        ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage, ProgressToken, RequestId,
        ServerNotification,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::time::timeout;

use super::handshake::{judged_probe, repair_initialized};
use crate::{inbox::Inbox, process::Process};

/// The state that a connection and its transport share.
#[derive(Debug, Default)]
pub(crate) struct Link {
    routes: Mutex<HashMap<ProgressToken, Inbox>>,
    /// Whether no more messages arrive.
    has_ended: AtomicBool,
}

impl Link {
    /// Returns whether no more messages arrive.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Ends the delivery of progress for a request.
    pub(crate) fn remove_route(&self, token: &ProgressToken) {
        self.routes().remove(token);
    }

    /// Ends all requests.
    fn end(&self) {
        // Under the lock, so that no request is added in between and waits in vain.
        let mut routes = self.routes();
        self.has_ended.store(true, Ordering::Release);
        for (_, inbox) in routes.drain() {
            inbox.end();
        }
    }

    /// Delivers the progress of a request from now on, unless the request was dropped while it waited to be sent.
    fn add_route(&self, token: ProgressToken, inbox: Inbox) {
        let mut routes = self.routes();
        if self.has_ended() {
            inbox.end();
        } else if inbox.has_receiver() {
            routes.insert(token, inbox);
        }
    }

    /// Delivers progress. That of requests that have ended is dropped.
    fn deliver(&self, token: &ProgressToken, progress: Progress) {
        if let Some(inbox) = self.routes().get(token) {
            inbox.deliver(progress);
        }
    }

    fn routes(&self) -> MutexGuard<'_, HashMap<ProgressToken, Inbox>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way in which the answers of a server arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    /// All in one stream.
    Shared,
    /// Each with the request that it answers, as over HTTP: the transport knows what an error without an id answers.
    #[cfg_attr(not(feature = "client-http"), allow(dead_code, reason = "only HTTP has it"))]
    PerRequest,
}

/// A transport that delivers progress before the response that follows it, reports the end of the connection, and ends
/// the process of the server when it is closed.
///
/// It also repairs the answers that establish the connection, and on a [`Channel::Shared`] it gives an error without an id
/// to the only request that waits for an answer.
pub(crate) struct Tap<T> {
    inner: T,
    link: Arc<Link>,
    process: Option<Arc<Process>>,
    close_limit: Duration,
    channel: Channel,
    /// The question for the revisions of the server, while it is not answered.
    probe: Option<RequestId>,
    /// The same after the client has stopped waiting for the answer.
    given_up: Option<RequestId>,
    /// The handshake, while it is not answered.
    handshake: Option<RequestId>,
    /// Whether every answer to the question for the revisions that is not a description leads to the handshake.
    tries_handshake: bool,
    /// The requests that wait for an answer.
    waiting: HashSet<RequestId>,
}

impl<T> Tap<T> {
    /// Wraps a transport.
    pub(crate) fn new(inner: T, link: Arc<Link>, process: Option<Arc<Process>>, close_limit: Duration) -> Self {
        Self {
            inner,
            link,
            process,
            close_limit,
            channel: Channel::Shared,
            probe: None,
            given_up: None,
            handshake: None,
            tries_handshake: false,
            waiting: HashSet::new(),
        }
    }

    /// Sets how the answers arrive; all in one stream by default.
    pub(crate) fn with_channel(mut self, channel: Channel) -> Self {
        self.channel = channel;
        self
    }

    /// Tries the handshake after any failure of the question for the revisions.
    pub(crate) fn with_handshake(mut self, tries: bool) -> Self {
        self.tries_handshake = tries;
        self
    }

    /// Notes the requests that negotiate the revision.
    fn sends(&mut self, id: &RequestId, request: &ClientRequest) {
        match request {
            ClientRequest::DiscoverRequest(_) => self.probe = Some(id.clone()),
            ClientRequest::InitializeRequest(_) => {
                self.given_up = self.probe.take();
                self.handshake = Some(id.clone());
            }
            _ => {}
        }
        self.waiting.insert(id.clone());
    }

    /// Notes that a request ended, and returns its id.
    fn ends(&mut self, id: &RequestId) -> Option<RequestId> {
        let number = match id {
            RequestId::String(text) => text.parse().ok().map(RequestId::Number),
            RequestId::Number(_) => None,
        };
        let found = self.waiting.take(id);
        found.or_else(|| self.waiting.take(&number?))
    }

    /// Returns an answer as the library expects it.
    fn repaired(&mut self, mut message: RxJsonRpcMessage<RoleClient>) -> RxJsonRpcMessage<RoleClient> {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => return message,
        };
        let asked = match id {
            Some(id) => self.ends(id),
            // It can belong only to the request that waits, if one does.
            None if self.channel == Channel::Shared && self.waiting.len() == 1 => self.waiting.drain().next(),
            None => {
                tracing::warn!("an MCP server sent an error that answers no request");
                None
            }
        };
        if let (JsonRpcMessage::Error(error), Some(asked)) = (&mut message, &asked)
            && error.id.is_none()
        {
            error.id = Some(asked.clone());
        }
        match (asked, &mut message) {
            (Some(id), _) if self.tries_handshake && self.probe.as_ref() == Some(&id) => judged_probe(message, &id),
            (Some(id), JsonRpcMessage::Response(response)) if self.handshake.as_ref() == Some(&id) => {
                self.handshake = None;
                repair_initialized(&mut response.result);
                message
            }
            _ => message,
        }
    }

    /// Returns whether a response is the late answer of a server that starts slowly. The library would take it for the
    /// answer to the handshake, and fail.
    fn is_late(&mut self, id: Option<&RequestId>) -> bool {
        let Some(id) = id else {
            return false;
        };
        if self.probe.as_ref() == Some(id) {
            self.probe = None;
        }
        let is_late = self.given_up.as_ref() == Some(id);
        if is_late {
            tracing::debug!("an MCP server answered server/discover after the handshake was sent");
            self.given_up = None;
        }
        is_late
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        mut message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &mut message {
            let inbox = request.request.extensions_mut().remove::<Inbox>();
            let token = request.request.get_meta().get_progress_token();
            if let (Some(inbox), Some(token)) = (inbox, token) {
                self.link.add_route(token, inbox);
            }
            self.sends(&request.id, &request.request);
        }
        if let JsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            self.waiting.remove(id);
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let received = self.inner.receive().await;
            match received.map(|message| self.repaired(message)) {
                Some(JsonRpcMessage::Notification(message)) => match message.notification {
                    ServerNotification::ProgressNotification(notification) => {
                        let params = notification.params;
                        let mut progress = Progress::amount(params.progress, params.total);
                        progress.message = params.message.map(Into::into);
                        self.link.deliver(&params.progress_token, progress);
                    }
                    _ => return Some(JsonRpcMessage::Notification(message)),
                },
                Some(JsonRpcMessage::Response(message)) if self.is_late(Some(&message.id)) => {}
                Some(JsonRpcMessage::Error(message)) if self.is_late(message.id.as_ref()) => {}
                Some(message) => return Some(message),
                None => {
                    self.link.end();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.link.end();
        let Some(process) = &self.process else {
            return self.inner.close().await;
        };
        // It waits for a message that is being written, and the server may have stopped reading.
        let closed = timeout(self.close_limit / 5, self.inner.close()).await;
        process.shut_down(self.close_limit * 3 / 5).await;
        closed.unwrap_or(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorData;

    use super::*;

    /// Returns the id that an error without an id gets while requests wait.
    fn given(channel: Channel, waiting: &[i64]) -> Option<RequestId> {
        let limit = Duration::from_secs(1);
        let mut tap = Tap::new((), Arc::new(Link::default()), None, limit).with_channel(channel);
        tap.waiting.extend(waiting.iter().copied().map(RequestId::Number));
        let error = JsonRpcMessage::error(ErrorData::internal_error("no", None), None);
        match tap.repaired(error) {
            JsonRpcMessage::Error(error) => error.id,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_without_an_id_answers_the_only_request_of_a_shared_channel() {
        assert_eq!(given(Channel::Shared, &[7]), Some(RequestId::Number(7)));
        assert_eq!(given(Channel::Shared, &[7, 8]), None);
        assert_eq!(given(Channel::Shared, &[]), None);
        assert_eq!(given(Channel::PerRequest, &[7]), None);
    }
}
