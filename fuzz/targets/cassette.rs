//! Cassettes: parsing always terminates, a parsed cassette survives a round trip, and truncation only loses the exchanges
//! that it affects.
#![no_main]

use agcore_fuzz::Choices;
use agcore_llm::cassette::{Cassette, CassetteSink, CassetteWriter};
use libfuzzer_sys::fuzz_target;

fn write(cassette: &Cassette, indented: bool) -> Vec<u8> {
    let writer = CassetteWriter::new(Vec::new());
    let writer = if indented { writer.with_indent() } else { writer };
    for exchange in cassette.exchanges() {
        writer.record(exchange).expect("a parsed exchange can be written");
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
    // Merge the exchanges of several recordings into one whose calls are in order.
    let mut exchanges = cassette.exchanges().to_vec();
    exchanges.sort_by_key(|exchange| exchange.call);
    let cassette = Cassette::new(exchanges);
    if cassette.exchanges().is_empty() {
        return;
    }
    let lines = write(&cassette, false);
    for file in [&lines, &write(&cassette, true)] {
        let reread = Cassette::parse(file)
            .and_then(Cassette::into_intact)
            .expect("a written cassette can be parsed");
        assert_eq!(reread, cassette);
    }
    // Truncate after the header, without which a file is not a cassette.
    let header = lines
        .iter()
        .position(|byte| *byte == b'\n')
        .expect("the header is a line")
        + 1;
    let cut = header + Choices::new(bytes).below(lines.len() - header);
    let part = Cassette::parse(&lines[..cut]).expect("the header is complete");
    let complete = part.exchanges().len();
    assert_eq!(part.exchanges(), &cassette.exchanges()[..complete]);
    assert!(part.damaged_parts().len() <= 1, "{:?}", part.damaged_parts());
});
