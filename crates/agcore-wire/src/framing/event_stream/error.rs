//! [`EventStreamError`]: the reason an event stream cannot be read.

use std::fmt;

/// The reason an event stream cannot be read further. The stream is damaged, or not an event stream at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventStreamError {
    /// The checksum of a prelude is wrong, so that the length of its message is unknown.
    PreludeChecksum,
    /// The checksum of a message is wrong.
    MessageChecksum,
    /// A message is shorter than its own headers.
    TooShort,
    /// The headers or the payload of a message are larger than the limit.
    TooLarge,
    /// The headers of a message cannot be read.
    Headers,
}

impl fmt::Display for EventStreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PreludeChecksum => "the checksum of the beginning of a message is wrong",
            Self::MessageChecksum => "the checksum of a message is wrong",
            Self::TooShort => "a message is shorter than its headers",
            Self::TooLarge => "a message is larger than the limit of 24 MiB with headers of 128 KiB",
            Self::Headers => "the headers of a message are invalid",
        })
    }
}

impl std::error::Error for EventStreamError {}
