//! [`serve`]: the door for editors, over a pair of byte streams.

mod requests;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use agent_client_protocol::{
    Agent, Client, Lines, on_receive_notification, on_receive_request,
    v1::{
        ConnectionTo, Responder,
        schema::{CancelNotification, ClientCapabilities, ClientRequest},
    },
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    editor::{Editor, Link},
    error::{AcpError, AcpErrorKind},
    host::Host,
    live::Live,
    transport::{PLACES, lines, writer},
};

/// The time that turns have to end, or to be suspended, after the editor has gone. Then they are cancelled, and have it once more.
/// An editor has the same time to read the rest.
const GRACE: Duration = Duration::from_secs(5);

/// Serves an editor until `input` ends or `stop` is cancelled. Nothing but lines of the protocol is written to `output`.
///
/// Turns that run when the editor goes are ended: one that waits for a person is suspended, so that it can be continued later, and
/// the others are cancelled. Then the sessions are closed.
///
/// Not cancel safe: dropping the future ends the turns without closing the sessions.
///
/// ```
/// use agcore_acp::{AcpError, Host, serve};
/// use tokio_util::sync::CancellationToken;
///
/// /// Serves the editor that has started this process.
/// async fn serve_editor(host: impl Host) -> Result<(), AcpError> {
///     serve(host, tokio::io::empty(), tokio::io::sink(), CancellationToken::new()).await
/// }
/// ```
///
/// # Errors
/// When the streams fail.
pub async fn serve(
    host: impl Host,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: CancellationToken,
) -> Result<(), AcpError> {
    let door = Arc::new(Door {
        host: Box::new(host),
        capabilities: OnceLock::new(),
        gone: CancellationToken::new(),
        places: Arc::new(Semaphore::new(PLACES)),
        sessions: Mutex::default(),
        opening: tokio::sync::Mutex::default(),
        tasks: TaskTracker::new(),
    });
    let (requests, notifications, closing) = (Arc::clone(&door), Arc::clone(&door), Arc::clone(&door));
    let (broken, closed) = (CancellationToken::new(), CancellationToken::new());
    let transport = Lines::new(writer(output, Arc::clone(&door.places), broken.clone()), lines(input));
    let is_closed = closed.clone();
    let serving = Agent
        .v1()
        .name("agcore")
        .on_receive_request(
            async move |request: ClientRequest, responder: Responder, connection: ConnectionTo<Client>| {
                requests.accept(request, responder, connection)
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _: ConnectionTo<Client>| {
                if let Some(live) = notifications.live(&cancel.session_id.0) {
                    live.cancel();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_with(transport, async move |connection: ConnectionTo<Client>| {
            tokio::select! {
                () = connection.incoming_closed() => {}
                () = broken.cancelled() => {}
                () = stop.cancelled() => {}
            }
            closing.close().await;
            is_closed.cancel();
            Ok(())
        });
    let served = tokio::select! {
        served = serving => served,
        () = too_late(&closed) => Ok(()),
    };
    // After a failure of the streams, nothing else has closed the sessions.
    door.close().await;
    served.map_err(|error| {
        AcpError::new(
            AcpErrorKind::Closed,
            format!("the connection to the editor failed: {}", error.message),
        )
    })
}

/// Waits for the time that an editor has to read the rest after everything is closed: one that does not read ends nothing.
async fn too_late(closed: &CancellationToken) {
    closed.cancelled().await;
    tokio::time::sleep(GRACE).await;
}

/// The state of a connection.
struct Door {
    host: Box<dyn Host>,
    /// The abilities of the editor; set by `initialize`.
    capabilities: OnceLock<Arc<ClientCapabilities>>,
    gone: CancellationToken,
    places: Arc<Semaphore>,
    sessions: Mutex<HashMap<String, Arc<Live>>>,
    /// Held while a session is opened, closed or deleted, so that none is opened or closed twice.
    opening: tokio::sync::Mutex<()>,
    tasks: TaskTracker,
}

impl Door {
    fn live(&self, id: &str) -> Option<Arc<Live>> {
        self.lock().get(id).cloned()
    }

    /// Returns a session that is open.
    ///
    /// # Errors
    /// When none is open under this id.
    fn open_session(&self, id: &str) -> Result<Arc<Live>, AcpError> {
        self.live(id).ok_or_else(|| {
            AcpError::new(
                AcpErrorKind::NotFound,
                "this session is not open; session/load and session/resume open one",
            )
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Live>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a session out. Returns whether it was still open: who takes it out closes it.
    fn take(&self, live: &Arc<Live>) -> bool {
        let (mut sessions, id) = (self.lock(), live.hosted.session().id());
        let is_open = sessions.get(id).is_some_and(|open| Arc::ptr_eq(open, live));
        if is_open {
            sessions.remove(id);
        }
        is_open
    }

    /// Returns the editor for a new session.
    ///
    /// # Errors
    /// Before `initialize`.
    fn editor(&self, connection: ConnectionTo<Client>) -> Result<Editor, AcpError> {
        let capabilities = self.capabilities.get();
        let capabilities = capabilities.ok_or_else(|| AcpError::busy("the first request must be `initialize`"))?;
        Ok(Editor::new(Link {
            connection,
            capabilities: Arc::clone(capabilities),
            gone: self.gone.clone(),
            places: Arc::clone(&self.places),
        }))
    }

    /// Ends all turns and closes all sessions. Does nothing the second time.
    async fn close(&self) {
        let sessions: Vec<Arc<Live>> = self.lock().drain().map(|(_, live)| live).collect();
        // A turn that waits for a person is suspended instead.
        let others: Vec<&Arc<Live>> = sessions.iter().filter(|live| !live.editor.is_asking()).collect();
        self.gone.cancel();
        // One that asks since then has noted that it is left open.
        for live in others.into_iter().filter(|live| !live.editor.is_asking()) {
            live.cancel();
        }
        self.tasks.close();
        if tokio::time::timeout(GRACE, self.tasks.wait()).await.is_err() {
            sessions.iter().for_each(|live| live.cancel());
            let _ = tokio::time::timeout(GRACE, self.tasks.wait()).await;
        }
        for live in sessions {
            live.hosted.close().await;
        }
    }
}
