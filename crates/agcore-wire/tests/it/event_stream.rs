//! The messages of binary event streams, however the bytes are split, and streams that are damaged.

use agcore_wire::event_stream::{EventStreamDecoder, EventStreamError};
use proptest::prelude::*;

/// An exception: `{"message":"slow"}`.
const EXCEPTION: &str = "0000006200000040f00cbad40d3a6d6573736167652d74797065070009657863657074696f6e0f3a657863657074696f\
    6e2d747970650700137468726f74746c696e67457863657074696f6e7b226d657373616765223a22736c6f77227d54a773d3";

/// The end of a block: `{"contentBlockIndex":0,"p":"ab"}`.
const EVENT: &str = "00000065000000356243e3770d3a6d6573736167652d747970650700056576656e740b3a6576656e742d747970650700\
    10636f6e74656e74426c6f636b53746f707b22636f6e74656e74426c6f636b496e646578223a302c2270223a226162227d9e71669d";

/// A message without headers and payload.
const EMPTY: &str = "000000100000000005c248eb7d98c8ff";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// A message, as its type and its payload.
type Seen = (Option<String>, Vec<u8>);

/// Decodes reads. Returns the messages, and the error or whether the stream ends within a message.
fn decode<'a, R: IntoIterator<Item = &'a [u8]>>(reads: R) -> (Vec<Seen>, Result<bool, EventStreamError>) {
    let (mut decoder, mut seen) = (EventStreamDecoder::new(), Vec::new());
    for read in reads {
        let fed = decoder.feed(read, |message| {
            let kind = message.header(":message-type").map(str::to_owned);
            seen.push((kind, message.payload.to_vec()));
            Ok::<_, EventStreamError>(())
        });
        if let Err(error) = fed {
            return (seen, Err(error));
        }
    }
    let is_within = decoder.is_within_message();
    (seen, Ok(is_within))
}

fn stream() -> Vec<u8> {
    [bytes(EVENT), bytes(EXCEPTION), bytes(EMPTY), bytes(EVENT)].concat()
}

fn expected() -> Vec<Seen> {
    let event = (
        Some("event".to_owned()),
        br#"{"contentBlockIndex":0,"p":"ab"}"#.to_vec(),
    );
    let exception = (Some("exception".to_owned()), br#"{"message":"slow"}"#.to_vec());
    vec![event.clone(), exception, (None, Vec::new()), event]
}

#[test]
fn messages_do_not_depend_on_the_reads() {
    let stream = stream();
    assert_eq!(decode([&stream[..]]), (expected(), Ok(false)));
    assert_eq!(decode(stream.chunks(1)), (expected(), Ok(false)));
    for end in 0..=stream.len() {
        let (begin, rest) = stream.split_at(end);
        assert_eq!(decode([begin, rest]), (expected(), Ok(false)), "{end}");
        assert_eq!(decode([begin, &[], rest]).0, expected(), "{end}");
    }
}

#[test]
fn a_stream_that_is_cut_ends_within_a_message() {
    let (stream, sizes) = (stream(), [101, 98, 16, 101]);
    let ends: Vec<usize> = sizes
        .iter()
        .scan(0, |end, size| {
            *end += size;
            Some(*end)
        })
        .collect();
    assert_eq!(ends.last(), Some(&stream.len()));
    for end in 0..=stream.len() {
        let complete = ends.iter().filter(|message| **message <= end).count();
        let (seen, state) = decode([&stream[..end]]);
        assert_eq!(seen, expected()[..complete], "{end}");
        assert_eq!(state, Ok(end != 0 && !ends.contains(&end)), "{end}");
    }
}

#[test]
fn every_changed_bit_is_noticed() {
    let event = bytes(EVENT);
    for bit in 0..event.len() * 8 {
        let mut damaged = event.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let (seen, state) = decode([&damaged[..]]);
        assert!(seen.is_empty(), "bit {bit}");
        let expected = if bit < 96 {
            EventStreamError::PreludeChecksum
        } else {
            EventStreamError::MessageChecksum
        };
        assert_eq!(state, Err(expected), "bit {bit}");
        assert_eq!(decode(damaged.chunks(1)), (seen, Err(expected)), "bit {bit}");
    }
}

/// A length is used only if its checksum is right, and nothing is reserved for one that is not.
#[test]
fn a_length_without_its_checksum_is_not_trusted() {
    let (seen, state) = decode([&[0xff; 64][..]]);
    assert_eq!((seen, state), (Vec::new(), Err(EventStreamError::PreludeChecksum)));
    // 2^32 - 1 with its checksum, headers beyond their limit, and a message that is shorter than its headers.
    for (prelude, expected) in [
        ("ffffffff00000000ffffffff", EventStreamError::TooLarge),
        ("0002001100020001dbbe948a", EventStreamError::TooLarge),
        ("000000140000001e0a4dd348", EventStreamError::TooShort),
        ("00000000000000006522df69", EventStreamError::TooShort),
    ] {
        assert_eq!(decode([&bytes(prelude)[..]]), (Vec::new(), Err(expected)), "{prelude}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in any::<Vec<u8>>(), cuts in prop::collection::vec(0_usize..64, 0..4)) {
        let whole = decode([&bytes[..]]);
        let mut reads = Vec::new();
        let mut rest = &bytes[..];
        for cut in cuts {
            let (read, after) = rest.split_at(cut.min(rest.len()));
            reads.push(read);
            rest = after;
        }
        reads.push(rest);
        prop_assert_eq!(decode(reads), whole);
    }
}
