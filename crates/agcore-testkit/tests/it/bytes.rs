//! Faults of bytes and framing: what each read gives.

use agcore_testkit::mock_server::{Fault, LineEnds, Reply};

use super::client::{Received, ask};

async fn broken(fault: Fault, stream: bool) -> Received {
    ask(Reply::text("Grüße, 世界!").with_fault(fault), stream).await
}

/// The stream without any fault.
async fn sound() -> String {
    ask(Reply::text("Grüße, 世界!"), true).await.text()
}

#[tokio::test]
async fn writes_end_where_they_are_split() {
    let received = broken(Fault::SplitAt(vec![3, 200, 201]), true).await;
    let lengths: Vec<usize> = received.reads.iter().map(bytes::Bytes::len).collect();
    let total = sound().await.len();
    assert_eq!(lengths, [3, 197, 1, total - 201]);
    assert_eq!(received.text(), sound().await);
}

#[tokio::test]
async fn every_wide_character_is_cut() {
    let received = broken(Fault::SplitUtf8, true).await;
    assert_eq!(received.text(), sound().await);
    let cut = received.reads.iter().filter(|read| std::str::from_utf8(read).is_err());
    // ü, ß, 世 and 界, each between two reads; a read in between begins with one and ends with the next.
    let begins = received
        .reads
        .iter()
        .filter(|read| read.first().is_some_and(|byte| byte & 0xC0 == 0x80));
    assert_eq!(begins.count(), 4);
    assert_eq!(cut.count(), 6);
}

#[tokio::test]
async fn bytes_come_one_by_one() {
    let received = broken(Fault::OneByteWrites, true).await;
    assert!(received.reads.iter().all(|read| read.len() == 1));
    assert_eq!(received.text(), sound().await);
}

#[tokio::test]
async fn a_whole_body_can_be_split_too() {
    let received = broken(Fault::OneByteWrites, false).await;
    assert_eq!(received.header("content-length"), received.text().len().to_string());
    assert_eq!(received.json()["choices"][0]["message"]["content"], "Grüße, 世界!");
}

#[tokio::test]
async fn framing_can_be_odd() {
    let sound = sound().await;
    let check = async |fault: Fault, expected: String| {
        let name = format!("{fault:?}");
        assert_eq!(broken(fault, true).await.text(), expected, "{name}");
    };
    check(Fault::LineEnds(LineEnds::CrLf), sound.replace('\n', "\r\n")).await;
    check(Fault::LineEnds(LineEnds::Cr), sound.replace('\n', "\r")).await;
    check(Fault::NoSpace, sound.replace("data: ", "data:")).await;
    check(Fault::ByteOrderMark, format!("\u{feff}{sound}")).await;
    check(
        Fault::Comments("WAIT".into()),
        sound.replace("data: ", ": WAIT\n\ndata: "),
    )
    .await;
    check(Fault::NoLastLineEnd, sound.trim_end().to_owned()).await;
    check(
        Fault::ManyDataLines,
        sound
            .replace("data: {", "data: {\ndata: ")
            .replace("}\n\n", "\ndata: }\n\n"),
    )
    .await;
}

#[tokio::test]
async fn blank_lines_can_stand_before_a_body() {
    let received = broken(Fault::LeadingBlankLines(3), false).await;
    assert!(received.text().starts_with("\n\n\n{"));
    assert_eq!(received.header("content-length"), received.text().len().to_string());
}

#[cfg(feature = "gzip")]
#[tokio::test]
async fn a_body_can_come_compressed() {
    use std::io::Read;

    for stream in [true, false] {
        let received = broken(Fault::Gzip, stream).await;
        assert_eq!(received.header("content-encoding"), "gzip");
        let mut text = String::new();
        flate2::read::GzDecoder::new(&received.reads.concat()[..])
            .read_to_string(&mut text)
            .unwrap();
        let plain = ask(Reply::text("Grüße, 世界!"), stream).await.text();
        assert_eq!(text, plain);
    }
}
