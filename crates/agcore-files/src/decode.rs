//! Decodes texts in any encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use crate::{problem::FileProblem, work::Work};

/// The number of bytes that the detector reads at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Returns the content as text: by its mark if it begins with one, as UTF-8 if it is that, otherwise in the encoding that its
/// bytes make most likely. What cannot be decoded becomes U+FFFD.
pub(crate) fn decode(work: &Work<'_>) -> Result<String, FileProblem> {
    let content = work.content;
    if let Some((encoding, mark)) = Encoding::for_bom(content) {
        return text_in(work, encoding, &content[mark..]);
    }
    if let Ok(text) = std::str::from_utf8(content) {
        return Ok(text.to_owned());
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    for chunk in content.chunks(CHUNK_BYTES) {
        work.check()?;
        detector.feed(chunk, false);
    }
    detector.feed(&[], true);
    text_in(work, detector.guess(None, Utf8Detection::Allow), content)
}

fn text_in(work: &Work<'_>, encoding: &'static Encoding, content: &[u8]) -> Result<String, FileProblem> {
    let (text, _) = encoding.decode_without_bom_handling(content);
    if text.len() > work.limits.unpacked_bytes {
        return Err(work.unpacked_too_large());
    }
    Ok(text.into_owned())
}
