//! Replaying: strictly, in order, with boundaries and timings.

use std::time::Duration;

use agcore_chat::Clock;
use agcore_llm::{
    LlmErrorKind, LlmProviderExt, TimeoutStage,
    cassette::{CassetteError, CassetteSink, CassetteWriter, Matching, ReplayProvider},
};
use tokio_util::sync::CancellationToken;

use super::*;

fn asking(text: &str) -> ChatRequest {
    ChatRequest::new([Message::system("Be brief."), Message::user(text)])
}

/// A cassette of questions that are answered by themselves.
async fn echoes(questions: &[&str]) -> Cassette {
    let mut exchanges = Vec::new();
    for (call, question) in (1..).zip(questions) {
        let answer = (*question).to_owned();
        let items = move || vec![vec![text(&answer)], vec![text("!"), ok()]];
        let mut exchange = recorded(items, asking(question), Scrub::new()).await;
        exchange.call = call;
        exchanges.push(exchange);
    }
    Cassette::new(exchanges)
}

async fn ask(provider: &ReplayProvider, question: &str) -> Result<String, LlmError> {
    let call = Call::new(asking(question)).with_stream(true);
    provider
        .chat_call(call)
        .await
        .map(|response| response.text().into_owned())
}

#[tokio::test]
async fn the_same_request_gets_the_same_reply_in_the_same_chunks() {
    let error = || {
        LlmError::new(LlmErrorKind::RateLimit, "slow down")
            .with_provider("openai")
            .with_status(429)
            .with_retry_after(Some(Duration::from_millis(1500)))
    };
    let check = async |items: &(dyn Fn() -> Vec<Vec<ReplyItem>> + Send + Sync), stream: bool| {
        let call = || Call::new(hello()).with_stream(stream);
        let buffer = CassetteBuffer::new();
        let recorder = RecordingProvider::new(Chunks(items), buffer.clone(), Arc::new(ManualClock::new()));
        let original = chunks(&recorder, call()).await;
        let cassette = Cassette::parse(&file(&buffer.cassette())).unwrap();

        let again = CassetteBuffer::new();
        let replay = ReplayProvider::new(cassette.clone());
        let replay = RecordingProvider::new(replay, again.clone(), Arc::new(ManualClock::new()));
        assert_eq!(chunks(&replay, call()).await, original);
        assert_eq!(
            again.cassette(),
            cassette,
            "a replay that is recorded is the same recording"
        );
    };
    let cut = || vec![vec![text("a"), text("b")], vec![text("c")]];
    let failed = || {
        vec![
            vec![text("a")],
            vec![text("b")],
            vec![text("c"), ReplyItem::End(Err(error()))],
        ]
    };
    for stream in [true, false] {
        check(&|| vec![vec![text("a"), text("b")], vec![text("c"), ok()]], stream).await;
        check(&cut, stream).await;
        check(&failed, stream).await;
        check(&|| vec![vec![ok()]], stream).await;
    }
}

#[tokio::test]
async fn strictly_means_each_recorded_request_once_in_any_order() {
    let replay = ReplayProvider::new(echoes(&["one", "two", "one"]).await);
    let (a, b, c) = tokio::join!(ask(&replay, "two"), ask(&replay, "one"), ask(&replay, "one"));
    assert_eq!([a.unwrap(), b.unwrap(), c.unwrap()], ["two!", "one!", "one!"]);
    replay.check_done().unwrap();
    let error = ask(&replay, "one").await.unwrap_err();
    assert!(
        error.message().contains("recorded 2 time(s), and all were played"),
        "{error}"
    );
}

#[tokio::test]
async fn an_unexpected_request_is_an_error_that_says_what_differs() {
    let replay = ReplayProvider::new(echoes(&["one", "two"]).await);
    let request = asking("2").with_temperature(0.5).with_model("other");
    let error = replay
        .chat_call(Call::new(request).with_stream(true))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), &LlmErrorKind::InvalidRequest);
    assert!(!error.is_retryable());
    insta::assert_snapshot!(error.message(), @r#"
    this request was not recorded. The nearest of 2 exchanges is number 1, which differs in 3 place(s):
      messages[1].content: recorded "one", now "2"
      model: not recorded, now "other"
      temperature: not recorded, now 0.5
    If the change is meant, record the cassette again; a value that changes each time can be left out of the comparison with `with_ignored`.
    "#);
    let error = replay.chat(asking("two")).await.unwrap_err();
    assert!(
        error
            .message()
            .contains("number 2, which differs in 1 place(s):\n  stream: recorded true, now false"),
        "{error}"
    );
    assert_eq!(replay.unused(), 2, "nothing was played");
    let unused = replay.check_done().unwrap_err();
    assert!(
        matches!(
            unused,
            CassetteError::Unused {
                unused: 2,
                all: 2,
                first: 1,
                ..
            }
        ),
        "{unused}"
    );

    let empty = ReplayProvider::new(Cassette::default());
    let error = ask(&empty, "one").await.unwrap_err();
    assert!(error.message().contains("has no exchanges"), "{error}");
}

#[tokio::test]
async fn headers_are_compared_by_value_and_shown_without_keys() {
    let request = |key: &str, team: &str| {
        hello()
            .with_extra_header("X-Api-Key", key)
            .with_extra_header("X-Team", team)
    };
    let exchange = recorded(
        || vec![vec![text("x"), ok()]],
        request("one-key-123", "blue"),
        Scrub::new(),
    )
    .await;
    let replay = ReplayProvider::new(Cassette::new([exchange]));
    let call = |request| Call::new(request).with_stream(true);
    let error = replay
        .chat_call(call(request("other-key-456", "red")))
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .contains(r#"extra_headers[1][1]: recorded "blue", now "red""#),
        "{error}"
    );
    assert!(!error.message().contains("key-"), "{error}");
    let other_letters = hello()
        .with_extra_header("x-api-key", "other-key-456")
        .with_extra_header("x-team", "blue");
    replay.chat_call(call(other_letters)).await.unwrap();
}

#[tokio::test]
async fn what_is_ignored_may_differ() {
    let replay = ReplayProvider::new(echoes(&["one"]).await)
        .with_ignored("messages[1].content")
        .with_ignored("stream")
        .with_ignored("seed");
    let mut request = asking("something else");
    request.seed = Some(7);
    assert_eq!(replay.chat(request).await.unwrap().text(), "one!");
}

#[tokio::test]
async fn in_order_the_request_does_not_matter() {
    let replay = ReplayProvider::new(echoes(&["one", "two"]).await).with_matching(Matching::InOrder);
    assert_eq!(ask(&replay, "x").await.unwrap(), "one!");
    assert_eq!(ask(&replay, "y").await.unwrap(), "two!");
    let error = ask(&replay, "z").await.unwrap_err();
    assert!(
        error.message().contains("all 2 exchanges of the cassette were played"),
        "{error}"
    );
}

#[tokio::test]
async fn timings_are_replayed_when_asked_for() {
    let mut cassette = echoes(&["one"]).await;
    let mut exchange = cassette.exchanges()[0].clone();
    (exchange.chunks[0].ms, exchange.chunks[1].ms, exchange.ms) = (100, 250, 300);
    cassette = Cassette::new([exchange]);

    let clock = Arc::new(ManualClock::jumping());
    let replay = ReplayProvider::new(cassette.clone()).with_timings(clock.clone());
    assert_eq!(ask(&replay, "one").await.unwrap(), "one!");
    assert_eq!(clock.sleeps(), [100, 150, 50].map(Duration::from_millis));
    assert_eq!(clock.monotonic(), Duration::from_millis(300));

    let clock = Arc::new(ManualClock::jumping());
    let replay = ReplayProvider::new(cassette.clone()).with_timings(clock.clone());
    let call = Call::new(asking("one"))
        .with_stream(true)
        .with_deadline(Duration::from_millis(120));
    let error = replay.chat_call(call).await.unwrap_err();
    assert_eq!(error.kind(), &LlmErrorKind::Timeout(TimeoutStage::Total));
    assert_eq!(
        (error.partial().unwrap().text(), clock.monotonic()),
        ("one".into(), Duration::from_millis(120))
    );

    // A deadline at the very time of a chunk: that one comes, the next one does not.
    let clock = Arc::new(ManualClock::jumping());
    let replay = ReplayProvider::new(cassette.clone()).with_timings(clock.clone());
    let call = Call::new(asking("one"))
        .with_stream(true)
        .with_deadline(Duration::from_millis(100));
    let error = replay.chat_call(call).await.unwrap_err();
    assert_eq!(error.kind(), &LlmErrorKind::Timeout(TimeoutStage::Total));
    assert_eq!(
        (error.partial().unwrap().text(), clock.monotonic()),
        ("one".into(), Duration::from_millis(100))
    );

    let clock = Arc::new(ManualClock::new());
    let replay = ReplayProvider::new(cassette).with_timings(clock.clone());
    let token = CancellationToken::new();
    let call = Call::new(asking("one")).with_stream(true).with_token(token.clone());
    let cancel = async {
        clock.wait_for_sleeps(1).await;
        token.cancel();
    };
    let (answer, ()) = tokio::join!(replay.chat_call(call), cancel);
    assert_eq!(answer.unwrap_err().kind(), &LlmErrorKind::Cancelled);
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_it_begins_plays_nothing() {
    let replay = ReplayProvider::new(echoes(&["one"]).await);
    drop(replay.open(Call::new(asking("one")).with_stream(true)));
    let token = CancellationToken::new();
    token.cancel();
    let error = replay
        .chat_call(Call::new(asking("one")).with_token(token))
        .await
        .unwrap_err();
    assert_eq!((error.kind(), replay.unused()), (&LlmErrorKind::Cancelled, 1));
}

#[tokio::test]
async fn a_reply_that_was_dropped_cannot_be_played_to_its_end() {
    let mut exchange = echoes(&["one"]).await.exchanges()[0].clone();
    exchange.end = agcore_llm::cassette::Ending::Dropped;
    let error = ask(&ReplayProvider::new(Cassette::new([exchange])), "one")
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .contains("the caller dropped the reply; record it again"),
        "{error}"
    );
    assert_eq!(error.partial().unwrap().text(), "one!");
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn a_damaged_cassette_is_played_as_far_as_it_goes_and_says_so() {
    let cassette = echoes(&["one", "two"]).await;
    let writer = CassetteWriter::new(Vec::new());
    cassette
        .exchanges()
        .iter()
        .for_each(|exchange| writer.keep(exchange).unwrap());
    let mut bytes = writer.into_inner();
    bytes.truncate(bytes.len() - 20);
    let replay = ReplayProvider::new(Cassette::parse(&bytes).unwrap());
    assert_eq!(ask(&replay, "one").await.unwrap(), "one!");
    let error = ask(&replay, "two").await.unwrap_err();
    assert!(
        error
            .message()
            .contains("The cassette is damaged: line 3: the exchange ends in the middle"),
        "{error}"
    );
}

#[tokio::test]
async fn it_goes_by_the_name_of_what_was_recorded() {
    let mut exchange = echoes(&["one"]).await.exchanges()[0].clone();
    (exchange.provider, exchange.model) = ("openai".into(), "gpt-5".into());
    let replay = ReplayProvider::new(Cassette::new([exchange]));
    assert_eq!((&*replay.info().name, replay.model()), ("openai", "gpt-5"));
}
