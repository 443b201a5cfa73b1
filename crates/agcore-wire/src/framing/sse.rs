//! [`SseDecoder`]: splits bytes into the events of an event stream.
//!
//! It follows "Interpreting an event stream" of the WHATWG HTML standard, but works on bytes: lines end only at CR, LF or
//! CRLF, and UTF-8 is not decoded, so that a read may end inside a character. Two things differ from the standard: a last
//! event without a blank line is emitted, marked as [`unterminated`](SseEvent::unterminated), and a line `error: …` is
//! read as `event: error` with that data, because llama.cpp sent such lines until late 2025.

use std::fmt;

/// An event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent<'a> {
    /// The name, from `event:`; empty if the event has none.
    pub name: &'a [u8],
    /// The data, with lines joined by LF; may be empty.
    pub data: &'a [u8],
    /// Whether the stream ended before the blank line that ends the event, so that the data may be incomplete.
    pub unterminated: bool,
}

/// The error for an event that is larger than the decoder's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseTooLong {
    /// The limit in bytes.
    pub limit: usize,
}

impl fmt::Display for SseTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an event of the stream is larger than the limit of {} bytes",
            self.limit
        )
    }
}

impl std::error::Error for SseTooLong {}

/// A decoder that splits an event stream into events. The events do not depend on how the bytes are split into reads.
///
/// ```
/// use agcore_wire::sse::{SseDecoder, SseTooLong};
///
/// let mut decoder = SseDecoder::new();
/// let mut seen = Vec::new();
/// for read in [": ping\r", "\ndata: Hel", "lo\n\nda", "ta: bye"] {
///     decoder.feed(read.as_bytes(), |event| Ok::<_, SseTooLong>(seen.push(event.data.to_vec())))?;
/// }
/// decoder.finish(|event| Ok::<_, SseTooLong>(seen.push(event.data.to_vec())))?;
/// assert_eq!(seen, [b"Hello".to_vec(), b"bye".to_vec()]);
/// # Ok::<(), SseTooLong>(())
/// ```
///
/// Data that arrives in a single read is borrowed from it. Other data is collected in buffers that are reused, so that an
/// event costs no allocation.
#[derive(Debug)]
pub struct SseDecoder {
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// The event that is not complete yet.
    open: OpenEvent,
    /// Whether no line was read yet, so that a byte order mark is allowed.
    at_start: bool,
    /// Whether the last read ended with CR, so that a following LF belongs to the same line end.
    after_cr: bool,
    limit: usize,
    /// Whether JSON outside of fields is data, too.
    bare_json: bool,
}

/// An event that is not complete yet.
#[derive(Debug, Default)]
struct OpenEvent {
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// Whether the data consists of lines without a field.
    is_bare: bool,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl SseDecoder {
    /// The default limit for the size of an event: 64 MiB.
    pub const DEFAULT_LIMIT: usize = 64 << 20;

    /// Creates a decoder for a new stream.
    pub fn new() -> Self {
        Self {
            line: Vec::new(),
            open: OpenEvent::default(),
            at_start: true,
            after_cr: false,
            limit: Self::DEFAULT_LIMIT,
            bare_json: false,
        }
    }

    /// Sets whether lines of JSON without a field, up to the next blank line, are read as the data of an event. Gemini reports
    /// errors in the middle of a stream like this.
    #[cfg(any(feature = "_api", feature = "_shapes"))]
    #[must_use]
    pub(crate) fn with_bare_json(mut self, enabled: bool) -> Self {
        self.bare_json = enabled;
        self
    }

    /// Sets the maximum size of an event, in bytes of its lines.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Reads more bytes and calls `on_event` for each event that they complete.
    ///
    /// # Errors
    /// If an event is too large or `on_event` returns an error. The rest of `bytes` is discarded then, and the stream must
    /// not be read further.
    pub fn feed<E: From<SseTooLong>>(
        &mut self,
        bytes: &[u8],
        mut on_event: impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut rest = bytes;
        if std::mem::take(&mut self.after_cr) {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        // The first data line of the open event, as long as it need not be copied.
        let mut borrowed: Option<&[u8]> = None;
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            self.after_cr = rest[end] == b'\r' && after.is_empty();
            let is_crlf = rest[end] == b'\r' && after.first() == Some(&b'\n');
            rest = if is_crlf { &after[1..] } else { after };
            if self.line.is_empty() {
                self.read_line(line, &mut borrowed, &mut on_event)?;
            } else {
                self.end_line(line, &mut borrowed, &mut on_event)?;
            }
        }
        self.open.keep(borrowed);
        self.line.extend_from_slice(rest);
        self.check_size(self.line.len())
    }

    /// Calls `on_event` for an event that is left at the end of the stream.
    ///
    /// # Errors
    /// If the event is too large or `on_event` returns an error.
    pub fn finish<E: From<SseTooLong>>(
        &mut self,
        mut on_event: impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.line.is_empty() {
            let mut borrowed = None;
            self.end_line(&[], &mut borrowed, &mut on_event)?;
        }
        self.open.dispatch(None, true, &mut on_event)
    }

    /// Reads a line that began in an earlier read.
    fn end_line<E: From<SseTooLong>>(
        &mut self,
        end: &[u8],
        borrowed: &mut Option<&[u8]>,
        on_event: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Nothing is borrowed from this read yet, because the line began earlier.
        self.open.keep(borrowed.take());
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let mut borrowed_from_line = None;
        let read = self.read_line(&line, &mut borrowed_from_line, on_event);
        self.open.keep(borrowed_from_line);
        line.clear();
        self.line = line;
        read
    }

    fn read_line<'a, E: From<SseTooLong>>(
        &mut self,
        mut line: &'a [u8],
        borrowed: &mut Option<&'a [u8]>,
        on_event: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_size(borrowed.map_or(0, <[u8]>::len).saturating_add(line.len()))?;
        if std::mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            return self.open.dispatch(borrowed.take(), false, on_event);
        }
        if self.bare_json {
            let is_bare = self.open.continues_bare_json(line);
            if is_bare != self.open.is_bare {
                // The blank line between them is missing.
                self.open.dispatch(borrowed.take(), false, on_event)?;
            }
            if is_bare {
                self.open.is_bare = true;
                self.open.add_data(line, borrowed);
                return Ok(());
            }
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.open.add_data(value, borrowed),
            b"event" => value.clone_into(&mut self.open.name),
            b"error" => {
                b"error".as_slice().clone_into(&mut self.open.name);
                self.open.add_data(value, borrowed);
            }
            // Comments, `id`, `retry` and unknown fields.
            _ => {}
        }
        Ok(())
    }

    /// Checks the size of the open event. Every kind of line counts, so that the limit does not depend on where reads end.
    fn check_size<E: From<SseTooLong>>(&self, more: usize) -> Result<(), E> {
        let size = self.open.data.len().saturating_add(more);
        if size > self.limit {
            Err(SseTooLong { limit: self.limit }.into())
        } else {
            Ok(())
        }
    }
}

impl OpenEvent {
    /// Returns whether a line is JSON without a field: the beginning of an object or list, or a further line of one.
    fn continues_bare_json(&self, line: &[u8]) -> bool {
        match line.trim_ascii_start().first() {
            Some(b'{' | b'[') => true,
            _ => self.is_bare && !line.starts_with(b"data:"),
        }
    }

    /// Adds a data line. The first one is borrowed; with further ones, all are joined in the buffer.
    fn add_data<'a>(&mut self, value: &'a [u8], borrowed: &mut Option<&'a [u8]>) {
        if self.has_data {
            self.keep(borrowed.take());
            self.data.push(b'\n');
            self.data.extend_from_slice(value);
        } else {
            self.has_data = true;
            *borrowed = Some(value);
        }
    }

    /// Copies a borrowed data line to the buffer.
    fn keep(&mut self, borrowed: Option<&[u8]>) {
        self.data.extend_from_slice(borrowed.unwrap_or_default());
    }

    fn dispatch<E>(
        &mut self,
        borrowed: Option<&[u8]>,
        unterminated: bool,
        on_event: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let result = if self.has_data {
            let data = borrowed.unwrap_or(&self.data);
            on_event(SseEvent {
                name: &self.name,
                data,
                unterminated,
            })
        } else {
            Ok(())
        };
        self.name.clear();
        self.data.clear();
        (self.has_data, self.is_bare) = (false, false);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(reads: &[&[u8]]) -> Vec<(String, String, bool)> {
        let (mut decoder, mut seen) = (SseDecoder::new(), Vec::new());
        let mut on_event = |event: SseEvent<'_>| {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            seen.push((text(event.name), text(event.data), event.unterminated));
            Ok::<_, SseTooLong>(())
        };
        for read in reads {
            decoder.feed(read, &mut on_event).unwrap();
        }
        decoder.finish(&mut on_event).unwrap();
        seen
    }

    /// Checks the data of a stream's events: read at once, in two reads split at every position, and byte by byte.
    fn check(stream: &str, expected: &[&str]) {
        let bytes = stream.as_bytes();
        let mut splits: Vec<Vec<&[u8]>> = (0..=bytes.len()).map(|at| vec![&bytes[..at], &bytes[at..]]).collect();
        splits.push(bytes.chunks(1).collect());
        // Empty reads make no difference.
        splits.push(bytes.chunks(1).flat_map(|byte| [byte, &[]]).collect());
        for reads in splits {
            let data: Vec<String> = events(&reads).into_iter().map(|(_, data, _)| data).collect();
            assert_eq!(data, expected, "{stream:?} read as {reads:?}");
        }
    }

    #[test]
    fn ends_lines_at_cr_lf_and_crlf() {
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("data: a\r\n\ndata: b\n\r\n", &["a", "b"]);
    }

    #[test]
    fn does_not_wait_for_a_line_feed_after_a_carriage_return() {
        let mut decoder = SseDecoder::new();
        let mut seen = 0;
        let mut count = |_: SseEvent<'_>| {
            seen += 1;
            Ok::<_, SseTooLong>(())
        };
        decoder.feed(b"data: a\r\r", &mut count).unwrap();
        assert_eq!(seen, 1);
    }

    #[test]
    fn joins_data_lines_and_strips_one_space() {
        check("data: a\ndata:b\ndata:  c\n\n", &["a\nb\n c"]);
        check("data\n\ndata:\n\n", &["", ""]);
        check("data:\ndata: a\n\n", &["\na"]);
    }

    #[test]
    fn skips_comments_and_other_fields() {
        check(
            ": hi\nid: 1\nretry: 5\nwhat: ever\nnothing\ndata: a\n: more\n\n",
            &["a"],
        );
        check(":\n\n:\n\nevent: ping\n\ndata: a\n\n", &["a"]);
    }

    #[test]
    fn skips_a_byte_order_mark_only_at_the_start() {
        check("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n", &["a", "c"]);
    }

    #[test]
    fn emits_the_last_event() {
        check("data: a\n\ndata: b\n", &["a", "b"]);
        check("data: a\n\ndata: b", &["a", "b"]);
        assert_eq!(
            events(&[b"data: a\n\ndata: b"])
                .iter()
                .map(|event| event.2)
                .collect::<Vec<_>>(),
            [false, true]
        );
        check("data: a\n\ndat", &["a"]);
    }

    #[test]
    fn reads_the_name_before_and_after_the_data() {
        let error = |stream: &str| events(&[stream.as_bytes()])[0].0 == "error";
        assert!(error("event: error\ndata: x\n\n"));
        assert!(error("data: x\nevent: error\n\n"));
        assert!(error("error: x\n\n"));
        assert!(
            !error("event: error\n\ndata: x\n\n"),
            "a name applies to one event only"
        );
    }

    #[cfg(feature = "_api")]
    #[test]
    fn reads_bare_json_only_if_enabled() {
        let stream = b"data: a\r\n\r\n{\r\n  \"error\": {\r\n  }\r\n}\r\ndata: b\r\n[1]\r\n\r\n\r\ndata: c\n";
        for step in 1..=stream.len() {
            let data = |decoder: SseDecoder| {
                let (mut decoder, mut seen) = (decoder, Vec::new());
                let mut on_event = |event: SseEvent<'_>| {
                    seen.push(String::from_utf8_lossy(event.data).into_owned());
                    Ok::<_, SseTooLong>(())
                };
                for read in stream.chunks(step) {
                    decoder.feed(read, &mut on_event).unwrap();
                }
                decoder.finish(&mut on_event).unwrap();
                seen
            };
            let bare = data(SseDecoder::new().with_bare_json(true));
            assert_eq!(
                bare,
                ["a", "{\n  \"error\": {\n  }\n}", "b", "[1]", "c"],
                "in steps of {step}"
            );
            assert_eq!(data(SseDecoder::new()), ["a", "b", "c"], "in steps of {step}");
        }
    }

    #[test]
    fn keeps_unicode_line_separators() {
        check("data: a\u{2028}b\u{2029}c\u{85}d\n\n", &["a\u{2028}b\u{2029}c\u{85}d"]);
    }

    #[test]
    fn rejects_events_over_the_limit_wherever_reads_end() {
        let stream = b"data: 0123456789\ndata: 0123456789\n\n";
        for step in 1..=stream.len() {
            let mut decoder = SseDecoder::new().with_limit(15);
            let fed = stream
                .chunks(step)
                .try_for_each(|read| decoder.feed(read, |_| Ok::<_, SseTooLong>(())));
            assert_eq!(fed, Err(SseTooLong { limit: 15 }), "in steps of {step}");
        }
    }
}
