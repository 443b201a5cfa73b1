//! [`NdjsonDecoder`]: splits bytes into lines of JSON.
//!
//! It follows "Newline Delimited JSON", but works on bytes: a line ends only at LF, CR or CRLF, blank lines are skipped,
//! and UTF-8 is not decoded, so that a read may end inside a character. A last line without a line end is emitted, marked
//! as [`unterminated`](NdjsonLine::unterminated).

use std::fmt;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A line, without surrounding whitespace and never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NdjsonLine<'a> {
    /// The content of the line.
    pub data: &'a [u8],
    /// Whether the bytes ended before the line did, so that it may be incomplete.
    pub unterminated: bool,
}

/// The error for a line that is larger than the decoder's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NdjsonTooLong {
    /// The limit in bytes.
    pub limit: usize,
}

impl fmt::Display for NdjsonTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a line of the stream is larger than the limit of {} bytes",
            self.limit
        )
    }
}

impl std::error::Error for NdjsonTooLong {}

/// A decoder that splits bytes into lines of JSON. The lines do not depend on how the bytes are split into reads.
///
/// ```
/// use agcore_wire::ndjson::{NdjsonDecoder, NdjsonTooLong};
///
/// let mut decoder = NdjsonDecoder::new();
/// let mut seen = Vec::new();
/// for read in ["{\"a\"", ":1}\r", "\n\n{\"b\":2}"] {
///     decoder.feed(read.as_bytes(), |line| Ok::<_, NdjsonTooLong>(seen.push(line.data.to_vec())))?;
/// }
/// decoder.finish(|line| Ok::<_, NdjsonTooLong>(seen.push(line.data.to_vec())))?;
/// assert_eq!(seen, [br#"{"a":1}"#, br#"{"b":2}"#]);
/// # Ok::<(), NdjsonTooLong>(())
/// ```
///
/// A line that arrives in a single read is borrowed from it. Others are collected in a buffer that is reused, so that a
/// line costs no allocation.
#[derive(Debug)]
pub struct NdjsonDecoder {
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// Whether no line was emitted yet, so that a byte order mark is allowed.
    at_start: bool,
    limit: usize,
}

impl Default for NdjsonDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl NdjsonDecoder {
    /// The default limit for the size of a line: 64 MiB.
    pub const DEFAULT_LIMIT: usize = 64 << 20;

    /// Creates a decoder for a new stream.
    pub fn new() -> Self {
        Self {
            line: Vec::new(),
            at_start: true,
            limit: Self::DEFAULT_LIMIT,
        }
    }

    /// Sets the maximum size of a line, in bytes.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Reads more bytes and calls `on_line` for each line that they complete.
    ///
    /// # Errors
    /// If a line is too large or `on_line` returns an error. The rest of `bytes` is discarded then, and the stream must not
    /// be read further.
    pub fn feed<E: From<NdjsonTooLong>>(
        &mut self,
        bytes: &[u8],
        mut on_line: impl FnMut(NdjsonLine<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        // The LF of a CRLF ends a blank line, which is skipped.
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let line = &rest[..end];
            rest = &rest[end + 1..];
            if self.line.is_empty() {
                self.emit(line, false, &mut on_line)?;
            } else {
                self.end_line(line, false, &mut on_line)?;
            }
        }
        self.line.extend_from_slice(rest);
        self.check_size(&self.line)
    }

    /// Calls `on_line` for a line that is left at the end of the bytes.
    ///
    /// # Errors
    /// If the line is too large or `on_line` returns an error.
    pub fn finish<E: From<NdjsonTooLong>>(
        &mut self,
        mut on_line: impl FnMut(NdjsonLine<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.end_line(&[], true, &mut on_line)
    }

    /// Emits a line that began in an earlier read.
    fn end_line<E: From<NdjsonTooLong>>(
        &mut self,
        end: &[u8],
        unterminated: bool,
        on_line: &mut impl FnMut(NdjsonLine<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let result = self.emit(&line, unterminated, on_line);
        line.clear();
        self.line = line;
        result
    }

    fn emit<E: From<NdjsonTooLong>>(
        &mut self,
        line: &[u8],
        unterminated: bool,
        on_line: &mut impl FnMut(NdjsonLine<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_size(line)?;
        let line = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if self.at_start => rest,
            _ => line,
        };
        let data = line.trim_ascii();
        if data.is_empty() {
            return Ok(());
        }
        self.at_start = false;
        on_line(NdjsonLine { data, unterminated })
    }

    fn check_size<E: From<NdjsonTooLong>>(&self, line: &[u8]) -> Result<(), E> {
        if line.len() > self.limit {
            Err(NdjsonTooLong { limit: self.limit }.into())
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(reads: &[&[u8]]) -> Vec<(String, bool)> {
        let (mut decoder, mut seen) = (NdjsonDecoder::new(), Vec::new());
        let mut on_line = |line: NdjsonLine<'_>| {
            seen.push((String::from_utf8_lossy(line.data).into_owned(), line.unterminated));
            Ok::<_, NdjsonTooLong>(())
        };
        for read in reads {
            decoder.feed(read, &mut on_line).unwrap();
        }
        decoder.finish(&mut on_line).unwrap();
        seen
    }

    /// Checks the lines of a stream: read at once, in two reads split at every position, and byte by byte.
    fn check(stream: &str, expected: &[(&str, bool)]) {
        let bytes = stream.as_bytes();
        let mut splits: Vec<Vec<&[u8]>> = (0..=bytes.len()).map(|at| vec![&bytes[..at], &bytes[at..]]).collect();
        splits.push(bytes.chunks(1).flat_map(|byte| [byte, &[]]).collect());
        for reads in splits {
            let seen = lines(&reads);
            let seen: Vec<_> = seen.iter().map(|(line, cut)| (line.as_str(), *cut)).collect();
            assert_eq!(seen, expected, "{stream:?} read as {reads:?}");
        }
    }

    #[test]
    fn ends_lines_at_lf_cr_and_crlf_only() {
        check(
            "{1}\n{2}\r\n{3}\r{4}\n",
            &[("{1}", false), ("{2}", false), ("{3}", false), ("{4}", false)],
        );
        check("\"a\u{2028}b\u{85}\"\n", &[("\"a\u{2028}b\u{85}\"", false)]);
    }

    #[test]
    fn skips_blank_lines_and_whitespace() {
        check("\n \r\n\t{1} \n\n", &[("{1}", false)]);
        check("", &[]);
        check(" ", &[]);
    }

    #[test]
    fn emits_a_last_line_without_a_line_end() {
        check("{1}\n{é", &[("{1}", false), ("{é", true)]);
    }

    #[test]
    fn skips_a_byte_order_mark_only_at_the_start() {
        check("\u{FEFF}{1}\n\u{FEFF}{2}\n", &[("{1}", false), ("\u{FEFF}{2}", false)]);
    }

    #[test]
    fn rejects_lines_over_the_limit_wherever_reads_end() {
        let stream = b"0123456789\n0123456789a\n";
        for step in 1..=stream.len() {
            let (mut decoder, mut count) = (NdjsonDecoder::new().with_limit(10), 0);
            let fed = stream.chunks(step).try_for_each(|read| {
                decoder.feed(read, |_| {
                    count += 1;
                    Ok::<_, NdjsonTooLong>(())
                })
            });
            assert_eq!(
                (fed, count),
                (Err(NdjsonTooLong { limit: 10 }), 1),
                "in steps of {step}"
            );
        }
    }
}
