//! Reading: what is cut, damaged, foreign, newer.

use agcore_llm::cassette::{CassetteError, CassetteSink, CassetteWriter};

use super::*;

fn exchange(call: u64) -> Exchange {
    let json = serde_json::json!({
        "call": call, "stream": false, "request": {"messages": [{"role": "user", "content": format!("é {call}")}]},
        "chunks": [{"ms": 1, "items": [{"text": "one"}]}], "end": "ok", "ms": 2
    });
    serde_json::from_value(json).unwrap()
}

fn calls(cassette: &Cassette) -> Vec<u64> {
    cassette.exchanges().iter().map(|exchange| exchange.call).collect()
}

#[test]
fn a_cassette_cut_anywhere_gives_all_whole_exchanges() {
    for indented in [false, true] {
        let writer = CassetteWriter::new(Vec::new());
        let writer = if indented { writer.indented() } else { writer };
        let mut ends = Vec::new();
        for call in 1..=3 {
            writer.keep(&exchange(call)).unwrap();
            ends.push(writer.with_inner(|bytes| bytes.len()));
        }
        let bytes = writer.into_inner();
        let header = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        for cut in header..=bytes.len() {
            let cassette = Cassette::parse(&bytes[..cut]).unwrap();
            // The line end behind an exchange is no part of it.
            let whole = ends.iter().filter(|end| **end - 1 <= cut).count() as u64;
            assert_eq!(calls(&cassette), (1..=whole).collect::<Vec<_>>(), "cut at {cut}");
            let is_between = cut <= header + 1 || ends.iter().any(|end| cut == *end || cut + 1 == *end);
            assert_eq!(
                cassette.damage().is_empty(),
                is_between,
                "cut at {cut}: {:?}",
                cassette.damage()
            );
            let whole = cassette.into_whole();
            assert_eq!(whole.is_ok(), is_between, "cut at {cut}");
            if let Err(error) = whole {
                assert!(
                    error
                        .to_string()
                        .contains("the exchange ends in the middle; record it again"),
                    "{error}"
                );
            }
        }
        for cut in 0..header {
            let error = Cassette::parse(&bytes[..cut]).unwrap_err();
            let expected = if cut == 0 {
                "is empty"
            } else {
                "this is no cassette: line 1 must begin with"
            };
            assert!(error.to_string().contains(expected), "cut at {cut}: {error}");
        }
    }
}

#[test]
fn what_is_no_cassette_is_refused() {
    let check = |bytes: &str, expected: &str| {
        let error = Cassette::parse(bytes.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{bytes}: {error}");
    };
    check("", "the cassette is empty");
    check(" \n\n", "the cassette is empty");
    check("hello", "this is no cassette: line 1");
    check("\n\n[1]", "this is no cassette: line 3");
    check("data: x\n{\"agcore_cassette\":1}\n", "this is no cassette");
    check(&serde_json::to_string(&exchange(1)).unwrap(), "this is no cassette");
    check(
        "{\"agcore_cassette\":2}\n",
        "version 2, and this build reads up to version 1; update agcore",
    );
    check(
        "{\"agcore_cassette\":1}\n{\"agcore_cassette\":7,\"by\":\"x\"}\n",
        "has version 7",
    );
    let error = Cassette::read(std::io::empty()).unwrap_err();
    assert!(matches!(error, CassetteError::Empty));
}

#[test]
fn damage_is_named_by_its_line_and_the_rest_is_read() {
    let good = serde_json::to_string(&exchange(1)).unwrap();
    let check = |bad: &str, line: usize, expected: &str| {
        let text = format!(
            "{{\"agcore_cassette\":1}}\n{good}\n{bad}\n{}\n",
            good.replace("\"call\":1", "\"call\":5")
        );
        let cassette = Cassette::parse(text.as_bytes()).unwrap();
        let damage = cassette.damage();
        assert_eq!(calls(&cassette), [1, 5], "{bad}");
        assert_eq!((damage.len(), damage[0].line), (1, line), "{bad}: {damage:?}");
        assert!(damage[0].why.contains(expected), "{bad}: {damage:?}");
    };
    check("{}", 3, "missing field `call`");
    check("{\"call\":2,\n \"stream\":7}", 4, "expected a boolean");
    check(&good[..40], 3, "ends in the middle");
    check("garbage", 3, "trailing characters");
    check(&good.replace("{\"text\":\"one\"}", "{\"hologram\":1}"), 3, "no variant");
    check(
        &good.replace("{\"text\":\"one\"}", "{\"block_end\":false}"),
        3,
        "can only be true",
    );
    check(&good.replace("\"ok\"", "\"unheard of\""), 3, "unknown variant");
    check(&good.replace("\"ms\":1,", "\"ms\":-1,"), 3, "invalid value");
}

#[test]
fn unknown_members_are_passed_over() {
    let good = serde_json::to_string(&exchange(1)).unwrap();
    let more = good
        .replace("\"call\":1", "\"mood\":{\"a\":[1]},\"call\":1")
        .replace("{\"text\"", "{\"sound\":1,\"text\"");
    let text = format!("\u{feff}\r\n{{\"agcore_cassette\":1,\"by\":\"me\"}}\r\n\r\n{more}\r\n");
    let cassette = Cassette::parse(text.as_bytes()).unwrap().into_whole().unwrap();
    assert_eq!(cassette.exchanges(), [exchange(1)]);
}

#[test]
fn another_recording_may_follow_even_a_torn_one() {
    let writer = CassetteWriter::new(Vec::new());
    writer.keep(&exchange(2)).unwrap();
    writer.keep(&exchange(1)).unwrap();
    let mut bytes = writer.into_inner();
    bytes.truncate(bytes.len() - 5);
    let writer = CassetteWriter::appending(bytes);
    writer.keep(&exchange(2)).unwrap();
    writer.keep(&exchange(1)).unwrap();
    let cassette = Cassette::parse(&writer.into_inner()).unwrap();
    assert_eq!(calls(&cassette), [2, 1, 2], "each in the order in which calls began");
    assert_eq!(cassette.damage().len(), 1);
}

#[test]
fn exchanges_of_each_recording_are_in_the_order_in_which_they_began() {
    let mut bytes = Vec::new();
    for _ in 0..2 {
        let writer = CassetteWriter::appending(bytes);
        [2, 1].iter().for_each(|call| writer.keep(&exchange(*call)).unwrap());
        bytes = writer.into_inner();
    }
    assert_eq!(calls(&Cassette::parse(&bytes).unwrap()), [1, 2, 1, 2]);
}

#[test]
fn an_exchange_is_out_when_it_is_kept() {
    let writer = CassetteWriter::new(std::io::BufWriter::new(Vec::new()));
    writer.keep(&exchange(1)).unwrap();
    let out = writer.with_inner(|out| out.get_ref().clone());
    assert_eq!(calls(&Cassette::parse(&out).unwrap()), [1]);
}

#[test]
fn timings_can_be_left_out() {
    let cassette = Cassette::new([exchange(1)]).without_timings();
    let exchange = &cassette.exchanges()[0];
    assert_eq!((exchange.ms, exchange.chunks[0].ms), (0, 0));
}
