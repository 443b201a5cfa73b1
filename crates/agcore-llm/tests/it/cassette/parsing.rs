//! Parsing truncated, damaged and newer cassettes, and files that are not cassettes.

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
fn a_truncated_cassette_yields_all_complete_exchanges() {
    for indented in [false, true] {
        let writer = CassetteWriter::new(Vec::new());
        let writer = if indented { writer.with_indent() } else { writer };
        let mut ends = Vec::new();
        for call in 1..=3 {
            writer.record(&exchange(call)).unwrap();
            ends.push(writer.with_inner(|bytes| bytes.len()));
        }
        let bytes = writer.into_inner();
        let header = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        for cut in header..=bytes.len() {
            let cassette = Cassette::parse(&bytes[..cut]).unwrap();
            // The line break after an exchange does not belong to it.
            let complete = ends.iter().filter(|end| **end - 1 <= cut).count() as u64;
            assert_eq!(calls(&cassette), (1..=complete).collect::<Vec<_>>(), "cut at {cut}");
            let is_between = cut <= header + 1 || ends.iter().any(|end| cut == *end || cut + 1 == *end);
            assert_eq!(
                cassette.damaged_parts().is_empty(),
                is_between,
                "cut at {cut}: {:?}",
                cassette.damaged_parts()
            );
            let intact = cassette.into_intact();
            assert_eq!(intact.is_ok(), is_between, "cut at {cut}");
            if let Err(error) = intact {
                assert!(
                    error.to_string().contains("the exchange is truncated; record it again"),
                    "{error}"
                );
            }
        }
        for cut in 0..header {
            let error = Cassette::parse(&bytes[..cut]).unwrap_err();
            let expected = if cut == 0 {
                "is empty"
            } else {
                "not a cassette: line 1 must start with"
            };
            assert!(error.to_string().contains(expected), "cut at {cut}: {error}");
        }
    }
}

#[test]
fn rejects_other_files_and_newer_versions() {
    let check = |bytes: &str, expected: &str| {
        let error = Cassette::parse(bytes.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{bytes}: {error}");
    };
    check("", "the cassette is empty");
    check(" \n\n", "the cassette is empty");
    check("hello", "not a cassette: line 1");
    check("\n\n[1]", "not a cassette: line 3");
    check("data: x\n{\"agcore_cassette\":1}\n", "not a cassette");
    check(&serde_json::to_string(&exchange(1)).unwrap(), "not a cassette");
    check(
        "{\"agcore_cassette\":2}\n",
        "version 2, but this build only reads versions up to 1; update agcore",
    );
    check(
        "{\"agcore_cassette\":1}\n{\"agcore_cassette\":7,\"by\":\"x\"}\n",
        "has version 7",
    );
    let error = Cassette::read(std::io::empty()).unwrap_err();
    assert!(matches!(error, CassetteError::Empty));
}

#[test]
fn reports_the_line_of_damage_and_parses_the_rest() {
    let good = serde_json::to_string(&exchange(1)).unwrap();
    let check = |bad: &str, line: usize, expected: &str| {
        let text = format!(
            "{{\"agcore_cassette\":1}}\n{good}\n{bad}\n{}\n",
            good.replace("\"call\":1", "\"call\":5")
        );
        let cassette = Cassette::parse(text.as_bytes()).unwrap();
        let damaged = cassette.damaged_parts();
        assert_eq!(calls(&cassette), [1, 5], "{bad}");
        assert_eq!((damaged.len(), damaged[0].line), (1, line), "{bad}: {damaged:?}");
        assert!(damaged[0].reason.contains(expected), "{bad}: {damaged:?}");
    };
    check("{}", 3, "missing field `call`");
    check("{\"call\":2,\n \"stream\":7}", 4, "expected a boolean");
    check(&good[..40], 3, "is truncated");
    check("garbage", 3, "trailing characters");
    check(&good.replace("{\"text\":\"one\"}", "{\"hologram\":1}"), 3, "no variant");
    check(
        &good.replace("{\"text\":\"one\"}", "{\"block_end\":false}"),
        3,
        "must be true",
    );
    check(&good.replace("\"ok\"", "\"unheard of\""), 3, "unknown variant");
    check(&good.replace("\"ms\":1,", "\"ms\":-1,"), 3, "invalid value");
}

#[test]
fn ignores_unknown_members() {
    let good = serde_json::to_string(&exchange(1)).unwrap();
    let more = good
        .replace("\"call\":1", "\"mood\":{\"a\":[1]},\"call\":1")
        .replace("{\"text\"", "{\"sound\":1,\"text\"");
    let text = format!("\u{feff}\r\n{{\"agcore_cassette\":1,\"by\":\"me\"}}\r\n\r\n{more}\r\n");
    let cassette = Cassette::parse(text.as_bytes()).unwrap().into_intact().unwrap();
    assert_eq!(cassette.exchanges(), [exchange(1)]);
}

#[test]
fn parses_a_recording_appended_to_a_truncated_one() {
    let writer = CassetteWriter::new(Vec::new());
    writer.record(&exchange(2)).unwrap();
    writer.record(&exchange(1)).unwrap();
    let mut bytes = writer.into_inner();
    bytes.truncate(bytes.len() - 5);
    let writer = CassetteWriter::appending(bytes);
    writer.record(&exchange(2)).unwrap();
    writer.record(&exchange(1)).unwrap();
    let cassette = Cassette::parse(&writer.into_inner()).unwrap();
    assert_eq!(
        calls(&cassette),
        [2, 1, 2],
        "each recording in the order in which its calls started"
    );
    assert_eq!(cassette.damaged_parts().len(), 1);
}

#[test]
fn sorts_the_exchanges_of_each_recording_by_call() {
    let mut bytes = Vec::new();
    for _ in 0..2 {
        let writer = CassetteWriter::appending(bytes);
        [2, 1].iter().for_each(|call| writer.record(&exchange(*call)).unwrap());
        bytes = writer.into_inner();
    }
    assert_eq!(calls(&Cassette::parse(&bytes).unwrap()), [1, 2, 1, 2]);
}

#[test]
fn flushes_each_exchange() {
    let writer = CassetteWriter::new(std::io::BufWriter::new(Vec::new()));
    writer.record(&exchange(1)).unwrap();
    let out = writer.with_inner(|out| out.get_ref().clone());
    assert_eq!(calls(&Cassette::parse(&out).unwrap()), [1]);
}

#[test]
fn removes_timings() {
    let cassette = Cassette::new([exchange(1)]).without_timings();
    let exchange = &cassette.exchanges()[0];
    assert_eq!((exchange.ms, exchange.chunks[0].ms), (0, 0));
}
