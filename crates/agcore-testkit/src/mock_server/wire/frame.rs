//! [`frame`]: an event as a message of a binary event stream.

use super::event::{Event, Part};

/// The type of an event without a name.
const USUAL: &str = "contentBlockDelta";

/// The type of a header that is text.
const TEXT: u8 = 7;

/// Writes an event as a message: a prelude with lengths and a checksum, headers, the payload, and a checksum.
pub(crate) fn frame(event: &Event) -> Vec<u8> {
    let name = event.name.as_deref().unwrap_or(USUAL);
    let (name_header, kind) = match event.part {
        Part::Exception => (":exception-type", "exception"),
        _ => (":event-type", "event"),
    };
    let mut headers = Vec::new();
    for (name, value) in [
        (name_header, name),
        (":content-type", "application/json"),
        (":message-type", kind),
    ] {
        headers.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        headers.extend_from_slice(name.as_bytes());
        headers.push(TEXT);
        let value = &value.as_bytes()[..value.len().min(usize::from(u16::MAX))];
        headers.extend_from_slice(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
        headers.extend_from_slice(value);
    }
    let payload = event.data.as_bytes();
    let mut message = Vec::with_capacity(16 + headers.len() + payload.len());
    for length in [16 + headers.len() + payload.len(), headers.len()] {
        message.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    }
    message.extend_from_slice(&crc32fast::hash(&message).to_be_bytes());
    message.extend_from_slice(&headers);
    message.extend_from_slice(payload);
    message.extend_from_slice(&crc32fast::hash(&message).to_be_bytes());
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_lengths_headers_and_checksums() {
        let message = frame(&Event::named(Part::Content, "contentBlockStop", "{}"));
        let number = |at: usize| u32::from_be_bytes(message[at..at + 4].try_into().unwrap());
        assert_eq!(number(0) as usize, message.len());
        assert_eq!(number(8), crc32fast::hash(&message[..8]));
        let end = message.len() - 4;
        assert_eq!(number(end), crc32fast::hash(&message[..end]));
        assert_eq!(&message[12 + number(4) as usize..end], b"{}");
        let text = String::from_utf8_lossy(&message);
        assert!(text.contains(":event-type") && text.contains("contentBlockStop"));
        let exception = frame(&Event::named(Part::Exception, "throttlingException", "{}"));
        assert!(String::from_utf8_lossy(&exception).contains(":exception-type"));
    }
}
