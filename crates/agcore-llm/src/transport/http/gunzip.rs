//! [`Gunzip`]: decompresses a body while it arrives.

use std::io::{self, BufRead, Read};

use bytes::{Buf, Bytes};
use flate2::bufread::MultiGzDecoder;

/// The most bytes that are decompressed at once.
const OUTPUT: usize = 4096;

/// Decompresses a body while it arrives. Holds at most one received chunk, however far it expands.
pub(super) struct Gunzip(MultiGzDecoder<Received>);

/// Received bytes that are still compressed.
#[derive(Default)]
struct Received {
    bytes: Bytes,
    /// Whether there was any content.
    started: bool,
    ended: bool,
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self(MultiGzDecoder::new(Received::default()))
    }

    /// Adds a received chunk, or `None` at the end of the body. Everything before it must have been decompressed.
    pub(super) fn push(&mut self, chunk: Option<Bytes>) {
        let received = self.0.get_mut();
        received.ended = chunk.is_none();
        received.bytes = chunk.unwrap_or_default();
        received.started |= !received.bytes.is_empty();
    }

    /// Returns the next decompressed bytes, which are empty at the end, or `None` if a chunk must be received first.
    ///
    /// # Errors
    /// `InvalidInput` if the body is damaged or not compressed with gzip, and `UnexpectedEof` if its end is missing.
    pub(super) fn next(&mut self) -> io::Result<Option<Bytes>> {
        let received = self.0.get_ref();
        if received.ended && !received.started {
            // Without content, as in a reply with the status 204.
            return Ok(Some(Bytes::new()));
        }
        let mut output = [0; OUTPUT];
        match self.0.read(&mut output) {
            Ok(size) => Ok(Some(Bytes::copy_from_slice(&output[..size]))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Read for Received {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(output)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Received {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.bytes.is_empty() && !self.ended {
            true => Err(io::ErrorKind::WouldBlock.into()),
            false => Ok(&self.bytes),
        }
    }

    fn consume(&mut self, size: usize) {
        self.bytes.advance(size);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn compress(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    /// Decompresses chunks and returns the text with the end of the body.
    fn decompress(chunks: &[&[u8]]) -> (String, io::Result<()>) {
        let mut gunzip = Gunzip::new();
        let mut text = Vec::new();
        let mut chunks = chunks
            .iter()
            .map(|chunk| Some(Bytes::copy_from_slice(chunk)))
            .chain([None]);
        let end = chunks.try_for_each(|chunk| {
            gunzip.push(chunk);
            while let Some(output) = gunzip.next()?.filter(|output| !output.is_empty()) {
                text.extend_from_slice(&output);
            }
            Ok(())
        });
        (String::from_utf8(text).unwrap(), end)
    }

    #[test]
    fn the_result_does_not_depend_on_the_chunks() {
        let text = "some words ".repeat(2000);
        let compressed = [compress(&text), compress("and a second part")].concat();
        for size in [1, 7, 100, compressed.len()] {
            let (decompressed, end) = decompress(&compressed.chunks(size).collect::<Vec<_>>());
            end.unwrap();
            assert_eq!(decompressed, format!("{text}and a second part"), "{size}");
        }
    }

    #[test]
    fn decompresses_what_has_arrived() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"first").unwrap();
        encoder.flush().unwrap();
        let mut gunzip = Gunzip::new();
        gunzip.push(Some(encoder.get_ref().clone().into()));
        assert_eq!(gunzip.next().unwrap().unwrap(), "first");
        assert_eq!(gunzip.next().unwrap(), None);
    }

    #[test]
    fn recognizes_damage_and_missing_ends() {
        let compressed = compress("one END");
        let check = |bytes: &[u8], kind| {
            let error = decompress(&bytes.chunks(3).collect::<Vec<_>>()).1.unwrap_err();
            assert_eq!(error.kind(), kind, "{bytes:?}: {error}");
        };
        for size in 1..compressed.len() {
            check(&compressed[..size], io::ErrorKind::UnexpectedEof);
        }
        check(b"no gzip at all", io::ErrorKind::InvalidInput);
        let mut damaged = compressed.clone();
        damaged[compressed.len() - 6] ^= 1;
        check(&damaged, io::ErrorKind::InvalidInput);
        decompress(&[]).1.unwrap();
    }
}
