//! [`Editor`]: the editor in which a session runs.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use agent_client_protocol::{
    Client,
    v1::{
        ConnectionTo,
        schema::{
            ClientCapabilities, PermissionOption, ReadTextFileRequest, RequestPermissionOutcome,
            RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate, ToolCallUpdate,
            WriteTextFileRequest,
        },
    },
};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::Semaphore,
    task::block_in_place,
};
use tokio_util::sync::CancellationToken;

use crate::{
    call_view::{CallView, FileChange},
    error::{AcpError, AcpErrorKind},
};

/// The time that an editor has to read or write a file.
const FILE_LIMIT: Duration = Duration::from_secs(10);

/// The largest file that an editor may send, in bytes.
const MAX_FILE: usize = 4 * 1024 * 1024;

/// The connection to an editor, which all of its sessions share.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) connection: ConnectionTo<Client>,
    pub(crate) capabilities: Arc<ClientCapabilities>,
    /// Cancelled when the editor has gone.
    pub(crate) gone: CancellationToken,
    /// The places for updates that are not written yet: an editor that does not read stops its turns.
    pub(crate) places: Arc<Semaphore>,
}

/// The editor in which a session runs: it asks the user, shows updates, and has the files that are open in it. Clones are the same
/// editor.
#[derive(Debug, Clone)]
pub struct Editor(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    link: Link,
    session: OnceLock<SessionId>,
    /// The number of open questions.
    asking: AtomicUsize,
    /// Whether a question of the turn was left open: the turn is about to be suspended.
    left_open: AtomicBool,
    /// The directory without links, and as the editor named it.
    root: Mutex<Option<(PathBuf, PathBuf)>>,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The option with this id.
    Selected(String),
    /// The user cancelled the turn, or closed the question.
    Cancelled,
    /// There is no one to answer any more.
    Gone,
}

impl Editor {
    pub(crate) fn new(link: Link) -> Self {
        Self(Arc::new(Inner {
            link,
            session: OnceLock::new(),
            asking: AtomicUsize::new(0),
            left_open: AtomicBool::new(false),
            root: Mutex::default(),
        }))
    }

    /// Sets the session, before its first turn.
    pub(crate) fn bind(&self, session: SessionId) {
        // A second session cannot have the same editor.
        let _ = self.0.session.set(session);
    }

    /// Sets the folder of the session: without links, and as the editor names it.
    pub(crate) fn map_root(&self, real: PathBuf, named: PathBuf) {
        *self.0.root.lock().unwrap_or_else(PoisonError::into_inner) = Some((real, named));
    }

    /// Returns whether the editor reads files, with changes that are not saved.
    pub fn reads_files(&self) -> bool {
        self.0.link.capabilities.fs.read_text_file
    }

    /// Returns whether the editor writes files, also into its open buffers.
    pub fn writes_files(&self) -> bool {
        self.0.link.capabilities.fs.write_text_file
    }

    /// Returns whether the editor shows notices.
    pub(crate) fn shows_notices(&self) -> bool {
        let session = self.0.link.capabilities.session.as_ref();
        session.is_some_and(|session| session.notices.is_some())
    }

    /// Returns whether the editor has closed the connection.
    pub fn is_gone(&self) -> bool {
        self.0.link.gone.is_cancelled()
    }

    /// Returns whether a question is open, or was left open in this turn.
    pub(crate) fn is_asking(&self) -> bool {
        // In this order: a question is left open before it is no longer counted.
        self.0.asking.load(Ordering::SeqCst) > 0 || self.0.left_open.load(Ordering::SeqCst)
    }

    /// Notes that a turn begins.
    pub(crate) fn begin_turn(&self) {
        self.0.left_open.store(false, Ordering::SeqCst);
    }

    /// Sends an update. Waits while the editor does not read; it is lost if the editor has gone.
    pub(crate) async fn update(&self, update: SessionUpdate) {
        let Link {
            connection,
            gone,
            places,
            ..
        } = &self.0.link;
        tokio::select! {
            biased;
            () = gone.cancelled() => return,
            place = places.acquire() => match place {
                Ok(place) => place.forget(),
                Err(_) => return,
            },
        }
        // Fails only if the editor has gone.
        let _ = connection.send_notification(SessionNotification::new(self.session(), update));
    }

    /// Asks about a call. Dropping the future withdraws the question.
    pub(crate) async fn ask(&self, call: ToolCallUpdate, options: Vec<PermissionOption>) -> Asked {
        self.0.asking.fetch_add(1, Ordering::SeqCst);
        let _guard = Open(&self.0.asking);
        let request = RequestPermissionRequest::new(self.session(), call, options);
        let Link { connection, gone, .. } = &self.0.link;
        let answer = tokio::select! {
            biased;
            () = gone.cancelled() => return self.leave_open(),
            answer = connection.send_request(request).block_task() => answer,
        };
        match answer.map(|response| response.outcome) {
            Ok(RequestPermissionOutcome::Selected(selected)) => Asked::Selected(selected.option_id.0.to_string()),
            Ok(_) => Asked::Cancelled,
            // Without an answer, nothing is allowed; the question stays open for another day.
            Err(error) => {
                tracing::warn!(code = ?error.code, "the editor did not answer a question about a call");
                self.leave_open()
            }
        }
    }

    /// Notes that a question has no answer. The connection fails the open questions before it reports that the editor has gone.
    fn leave_open(&self) -> Asked {
        self.0.left_open.store(true, Ordering::SeqCst);
        Asked::Gone
    }

    /// Reads a file as it is in the editor, with changes that are not saved. `path` is absolute.
    ///
    /// Cancel safe: dropping the future withdraws the request.
    ///
    /// # Errors
    /// When the editor cannot read it, has no answer within 10 s, or sends more than 4 MiB.
    pub async fn read_text(&self, path: &Path) -> Result<String, AcpError> {
        let request = ReadTextFileRequest::new(self.session(), self.named(path));
        let reading = self.0.link.connection.send_request(request).block_task();
        let answer = tokio::time::timeout(FILE_LIMIT, reading).await;
        let text = answer
            .map_err(|_| slow("read"))?
            .map_err(|error| refused("read", &error.message))?
            .content;
        match text.len() > MAX_FILE {
            true => Err(AcpError::invalid("the file in the editor is larger than 4 MiB")),
            false => Ok(text),
        }
    }

    /// Writes a file in the editor. `path` is absolute.
    ///
    /// Not cancel safe: if the future is dropped, the file may be written nevertheless.
    ///
    /// # Errors
    /// When the editor cannot write it, or has no answer within 10 s.
    pub async fn write_text(&self, path: &Path, text: String) -> Result<(), AcpError> {
        let request = WriteTextFileRequest::new(self.session(), self.named(path), text);
        let writing = self.0.link.connection.send_request(request).block_task();
        let answer = tokio::time::timeout(FILE_LIMIT, writing).await;
        answer
            .map_err(|_| slow("write"))?
            .map(drop)
            .map_err(|error| refused("write", &error.message))
    }

    /// Like [`read_text`](Self::read_text), for code that is not async. Other tasks of the runtime continue meanwhile.
    ///
    /// # Errors
    /// As for [`read_text`](Self::read_text), and on a runtime with one thread, which would wait for itself.
    pub fn read_text_blocking(&self, path: &Path) -> Result<String, AcpError> {
        let (editor, path) = (self.clone(), path.to_owned());
        blocking(async move { editor.read_text(&path).await })
    }

    /// Like [`write_text`](Self::write_text), for code that is not async. Other tasks of the runtime continue meanwhile.
    ///
    /// # Errors
    /// As for [`write_text`](Self::write_text), and on a runtime with one thread, which would wait for itself.
    pub fn write_text_blocking(&self, path: &Path, text: String) -> Result<(), AcpError> {
        let (editor, path) = (self.clone(), path.to_owned());
        blocking(async move { editor.write_text(&path, text).await })
    }

    /// Returns the view with paths as the editor names them.
    pub(crate) fn named_view(&self, mut view: CallView) -> CallView {
        for location in &mut view.locations {
            location.path = self.named(&location.path);
        }
        view.change = view.change.map(|change| self.named_change(change));
        view
    }

    /// Returns the change with its path as the editor names it.
    pub(crate) fn named_change(&self, mut change: FileChange) -> FileChange {
        change.path = self.named(&change.path);
        change
    }

    /// Returns the folder of the session as the editor names it.
    pub(crate) fn named_root(&self) -> Option<PathBuf> {
        let root = self.0.root.lock().unwrap_or_else(PoisonError::into_inner);
        root.as_ref().map(|(_, named)| named.clone())
    }

    /// Returns the path as the editor names it: its folder may be a link.
    fn named(&self, path: &Path) -> PathBuf {
        let root = self.0.root.lock().unwrap_or_else(PoisonError::into_inner);
        match root
            .as_ref()
            .and_then(|(real, named)| Some(named.join(path.strip_prefix(real).ok()?)))
        {
            Some(named) => named,
            None => path.to_owned(),
        }
    }

    fn session(&self) -> SessionId {
        self.0.session.get().cloned().unwrap_or_else(|| SessionId::new(""))
    }
}

/// A question while it is open.
struct Open<'a>(&'a AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits on this thread for work that runs on the others.
fn blocking<T: Send + 'static>(
    work: impl Future<Output = Result<T, AcpError>> + Send + 'static,
) -> Result<T, AcpError> {
    let runtime = Handle::try_current()
        .ok()
        .filter(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    let Some(runtime) = runtime else {
        return Err(AcpError::new(
            AcpErrorKind::Internal,
            "files of the editor need a runtime with several threads",
        ));
    };
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // The receiver waits until this arrives.
        let _ = sender.send(work.await);
    });
    let received = block_in_place(|| receiver.recv());
    received.unwrap_or_else(|_| Err(AcpError::new(AcpErrorKind::Closed, "the program is ending")))
}

fn slow(action: &str) -> AcpError {
    AcpError::new(
        AcpErrorKind::Internal,
        format!("the editor did not {action} the file within {} s", FILE_LIMIT.as_secs()),
    )
}

fn refused(action: &str, reason: &str) -> AcpError {
    let reason = agcore_chat::text::sanitized_line(&agcore_chat::text::clip(reason, 500));
    AcpError::new(
        AcpErrorKind::Internal,
        format!("the editor cannot {action} the file: {reason}"),
    )
}
