//! Faults that end a reply prematurely.

use std::io::ErrorKind;

use agcore_testkit::mock_server::{Ending, Fault, Outcome, Point, Reply};

use super::client::{CHAT, ask, chat, drain, post, raw_chat, serving};

fn cut(at: Point, ending: Ending) -> Reply {
    Reply::text("one two three").with_fault(Fault::cut(at, ending))
}

#[tokio::test]
async fn ends_a_stream_at_every_event_boundary() {
    let intact = ask(Reply::text("one two three"), true).await;
    for events in 0..=intact.reads.len() {
        for ending in [Ending::Clean, Ending::Abrupt] {
            let received = ask(cut(Point::AfterEvents(events), ending), true).await;
            assert_eq!(received.reads, intact.reads[..events], "{events} {ending:?}");
            assert_eq!(received.complete, ending == Ending::Clean, "{events} {ending:?}");
        }
    }
}

#[tokio::test]
async fn ends_a_body_at_any_byte() {
    for stream in [true, false] {
        let intact = ask(Reply::text("ü"), stream).await.reads.concat();
        for bytes in (0..intact.len()).step_by(7) {
            let reply = Reply::text("ü").with_fault(Fault::cut(Point::AfterBytes(bytes), Ending::Clean));
            let received = ask(reply, stream).await;
            assert_eq!(received.reads.concat(), intact[..bytes], "{bytes}");
            assert!(received.complete);
        }
    }
}

#[tokio::test]
async fn ends_a_single_body_before_its_content_length() {
    let intact = ask(Reply::text("one two three"), false).await.text();
    let server = serving(cut(Point::AfterBytes(20), Ending::Abrupt)).await;
    let (text, error) = drain(raw_chat(&server, false).await).await;
    assert!(text.contains(&format!("content-length: {}\r\n", intact.len())));
    assert!(text.ends_with(&format!("\r\n\r\n{}", &intact[..20])));
    assert_eq!(error, None, "the connection ends without a reset");
    assert_eq!(server.wait_for_outcome(0).await, Outcome::Faulted);
}

#[tokio::test]
async fn large_events_before_an_abrupt_end_arrive_completely() {
    let size = 8 * 1024 * 1024;
    let reply = cut(Point::AfterEvents(2), Ending::Abrupt).with_fault(Fault::Huge { at: 1, bytes: size });
    let received = ask(reply, true).await;
    assert!(!received.complete);
    assert_eq!(received.payloads()[1].len(), size);
}

#[tokio::test]
async fn resets_a_connection() {
    for (at, stream) in [(Point::AfterEvents(2), true), (Point::AfterBytes(30), false)] {
        let server = serving(cut(at, Ending::Reset)).await;
        let (text, error) = drain(raw_chat(&server, stream).await).await;
        assert_eq!(error, Some(ErrorKind::ConnectionReset));
        assert!(
            text.starts_with("HTTP/1.1 200 OK\r\n"),
            "bytes before the reset: {text}"
        );
        assert_eq!(text.contains("one "), stream);
    }
}

#[tokio::test]
async fn ends_a_connection_before_the_headers() {
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
async fn ends_a_connection_after_the_last_byte() {
    for stream in [true, false] {
        let intact = ask(Reply::text("one two three"), stream).await;
        let received = ask(cut(Point::BeforeEnd, Ending::Abrupt), stream).await;
        assert_eq!(received.text(), intact.text());
        assert!(!received.complete);
    }
}

#[tokio::test]
async fn a_clean_cut_of_a_single_body_sends_the_truncated_content_length() {
    let server = serving(cut(Point::AfterBytes(20), Ending::Clean)).await;
    let received = post(&server, CHAT, &chat(false)).await;
    assert_eq!(received.header("content-length"), "20");
    assert_eq!(received.text().len(), 20);
    assert_eq!(server.wait_for_outcome(0).await, Outcome::Faulted);
}
