//! [`SseDecoder`]: an event stream out of bytes, however they are cut.
//!
//! After "Interpreting an event stream" of the WHATWG HTML standard, but on bytes: lines end at CR, LF or CRLF and at
//! nothing else, and UTF-8 is left to whoever reads the data, so that a character may be cut by a read. What differs:
//! a last event without its blank line is handed out too, marked as [`unterminated`](SseEvent::unterminated), and a line
//! `error: …` counts as `event: error` with that data, as llama.cpp wrote until late 2025.

use std::fmt;

/// One event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent<'a> {
    /// Its name, from `event:`; empty when there is none.
    pub name: &'a [u8],
    /// Its data, lines joined with LF; may be empty.
    pub data: &'a [u8],
    /// Whether the stream ended before the blank line that ends an event: the data may be cut.
    pub unterminated: bool,
}

/// An event is larger than the decoder's limit.
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

/// Cuts an event stream into events. The events are the same for any slicing of the bytes.
///
/// ```
/// use agcore_llm::sse::{SseDecoder, SseTooLong};
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
/// Data that lies whole within one read is borrowed from it; the rest is gathered in buffers that are reused, so a
/// stream costs no allocation per event.
#[derive(Debug)]
pub struct SseDecoder {
    /// A line whose end has not come yet.
    line: Vec<u8>,
    /// What belongs to the event that is open.
    open: OpenEvent,
    /// Whether no line was read yet: only there may a byte order mark stand.
    at_start: bool,
    /// Whether the last read ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    limit: usize,
}

/// The event whose blank line has not come yet.
#[derive(Debug, Default)]
struct OpenEvent {
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl SseDecoder {
    /// The largest event that is read unless another limit is set: 64 MiB.
    pub const DEFAULT_LIMIT: usize = 64 << 20;

    /// A decoder at the beginning of a stream.
    pub fn new() -> Self {
        Self {
            line: Vec::new(),
            open: OpenEvent::default(),
            at_start: true,
            after_cr: false,
            limit: Self::DEFAULT_LIMIT,
        }
    }

    /// Sets the largest event that is read, in bytes of its lines.
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Reads more bytes and hands out the events that end in them.
    ///
    /// # Errors
    /// When an event is too large, or what `on_event` says. Then the rest of `bytes` is lost: a stream ends there.
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
        // The first data line of the open event, as long as it can stay where it is.
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

    /// Hands out what is left when the stream has ended.
    ///
    /// # Errors
    /// What `on_event` says, or that the last event is too large.
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

    /// Reads a line whose beginning came with an earlier read.
    fn end_line<E: From<SseTooLong>>(
        &mut self,
        end: &[u8],
        borrowed: &mut Option<&[u8]>,
        on_event: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Nothing is borrowed yet: the kept line began before this read did.
        self.open.keep(borrowed.take());
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let mut of_line = None;
        let read = self.read_line(&line, &mut of_line, on_event);
        self.open.keep(of_line);
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
            // Comments, `id`, `retry` and what nobody knows.
            _ => {}
        }
        Ok(())
    }

    /// The line that is read counts, whatever it is, so that the limit does not depend on where reads end.
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
    /// Adds a data line: the first one stays where it is, more are joined in the buffer.
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

    /// Copies a data line that is about to go away.
    fn keep(&mut self, borrowed: Option<&[u8]>) {
        self.data.extend_from_slice(borrowed.unwrap_or_default());
    }

    fn dispatch<E>(
        &mut self,
        borrowed: Option<&[u8]>,
        unterminated: bool,
        on_event: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let told = if self.has_data {
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
        self.has_data = false;
        told
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

    /// The data of a stream's events, read in one piece, in two at every place, and byte by byte.
    fn check(stream: &str, expected: &[&str]) {
        let bytes = stream.as_bytes();
        let mut slicings: Vec<Vec<&[u8]>> = (0..=bytes.len()).map(|at| vec![&bytes[..at], &bytes[at..]]).collect();
        slicings.push(bytes.chunks(1).collect());
        // Reads without a byte change nothing.
        slicings.push(bytes.chunks(1).flat_map(|byte| [byte, &[]]).collect());
        for reads in slicings {
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
    fn does_not_wait_for_the_lf_of_a_cr() {
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
    fn joins_data_lines_and_strips_one_blank() {
        check("data: a\ndata:b\ndata:  c\n\n", &["a\nb\n c"]);
        check("data\n\ndata:\n\n", &["", ""]);
        check("data:\ndata: a\n\n", &["\na"]);
    }

    #[test]
    fn passes_over_comments_and_other_fields() {
        check(
            ": hi\nid: 1\nretry: 5\nwhat: ever\nnothing\ndata: a\n: more\n\n",
            &["a"],
        );
        check(":\n\n:\n\nevent: ping\n\ndata: a\n\n", &["a"]);
    }

    #[test]
    fn takes_a_byte_order_mark_only_at_the_start() {
        check("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n", &["a", "c"]);
    }

    #[test]
    fn flushes_the_last_event() {
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
    fn names_events_wherever_the_name_stands() {
        let error = |stream: &str| events(&[stream.as_bytes()])[0].0 == "error";
        assert!(error("event: error\ndata: x\n\n"));
        assert!(error("data: x\nevent: error\n\n"));
        assert!(error("error: x\n\n"));
        assert!(
            !error("event: error\n\ndata: x\n\n"),
            "a name does not outlive its event"
        );
    }

    #[test]
    fn keeps_unicode_line_separators() {
        check("data: a\u{2028}b\u{2029}c\u{85}d\n\n", &["a\u{2028}b\u{2029}c\u{85}d"]);
    }

    #[test]
    fn refuses_events_over_the_limit_wherever_they_are_cut() {
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
