//! [`Form`]: the format of requests for models that do not chat.

/// The format of a request and its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// OpenAI and compatible servers.
    OpenAi,
    /// The native API of DashScope.
    DashScope,
}

/// The path of DashScope's native API on the server.
const DASHSCOPE: &str = "/api/v1/";

impl Form {
    /// Returns the format that a path has.
    pub(crate) fn of(path: &str) -> Self {
        match Self::below_dashscope(path) {
            Some(_) => Self::DashScope,
            None => Self::OpenAi,
        }
    }

    /// Returns the part of a path below DashScope's native API.
    pub(super) fn below_dashscope(path: &str) -> Option<&str> {
        path.strip_prefix(DASHSCOPE)
    }
}
