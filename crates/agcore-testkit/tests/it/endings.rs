//! Faults of the end: where a reply stops and how.

use std::io::ErrorKind;

use agcore_testkit::mock_server::{Ending, Fault, Outcome, Point, Reply};

use super::client::{CHAT, ask, chat, drain, post, raw_chat, serving};

fn cut(at: Point, ending: Ending) -> Reply {
    Reply::text("one two three").with_fault(Fault::cut(at, ending))
}

#[tokio::test]
async fn a_stream_can_end_at_every_border_of_its_events() {
    let sound = ask(Reply::text("one two three"), true).await;
    for events in 0..=sound.reads.len() {
        for ending in [Ending::Clean, Ending::Abrupt] {
            let received = ask(cut(Point::AfterEvents(events), ending), true).await;
            assert_eq!(received.reads, sound.reads[..events], "{events} {ending:?}");
            assert_eq!(received.whole, ending == Ending::Clean, "{events} {ending:?}");
        }
    }
}

#[tokio::test]
async fn a_body_can_end_at_every_byte() {
    for stream in [true, false] {
        let sound = ask(Reply::text("ü"), stream).await.reads.concat();
        for bytes in (0..sound.len()).step_by(7) {
            let reply = Reply::text("ü").with_fault(Fault::cut(Point::AfterBytes(bytes), Ending::Clean));
            let received = ask(reply, stream).await;
            assert_eq!(received.reads.concat(), sound[..bytes], "{bytes}");
            assert!(received.whole);
        }
    }
}

#[tokio::test]
async fn a_whole_body_can_break_off_under_its_told_length() {
    let sound = ask(Reply::text("one two three"), false).await.text();
    let server = serving(cut(Point::AfterBytes(20), Ending::Abrupt)).await;
    let (text, error) = drain(raw_chat(&server, false).await).await;
    assert!(text.contains(&format!("content-length: {}\r\n", sound.len())));
    assert!(text.ends_with(&format!("\r\n\r\n{}", &sound[..20])));
    assert_eq!(error, None, "an end of file, no reset");
    assert_eq!(server.wait_for_outcome(0).await, Outcome::Faulted);
}

#[tokio::test]
async fn what_was_sent_before_an_abrupt_end_arrives_however_much_it_is() {
    let size = 8 * 1024 * 1024;
    let reply = cut(Point::AfterEvents(2), Ending::Abrupt).with_fault(Fault::Huge { at: 1, bytes: size });
    let received = ask(reply, true).await;
    assert!(!received.whole);
    assert_eq!(received.payloads()[1].len(), size);
}

#[tokio::test]
async fn a_connection_can_be_reset() {
    for (at, stream) in [(Point::AfterEvents(2), true), (Point::AfterBytes(30), false)] {
        let server = serving(cut(at, Ending::Reset)).await;
        let (text, error) = drain(raw_chat(&server, stream).await).await;
        assert_eq!(error, Some(ErrorKind::ConnectionReset));
        assert!(
            text.starts_with("HTTP/1.1 200 OK\r\n"),
            "what came before the reset: {text}"
        );
        assert_eq!(text.contains("one "), stream);
    }
}

#[tokio::test]
async fn a_connection_can_end_before_the_headers() {
    for (ending, expected) in [
        (Ending::Abrupt, None),
        (Ending::Reset, Some(ErrorKind::ConnectionReset)),
    ] {
        let server = serving(cut(Point::BeforeHeaders, ending)).await;
        let (text, error) = drain(raw_chat(&server, true).await).await;
        assert_eq!((text.as_str(), error), ("", expected));
        assert_eq!(server.wait_for_outcome(0).await, Outcome::Faulted);
    }
}

#[tokio::test]
async fn a_connection_can_end_after_the_last_byte() {
    for stream in [true, false] {
        let sound = ask(Reply::text("one two three"), stream).await;
        let received = ask(cut(Point::BeforeEnd, Ending::Abrupt), stream).await;
        assert_eq!(received.text(), sound.text());
        assert!(!received.whole);
    }
}

#[tokio::test]
async fn a_clean_cut_of_a_whole_body_tells_the_short_length() {
    let server = serving(cut(Point::AfterBytes(20), Ending::Clean)).await;
    let received = post(&server, CHAT, &chat(false)).await;
    assert_eq!(received.header("content-length"), "20");
    assert_eq!(received.text().len(), 20);
    assert_eq!(server.wait_for_outcome(0).await, Outcome::Faulted);
}
