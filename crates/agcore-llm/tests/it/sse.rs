//! The event stream decoder: any slicing of any bytes gives the same events.

use agcore_llm::sse::{SseDecoder, SseEvent, SseTooLong};
use proptest::prelude::*;

type Seen = Vec<(Vec<u8>, Vec<u8>, bool)>;

fn events(reads: &[&[u8]]) -> Seen {
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

/// The bytes cut at these places.
pub(crate) fn cut<'a>(bytes: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    ends.sort_unstable();
    ends.push(bytes.len());
    let mut begin = 0;
    ends.into_iter()
        .map(|end| &bytes[std::mem::replace(&mut begin, end)..end])
        .collect()
}

/// The standard, done the slow way on text that is whole: split into lines, then line by line.
fn by_the_book(text: &str) -> Vec<(String, String)> {
    let text = text
        .strip_prefix('\u{FEFF}')
        .unwrap_or(text)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let (mut seen, mut name, mut data) = (Vec::new(), String::new(), None::<String>);
    let mut lines: Vec<&str> = text.split('\n').collect();
    // What is left at the end is handed out: that differs from the standard.
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

/// Text that is mostly made of what matters to the format.
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
    fn any_slicing_gives_the_same_events(bytes: Vec<u8>, places: Vec<prop::sample::Index>) {
        prop_assert_eq!(events(&cut(&bytes, &places)), events(&[&bytes]));
    }

    #[test]
    fn any_slicing_of_a_stream_gives_what_the_standard_says(text in stream(), places: Vec<prop::sample::Index>) {
        let seen = events(&cut(text.as_bytes(), &places)).into_iter();
        let seen: Vec<_> = seen.map(|(name, data, _)| (String::from_utf8(name).unwrap(), String::from_utf8(data).unwrap())).collect();
        prop_assert_eq!(seen, by_the_book(&text));
    }
}

#[test]
fn twenty_megabytes_are_one_event() {
    let long = "x".repeat(20 << 20);
    let stream = format!("data: {long}\n\n");
    let reads: Vec<&[u8]> = stream.as_bytes().chunks(16 << 10).collect();
    let seen = events(&reads);
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].1.len(), long.len());
}
