//! Bytes as base64 text in JSON.

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use bytes::Bytes;

/// Padding is optional, because some servers leave it out.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes base64 text, which may be a data URL. Returns `None` if it is not base64.
pub(super) fn decode(text: &str) -> Option<Bytes> {
    let text = match text.strip_prefix("data:") {
        Some(url) => url.split_once(";base64,")?.1,
        None => text,
    };
    ENGINE.decode(text.trim_ascii()).ok().map(Bytes::from)
}

/// Returns a data URL with a sound file of the type that has this extension.
pub(super) fn data_url(extension: &str, bytes: &[u8]) -> String {
    format!("data:{};base64,{}", media_type(extension), ENGINE.encode(bytes))
}

/// Returns the media type of files with this extension.
fn media_type(extension: &str) -> &'static str {
    match extension.to_ascii_lowercase().as_str() {
        "mp3" | "mpga" | "mpeg" => "audio/mpeg",
        "m4a" | "mp4" => "audio/mp4",
        "ogg" | "opus" => "audio/ogg",
        "flac" => "audio/flac",
        "webm" => "audio/webm",
        "aac" => "audio/aac",
        _ => "audio/wav",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_padded_and_unpadded_text_and_data_urls() {
        let check = |text: &str, expected: Option<&[u8]>| assert_eq!(decode(text).as_deref(), expected, "{text}");
        check("aGk=", Some(b"hi"));
        check("aGk", Some(b"hi"));
        check(" aGk=\n", Some(b"hi"));
        check("data:image/png;base64,aGk=", Some(b"hi"));
        check("", Some(b""));
        for wrong in ["aGk*", "data:image/png,aGk=", "a"] {
            check(wrong, None);
        }
        assert_eq!(
            decode(&data_url("MP3", &[0, 255, 7])).as_deref(),
            Some(&[0, 255, 7][..])
        );
    }
}
