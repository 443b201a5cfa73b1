//! The event stream decoder: whatever the bytes, any slicing gives the same events, also under a small limit.
#![no_main]

use agcore_fuzz::slicings;
use agcore_llm::sse::{SseDecoder, SseEvent, SseTooLong};
use libfuzzer_sys::fuzz_target;

/// Small enough that short inputs pass it.
const LIMIT: usize = 48;

#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// Name, data, and whether the stream ended within it.
    events: Vec<(Vec<u8>, Vec<u8>, bool)>,
    error: Option<SseTooLong>,
}

fn read(mut decoder: SseDecoder, reads: &[&[u8]]) -> Seen {
    let mut seen = Seen::default();
    let mut keep = |event: SseEvent<'_>| {
        seen.events
            .push((event.name.to_vec(), event.data.to_vec(), event.unterminated));
        Ok(())
    };
    let fed = reads.iter().try_for_each(|read| decoder.feed(read, &mut keep));
    seen.error = fed.and_then(|()| decoder.finish(&mut keep)).err();
    seen
}

fuzz_target!(|bytes: &[u8]| {
    let [whole, bytewise, cut] = slicings(bytes);
    for limit in [SseDecoder::DEFAULT_LIMIT, LIMIT] {
        let decoder = || SseDecoder::new().with_limit(limit);
        let expected = read(decoder(), &whole);
        assert_eq!(read(decoder(), &bytewise), expected, "byte by byte, limit {limit}");
        assert_eq!(read(decoder(), &cut), expected, "cut, limit {limit}");
        assert!(
            expected.events.iter().all(|(_, data, _)| data.len() <= limit),
            "an event is larger than the limit {limit}"
        );
    }
});
