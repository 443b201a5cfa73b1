//! [`Transmission`]: a reply as a sequence of steps.

use std::time::Duration;

use bytes::Bytes;

use crate::mock_server::reply::{Ending, Hold};

/// Everything that is sent for one request, in order.
#[derive(Debug)]
pub(crate) struct Transmission {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// The steps before the headers. None of them sends anything.
    pub(crate) prelude: Vec<Step>,
    pub(crate) body: Vec<Step>,
    /// The `content-length`, or `None` for a chunked body.
    pub(crate) content_length: Option<u64>,
}

/// One step of a transmission.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Passes these bytes to the socket, as one HTTP chunk if the body is chunked.
    Send(Bytes),
    /// Waits until everything sent so far has been written.
    Flush,
    /// Waits for this time.
    Pause(Duration),
    /// Waits for the hold, possibly forever.
    Stall(Hold),
    /// Ends the reply.
    End(Ending),
}
