//! What can go wrong with a reply on its way, as data.

use std::time::Duration;

use serde::Deserialize;

use super::api_error::ApiError;
use super::gate::Gate;

/// A fault of the server or of the road. Faults are put on a [`Reply`](super::Reply) and add up; each works on any
/// form of reply as far as it makes sense there (what concerns events leaves a whole body alone).
///
/// Offsets count the bytes of the body, before HTTP's own framing. Events are counted from 0; a whole body is one.
///
/// ```
/// use agcore_testkit::mock_server::{Ending, Fault, Point, Reply};
///
/// let reply = Reply::text("one two three")
///     .with_fault(Fault::SplitUtf8)
///     .with_fault(Fault::cut(Point::AfterEvents(2), Ending::Reset));
/// # let _ = reply;
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    // What is sent.
    /// A whole JSON body although a stream was asked for.
    WholeForStream,
    /// A stream although a whole body was asked for.
    StreamForWhole,
    /// Another content type than the body's.
    ContentType(String),
    /// Every tool call carries the id of the first.
    DuplicateIds,

    // Events of a stream.
    /// The terminal marker (`[DONE]`, `message_stop`) does not come.
    MissingDone,
    /// The event with the finish reason does not come.
    MissingFinish,
    /// The event at this place is the first half of itself, thus no JSON. On a whole body, too.
    Malformed {
        /// The event's place.
        at: usize,
    },
    /// One more event comes before the one at this place, with this data as it stands.
    ExtraEvent {
        /// Before which event.
        at: usize,
        /// The event's `event:` line, where the framing has one.
        name: Option<String>,
        /// The event's data, which need not be JSON.
        data: String,
    },
    /// An error event stands at this place, and nothing follows.
    ErrorEvent {
        /// In whose stead.
        at: usize,
        /// The error, in the wire's shape or its own.
        error: ApiError,
    },
    /// The event at this place is blown up to so many bytes by an unknown member. On a whole body, too.
    Huge {
        /// The event's place.
        at: usize,
        /// How many bytes its JSON has then.
        bytes: usize,
    },

    // Framing of an event stream (newline-delimited JSON knows line ends only).
    /// Other line ends than LF.
    LineEnds(LineEnds),
    /// A comment line before each event.
    Comments(String),
    /// No blank after the colon of a field.
    NoSpace,
    /// A byte order mark first.
    ByteOrderMark,
    /// Each event's JSON over several `data:` lines.
    ManyDataLines,
    /// The body ends right after the last event's last character: no blank line, no line end.
    NoLastLineEnd,
    /// So many blank lines before the body, as DeepSeek's keep-alive for whole replies.
    LeadingBlankLines(usize),

    // Bytes.
    /// Writes end exactly at these offsets and are flushed there; the borders of events do not count.
    SplitAt(Vec<usize>),
    /// Each character of more than one byte is cut after its first byte.
    SplitUtf8,
    /// Each byte is written and flushed alone.
    OneByteWrites,
    /// The body comes compressed.
    #[cfg(feature = "gzip")]
    Gzip,

    // Time and end.
    /// The server stops here for a while.
    Stall {
        /// Where.
        at: Point,
        /// For how long.
        hold: Hold,
    },
    /// The reply ends here.
    Cut {
        /// Where.
        at: Point,
        /// How.
        ending: Ending,
    },
}

impl Fault {
    /// The server stops at `at` until the gate opens, the time is over, or the client is gone.
    pub fn stall(at: Point, hold: impl Into<Hold>) -> Self {
        Self::Stall { at, hold: hold.into() }
    }

    /// The reply ends at `at`.
    pub fn cut(at: Point, ending: Ending) -> Self {
        Self::Cut { at, ending }
    }

    /// An error event before the event `at`; nothing follows it.
    pub fn error_event(at: usize, error: ApiError) -> Self {
        Self::ErrorEvent { at, error }
    }

    /// An event of any content before the event `at`.
    pub fn extra_event(at: usize, data: impl Into<String>) -> Self {
        Self::ExtraEvent {
            at,
            name: None,
            data: data.into(),
        }
    }
}

/// A place in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Point {
    /// Before anything is sent. A cut here is never clean: the connection ends without a reply.
    BeforeHeaders,
    /// After status and headers, before the first byte of the body.
    BeforeBody,
    /// After so many bytes of the body (at most all).
    AfterBytes(usize),
    /// After so many events (at most all).
    AfterEvents(usize),
    /// After the whole body, before its end is told.
    BeforeEnd,
}

/// How long a stall holds. A client that leaves ends every stall, and so does the server's shutdown.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Hold {
    /// Until the test opens the gate.
    #[serde(skip)]
    Gate(Gate),
    /// For so many milliseconds of tokio's clock.
    Millis(u64),
    /// Until the client leaves.
    Forever,
}

impl Hold {
    /// Waits it out.
    pub(crate) async fn pass(self) {
        match self {
            Self::Gate(gate) => gate.pass().await,
            Self::Millis(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
            Self::Forever => std::future::pending().await,
        }
    }
}

impl From<Gate> for Hold {
    fn from(gate: Gate) -> Self {
        Self::Gate(gate)
    }
}

impl From<&Gate> for Hold {
    fn from(gate: &Gate) -> Self {
        Self::Gate(gate.clone())
    }
}

impl From<Duration> for Hold {
    fn from(time: Duration) -> Self {
        Self::Millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }
}

/// How a reply ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// The HTTP message ends properly; only its content is short.
    Clean,
    /// The connection closes in the middle of the HTTP message.
    Abrupt,
    /// The connection is reset (RST). The kernel may drop what the client has not read yet.
    Reset,
}

/// Line ends of an event stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LineEnds {
    /// LF.
    #[default]
    Lf,
    /// CR LF.
    CrLf,
    /// CR.
    Cr,
}

impl LineEnds {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }
}
