//! [`Mode`]: the two forms in which a reply can be requested.

use std::fmt;

/// The form in which a reply is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// In one piece, when it is complete.
    Whole,
    /// As a stream, while it is generated.
    Streamed,
}

impl Mode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Whole, Self::Streamed];

    /// Returns whether this is [`Mode::Streamed`].
    pub fn is_streamed(self) -> bool {
        self == Self::Streamed
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Whole => "whole",
            Self::Streamed => "streamed",
        })
    }
}
