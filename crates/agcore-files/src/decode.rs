//! Decodes texts in any encoding.

mod declared;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use self::declared::{charset_of, declared};
use crate::{kind::utf16_without_mark, problem::FileProblem, work::Work};

/// The number of bytes that the detector reads at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Returns a text that was received with a media type, such as `text/html; charset=gb2312`; it may be empty.
///
/// The encoding is that of the byte order mark, else the `charset` of the media type, else the one that an HTML or XML text
/// declares itself, with the labels of the web. Without any, the text is UTF-8 if it can be, UTF-16 if it looks like it, and
/// otherwise in the encoding that its bytes make most likely. What cannot be decoded becomes U+FFFD. Bytes that are not in the
/// declared encoding, but are UTF-8, are UTF-8.
///
/// ```
/// use agcore_files::decode_text;
///
/// assert_eq!(decode_text(b"<meta charset=gb2312><p>\xbc\xdb\xb8\xf1", "text/html"), "<meta charset=gb2312><p>价格");
/// assert_eq!(decode_text(b"\xbc\xdb\xb8\xf1", "text/plain; charset=GBK"), "价格");
/// assert_eq!(decode_text("größer".as_bytes(), ""), "größer");
/// ```
pub fn decode_text(content: &[u8], media_type: &str) -> String {
    let kind = media_type.split(';').next().unwrap_or_default().to_ascii_lowercase();
    let is_marked_up = kind.trim().is_empty() || kind.contains("html") || kind.contains("xml");
    let label = charset_of(media_type.as_bytes()).or_else(|| declared(content).filter(|_| is_marked_up));
    let (encoding, mark) = known(content, label).unwrap_or_else(|| {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
        detector.feed(content, true);
        (detector.guess(None, Utf8Detection::Allow), 0)
    });
    let (text, _) = encoding.decode_without_bom_handling(&content[mark..]);
    text.into_owned()
}

/// Returns the content as text: by its mark if it begins with one, as UTF-8 or UTF-16 if it is that, otherwise in the encoding
/// that its bytes make most likely. What cannot be decoded becomes U+FFFD.
#[cfg(any(feature = "csv", feature = "json", feature = "markdown", feature = "text"))]
pub(crate) fn decode(work: &Work<'_>) -> Result<String, FileProblem> {
    decode_as(work, None)
}

/// Returns the content of an HTML file as text, in the encoding that it declares.
#[cfg(feature = "html")]
pub(crate) fn decode_marked_up(work: &Work<'_>) -> Result<String, FileProblem> {
    decode_as(work, declared(work.content))
}

/// Returns an XML text in UTF-8, UTF-16 or the encoding that it declares, or `None` if it is in another one.
#[cfg(feature = "docx")]
pub(crate) fn decode_xml(content: &[u8]) -> Option<String> {
    let (encoding, mark) = match Encoding::for_bom(content) {
        Some(marked) => marked,
        // The first character of XML is `<`.
        None if content.starts_with(b"<\0") => (encoding_rs::UTF_16LE, 0),
        None if content.starts_with(b"\0<") => (encoding_rs::UTF_16BE, 0),
        None => (declared::of_xml(content).unwrap_or(encoding_rs::UTF_8), 0),
    };
    let text = encoding.decode_without_bom_handling_and_without_replacement(&content[mark..])?;
    Some(text.into_owned())
}

fn decode_as(work: &Work<'_>, label: Option<&'static Encoding>) -> Result<String, FileProblem> {
    let content = work.content;
    let (encoding, mark) = match known(content, label) {
        Some(known) => known,
        None => {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
            for chunk in content.chunks(CHUNK_BYTES) {
                work.check()?;
                detector.feed(chunk, false);
            }
            detector.feed(&[], true);
            (detector.guess(None, Utf8Detection::Allow), 0)
        }
    };
    let (text, _) = encoding.decode_without_bom_handling(&content[mark..]);
    if text.len() > work.limits.unpacked_bytes {
        return Err(work.unpacked_too_large());
    }
    Ok(text.into_owned())
}

/// Returns the encoding of a text with the length of its mark, if it need not be guessed.
fn known(content: &[u8], label: Option<&'static Encoding>) -> Option<(&'static Encoding, usize)> {
    if let Some(marked) = Encoding::for_bom(content) {
        return Some(marked);
    }
    let is_utf8 = std::str::from_utf8(content).is_ok();
    if let Some(label) = label
        && !(is_utf8
            && label
                .decode_without_bom_handling_and_without_replacement(content)
                .is_none())
    {
        return Some((label, 0));
    }
    // ASCII in UTF-16 is UTF-8 with NUL characters.
    match utf16_without_mark(content) {
        Some(true) => Some((encoding_rs::UTF_16LE, 0)),
        Some(false) => Some((encoding_rs::UTF_16BE, 0)),
        None => is_utf8.then_some((encoding_rs::UTF_8, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_come_before_guesses() {
        // These bytes are UTF-8 as well.
        assert_eq!(
            decode_text(b"<meta charset=gbk>\xc1\xaa\xcd\xa8", ""),
            "<meta charset=gbk>联通"
        );
        assert_eq!(
            decode_text(b"\xc1\xaa\xcd\xa8", "text/html; charset=\"GB2312\""),
            "联通"
        );
        // The server decides.
        assert_eq!(
            decode_text(b"<meta charset=big5>\xc1\xaa", "text/html;charset=gbk"),
            "<meta charset=big5>联"
        );
        // Texts that are not marked up declare nothing.
        assert_eq!(
            decode_text("<meta charset=gbk>ä".as_bytes(), "text/plain"),
            "<meta charset=gbk>ä"
        );
        // A declaration that is wrong.
        assert_eq!(
            decode_text("<meta charset=euc-jp>größer".as_bytes(), ""),
            "<meta charset=euc-jp>größer"
        );
        assert_eq!(
            decode_text("\u{feff}größer".as_bytes(), "text/html; charset=gbk"),
            "größer"
        );
    }

    #[test]
    fn utf_16_needs_no_mark() {
        let text = "名前;Ort\n価格;一\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode_text(&little, ""), text);
        assert_eq!(decode_text(&big, "text/csv"), text);
    }
}
