//! Cassettes: whatever the bytes, reading ends; what was read is written and read again as the same, and a cut loses only
//! what it cuts.
#![no_main]

use agcore_fuzz::Chance;
use agcore_llm::cassette::{Cassette, CassetteSink, CassetteWriter};
use libfuzzer_sys::fuzz_target;

fn written(cassette: &Cassette, indented: bool) -> Vec<u8> {
    let writer = CassetteWriter::new(Vec::new());
    let writer = if indented { writer.indented() } else { writer };
    for exchange in cassette.exchanges() {
        writer.keep(exchange).expect("what was read can be written");
    }
    writer.into_inner()
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(cassette) = Cassette::parse(bytes) else {
        return;
    };
    for exchange in cassette.exchanges() {
        let _ = (exchange.response(), exchange.usage(), exchange.chat_request());
    }
    // Exchanges of several recordings become one, in which the calls are in order.
    let mut exchanges = cassette.exchanges().to_vec();
    exchanges.sort_by_key(|exchange| exchange.call);
    let cassette = Cassette::new(exchanges);
    if cassette.exchanges().is_empty() {
        return;
    }
    let lines = written(&cassette, false);
    for file in [&lines, &written(&cassette, true)] {
        let again = Cassette::parse(file)
            .and_then(Cassette::into_whole)
            .expect("what was written can be read");
        assert_eq!(again, cassette);
    }
    // Behind the header, as without it there is no cassette.
    let header = lines
        .iter()
        .position(|byte| *byte == b'\n')
        .expect("the header is a line")
        + 1;
    let cut = header + Chance::of(bytes).below(lines.len() - header);
    let part = Cassette::parse(&lines[..cut]).expect("the header is whole");
    let whole = part.exchanges().len();
    assert_eq!(part.exchanges(), &cassette.exchanges()[..whole]);
    assert!(part.damage().len() <= 1, "{:?}", part.damage());
});
