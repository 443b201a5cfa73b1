//! [`RequestLimits`]: how much a client may send.

/// Limits of the size of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct RequestLimits {
    /// The size of the body in bytes, by default 8 MiB.
    pub max_bytes: usize,
    /// The number of messages or items, by default 10 000.
    pub max_messages: usize,
    /// The number of tools, by default 128.
    pub max_tools: usize,
    /// The size of the definition of a tool in bytes, as JSON, by default 32 KiB.
    pub max_tool_bytes: usize,
    /// The size of all instructions of the client in bytes, by default 64 KiB.
    pub max_instruction_bytes: usize,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            max_bytes: 8 << 20,
            max_messages: 10_000,
            max_tools: 128,
            max_tool_bytes: 32 << 10,
            max_instruction_bytes: 64 << 10,
        }
    }
}

impl RequestLimits {
    /// Creates the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the size of the body in bytes.
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the number of messages or items.
    pub fn with_max_messages(mut self, messages: usize) -> Self {
        self.max_messages = messages;
        self
    }
}
