//! Recording: chunk boundaries, timings, ends and problems.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use agcore_llm::{
    LlmErrorKind, LlmProviderExt,
    cassette::{CassetteSink, CassetteWriter, Ending},
    layer::retry::{Retry, RetryPolicy},
};
use agcore_testkit::{
    conformance::{ScriptSubject, Suite},
    scripted::{ScriptStep, ScriptedProvider},
};
use tokio_util::sync::CancellationToken;

use super::*;

fn recorder<P: LlmProvider>(inner: P) -> (RecordingProvider<P>, CassetteBuffer) {
    let buffer = CassetteBuffer::new();
    let clock = Arc::new(ManualClock::jumping());
    (RecordingProvider::new(inner, buffer.clone(), clock), buffer)
}

#[tokio::test]
async fn records_chunk_boundaries_and_timings() {
    let clock = Arc::new(ManualClock::jumping());
    let script = ScriptStep::text("good day").with_delay(Duration::from_millis(30));
    let scripted = ScriptedProvider::new([script]).with_clock(clock.clone());
    let buffer = CassetteBuffer::new();
    let recorder = RecordingProvider::new(scripted, buffer.clone(), clock);
    recorder.chat(hello()).await.unwrap();
    let cassette = buffer.cassette();
    let exchange = &cassette.exchanges()[0];
    assert_eq!((exchange.call, exchange.stream, exchange.ms), (1, false, 30));
    assert_eq!((&*exchange.provider, &*exchange.model), ("scripted", "script-1"));
    assert_eq!(exchange.chunks[0].ms, 30);

    let items = || vec![vec![text("a"), text("b")], vec![], vec![text("c"), ok()]];
    let exchange = recorded(items, hello(), Scrub::new()).await;
    let counts: Vec<_> = exchange.chunks.iter().map(|chunk| chunk.items.len()).collect();
    assert_eq!(counts, [2, 1]);
}

#[tokio::test]
async fn records_every_kind_of_end() {
    let failed = || {
        vec![vec![
            text("half"),
            ReplyItem::End(Err(LlmError::new(LlmErrorKind::Server, "no"))),
        ]]
    };
    let exchange = recorded(failed, hello(), Scrub::new()).await;
    assert!(matches!(&exchange.end, Ending::Error(error) if error.to_error().kind() == LlmErrorKind::Server));
    assert_eq!(exchange.response().unwrap_err().partial().unwrap().text(), "half");

    let exchange = recorded(|| vec![vec![text("half")]], hello(), Scrub::new()).await;
    assert_eq!(exchange.end, Ending::Truncated);
    assert_eq!(exchange.response().unwrap_err().kind(), LlmErrorKind::Truncated);

    let (recorder, buffer) = recorder(ScriptedProvider::new([ScriptStep::text("started").then_hang()]));
    let mut reply = recorder.chat_stream(hello());
    assert!(reply.next().await.is_some());
    drop(reply);
    assert_eq!(buffer.cassette().exchanges()[0].end, Ending::Dropped);
}

#[tokio::test]
async fn records_cancelled_calls_but_not_unpolled_ones() {
    let (recorder, buffer) = recorder(ScriptedProvider::new([ScriptStep::hang()]));
    drop(recorder.open(Call::new(hello())));
    assert_eq!(buffer.cassette().exchanges(), []);
    let token = CancellationToken::new();
    token.cancel();
    let error = recorder
        .chat_call(Call::new(hello()).with_token(token))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Cancelled);
    let Ending::Error(error) = buffer.cassette().exchanges()[0].end.clone() else {
        panic!("the call ended with an error");
    };
    assert_eq!(error.to_error().kind(), LlmErrorKind::Cancelled);
}

#[tokio::test]
async fn sorts_concurrent_calls_by_their_start() {
    let slow = ScriptStep::text("slow").with_delay(Duration::from_secs(1));
    let clock = Arc::new(ManualClock::new());
    let (recorder, buffer) =
        recorder(ScriptedProvider::new([slow, ScriptStep::text("fast")]).with_clock(clock.clone()));
    let first = recorder.chat(ChatRequest::new([Message::user("first")]));
    let second = async {
        recorder
            .chat(ChatRequest::new([Message::user("second")]))
            .await
            .unwrap();
        clock.advance(Duration::from_secs(1));
    };
    let (first, ()) = tokio::join!(first, second);
    first.unwrap();
    let replies: Vec<_> = buffer
        .cassette()
        .exchanges()
        .iter()
        .map(|exchange| exchange.response().unwrap().text().into_owned())
        .collect();
    assert_eq!(replies, ["slow", "fast"]);
}

/// A disk that is full while the flag is set.
#[derive(Debug, Default)]
struct Disk {
    bytes: Vec<u8>,
    is_full: Arc<AtomicBool>,
}

impl io::Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_full.load(Ordering::Relaxed) {
            // Half of the bytes fit.
            self.bytes.extend(&bytes[..bytes.len() / 2]);
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_full_disk_does_not_affect_calls() {
    let disk = Disk::default();
    let is_full = disk.is_full.clone();
    let writer = Arc::new(CassetteWriter::new(disk));
    let scripted = ScriptedProvider::new(["one", "two", "three", "four"].map(ScriptStep::text));
    let recorder = RecordingProvider::new(scripted, writer.clone(), Arc::new(ManualClock::new()));
    let log = agcore_testkit::spans::SpanLog::new();
    {
        let _guard = log.listen();
        for (call, full) in [(1, false), (2, true), (3, true), (4, false)] {
            is_full.store(full, Ordering::Relaxed);
            recorder
                .chat(hello())
                .await
                .unwrap_or_else(|error| panic!("call {call} succeeds: {error}"));
        }
    }
    let problems = recorder.problems();
    assert_eq!(problems.iter().map(|problem| problem.call).collect::<Vec<_>>(), [2, 3]);
    assert!(
        problems[0]
            .to_string()
            .starts_with("call 2 was not recorded: cannot write the cassette")
    );
    let cassette = Cassette::parse(&writer.with_inner(|disk| disk.bytes.clone())).unwrap();
    let replies: Vec<_> = cassette
        .exchanges()
        .iter()
        .map(|exchange| exchange.response().unwrap().text().into_owned())
        .collect();
    assert_eq!(replies, ["one", "four"]);
    assert!(!cassette.damaged_parts().is_empty());
}

#[tokio::test]
async fn a_request_that_cannot_be_serialized_only_affects_the_recording() {
    let (recorder, buffer) = recorder(ScriptedProvider::new([ScriptStep::text("fine")]));
    let request = hello().with_extra_body("messages", 1);
    assert_eq!(recorder.chat(request).await.unwrap().text(), "fine");
    assert!(
        recorder.problems()[0]
            .reason
            .contains("cannot serialize the request: extra_body must not contain `messages`")
    );
    assert_eq!(buffer.cassette().exchanges(), []);
}

#[tokio::test]
async fn records_notices_of_an_inner_retry_layer() {
    let scripted = ScriptedProvider::new([
        ScriptStep::error(LlmError::new(LlmErrorKind::Overloaded, "busy")),
        ScriptStep::text("at last"),
    ]);
    let clock = Arc::new(ManualClock::jumping());
    let retry = Retry::new(scripted, RetryPolicy::new(), clock, Arc::new(|| 0.3));
    let (recorder, buffer) = recorder(retry);
    recorder.chat(hello()).await.unwrap();
    let cassette = buffer.cassette();
    let parsed = Cassette::parse(&file(&cassette)).unwrap();
    assert_eq!(parsed, cassette, "including a delay with a fraction");
    let first = parsed.exchanges()[0].items().next().unwrap().clone();
    assert!(matches!(
        first,
        agcore_llm::cassette::RecordedItem::Notice(Notice::RetryScheduled { attempt: 1, .. })
    ));
}

#[tokio::test]
async fn recording_does_not_change_replies() {
    let layer = |inner| -> Arc<dyn LlmProvider> { Arc::new(recorder(inner).0) };
    let around = Suite::new()
        .run(&ScriptSubject::new("recorder around scripted").with_layer(layer))
        .await;
    around.assert_passed();
    let alone = Suite::new().run(&ScriptSubject::new("scripted")).await;
    assert_eq!(around.cells(), alone.cells());
}

#[test]
fn accepts_a_sink_as_a_trait_object() {
    let sink: Arc<dyn CassetteSink> = Arc::new(CassetteBuffer::new());
    let provider = ScriptedProvider::new([]);
    drop(RecordingProvider::new(provider, sink, Arc::new(ManualClock::new())));
}

#[tokio::test]
async fn limits_the_number_of_problems() {
    #[derive(Debug)]
    struct FullSink;
    impl CassetteSink for FullSink {
        fn record(&self, _: &Exchange) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }
    let recorder = RecordingProvider::new(
        ChunkProvider(|| vec![vec![ok()]]),
        FullSink,
        Arc::new(ManualClock::new()),
    );
    for _ in 0..20 {
        chunks(&recorder, Call::new(hello())).await;
    }
    let problems = recorder.problems();
    assert_eq!((problems.len(), problems[15].call), (16, 16));
}
