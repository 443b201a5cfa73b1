//! [`Mode`]: the two forms in which a reply is asked for.

use std::fmt;

/// How a reply is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// In one piece.
    Whole,
    /// As it is made.
    Streamed,
}

impl Mode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Whole, Self::Streamed];

    /// Whether replies come as they are made.
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
