//! [`Document`]: a reply that is one JSON document, and comes whole.

use serde::de::DeserializeOwned;

use crate::{
    error::{LlmError, LlmErrorKind},
    wire::{Close, ReplyHead, failure::FailureReader},
};

/// The largest document that is read, in bytes.
const LONGEST: usize = 256 << 20;

/// A reply that is one JSON document.
#[derive(Debug)]
pub(crate) struct Document {
    failure: FailureReader,
    is_success: bool,
    body: Vec<u8>,
}

impl Document {
    /// The document of a reply with this head.
    pub(crate) fn new(head: &ReplyHead) -> Self {
        Self {
            failure: FailureReader::new(head),
            is_success: head.status.is_success(),
            body: Vec::new(),
        }
    }

    /// Takes more bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<(), LlmError> {
        if self.body.len().saturating_add(bytes.len()) > LONGEST {
            let message = format!("the reply is larger than the limit of {LONGEST} bytes");
            return Err(self.failure.note(LlmError::new(LlmErrorKind::Malformed, message)));
        }
        self.body.extend_from_slice(bytes);
        Ok(())
    }

    /// The whole document; `what` it should be, for errors.
    pub(crate) fn read<T: DeserializeOwned>(&self, close: Close, what: &str) -> Result<T, LlmError> {
        if !self.is_success {
            return Err(self.reported());
        }
        let body = self.body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.body);
        let error = match serde_json::from_slice(body) {
            Ok(document) => return Ok(document),
            Err(_) if close == Close::Reset => return Err(self.failure.broken()),
            Err(error) => error,
        };
        Err(if error.is_eof() && !self.is_blank() {
            let message = format!("the reply ended in the middle: {error}");
            self.failure.note(LlmError::new(LlmErrorKind::Truncated, message))
        } else {
            let words = FailureReader::words_of(&self.body);
            let why = words.unwrap_or_else(|| {
                if self.is_blank() {
                    "nothing".to_owned()
                } else {
                    error.to_string()
                }
            });
            self.malformed(format!("the server answered with something that is no {what}: {why}"))
        })
    }

    /// The error that the document tells.
    pub(crate) fn reported(&self) -> LlmError {
        self.failure.read(&self.body)
    }

    /// The document is not what it should be.
    pub(crate) fn malformed(&self, message: String) -> LlmError {
        self.failure.malformed(message, &self.body)
    }

    fn is_blank(&self) -> bool {
        self.body.trim_ascii().is_empty()
    }
}
