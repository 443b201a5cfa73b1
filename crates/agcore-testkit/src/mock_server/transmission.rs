//! A reply as steps to be played.

use std::time::Duration;

use bytes::Bytes;

use super::fault::{Ending, Hold};

/// All that is sent for one request, in the order of sending.
#[derive(Debug)]
pub(crate) struct Transmission {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// What happens before the headers; it sends nothing.
    pub(crate) prelude: Vec<Step>,
    pub(crate) body: Vec<Step>,
    /// The length that is told; `None` means a chunked body.
    pub(crate) length: Option<u64>,
}

/// One thing to do.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Hand these bytes to the socket, as one HTTP chunk where the length is untold.
    Send(Bytes),
    /// Wait until all that was sent is written.
    Flush,
    /// Wait.
    Pause(Duration),
    /// Wait, perhaps for ever.
    Stall(Hold),
    /// Stop here.
    End(Ending),
}
