//! [`EventStreamDecoder`]: splits bytes into the messages of Amazon's binary event streams
//! (`application/vnd.amazon.eventstream`).
//!
//! A message consists of a prelude (its length, the length of its headers, and a checksum of these two), headers, a payload, and a
//! checksum of everything before it. Numbers are big endian, checksums are those of zip files. A length is used only if its
//! checksum is right, and a message is returned only if both are.

mod error;
mod headers;

pub use self::error::EventStreamError;

use self::headers::Headers;

/// The size of a prelude in bytes.
const PRELUDE: usize = 12;

/// The size of a checksum in bytes.
const CHECKSUM: usize = 4;

/// The maximum size of the headers of a message in bytes, which is that of Amazon's own libraries.
const MAX_HEADERS: usize = 128 << 10;

/// The maximum size of the payload of a message in bytes, which is that of Amazon's own libraries.
const MAX_PAYLOAD: usize = 24 << 20;

/// A message of an event stream, whose checksums are right.
#[derive(Debug, Clone, Copy)]
pub struct EventStreamMessage<'a> {
    headers: &'a [u8],
    /// The payload, usually JSON.
    pub payload: &'a [u8],
}

impl<'a> EventStreamMessage<'a> {
    /// Returns the value of a header that is text. Of several with the same name, the first one counts.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let mut headers = Headers::new(self.headers).map_while(Result::ok);
        let (_, value) = headers.find(|(known, value)| *known == name.as_bytes() && value.is_some())?;
        value
    }
}

/// A decoder that splits a binary event stream into messages. They do not depend on how the bytes are split into reads.
///
/// ```
/// use agcore_wire::event_stream::{EventStreamDecoder, EventStreamError};
///
/// let bytes = [
///     &[0, 0, 0, 0x1b, 0, 0, 0, 9, 0x0b, 0xce, 0xc1, 0x5e][..], // The prelude: 27 bytes, 9 of them headers.
///     b"\x02:a\x07\x00\x03yes",                                // The header `:a` with the text `yes`.
///     b"{}",
///     &[0x13, 0xf7, 0xae, 0xdb],
/// ];
/// let (mut decoder, mut seen) = (EventStreamDecoder::new(), Vec::new());
/// for read in bytes {
///     decoder.feed(read, |message| {
///         seen.push((message.header(":a").map(str::to_owned), message.payload.to_vec()));
///         Ok::<_, EventStreamError>(())
///     })?;
/// }
/// assert_eq!(seen, [(Some("yes".to_owned()), b"{}".to_vec())]);
/// assert!(!decoder.is_within_message());
/// # Ok::<(), EventStreamError>(())
/// ```
#[derive(Debug, Default)]
pub struct EventStreamDecoder {
    /// The beginning of a message that is not complete yet.
    partial: Vec<u8>,
}

impl EventStreamDecoder {
    /// Creates a decoder for a new stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads more bytes and calls `on_message` for each message that they complete.
    ///
    /// # Errors
    /// If the stream is damaged or `on_message` returns an error. The rest of `bytes` is discarded then, and the stream must not be
    /// read further.
    pub fn feed<E: From<EventStreamError>>(
        &mut self,
        bytes: &[u8],
        mut on_message: impl FnMut(EventStreamMessage<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        // Bytes are added to the incomplete message until its length is known, and then until it is complete.
        while !self.partial.is_empty() {
            let size = message_size(&self.partial)?.unwrap_or(PRELUDE);
            let missing = size - self.partial.len();
            let (more, after) = rest.split_at(missing.min(rest.len()));
            self.partial.extend_from_slice(more);
            rest = after;
            if more.len() < missing {
                return Ok(());
            }
            if message_size(&self.partial)? == Some(self.partial.len()) {
                on_message(read(&self.partial)?)?;
                self.partial.clear();
            }
        }
        while let Some(size) = message_size(rest)? {
            let Some((message, after)) = rest.split_at_checked(size) else {
                break;
            };
            on_message(read(message)?)?;
            rest = after;
        }
        self.partial.extend_from_slice(rest);
        Ok(())
    }

    /// Returns whether the bytes so far end within a message, so that a stream that ends here is incomplete.
    pub fn is_within_message(&self) -> bool {
        !self.partial.is_empty()
    }
}

/// Returns the size of the message that begins with these bytes, or `None` if its prelude is not complete.
fn message_size(bytes: &[u8]) -> Result<Option<usize>, EventStreamError> {
    let Some(prelude) = bytes.get(..PRELUDE) else {
        return Ok(None);
    };
    let (lengths, checksum) = prelude.split_at(PRELUDE - CHECKSUM);
    if crc32fast::hash(lengths) != number(checksum) {
        return Err(EventStreamError::PreludeChecksum);
    }
    let (size, headers) = (size_of(&lengths[..4])?, size_of(&lengths[4..])?);
    if headers > MAX_HEADERS {
        return Err(EventStreamError::TooLarge);
    }
    match size.checked_sub(PRELUDE + headers + CHECKSUM) {
        None => Err(EventStreamError::TooShort),
        Some(payload) if payload > MAX_PAYLOAD => Err(EventStreamError::TooLarge),
        Some(_) => Ok(Some(size)),
    }
}

/// Reads a complete message, whose size was checked.
fn read(message: &[u8]) -> Result<EventStreamMessage<'_>, EventStreamError> {
    let (content, checksum) = message
        .split_at_checked(message.len().saturating_sub(CHECKSUM))
        .ok_or(EventStreamError::TooShort)?;
    if crc32fast::hash(content) != number(checksum) {
        return Err(EventStreamError::MessageChecksum);
    }
    let headers = size_of(&content[4..8])?;
    let (headers, payload) = content[PRELUDE..]
        .split_at_checked(headers)
        .ok_or(EventStreamError::TooShort)?;
    for header in Headers::new(headers) {
        header?;
    }
    Ok(EventStreamMessage { headers, payload })
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn size_of(bytes: &[u8]) -> Result<usize, EventStreamError> {
    usize::try_from(number(bytes)).map_err(|_| EventStreamError::TooLarge)
}
