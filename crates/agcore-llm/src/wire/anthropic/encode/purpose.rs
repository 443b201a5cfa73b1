//! [`Purpose`]: what a request is written for.

/// What a request is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::wire::anthropic) enum Purpose {
    /// To be answered.
    Answer,
    /// To have its tokens counted.
    Count,
}

impl Purpose {
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Answer => "/messages",
            Self::Count => "/messages/count_tokens",
        }
    }
}
