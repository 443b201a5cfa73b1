//! Replaying: strictly, in order, with chunk boundaries and timings.

use std::time::Duration;

use agcore_chat::Clock;
use agcore_llm::{
    LlmErrorKind, LlmProviderExt, TimeoutStage,
    cassette::{CassetteError, CassetteSink, CassetteWriter, Matching, ReplayProvider},
};
use tokio_util::sync::CancellationToken;

use super::*;

fn request(text: &str) -> ChatRequest {
    ChatRequest::new([Message::system("Be brief."), Message::user(text)])
}

/// Records a cassette in which each reply repeats the question.
async fn echoes(questions: &[&str]) -> Cassette {
    let mut exchanges = Vec::new();
    for (call, question) in (1..).zip(questions) {
        let answer = (*question).to_owned();
        let items = move || vec![vec![text(&answer)], vec![text("!"), ok()]];
        let mut exchange = recorded(items, request(question), Scrub::new()).await;
        exchange.call = call;
        exchanges.push(exchange);
    }
    Cassette::new(exchanges)
}

async fn ask(provider: &ReplayProvider, question: &str) -> Result<String, LlmError> {
    let call = Call::new(request(question)).with_stream(true);
    provider
        .chat_call(call)
        .await
        .map(|response| response.text().into_owned())
}

#[tokio::test]
async fn replays_the_same_reply_in_the_same_chunks() {
    let error = || {
        LlmError::new(LlmErrorKind::RateLimit, "slow down")
            .with_provider("openai")
            .with_status(429)
            .with_retry_after(Some(Duration::from_millis(1500)))
    };
    let check = async |items: &(dyn Fn() -> Vec<Vec<ReplyItem>> + Send + Sync), stream: bool| {
        let call = || Call::new(hello()).with_stream(stream);
        let buffer = CassetteBuffer::new();
        let recorder = RecordingProvider::new(ChunkProvider(items), buffer.clone(), Arc::new(ManualClock::new()));
        let original = chunks(&recorder, call()).await;
        let cassette = Cassette::parse(&file(&buffer.cassette())).unwrap();

        let recording_of_replay = CassetteBuffer::new();
        let replay = ReplayProvider::new(cassette.clone());
        let replay = RecordingProvider::new(replay, recording_of_replay.clone(), Arc::new(ManualClock::new()));
        assert_eq!(chunks(&replay, call()).await, original);
        assert_eq!(
            recording_of_replay.cassette(),
            cassette,
            "the recording of a replay equals the original"
        );
    };
    let truncated = || vec![vec![text("a"), text("b")], vec![text("c")]];
    let failed = || {
        vec![
            vec![text("a")],
            vec![text("b")],
            vec![text("c"), ReplyItem::End(Err(error()))],
        ]
    };
    for stream in [true, false] {
        check(&|| vec![vec![text("a"), text("b")], vec![text("c"), ok()]], stream).await;
        check(&truncated, stream).await;
        check(&failed, stream).await;
        check(&|| vec![vec![ok()]], stream).await;
    }
}

#[tokio::test]
async fn strict_matching_plays_each_exchange_once_in_any_order() {
    let replay = ReplayProvider::new(echoes(&["one", "two", "one"]).await);
    let (a, b, c) = tokio::join!(ask(&replay, "two"), ask(&replay, "one"), ask(&replay, "one"));
    assert_eq!([a.unwrap(), b.unwrap(), c.unwrap()], ["two!", "one!", "one!"]);
    replay.check_done().unwrap();
    let error = ask(&replay, "one").await.unwrap_err();
    assert!(
        error
            .message()
            .contains("recorded 2 time(s), and all of them have been played"),
        "{error}"
    );
}

#[tokio::test]
async fn reports_the_differences_of_an_unexpected_request() {
    let replay = ReplayProvider::new(echoes(&["one", "two"]).await);
    let other = request("2").with_temperature(0.5).with_model("other");
    let error = replay.chat_call(Call::new(other).with_stream(true)).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert!(!error.is_retryable());
    insta::assert_snapshot!(error.message(), @r#"
    this request was not recorded. The closest of 2 exchanges is number 1, which differs in 3 place(s):
      messages[1].content: recorded "one", now "2"
      model: not recorded, now "other"
      temperature: not recorded, now 0.5
    If the change is intended, record the cassette again; a value that changes on every run can be excluded from the comparison with `with_ignored`.
    "#);
    let error = replay.chat(request("two")).await.unwrap_err();
    assert!(
        error
            .message()
            .contains("number 2, which differs in 1 place(s):\n  stream: recorded true, now false"),
        "{error}"
    );
    assert_eq!(replay.unused(), 2, "no exchange was played");
    let unused = replay.check_done().unwrap_err();
    assert!(
        matches!(
            unused,
            CassetteError::Unused {
                unused: 2,
                total: 2,
                first: 1,
                ..
            }
        ),
        "{unused}"
    );

    let empty = ReplayProvider::new(Cassette::default());
    let error = ask(&empty, "one").await.unwrap_err();
    assert!(error.message().contains("contains no exchanges"), "{error}");
}

#[tokio::test]
async fn compares_headers_and_redacts_keys() {
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
    let lower_case = hello()
        .with_extra_header("x-api-key", "other-key-456")
        .with_extra_header("x-team", "blue");
    replay.chat_call(call(lower_case)).await.unwrap();
}

#[tokio::test]
async fn ignores_differences_at_ignored_paths() {
    let replay = ReplayProvider::new(echoes(&["one"]).await)
        .with_ignored("messages[1].content")
        .with_ignored("stream")
        .with_ignored("seed");
    let mut other = request("something else");
    other.seed = Some(7);
    assert_eq!(replay.chat(other).await.unwrap().text(), "one!");
}

#[tokio::test]
async fn matching_in_order_ignores_the_request() {
    let replay = ReplayProvider::new(echoes(&["one", "two"]).await).with_matching(Matching::InOrder);
    assert_eq!(ask(&replay, "x").await.unwrap(), "one!");
    assert_eq!(ask(&replay, "y").await.unwrap(), "two!");
    let error = ask(&replay, "z").await.unwrap_err();
    assert!(
        error
            .message()
            .contains("all 2 exchanges of the cassette have been played"),
        "{error}"
    );
}

#[tokio::test]
async fn replays_timings_if_configured() {
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
    let call = Call::new(request("one"))
        .with_stream(true)
        .with_deadline(Duration::from_millis(120));
    let error = replay.chat_call(call).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Timeout(TimeoutStage::Total));
    assert_eq!(
        (error.partial().unwrap().text(), clock.monotonic()),
        ("one".into(), Duration::from_millis(120))
    );

    // With a deadline at the time of a chunk, this chunk is played and the next one is not.
    let clock = Arc::new(ManualClock::jumping());
    let replay = ReplayProvider::new(cassette.clone()).with_timings(clock.clone());
    let call = Call::new(request("one"))
        .with_stream(true)
        .with_deadline(Duration::from_millis(100));
    let error = replay.chat_call(call).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Timeout(TimeoutStage::Total));
    assert_eq!(
        (error.partial().unwrap().text(), clock.monotonic()),
        ("one".into(), Duration::from_millis(100))
    );

    let clock = Arc::new(ManualClock::new());
    let replay = ReplayProvider::new(cassette).with_timings(clock.clone());
    let token = CancellationToken::new();
    let call = Call::new(request("one")).with_stream(true).with_token(token.clone());
    let cancel = async {
        clock.wait_for_sleeps(1).await;
        token.cancel();
    };
    let (answer, ()) = tokio::join!(replay.chat_call(call), cancel);
    assert_eq!(answer.unwrap_err().kind(), LlmErrorKind::Cancelled);
}

#[tokio::test]
async fn plays_nothing_if_cancelled_before_the_start() {
    let replay = ReplayProvider::new(echoes(&["one"]).await);
    drop(replay.open(Call::new(request("one")).with_stream(true)));
    let token = CancellationToken::new();
    token.cancel();
    let error = replay
        .chat_call(Call::new(request("one")).with_token(token))
        .await
        .unwrap_err();
    assert_eq!((error.kind(), replay.unused()), (LlmErrorKind::Cancelled, 1));
}

#[tokio::test]
async fn the_replay_of_a_dropped_reply_ends_with_an_error() {
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
async fn replays_the_intact_part_of_a_damaged_cassette_and_reports_the_damage() {
    let cassette = echoes(&["one", "two"]).await;
    let writer = CassetteWriter::new(Vec::new());
    cassette
        .exchanges()
        .iter()
        .for_each(|exchange| writer.record(exchange).unwrap());
    let mut bytes = writer.into_inner();
    bytes.truncate(bytes.len() - 20);
    let replay = ReplayProvider::new(Cassette::parse(&bytes).unwrap());
    assert_eq!(ask(&replay, "one").await.unwrap(), "one!");
    let error = ask(&replay, "two").await.unwrap_err();
    assert!(
        error
            .message()
            .contains("The cassette is damaged: line 3: the exchange is truncated"),
        "{error}"
    );
}

#[tokio::test]
async fn takes_name_and_model_from_the_recording() {
    let mut exchange = echoes(&["one"]).await.exchanges()[0].clone();
    (exchange.provider, exchange.model) = ("openai".into(), "gpt-5".into());
    let replay = ReplayProvider::new(Cassette::new([exchange]));
    assert_eq!((&*replay.info().name, replay.model()), ("openai", "gpt-5"));
}
