//! [`NdjsonDecoder`]: lines of JSON out of bytes, however they are cut.
//!
//! After "Newline Delimited JSON", but on bytes: a line ends at LF, CR or CRLF and at nothing else, blank lines say nothing,
//! and UTF-8 is left to whoever reads the JSON, so that a character may be cut by a read. A last line without its end is
//! handed out too, marked as [`unterminated`](NdjsonLine::unterminated).

use std::fmt;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One line, without blanks around it and never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NdjsonLine<'a> {
    /// What stands on it.
    pub data: &'a [u8],
    /// Whether the bytes ended before the line did: it may be cut.
    pub unterminated: bool,
}

/// A line is larger than the decoder's limit.
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

/// Cuts bytes into lines of JSON. The lines are the same for any slicing of the bytes.
///
/// ```
/// use agcore_llm::ndjson::{NdjsonDecoder, NdjsonTooLong};
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
/// A line that lies whole within one read is borrowed from it; others are gathered in a buffer that is reused, so a stream
/// costs no allocation per line.
#[derive(Debug)]
pub struct NdjsonDecoder {
    /// A line whose end has not come yet.
    line: Vec<u8>,
    /// Whether no line was handed out yet: only there may a byte order mark stand.
    at_start: bool,
    limit: usize,
}

impl Default for NdjsonDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl NdjsonDecoder {
    /// The largest line that is read unless another limit is set: 64 MiB.
    pub const DEFAULT_LIMIT: usize = 64 << 20;

    /// A decoder at the beginning of a stream.
    pub fn new() -> Self {
        Self {
            line: Vec::new(),
            at_start: true,
            limit: Self::DEFAULT_LIMIT,
        }
    }

    /// Sets the largest line that is read, in bytes.
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Reads more bytes and hands out the lines that end in them.
    ///
    /// # Errors
    /// When a line is too large, or what `on_line` says. Then the rest of `bytes` is lost: a stream ends there.
    pub fn feed<E: From<NdjsonTooLong>>(
        &mut self,
        bytes: &[u8],
        mut on_line: impl FnMut(NdjsonLine<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        // The LF of a CRLF ends a line of its own, which is blank and says nothing.
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let line = &rest[..end];
            rest = &rest[end + 1..];
            if self.line.is_empty() {
                self.hand_out(line, false, &mut on_line)?;
            } else {
                self.end_line(line, false, &mut on_line)?;
            }
        }
        self.line.extend_from_slice(rest);
        self.check_size(&self.line)
    }

    /// Hands out what is left when the bytes have ended.
    ///
    /// # Errors
    /// What `on_line` says.
    pub fn finish<E: From<NdjsonTooLong>>(
        &mut self,
        mut on_line: impl FnMut(NdjsonLine<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.end_line(&[], true, &mut on_line)
    }

    /// Hands out a line whose beginning came with an earlier read.
    fn end_line<E: From<NdjsonTooLong>>(
        &mut self,
        end: &[u8],
        unterminated: bool,
        on_line: &mut impl FnMut(NdjsonLine<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let told = self.hand_out(&line, unterminated, on_line);
        line.clear();
        self.line = line;
        told
    }

    fn hand_out<E: From<NdjsonTooLong>>(
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

    /// The lines of a stream, read in one piece, in two at every place, and byte by byte.
    fn check(stream: &str, expected: &[(&str, bool)]) {
        let bytes = stream.as_bytes();
        let mut slicings: Vec<Vec<&[u8]>> = (0..=bytes.len()).map(|at| vec![&bytes[..at], &bytes[at..]]).collect();
        slicings.push(bytes.chunks(1).flat_map(|byte| [byte, &[]]).collect());
        for reads in slicings {
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
    fn passes_over_blank_lines_and_blanks() {
        check("\n \r\n\t{1} \n\n", &[("{1}", false)]);
        check("", &[]);
        check(" ", &[]);
    }

    #[test]
    fn hands_out_a_last_line_without_its_end() {
        check("{1}\n{é", &[("{1}", false), ("{é", true)]);
    }

    #[test]
    fn takes_a_byte_order_mark_only_at_the_start() {
        check("\u{FEFF}{1}\n\u{FEFF}{2}\n", &[("{1}", false), ("\u{FEFF}{2}", false)]);
    }

    #[test]
    fn refuses_lines_over_the_limit_wherever_they_are_cut() {
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
