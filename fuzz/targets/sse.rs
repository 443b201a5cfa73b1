//! The event stream decoder: the events do not depend on how the bytes are split into reads, with a large and a small limit.
#![no_main]

use agcore_fuzz::slicings;
use agcore_llm::wire::sse::{SseDecoder, SseEvent, SseTooLong};
use libfuzzer_sys::fuzz_target;

/// A limit so small that short inputs exceed it.
const LIMIT: usize = 48;

#[derive(Debug, Default, PartialEq)]
struct Decoded {
    /// Name, data, and whether the stream ended within the event.
    events: Vec<(Vec<u8>, Vec<u8>, bool)>,
    error: Option<SseTooLong>,
}

fn read(mut decoder: SseDecoder, reads: &[&[u8]]) -> Decoded {
    let mut decoded = Decoded::default();
    let mut keep = |event: SseEvent<'_>| {
        decoded
            .events
            .push((event.name.to_vec(), event.data.to_vec(), event.unterminated));
        Ok(())
    };
    let result = reads.iter().try_for_each(|read| decoder.feed(read, &mut keep));
    decoded.error = result.and_then(|()| decoder.finish(&mut keep)).err();
    decoded
}

fuzz_target!(|bytes: &[u8]| {
    let [whole, bytewise, irregular] = slicings(bytes);
    for limit in [SseDecoder::DEFAULT_LIMIT, LIMIT] {
        let decoder = || SseDecoder::new().with_limit(limit);
        let expected = read(decoder(), &whole);
        assert_eq!(read(decoder(), &bytewise), expected, "byte by byte, limit {limit}");
        assert_eq!(
            read(decoder(), &irregular),
            expected,
            "in irregular reads, limit {limit}"
        );
        assert!(
            expected.events.iter().all(|(_, data, _)| data.len() <= limit),
            "an event is larger than the limit {limit}"
        );
    }
});
