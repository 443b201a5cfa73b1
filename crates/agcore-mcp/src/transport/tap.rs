//! [`Tap`]: observes the messages of a connection, in their order.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use agcore_chat::Progress;
use rmcp::{
    RoleClient,
    model::{
        ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage, ProgressToken, RequestId, ServerNotification,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::process::Process;

/// The state that a connection and its transport share.
#[derive(Debug, Default)]
pub(crate) struct Link {
    routes: Mutex<HashMap<ProgressToken, mpsc::Sender<Progress>>>,
    /// Cancelled when no more messages arrive.
    ended: CancellationToken,
}

impl Link {
    /// Returns the token that is cancelled when no more messages arrive.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    /// Ends the delivery of progress for a request.
    pub(crate) fn remove_route(&self, token: &ProgressToken) {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    fn add_route(&self, token: ProgressToken, route: ProgressRoute) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        routes.insert(token, route.0);
    }

    /// Delivers progress. What does not fit into the channel is dropped, as is progress of requests that have ended.
    fn deliver(&self, token: &ProgressToken, progress: Progress) {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(route) = routes.get(token) {
            let _ = route.try_send(progress);
        }
    }
}

/// The receiver of a request's progress, attached to the request until it is sent.
#[derive(Debug, Clone)]
pub(crate) struct ProgressRoute(pub(crate) mpsc::Sender<Progress>);

/// A transport that delivers progress before the response that follows it, reports the end of the connection, and ends
/// the process of the server when it is closed.
pub(crate) struct Tap<T> {
    inner: T,
    link: Arc<Link>,
    process: Option<Arc<Process>>,
    close_limit: Duration,
    /// The question for the revisions of the server, while it is not answered.
    probe: Option<RequestId>,
    /// The same after the client has stopped waiting for the answer.
    given_up: Option<RequestId>,
}

impl<T> Tap<T> {
    /// Wraps a transport.
    pub(crate) fn new(inner: T, link: Arc<Link>, process: Option<Arc<Process>>, close_limit: Duration) -> Self {
        Self {
            inner,
            link,
            process,
            close_limit,
            probe: None,
            given_up: None,
        }
    }

    /// Notes the requests that negotiate the revision.
    fn sends(&mut self, id: &RequestId, request: &ClientRequest) {
        match request {
            ClientRequest::DiscoverRequest(_) => self.probe = Some(id.clone()),
            ClientRequest::InitializeRequest(_) => self.given_up = self.probe.take(),
            _ => {}
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
            let route = request.request.extensions_mut().remove::<ProgressRoute>();
            let token = request.request.get_meta().get_progress_token();
            if let (Some(route), Some(token)) = (route, token) {
                self.link.add_route(token, route);
            }
            self.sends(&request.id, &request.request);
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.inner.receive().await {
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
                    self.link.ended.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.link.ended.cancel();
        let Some(process) = &self.process else {
            return self.inner.close().await;
        };
        // It waits for a message that is being written, and the server may have stopped reading.
        let closed = timeout(self.close_limit / 5, self.inner.close()).await;
        process.shut_down(self.close_limit * 3 / 5).await;
        closed.unwrap_or(Ok(()))
    }
}
