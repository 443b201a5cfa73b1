//! The event stream decoder: the events do not depend on how the bytes are split into reads.

use agcore_wire::sse::{SseDecoder, SseEvent, SseTooLong};
use proptest::prelude::*;

type Events = Vec<(Vec<u8>, Vec<u8>, bool)>;

fn events(reads: &[&[u8]]) -> Events {
    let (mut decoder, mut seen) = (SseDecoder::new(), Vec::new());
    let mut on_event = |event: SseEvent<'_>| {
        seen.push((event.name.to_vec(), event.data.to_vec(), event.unterminated));
        Ok::<_, SseTooLong>(())
    };
    for read in reads {
        decoder.feed(read, &mut on_event).unwrap();
    }
    decoder.finish(&mut on_event).unwrap();
    seen
}

/// Splits bytes at these positions.
pub(crate) fn split<'a>(bytes: &'a [u8], positions: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = positions
        .iter()
        .map(|position| position.index(bytes.len() + 1))
        .collect();
    ends.sort_unstable();
    ends.push(bytes.len());
    let mut begin = 0;
    ends.into_iter()
        .map(|end| &bytes[std::mem::replace(&mut begin, end)..end])
        .collect()
}

/// A reference implementation of the standard for whole text, line by line.
fn reference(text: &str) -> Vec<(String, String)> {
    let text = text
        .strip_prefix('\u{FEFF}')
        .unwrap_or(text)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let (mut seen, mut name, mut data) = (Vec::new(), String::new(), None::<String>);
    let mut lines: Vec<&str> = text.split('\n').collect();
    // Unlike in the standard, an incomplete event at the end is emitted.
    lines.push("");
    for line in lines {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() => {
                seen.extend(data.take().map(|data| (std::mem::take(&mut name), data)));
                name.clear();
            }
            "data" => {
                data = Some(data.map_or_else(|| value.to_owned(), |data| format!("{data}\n{value}")));
            }
            "event" => value.clone_into(&mut name),
            _ => {}
        }
    }
    seen
}

/// Generates text that mostly consists of parts of the format.
fn stream() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("data: ".to_owned()),
        Just("data:".to_owned()),
        Just("event: e".to_owned()),
        Just(": ping".to_owned()),
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\u{FEFF}".to_owned()),
        Just("é🦀\u{2028}".to_owned()),
        "[a-z :]{0,6}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn events_do_not_depend_on_reads(bytes: Vec<u8>, positions: Vec<prop::sample::Index>) {
        prop_assert_eq!(events(&split(&bytes, &positions)), events(&[&bytes]));
    }

    #[test]
    fn events_match_the_standard(text in stream(), positions: Vec<prop::sample::Index>) {
        let seen = events(&split(text.as_bytes(), &positions)).into_iter();
        let seen: Vec<_> = seen.map(|(name, data, _)| (String::from_utf8(name).unwrap(), String::from_utf8(data).unwrap())).collect();
        prop_assert_eq!(seen, reference(&text));
    }
}

#[test]
fn reads_an_event_of_twenty_megabytes() {
    let long = "x".repeat(20 << 20);
    let stream = format!("data: {long}\n\n");
    let reads: Vec<&[u8]> = stream.as_bytes().chunks(16 << 10).collect();
    let seen = events(&reads);
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].1.len(), long.len());
}
