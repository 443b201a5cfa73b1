//! [`MediaRefusal`]: media of the conversation that a server refused.

use agcore_chat::{Fault, text::clip};
use serde::{Deserialize, Serialize};

/// The longest quotation of a server in a note, in bytes.
const MAX_REASON: usize = 200;

/// Media of the conversation that a server refused. Notes take their place for good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MediaRefusal {
    /// The refusal.
    pub fault: Fault,
    /// The indices of the messages whose media are replaced, in [`View::older`](crate::machine::View::older).
    pub messages: Vec<usize>,
}

impl MediaRefusal {
    /// Creates a refusal of the media of these messages.
    pub fn new(fault: Fault, messages: Vec<usize>) -> Self {
        Self { fault, messages }
    }

    /// Returns the end of the notes that take the place of the media.
    pub fn reason(&self) -> String {
        format!("the server refused it ({})", clip(&self.fault.message, MAX_REASON))
    }
}
