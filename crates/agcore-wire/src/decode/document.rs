//! [`Document`]: a reply that is a single JSON document and arrives as a whole.

use serde::de::DeserializeOwned;
#[cfg(feature = "_shapes")]
use serde_json::Value;

#[cfg(feature = "_shapes")]
use super::lenient::is_absent_error;
use super::{BYTE_ORDER_MARK, MAX_REPLY_BYTES};
use crate::{
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
    wire::{Close, ReplyHead},
};

/// A buffer for a reply that is a single JSON document.
#[derive(Debug)]
pub(crate) struct Document {
    failure: FailureReader,
    is_success: bool,
    body: Vec<u8>,
}

impl Document {
    /// Creates an empty buffer for the reply with this head.
    pub(crate) fn new(head: &ReplyHead) -> Self {
        Self {
            failure: FailureReader::new(head),
            is_success: head.status.is_success(),
            body: Vec::new(),
        }
    }

    /// Appends bytes of the body.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<(), LlmError> {
        if self.body.len().saturating_add(bytes.len()) > MAX_REPLY_BYTES {
            return Err(self.failure.too_large(MAX_REPLY_BYTES));
        }
        self.body.extend_from_slice(bytes);
        Ok(())
    }

    /// Parses the complete document. `expected` names what it should be, for errors: "list of models".
    pub(crate) fn read<T: DeserializeOwned>(&self, close: Close, expected: &str) -> Result<T, LlmError> {
        if !self.is_success {
            return Err(self.reported_error());
        }
        let body = self.body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.body);
        let error = match serde_json::from_slice(body) {
            Ok(document) => return Ok(document),
            Err(_) if close == Close::Reset => return Err(self.failure.connection_lost()),
            Err(error) => error,
        };
        if error.is_eof() && !self.is_blank() {
            let message = format!("the reply ended in the middle: {error}");
            return Err(self.failure.annotate(LlmError::new(LlmErrorKind::Truncated, message)));
        }
        let is_other = self.is_blank() || FailureReader::summary(&self.body).is_some();
        Err(self.malformed(match is_other {
            true => FailureReader::unexpected(expected, &self.body),
            false => format!("the reply is not a valid {expected}: {error}"),
        }))
    }

    /// Parses the complete document like [`read`](Self::read), unless its member `error` reports an error.
    #[cfg(feature = "_shapes")]
    pub(crate) fn read_reply(&self, close: Close, expected: &str) -> Result<Value, LlmError> {
        let reply: Value = self.read(close, expected)?;
        match reply.get("error") {
            Some(error) if !is_absent_error(error) => Err(self.reported_error()),
            _ => Ok(reply),
        }
    }

    /// Returns the error of a reply that lacks what it should contain: the one that it reports, or else this message.
    #[cfg(feature = "_shapes")]
    pub(crate) fn lacking(&self, reply: &Value, message: String) -> LlmError {
        match reply.as_object() {
            Some(members) if FailureReader::is_flat_error(members) => self.reported_error(),
            _ => self.malformed(message),
        }
    }

    /// Returns an error about a document that contains a file. It quotes nothing, so that no bytes reach a log.
    #[cfg(feature = "media")]
    pub(crate) fn malformed_media(&self, message: impl Into<std::borrow::Cow<'static, str>>) -> LlmError {
        self.failure.annotate(LlmError::new(LlmErrorKind::Malformed, message))
    }

    /// Returns the error that the document reports.
    pub(crate) fn reported_error(&self) -> LlmError {
        self.failure.read(&self.body)
    }

    /// Returns an error about a document that is not what it should be.
    pub(crate) fn malformed(&self, message: String) -> LlmError {
        self.failure.malformed(message, &self.body)
    }

    fn is_blank(&self) -> bool {
        self.body.trim_ascii().is_empty()
    }
}
