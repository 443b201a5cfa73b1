//! [`Limits`] and [`BusyPolicy`]: limits of what clients may ask for.

mod doors;
mod sharing;

pub use self::{
    doors::{DoorApprovals, DoorSettings},
    sharing::{Role, Sharing},
};

use std::time::Duration;

use agcore_files::FileKind;
use agcore_session::RunLimits;
use serde::{Deserialize, Serialize};

/// Limits of what clients may ask for, and how long the server waits for them.
///
/// ```
/// use agcore_server::Limits;
///
/// let limits = Limits::new().with_max_runs_per_user(4);
/// assert_eq!((limits.max_runs_per_user, limits.max_body_bytes), (4, 4 * 1024 * 1024));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest body of a request, in bytes; 4 MiB by default.
    pub max_body_bytes: usize,
    /// The largest number of open connections; 4096 by default. More wait until one is closed.
    pub max_connections: usize,
    /// The largest number of event streams that a user has open; 64 by default.
    pub max_streams_per_user: usize,
    /// The largest number of event streams that the users of a tenant have open; by default half of
    /// [`max_connections`](Self::max_connections).
    pub max_streams_per_tenant: Option<usize>,
    /// The largest number of runs of a user that wait or run; 16 by default.
    pub max_runs_per_user: usize,
    /// The largest number of runs of a tenant that wait or run; by default half of [`max_runs`](Self::max_runs), so that a tenant
    /// cannot take the places of all others.
    pub max_runs_per_tenant: Option<usize>,
    /// The largest number of runs that wait or run; 1024 by default.
    pub max_runs: usize,
    /// The largest file that is uploaded, in bytes; 32 MiB by default.
    pub max_file_bytes: usize,
    /// The largest number of files of a user; 200 by default.
    pub max_files_per_user: usize,
    /// The largest number of files of all users of a tenant; 10 000 by default.
    pub max_files_per_tenant: usize,
    /// The largest sum of the sizes of these files, in bytes; 16 GiB by default.
    pub max_file_bytes_per_tenant: u64,
    /// The largest number of schedules of a user; 100 by default.
    pub max_schedules_per_user: usize,
    /// The largest number of webhooks of a user; 20 by default.
    pub max_webhooks_per_user: usize,
    /// The largest body of a delivery to a hook, in bytes; 256 KiB by default.
    pub max_delivery_bytes: usize,
    /// The largest number of deliveries that are received at a time; 128 by default. Further ones are refused with the code
    /// `too_many_deliveries`.
    pub max_deliveries: usize,
    /// The kinds of files that are kept; by default those that flows can read, which is all but [`Other`](FileKind::Other).
    pub file_kinds: Vec<FileKind>,
    /// Where images in messages may come from; by default the internet, and the message itself.
    pub media: MediaSources,
    /// The time for a client to send the head of a request, and then its body; 30 s by default.
    pub read_timeout: Duration,
    /// The time after which a client that does not read is cut off; 30 s by default.
    pub write_timeout: Duration,
    /// The pause after which a stream without events sends a comment; 15 s by default.
    pub keep_alive: Duration,
    /// How long deltas of a text are gathered before they are written and sent; 50 ms by default, which is the most.
    pub gather: Duration,
    /// The time for which a server that stops still accepts connections, while `/ready` reports that it is stopping, so that load
    /// balancers notice before clients do; 0 by default.
    pub lame_duck: Duration,
    /// The time that runs have to end when the server stops; 10 s by default. Those that take longer continue when it starts again.
    pub drain: Duration,
}

/// The treatment of the runs that an earlier process has left unfinished, when a server starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfinished {
    /// Continues them after their last step.
    #[default]
    Continue,
    /// Cancels them before another model or tool is called. Use this for the copy of a database whose original is still used.
    Cancel,
}

/// Where images and documents in messages of users may come from. The server opens no addresses, but model servers do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MediaSources {
    /// Only from the message: as `data:` URLs.
    Data,
    /// Also from addresses on the internet, with `https:` or `http:`. Names that only a private network knows, and addresses of
    /// private networks, are refused. What a public name means in the network of the model server is not checked.
    #[default]
    Public,
    /// Also from private networks, and by ids of files that were uploaded to the vendor.
    Any,
}

/// The treatment of a run that is started on a thread with an active run, or with one that waits for the answer to a question. It
/// is stored with the run, so that every process that executes the run knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BusyPolicy {
    /// It is refused with the code `session_busy`.
    #[default]
    Refuse,
    /// It waits until the runs before it have ended, and their questions are answered. The run with the answer overtakes it.
    Queue,
    /// The runs before it are cancelled and their questions withdrawn, then it runs.
    Interrupt,
}

impl Limits {
    /// Creates the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the largest body of a request, in bytes.
    #[must_use]
    pub fn with_max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body_bytes = bytes;
        self
    }

    /// Sets the largest number of open connections.
    #[must_use]
    pub fn with_max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections;
        self
    }

    /// Sets the largest number of event streams that a user has open.
    #[must_use]
    pub fn with_max_streams_per_user(mut self, streams: usize) -> Self {
        self.max_streams_per_user = streams;
        self
    }

    /// Sets the largest number of schedules of a user.
    #[must_use]
    pub fn with_max_schedules_per_user(mut self, schedules: usize) -> Self {
        self.max_schedules_per_user = schedules;
        self
    }

    /// Sets the largest number of webhooks of a user.
    #[must_use]
    pub fn with_max_webhooks_per_user(mut self, webhooks: usize) -> Self {
        self.max_webhooks_per_user = webhooks;
        self
    }

    /// Sets the largest body of a delivery to a hook, in bytes.
    #[must_use]
    pub fn with_max_delivery_bytes(mut self, bytes: usize) -> Self {
        self.max_delivery_bytes = bytes;
        self
    }

    /// Sets the largest number of deliveries that are received at a time.
    #[must_use]
    pub fn with_max_deliveries(mut self, deliveries: usize) -> Self {
        self.max_deliveries = deliveries;
        self
    }

    /// Sets the largest number of runs of a user that wait or run.
    #[must_use]
    pub fn with_max_runs_per_user(mut self, runs: usize) -> Self {
        self.max_runs_per_user = runs;
        self
    }

    /// Sets the largest number of event streams that the users of a tenant have open.
    #[must_use]
    pub fn with_max_streams_per_tenant(mut self, streams: usize) -> Self {
        self.max_streams_per_tenant = Some(streams);
        self
    }

    /// Sets the largest number of runs of a tenant that wait or run. If all users are of one tenant, set it to
    /// [`max_runs`](Self::max_runs).
    #[must_use]
    pub fn with_max_runs_per_tenant(mut self, runs: usize) -> Self {
        self.max_runs_per_tenant = Some(runs);
        self
    }

    /// Returns the limits of runs that wait or run, for a run that replaces some of them.
    pub(crate) fn of_runs(&self, replaced: usize) -> RunLimits {
        let tenant = self.max_runs_per_tenant.unwrap_or(self.max_runs.div_ceil(2));
        let limit = |runs: usize| runs.saturating_add(replaced) as u64;
        RunLimits::new(limit(self.max_runs))
            .with_tenant(limit(tenant))
            .with_user(limit(self.max_runs_per_user))
    }

    /// Returns the largest number of streams of a tenant.
    pub(crate) fn streams_per_tenant(&self) -> usize {
        self.max_streams_per_tenant.unwrap_or(self.max_connections.div_ceil(2))
    }

    /// Sets the largest number of runs that wait or run.
    #[must_use]
    pub fn with_max_runs(mut self, runs: usize) -> Self {
        self.max_runs = runs;
        self
    }

    /// Sets the largest file that is uploaded, in bytes.
    #[must_use]
    pub fn with_max_file_bytes(mut self, bytes: usize) -> Self {
        self.max_file_bytes = bytes;
        self
    }

    /// Sets the largest number of files of a user.
    #[must_use]
    pub fn with_max_files_per_user(mut self, files: usize) -> Self {
        self.max_files_per_user = files;
        self
    }

    /// Sets the largest number of files of all users of a tenant.
    #[must_use]
    pub fn with_max_files_per_tenant(mut self, files: usize) -> Self {
        self.max_files_per_tenant = files;
        self
    }

    /// Sets the largest sum of the sizes of the files of all users of a tenant, in bytes.
    #[must_use]
    pub fn with_max_file_bytes_per_tenant(mut self, bytes: u64) -> Self {
        self.max_file_bytes_per_tenant = bytes;
        self
    }

    /// Sets the kinds of files that are kept.
    #[must_use]
    pub fn with_file_kinds(mut self, kinds: impl IntoIterator<Item = FileKind>) -> Self {
        self.file_kinds = kinds.into_iter().collect();
        self
    }

    /// Sets where images in messages may come from.
    #[must_use]
    pub fn with_media(mut self, sources: MediaSources) -> Self {
        self.media = sources;
        self
    }

    /// Sets the time for a client to send the head of a request, and then its body.
    #[must_use]
    pub fn with_read_timeout(mut self, time: Duration) -> Self {
        self.read_timeout = time;
        self
    }

    /// Sets the time after which a client that does not read is cut off.
    #[must_use]
    pub fn with_write_timeout(mut self, time: Duration) -> Self {
        self.write_timeout = time;
        self
    }

    /// Sets the pause after which a stream without events sends a comment.
    #[must_use]
    pub fn with_keep_alive(mut self, pause: Duration) -> Self {
        self.keep_alive = pause;
        self
    }

    /// Sets how long deltas of a text are gathered. More than 50 ms count as 50 ms.
    #[must_use]
    pub fn with_gather(mut self, time: Duration) -> Self {
        self.gather = time.min(Duration::from_millis(50));
        self
    }

    /// Sets the time for which a server that stops still accepts connections.
    #[must_use]
    pub fn with_lame_duck(mut self, time: Duration) -> Self {
        self.lame_duck = time;
        self
    }

    /// Sets the time that runs have to end when the server stops.
    #[must_use]
    pub fn with_drain(mut self, time: Duration) -> Self {
        self.drain = time;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 4 * 1024 * 1024,
            max_connections: 4096,
            max_streams_per_user: 64,
            max_streams_per_tenant: None,
            max_runs_per_user: 16,
            max_runs_per_tenant: None,
            max_runs: 1024,
            max_file_bytes: 32 * 1024 * 1024,
            max_files_per_user: 200,
            max_files_per_tenant: 10_000,
            max_file_bytes_per_tenant: 16 * 1024 * 1024 * 1024,
            max_schedules_per_user: 100,
            max_webhooks_per_user: 20,
            max_delivery_bytes: 256 * 1024,
            max_deliveries: 128,
            file_kinds: vec![
                FileKind::Text,
                FileKind::Markdown,
                FileKind::Html,
                FileKind::Json,
                FileKind::Csv,
                FileKind::Tsv,
                FileKind::Xlsx,
                FileKind::Pdf,
                FileKind::Docx,
            ],
            media: MediaSources::default(),
            read_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
            gather: Duration::from_millis(50),
            lame_duck: Duration::ZERO,
            drain: Duration::from_secs(10),
        }
    }
}
