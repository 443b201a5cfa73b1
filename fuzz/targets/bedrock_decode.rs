//! The Bedrock decoder upholds the invariants of decoders.
#![no_main]

use agcore_fuzz::{Choices, decoder::check_decoder};
use agcore_llm::wire::bedrock::Bedrock;
use libfuzzer_sys::fuzz_target;

const TYPES: &[&str] = &["application/vnd.amazon.eventstream", "application/json", "text/html"];

/// The sizes of a prelude and of a checksum.
const PRELUDE: usize = 12;
const CHECKSUM: usize = 4;

fuzz_target!(|body: &[u8]| {
    let wire = Bedrock::new();
    check_decoder(&wire, TYPES, body, &mut Choices::new(body));
    // A fuzzer does not find checksums by itself.
    let repaired = repaired(body);
    if repaired != body {
        check_decoder(&wire, TYPES, &repaired, &mut Choices::new(body));
    }
});

/// Makes the checksums of all complete messages at the beginning right.
fn repaired(body: &[u8]) -> Vec<u8> {
    let (mut body, mut begin) = (body.to_vec(), 0);
    while let Some(message) = body.get_mut(begin..).filter(|rest| rest.len() >= PRELUDE) {
        let checksum = crc32fast::hash(&message[..PRELUDE - CHECKSUM]);
        message[PRELUDE - CHECKSUM..PRELUDE].copy_from_slice(&checksum.to_be_bytes());
        let size = message[..4]
            .iter()
            .fold(0_usize, |size, byte| size << 8 | usize::from(*byte));
        let Some(message) = message
            .get_mut(..size)
            .filter(|message| message.len() >= PRELUDE + CHECKSUM)
        else {
            break;
        };
        let end = size - CHECKSUM;
        let checksum = crc32fast::hash(&message[..end]);
        message[end..].copy_from_slice(&checksum.to_be_bytes());
        begin += size;
    }
    body
}
