//! Compression of frames as one gzip stream, flushed so that each frame can be decompressed as soon as it arrives.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

pub(super) fn compress(frames: &[Bytes]) -> Vec<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let mut compressed: Vec<Bytes> = frames.iter().map(|frame| compress_frame(&mut encoder, frame)).collect();
    // Writing to a vector cannot fail; if it did, the client would see a truncated stream.
    let rest = encoder.finish().unwrap_or_default();
    match compressed.last_mut() {
        Some(last) => *last = [last.as_ref(), &rest].concat().into(),
        None => compressed.push(rest.into()),
    }
    compressed
}

fn compress_frame(encoder: &mut GzEncoder<Vec<u8>>, frame: &[u8]) -> Bytes {
    match encoder.write_all(frame).and_then(|()| encoder.flush()) {
        Ok(()) => std::mem::take(encoder.get_mut()).into(),
        Err(_) => Bytes::new(),
    }
}
