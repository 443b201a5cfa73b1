//! The text that a model writes within a short time is stored and sent as one event.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_llm::{Call, LlmProvider, ReplyDelta, ReplyItem, ReplyStream};
use agcore_server::{Limits, Server};
use agcore_session::EventFilter;
use agcore_testkit::{
    clock::ManualClock,
    stores::faulty::{FaultPlan, FaultyStore, StoreFault},
};
use futures_util::{StreamExt, stream};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::mpsc,
};

use crate::support::{Events, Running, Store, input, store};

/// A time that nothing else in the server waits for.
const GATHER: Duration = Duration::from_millis(37);

/// The pause after which a stream without events sends a comment.
const SILENCE: Duration = Duration::from_millis(150);

/// The pause after the store has failed.
const PAUSE: Duration = Duration::from_millis(200);

/// A model that writes what a test sends, until its sender is dropped.
#[derive(Debug)]
struct Dictated(Mutex<Option<mpsc::UnboundedReceiver<&'static str>>>);

impl LlmProvider for Dictated {
    fn open(&self, _: Call) -> ReplyStream {
        let pieces = self.0.lock().unwrap().take().unwrap();
        let pieces = stream::unfold(pieces, |mut pieces| async move { Some((pieces.recv().await?, pieces)) });
        let deltas = pieces.map(|piece| {
            ReplyItem::Delta(ReplyDelta::Text {
                choice: 0,
                text: piece.into(),
            })
        });
        ReplyStream::new(deltas.chain(stream::iter([ReplyItem::End(Ok(()))])))
    }
}

/// A run whose model and clock a test controls.
struct Dictation {
    server: Running,
    store: Arc<FaultyStore<Store>>,
    clock: Arc<ManualClock>,
    pieces: mpsc::UnboundedSender<&'static str>,
    events: Events,
}

impl Dictation {
    /// Starts a run whose model has written these pieces at once, and waits until they are gathered.
    async fn start(plan: FaultPlan, pieces: &[&'static str]) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        pieces.iter().for_each(|piece| sender.send(*piece).unwrap());
        let provider = Dictated(Mutex::new(Some(receiver)));
        let bundle = AgentBuilder::new().with_provider(provider).build().unwrap();
        let (clock, store) = (Arc::new(ManualClock::new()), Arc::new(FaultyStore::new(store(), plan)));
        let builder = Server::builder()
            .with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."))
            .with_store(Arc::clone(&store) as _)
            .with_clock(Arc::clone(&clock) as _)
            .with_limits(Limits::new().with_gather(GATHER).with_keep_alive(SILENCE));
        let server = Running::start(builder).await;
        server.post("/api/v1/agent/runs/t", &input("t", "r", "Hello")).await;
        let events = server.follow_open("t", "r", None).await;
        let dictation = Self {
            server,
            store,
            clock,
            pieces: sender,
            events,
        };
        dictation.waits(GATHER, 1).await;
        dictation
    }

    /// Waits until the server has waited this often for a time.
    async fn waits(&self, time: Duration, often: usize) {
        let mut count = 0;
        while self.clock.sleeps().iter().filter(|slept| **slept == time).count() < often {
            count += 1;
            self.clock.wait_for_sleeps(count).await;
        }
    }

    /// Returns the text of the next event with text.
    async fn text(&mut self) -> String {
        let events = self.events.until("TEXT_MESSAGE_CONTENT").await;
        events.last().unwrap().data["delta"].as_str().unwrap().to_owned()
    }

    /// Ends the model's text, and returns the types of the events that follow.
    async fn end(self) -> Vec<String> {
        drop(self.pieces);
        let events = self.events.rest().await;
        self.server.kill().await;
        events
            .iter()
            .map(|event| event.data["type"].as_str().unwrap().to_owned())
            .collect()
    }
}

#[tokio::test]
async fn pieces_of_a_short_time_are_one_event() {
    let mut dictation = Dictation::start(FaultPlan::new(), &["a", "b"]).await;
    let stored = dictation
        .store
        .inner()
        .events("local", "t", &EventFilter::new())
        .await
        .unwrap();
    assert!(
        stored.iter().all(|event| event.data["type"] != "TEXT_MESSAGE_CONTENT"),
        "too early"
    );
    dictation.clock.advance(GATHER);
    assert_eq!(dictation.text().await, "ab");

    dictation.pieces.send("c").unwrap();
    dictation.waits(GATHER, 2).await;
    dictation.clock.advance(GATHER);
    assert_eq!(dictation.text().await, "c");
    assert_eq!(dictation.end().await, ["TEXT_MESSAGE_END", "RUN_FINISHED"]);
}

#[tokio::test]
async fn what_a_store_refuses_is_written_later_once() {
    // The commit that writes the text.
    let commits = |store: &FaultyStore<Store>| {
        let calls = store.recorded_calls().into_iter();
        calls.filter(|call| call.method == "commit").collect::<Vec<_>>()
    };
    let dictation = Dictation::start(FaultPlan::new(), &["a", "b"]).await;
    let number = commits(&dictation.store).len();
    dictation.server.kill().await;

    for fault in [StoreFault::Fail, StoreFault::LoseAnswer] {
        let count = AtomicUsize::new(0);
        let plan = FaultPlan::from_fn(move |_, method| {
            let is_it = method == "commit" && count.fetch_add(1, Ordering::SeqCst) == number;
            is_it.then_some(fault)
        });
        let mut dictation = Dictation::start(plan, &["a", "b"]).await;
        dictation.clock.advance(GATHER);
        dictation.waits(PAUSE, 1).await;
        assert_eq!(commits(&dictation.store)[number].fault, Some(fault));
        dictation.clock.advance(PAUSE);
        assert_eq!(dictation.text().await, "ab", "{fault:?}");
        assert_eq!(dictation.end().await, ["TEXT_MESSAGE_END", "RUN_FINISHED"], "{fault:?}");
    }
}

/// Reads until a text has come.
async fn read_until(stream: &mut TcpStream, read: &mut String, text: &str) {
    let mut buffer = [0; 4096];
    while !read.contains(text) {
        let count = stream.read(&mut buffer).await.unwrap();
        assert!(count > 0, "{read}");
        read.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
}

#[tokio::test]
async fn comments_come_after_the_last_event() {
    let mut dictation = Dictation::start(FaultPlan::new(), &["a"]).await;
    let (mut raw, mut read) = (
        TcpStream::connect(dictation.server.address).await.unwrap(),
        String::new(),
    );
    raw.write_all(b"GET /api/v1/agent/runs/t/events?runId=r HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    read_until(&mut raw, &mut read, "RUN_STARTED").await;
    // Both streams wait now.
    dictation.waits(SILENCE, 2).await;

    let late = Duration::from_millis(50);
    dictation.clock.advance(late);
    read_until(&mut raw, &mut read, "TEXT_MESSAGE_CONTENT").await;
    assert_eq!(dictation.text().await, "a");
    dictation.clock.advance(SILENCE - late);
    // No comment is due, because the event came later than the wait began. Otherwise, the next wait would be a whole one.
    dictation.waits(late, 2).await;
    dictation.clock.advance(late);
    read_until(&mut raw, &mut read, ": keep-alive\n\n").await;
    assert_eq!(dictation.end().await, ["TEXT_MESSAGE_END", "RUN_FINISHED"]);
}
