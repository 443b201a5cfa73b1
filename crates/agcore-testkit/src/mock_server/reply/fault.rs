//! [`Fault`]: a fault of a reply, as data.

use std::time::Duration;

use serde::Deserialize;

use crate::mock_server::reply::{ApiError, Gate};

/// A fault of the server or of the network. Faults are added to a [`Reply`](crate::mock_server::Reply) and combine.
/// Each applies wherever it is meaningful: a fault that concerns the events of a stream does not affect a single
/// body.
///
/// Offsets count the bytes of the body, before HTTP framing. Events are numbered from 0; a single body counts as one
/// event.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_testkit::mock_server::{Ending, Fault, MockServer, Outcome, Point, Reply, Script};
/// # use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
/// # async fn chat_stream(server: &MockServer) -> String {
/// #     let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true}"#;
/// #     let mut client = TcpStream::connect(server.address()).await.unwrap();
/// #     let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ";
/// #     client.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
/// #     let mut reply = String::new();
/// #     client.read_to_string(&mut reply).await.unwrap();
/// #     reply
/// # }
///
/// let reply = Reply::text("one two three")
///     .with_fault(Fault::ByteOrderMark)
///     .with_fault(Fault::cut(Point::AfterEvents(3), Ending::Abrupt));
/// let server = MockServer::start(Script::new([reply])).await.unwrap();
///
/// // `chat_stream` is the client under test. The first event carries the role.
/// let received = chat_stream(&server).await;
/// assert!(received.contains("one ") && received.contains("two ") && !received.contains("three"));
/// assert_eq!(server.wait_for_outcome(0).await, Outcome::Faulted);
/// # });
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    // The form of the reply.
    /// Sends a single JSON body although a stream was requested.
    WholeForStream,
    /// Sends a stream although a single body was requested.
    StreamForWhole,
    /// Sends this content type instead of the correct one.
    ContentType(String),
    /// Gives every tool call the id of the first one.
    DuplicateIds,

    // Events of a stream.
    /// Omits the terminal marker (`[DONE]`, `message_stop`).
    MissingDone,
    /// Omits the event with the finish reason.
    MissingFinish,
    /// Truncates the event at this position halfway, leaving invalid JSON. Applies to single bodies as well.
    Malformed {
        /// The position of the event.
        at: usize,
    },
    /// Inserts an event with this data before the event at this position.
    ExtraEvent {
        /// The position to insert at.
        at: usize,
        /// The `event:` field, for APIs that stream server-sent events.
        name: Option<String>,
        /// The data, sent verbatim; it need not be JSON.
        data: String,
    },
    /// Sends an error event at this position and nothing after it.
    ErrorEvent {
        /// The position of the first event to replace.
        at: usize,
        /// The error, in the format of the API unless it sets its own.
        error: ApiError,
    },
    /// Pads the event at this position to this many bytes with an unknown JSON member. Applies to single bodies as
    /// well.
    Huge {
        /// The position of the event.
        at: usize,
        /// The size of its JSON after padding, in bytes.
        bytes: usize,
    },

    // Framing of an event stream. Only line ends apply to newline-delimited JSON.
    /// Uses other line ends than LF.
    LineEnds(LineEnds),
    /// Sends a comment line with this text before each event.
    Comments(String),
    /// Omits the space after the colon of a field.
    NoSpace,
    /// Starts the body with a byte order mark.
    ByteOrderMark,
    /// Spreads the JSON of each event over several `data:` lines.
    ManyDataLines,
    /// Ends the body right after the last character of the last event, without a line end.
    NoLastLineEnd,
    /// Sends this many blank lines before the body, as DeepSeek does to keep the connection of a non-streamed reply
    /// alive.
    LeadingBlankLines(usize),

    // Bytes.
    /// Ends and flushes writes exactly at these offsets, regardless of event boundaries.
    SplitAt(Vec<usize>),
    /// Splits each multi-byte character after its first byte.
    SplitUtf8,
    /// Writes and flushes each byte separately.
    OneByteWrites,
    /// Compresses the body, although the client did not ask for it.
    #[cfg(feature = "gzip")]
    Gzip,

    // Time and end.
    /// Stops sending at this point until the hold ends.
    Stall {
        /// The point at which to stop.
        at: Point,
        /// The duration of the stall.
        hold: Hold,
    },
    /// Ends the reply at this point.
    Cut {
        /// The point at which to end.
        at: Point,
        /// The way to end.
        ending: Ending,
    },
}

impl Fault {
    /// Creates a fault that stops the reply at `at` until the gate opens, the time has passed, or the client
    /// disconnects.
    pub fn stall(at: Point, hold: impl Into<Hold>) -> Self {
        Self::Stall { at, hold: hold.into() }
    }

    /// Creates a fault that ends the reply at `at`.
    pub fn cut(at: Point, ending: Ending) -> Self {
        Self::Cut { at, ending }
    }

    /// Creates a fault that sends an error event at position `at` and nothing after it.
    pub fn error_event(at: usize, error: ApiError) -> Self {
        Self::ErrorEvent { at, error }
    }

    /// Creates a fault that inserts an unnamed event with this data before the event at position `at`.
    pub fn extra_event(at: usize, data: impl Into<String>) -> Self {
        Self::ExtraEvent {
            at,
            name: None,
            data: data.into(),
        }
    }
}

/// A point in the transmission of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Point {
    /// Before anything is sent. A cut here is never clean: the connection closes without a reply.
    BeforeHeaders,
    /// After the status and headers, before the first byte of the body.
    BeforeBody,
    /// After this many bytes of the body, or after all of them if there are fewer.
    AfterBytes(usize),
    /// After this many events, or after all of them if there are fewer.
    AfterEvents(usize),
    /// After the entire body, before its end is signaled.
    BeforeEnd,
}

/// The duration of a stall. A client disconnect or a server shutdown ends every stall.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Hold {
    /// Until the test opens the gate.
    #[serde(skip)]
    Gate(Gate),
    /// For this many milliseconds, measured on tokio's clock.
    Millis(u64),
    /// Until the client disconnects.
    Forever,
}

impl Hold {
    /// Waits until the hold ends.
    pub(crate) async fn wait(self) {
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

/// A premature end of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// The HTTP message ends properly, but its content is incomplete.
    Clean,
    /// The connection closes in the middle of the HTTP message.
    Abrupt,
    /// The connection is reset (RST). The kernel may discard bytes that the client has not read yet.
    Reset,
}

/// The line ends of an event stream.
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
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }
}
