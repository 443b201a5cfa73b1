//! Exit codes of the program, and the kinds of failures that they stand for.

/// The category of a failure, which determines the exit code. Together with 0 for success, these are all exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The task, the model or a tool failed.
    Task,
    /// Invalid arguments, input or settings.
    Usage,
    /// The API key is missing, was rejected, or lacks a permission.
    Key,
    /// The server could not be reached, or did not answer in time.
    Unreachable,
    /// The answer was cut off at the token limit, blocked by a content filter, or has no text.
    Incomplete,
    /// A tool call was denied because no one could be asked.
    Denied,
    /// The limit of tool rounds or a budget was reached.
    Limit,
    /// The turn waits for answers to its questions.
    Suspended,
    /// A bug: the program panicked.
    Panic,
    /// Interrupted with Ctrl-C.
    Cancelled,
    /// The reader of the output has gone away.
    OutputClosed,
    /// Terminated with SIGTERM.
    Terminated,
}

impl FailureKind {
    /// All kinds, by exit code.
    const ALL: [Self; 12] = [
        Self::Task,
        Self::Usage,
        Self::Key,
        Self::Unreachable,
        Self::Incomplete,
        Self::Denied,
        Self::Limit,
        Self::Suspended,
        Self::Panic,
        Self::Cancelled,
        Self::OutputClosed,
        Self::Terminated,
    ];

    /// Returns the exit code.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Task => 1,
            Self::Usage => 2,
            Self::Key => 3,
            Self::Unreachable => 4,
            Self::Incomplete => 5,
            Self::Denied => 6,
            Self::Limit => 7,
            Self::Suspended => 8,
            Self::Panic => 101,
            Self::Cancelled => 130,
            Self::OutputClosed => 141,
            Self::Terminated => 143,
        }
    }

    /// Returns the meaning of the exit code, for the help.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Task => "the task, the model or a tool failed",
            Self::Usage => "invalid arguments, input or settings",
            Self::Key => "API key missing, rejected or lacking a permission",
            Self::Unreachable => "server unreachable, or no answer in time",
            Self::Incomplete => {
                "the answer is incomplete: cut off at the token limit, blocked by a content filter, or without any text"
            }
            Self::Denied => "a tool call was denied because no one could be asked",
            Self::Limit => "a limit was reached: tool rounds or budget",
            Self::Suspended => "the turn waits for approvals; `agcore approvals` answers them",
            Self::Panic => "a bug in agcore",
            Self::Cancelled => "interrupted with Ctrl-C",
            Self::OutputClosed => "output closed by its reader, as in `agcore chat ... | head -1`",
            Self::Terminated => "terminated with SIGTERM or SIGHUP",
        }
    }

    /// Returns the name in machine-readable output, for failures that do not come from a model or an agent.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Usage => "usage",
            Self::Key => "auth",
            Self::Unreachable => "connection",
            Self::Incomplete => "incomplete",
            Self::Denied => "permission",
            Self::Limit => "limit",
            Self::Suspended => "suspended",
            Self::Panic => "bug",
            Self::Cancelled => "cancelled",
            Self::OutputClosed => "output_closed",
            Self::Terminated => "terminated",
        }
    }
}

/// Returns all exit codes and their meanings.
pub fn exit_codes() -> impl Iterator<Item = (u8, &'static str)> {
    let failures = FailureKind::ALL.map(|kind| (kind.exit_code(), kind.meaning()));
    std::iter::once((0, "success")).chain(failures)
}
