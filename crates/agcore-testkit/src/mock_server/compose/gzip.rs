//! Frames compressed as one gzip stream, so that each frame can be read when it has come.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

pub(super) fn compress(frames: &[Bytes]) -> Vec<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let mut compressed: Vec<Bytes> = frames.iter().map(|frame| part(&mut encoder, frame)).collect();
    // Writing to a vector does not fail; if it did, the client would see a short stream.
    let rest = encoder.finish().unwrap_or_default();
    match compressed.last_mut() {
        Some(last) => *last = [last.as_ref(), &rest].concat().into(),
        None => compressed.push(rest.into()),
    }
    compressed
}

fn part(encoder: &mut GzEncoder<Vec<u8>>, frame: &[u8]) -> Bytes {
    match encoder.write_all(frame).and_then(|()| encoder.flush()) {
        Ok(()) => std::mem::take(encoder.get_mut()).into(),
        Err(_) => Bytes::new(),
    }
}
