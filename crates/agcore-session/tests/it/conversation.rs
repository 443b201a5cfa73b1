//! Conversation memory.

mod faulty;
mod property;

use std::sync::Arc;

use agcore_chat::{Actor, AssistantMessage, Message, ToolCall, safe_cut, summarized, summary_of, validate_messages};
use agcore_session::{
    ConversationMemory, ConversationSettings, InMemoryJournal, Journal, Record, SessionError, SessionErrorKind,
    Timestamp,
};
use agcore_testkit::clock::ManualClock;
use serde_json::json;

use self::faulty::{Fault, Faulty};

/// A conversation that can be opened several times.
struct Place {
    journal: Arc<Faulty>,
    owner: Actor,
}

impl Place {
    fn new() -> Self {
        Self {
            journal: Arc::new(Faulty::new(InMemoryJournal::new())),
            owner: Actor::new("acme", "ann"),
        }
    }

    async fn open_with(&self, settings: ConversationSettings) -> Result<ConversationMemory, SessionError> {
        let clock = Arc::new(ManualClock::new());
        settings.open(self.journal.clone(), clock, &self.owner, "c/1").await
    }

    async fn open(&self) -> ConversationMemory {
        self.open_with(ConversationSettings::new()).await.unwrap()
    }

    /// Returns the number of the first record and the number of records.
    async fn records(&self) -> (u64, usize) {
        let entries = self.journal.read(STREAM, 0).await.unwrap();
        (entries.first().map_or(0, |entry| entry.seq), entries.len())
    }
}

const STREAM: &str = "conversation/acme/ann/%-/c%2F1";

fn texts(memory: &ConversationMemory) -> Vec<String> {
    memory
        .messages()
        .iter()
        .map(|message| message.text().into_owned())
        .collect()
}

async fn chat(memory: &mut ConversationMemory, turns: std::ops::Range<usize>) {
    for turn in turns {
        memory.push(Message::user(format!("q{turn}"))).await.unwrap();
        memory.push(Message::assistant(format!("a{turn}"))).await.unwrap();
    }
}

fn call(id: &str) -> ToolCall {
    ToolCall::function(id, "read", "{}")
}

#[tokio::test]
async fn a_conversation_is_restored_exactly() {
    let place = Place::new();
    let mut memory = place.open().await;
    assert_eq!(memory.stream(), STREAM);
    let reply = AssistantMessage::new("Let me see.").with_call(call("c1"));
    let messages = [
        Message::developer("Be brief."),
        Message::user("Read it."),
        reply.into(),
        Message::tool("c1", "text"),
        Message::assistant("Done."),
    ];
    for (number, message) in (0..).zip(messages.clone()) {
        assert_eq!(memory.push(message).await.unwrap(), number);
    }
    let restored = place.open().await;
    assert!(restored.messages().iter().map(|message| &**message).eq(&messages));
    assert_eq!(restored.messages(), memory.messages());
    let other = Actor::new("acme", "ann").with_line("sales");
    let clock = Arc::new(ManualClock::new());
    let other = ConversationMemory::open(place.journal.clone(), clock, &other, "c/1").await;
    assert_eq!(other.unwrap().messages(), []);
}

#[tokio::test]
async fn the_window_keeps_instructions_and_the_newest_turns() {
    let place = Place::new();
    let settings = || {
        ConversationSettings::new()
            .with_window_turns(2)
            .with_snapshot_every(None)
    };
    let mut memory = place.open_with(settings()).await.unwrap();
    memory.push(Message::system("s1")).await.unwrap();
    memory.push(Message::developer("s2")).await.unwrap();
    memory.push(Message::assistant("Hello!")).await.unwrap();
    chat(&mut memory, 0..2).await;
    assert_eq!(texts(&memory), ["s1", "s2", "Hello!", "q0", "a0", "q1", "a1"]);
    memory.push(Message::user("q2")).await.unwrap();
    let expected = ["s1", "s2", "q1", "a1", "q2"];
    assert_eq!(texts(&memory), expected);
    assert_eq!(texts(&place.open_with(settings()).await.unwrap()), expected);
    // All records are still there.
    let all = place.open_with(ConversationSettings::new().with_all_messages()).await;
    assert_eq!(texts(&all.unwrap()).len(), 8);
    let one = ConversationSettings::new().with_window_turns(0);
    assert_eq!(texts(&place.open_with(one).await.unwrap()), ["s1", "s2", "q2"]);
}

#[tokio::test]
async fn a_round_without_results_is_not_sent() {
    let place = Place::new();
    let mut memory = place.open().await;
    memory.push(Message::user("Read both.")).await.unwrap();
    let reply = AssistantMessage::default().with_call(call("c1")).with_call(call("c2"));
    memory.push(Message::from(reply)).await.unwrap();
    memory.push(Message::tool("c2", "two")).await.unwrap();

    let mut memory = place.open().await;
    assert_eq!(texts(&memory), ["Read both."]);
    assert_eq!(memory.open_round().len(), 2);
    let open: Vec<_> = memory.open_calls().map(|call| call.id.clone()).collect();
    assert_eq!(open, ["c1"]);
    for message in [
        Message::user("Well?"),
        Message::assistant("…"),
        Message::tool("c2", "again"),
    ] {
        let error = memory.push(message).await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::InvalidInput);
    }
    memory.push(Message::tool("c1", "one")).await.unwrap();
    assert_eq!((memory.messages().len(), memory.open_round().len()), (4, 0));
    validate_messages(memory.messages()).unwrap();
    assert_eq!(memory.open_calls().count(), 0);
}

#[tokio::test]
async fn an_open_round_can_be_dropped() {
    let place = Place::new();
    let mut memory = place.open().await;
    memory.push(Message::user("Read it.")).await.unwrap();
    let reply: Message = AssistantMessage::default().with_call(call("c1")).into();
    memory.push(reply).await.unwrap();
    let kept = memory.messages().to_vec();
    memory.replace(kept).await.unwrap();
    assert_eq!(memory.open_calls().count(), 0);
    memory.push(Message::assistant("No.")).await.unwrap();
    assert_eq!(texts(&place.open().await), ["Read it.", "No."]);
}

#[tokio::test]
async fn messages_that_could_never_be_sent_are_refused() {
    let place = Place::new();
    let mut memory = place.open().await;
    memory.push(Message::user("Hi")).await.unwrap();
    let twice = AssistantMessage::default().with_call(call("c")).with_call(call("c"));
    for (message, reason) in [
        (Message::user("Hello?"), "two consecutive user messages"),
        (Message::tool("c1", "x"), "result for the call `c1`"),
        (twice.into(), "two calls with the id `c`"),
    ] {
        let error = memory.push(message).await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::InvalidInput);
        assert!(error.message().contains(reason), "{error}");
        assert!(error.message().contains("nothing was stored"), "{error}");
    }
    let both = [Message::assistant("a"), Message::assistant("b")].map(Arc::new);
    let error = memory.extend(both.clone()).await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::InvalidInput);
    let error = memory.replace(both.to_vec()).await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::InvalidInput);
    assert_eq!((texts(&memory), place.records().await), (vec!["Hi".to_owned()], (1, 1)));
}

#[tokio::test]
async fn a_compaction_survives_and_writes_only_what_changed() {
    let place = Place::new();
    let mut memory = place.open().await;
    memory.push(Message::system("s")).await.unwrap();
    chat(&mut memory, 0..10).await;
    let before = place.records().await.1;
    let cut = safe_cut(memory.messages(), 4).unwrap();
    let shorter = summarized(memory.messages(), cut, "They counted.");
    memory.replace(shorter.clone()).await.unwrap();
    assert_eq!(memory.messages(), shorter);
    let entries = place.journal.read(STREAM, 0).await.unwrap();
    let (record, count) = (&entries.last().unwrap().record, entries.len());
    assert_eq!((record.kind.as_str(), count), ("compaction", before + 1));
    let slots = record.data["messages"].as_array().unwrap();
    assert_eq!(
        slots.iter().filter(|slot| slot.is_object()).count(),
        1,
        "{}",
        record.data
    );
    chat(&mut memory, 10..11).await;

    let mut restored = place.open().await;
    assert_eq!(restored.messages(), memory.messages());
    assert!(summary_of(&restored.messages()[1]).unwrap().ends_with("They counted."));
    // The same messages again, with or without more of them.
    restored
        .replace(
            shorter
                .iter()
                .cloned()
                .chain(memory.messages()[shorter.len()..].iter().cloned())
                .collect(),
        )
        .await
        .unwrap();
    assert_eq!(place.records().await.1, before + 3, "nothing has changed");
    let more = restored
        .messages()
        .iter()
        .cloned()
        .chain([Arc::new(Message::user("More"))]);
    restored.replace(more.collect()).await.unwrap();
    assert_eq!(
        place.journal.read(STREAM, 0).await.unwrap().last().unwrap().record.kind,
        "message"
    );
}

#[tokio::test]
async fn a_long_conversation_has_a_short_stream() {
    let check = async |settings: ConversationSettings, messages: usize| {
        let place = Place::new();
        let settings = settings.with_snapshot_every(Some(8));
        let mut memory = place.open_with(settings.clone()).await.unwrap();
        memory.push(Message::system("s")).await.unwrap();
        for turn in 0..200 {
            chat(&mut memory, turn..turn + 1).await;
            let records = place.records().await.1;
            assert!(records <= 1 + 8.max(memory.messages().len()), "{records} records");
        }
        let first = place.records().await.0;
        assert!(first > 200, "the stream begins at {first}");
        let mut restored = place.open_with(settings).await.unwrap();
        assert_eq!(restored.messages(), memory.messages());
        assert_eq!(restored.messages().len(), messages);
        assert_eq!(
            restored.push(Message::user("x")).await.unwrap(),
            401,
            "the number of the message"
        );
    };
    check(ConversationSettings::new().with_window_turns(3), 7).await;
    check(ConversationSettings::new().with_all_messages(), 401).await;
}

#[tokio::test]
async fn of_two_handles_one_wins_and_the_other_can_retry() {
    let place = Place::new();
    let (mut one, mut two) = (place.open().await, place.open().await);
    one.push(Message::user("from one")).await.unwrap();
    let message = Arc::new(Message::developer("from two"));
    for _ in 0..2 {
        let error = two.push(message.clone()).await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::Conflict { expected: 0, found: 1 });
        assert!(two.messages().is_empty(), "the messages run ahead of the store");
    }
    assert!(two.refresh().await.unwrap());
    two.push(message).await.unwrap();
    assert!(!two.refresh().await.unwrap());
    assert!(one.clear().await.is_err());
    assert!(one.refresh().await.unwrap());
    assert_eq!(texts(&one), ["from one", "from two"]);
    one.clear().await.unwrap();
    assert!(two.push(Message::user("x")).await.is_err());
    two.refresh().await.unwrap();
    assert!(two.messages().is_empty());
}

#[tokio::test]
async fn a_failed_write_changes_nothing_and_the_next_one_notices() {
    for fault in Fault::ALL {
        let place = Place::new();
        let mut memory = place.open().await;
        memory.push(Message::system("s")).await.unwrap();
        place.journal.fail_next_append(fault);
        let pushed = faulty::polled_once(memory.push(Message::user("q"))).await;
        assert!(!matches!(pushed, Some(Ok(_))), "{fault:?}");
        assert_eq!(texts(&memory), ["s"], "{fault:?}");
        let again = memory.push(Message::user("q")).await;
        if fault.is_stored() {
            let conflict = SessionErrorKind::Conflict { expected: 1, found: 2 };
            assert_eq!(again.unwrap_err().kind(), conflict, "{fault:?}");
            assert!(memory.refresh().await.unwrap());
        } else {
            again.unwrap();
        }
        assert_eq!(texts(&memory), ["s", "q"], "{fault:?}");
        memory.push(Message::assistant("a")).await.unwrap();
        assert_eq!(texts(&place.open().await), ["s", "q", "a"], "{fault:?}");
    }
}

#[tokio::test]
async fn what_could_not_be_trimmed_is_trimmed_later() {
    for fault in [Fault::FailBefore, Fault::HangBefore] {
        let place = Place::new();
        let settings = || ConversationSettings::new().with_snapshot_every(Some(4));
        let mut memory = place.open_with(settings()).await.unwrap();
        chat(&mut memory, 0..1).await;
        memory.push(Message::user("q1")).await.unwrap();
        place.journal.fail_next_trim(fault);
        let pushed = faulty::polled_once(memory.push(Message::assistant("a1"))).await;
        assert!(!matches!(pushed, Some(Err(_))), "the message is stored: {pushed:?}");
        assert_eq!((memory.messages().len(), place.records().await), (4, (1, 5)));
        // Another handle sees the same, and removes the records with its next change.
        let mut other = place.open_with(settings()).await.unwrap();
        assert_eq!(other.messages(), memory.messages());
        other.push(Message::user("q2")).await.unwrap();
        assert_eq!(place.records().await, (5, 2));
    }
}

#[tokio::test]
async fn clearing_removes_the_messages_from_the_journal() {
    let place = Place::new();
    let keeps_all = ConversationSettings::new().with_snapshot_every(None);
    let mut memory = place.open_with(keeps_all.clone()).await.unwrap();
    chat(&mut memory, 0..3).await;
    place.journal.fail_next_trims(Fault::FailBefore, 2);
    let error = memory.clear().await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::Unavailable);
    assert!(memory.messages().is_empty());
    assert_eq!(place.records().await, (1, 7));
    memory.clear().await.unwrap();
    assert_eq!(place.records().await, (8, 1));
    assert_eq!(
        memory.push(Message::user("q")).await.unwrap(),
        6,
        "numbers are not used again"
    );
    assert_eq!(texts(&place.open_with(keeps_all).await.unwrap()), ["q"]);
    assert!(
        ConversationMemory::delete(&*place.journal, &place.owner, "c/1")
            .await
            .unwrap()
    );
    assert!(
        !ConversationMemory::delete(&*place.journal, &place.owner, "c/1")
            .await
            .unwrap()
    );
    assert!(place.open().await.messages().is_empty());
    memory.refresh().await.unwrap();
    assert!(memory.messages().is_empty());
    assert_eq!(memory.push(Message::user("first")).await.unwrap(), 0);
}

#[tokio::test]
async fn damaged_streams_are_errors() {
    let record = |kind: &str, data| Record::new(kind, 1, Timestamp::default(), data);
    let message = |id: u64, role: &str| record("message", json!({"id": id, "message": {"role": role, "content": "x"}}));
    let check = async |records: Vec<Record>, trimmed: u64, expected: &str| {
        let place = Place::new();
        place.journal.append(STREAM, 0, records).await.unwrap();
        place.journal.trim(STREAM, trimmed).await.unwrap();
        let error = place.open_with(ConversationSettings::new()).await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::Serialization, "{error}");
        assert!(error.message().contains(expected), "{error}");
    };
    check(
        vec![record("message", json!({"id": "x"}))],
        0,
        "record 1 of the conversation is damaged",
    )
    .await;
    check(vec![message(0, "user"), message(1, "user")], 0, "could never be sent").await;
    check(
        vec![message(0, "user"), message(1, "assistant")],
        2,
        "its record 1 is missing",
    )
    .await;
    check(
        vec![record("compaction", json!({"messages": [7]}))],
        0,
        "record 1 refers to a message",
    )
    .await;
    check(
        vec![Record::new("message", 2, Timestamp::default(), json!({}))],
        0,
        "update the program",
    )
    .await;
}

#[tokio::test]
async fn unacceptable_names_are_refused() {
    let place = Place::new();
    let clock = Arc::new(ManualClock::new());
    let error = ConversationMemory::open(place.journal.clone(), clock, &place.owner, &"x".repeat(2_000)).await;
    assert_eq!(error.unwrap_err().kind(), SessionErrorKind::InvalidInput);
}
