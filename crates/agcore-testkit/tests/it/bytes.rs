//! Faults of bytes and framing, observed read by read.

use agcore_testkit::mock_server::{Fault, LineEnds, Reply};

use super::client::{Received, ask};

async fn ask_with(fault: Fault, stream: bool) -> Received {
    ask(Reply::text("Grüße, 世界!").with_fault(fault), stream).await
}

/// Returns the stream without a fault.
async fn intact() -> String {
    ask(Reply::text("Grüße, 世界!"), true).await.text()
}

#[tokio::test]
async fn splits_writes_at_the_given_offsets() {
    let received = ask_with(Fault::SplitAt(vec![3, 200, 201]), true).await;
    let lengths: Vec<usize> = received.reads.iter().map(bytes::Bytes::len).collect();
    let total = intact().await.len();
    assert_eq!(lengths, [3, 197, 1, total - 201]);
    assert_eq!(received.text(), intact().await);
}

#[tokio::test]
async fn splits_every_multi_byte_character() {
    let received = ask_with(Fault::SplitUtf8, true).await;
    assert_eq!(received.text(), intact().await);
    let invalid = received.reads.iter().filter(|read| std::str::from_utf8(read).is_err());
    // ü, ß, 世 and 界 are split. A read between two of them starts with the rest of one and ends with the start of the
    // next.
    let starts_inside = received
        .reads
        .iter()
        .filter(|read| read.first().is_some_and(|byte| byte & 0xC0 == 0x80));
    assert_eq!(starts_inside.count(), 4);
    assert_eq!(invalid.count(), 6);
}

#[tokio::test]
async fn writes_bytes_one_by_one() {
    let received = ask_with(Fault::OneByteWrites, true).await;
    assert!(received.reads.iter().all(|read| read.len() == 1));
    assert_eq!(received.text(), intact().await);
}

#[tokio::test]
async fn splits_a_single_body() {
    let received = ask_with(Fault::OneByteWrites, false).await;
    assert_eq!(received.header("content-length"), received.text().len().to_string());
    assert_eq!(received.json()["choices"][0]["message"]["content"], "Grüße, 世界!");
}

#[tokio::test]
async fn varies_the_framing_of_events() {
    let intact = intact().await;
    let check = async |fault: Fault, expected: String| {
        let name = format!("{fault:?}");
        assert_eq!(ask_with(fault, true).await.text(), expected, "{name}");
    };
    check(Fault::LineEnds(LineEnds::CrLf), intact.replace('\n', "\r\n")).await;
    check(Fault::LineEnds(LineEnds::Cr), intact.replace('\n', "\r")).await;
    check(Fault::NoSpace, intact.replace("data: ", "data:")).await;
    check(Fault::ByteOrderMark, format!("\u{feff}{intact}")).await;
    check(
        Fault::Comments("WAIT".into()),
        intact.replace("data: ", ": WAIT\n\ndata: "),
    )
    .await;
    check(Fault::NoLastLineEnd, intact.trim_end().to_owned()).await;
    check(
        Fault::ManyDataLines,
        intact
            .replace("data: {", "data: {\ndata: ")
            .replace("}\n\n", "\ndata: }\n\n"),
    )
    .await;
}

#[tokio::test]
async fn sends_blank_lines_before_a_body() {
    let received = ask_with(Fault::LeadingBlankLines(3), false).await;
    assert!(received.text().starts_with("\n\n\n{"));
    assert_eq!(received.header("content-length"), received.text().len().to_string());
}

#[cfg(feature = "gzip")]
#[tokio::test]
async fn compresses_a_body() {
    use std::io::Read;

    for stream in [true, false] {
        let received = ask_with(Fault::Gzip, stream).await;
        assert_eq!(received.header("content-encoding"), "gzip");
        let mut text = String::new();
        flate2::read::GzDecoder::new(&received.reads.concat()[..])
            .read_to_string(&mut text)
            .unwrap();
        let plain = ask(Reply::text("Grüße, 世界!"), stream).await.text();
        assert_eq!(text, plain);
    }
}
