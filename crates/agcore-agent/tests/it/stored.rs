//! Sessions in a store: writing, opening, suspended turns, branches, lists.

use std::sync::Arc;

use agcore_agent::{AgentBuilder, AgentErrorKind, AgentSession, AgentSpec, RecordedEvent, StoredSessions};
use agcore_chat::{
    Actor, Answer, Clock, EventKind, FaultKind, Message, ModelEvent, PersonEvent, TextEvent, ToolCall, ToolEvent,
    TurnEvent,
};
use agcore_cycle::machine::Limits;
use agcore_session::{
    EventFilter, InMemorySessionStore, Journal, MessageFilter, MessageMetadata, MessageRole, RunFilter, SessionCursor,
    SessionReader, SessionStatus, SessionStore, SessionWriter, StoredEvent, stream_of,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{Grant, NoArguments, PermissionRules, Rule, RuleState, SuspendingApprover, typed};

type Store = Arc<InMemorySessionStore>;

pub(crate) fn store() -> Store {
    Arc::new(InMemorySessionStore::new(Arc::new(ManualClock::jumping())))
}

pub(crate) fn ada() -> AgentSpec {
    AgentSpec::new("ada", "Be Ada.")
}

/// Returns an agent with a tool that runs at once, and one that needs an approval.
pub(crate) fn builder(provider: &ScriptedProvider) -> AgentBuilder {
    AgentBuilder::new()
        .with_provider(provider.clone())
        .with_clock(ManualClock::jumping())
        .with_tool(typed("say", "Says it.", |_: NoArguments| async { Ok("said") }))
        .with_tool(typed("pay", "Pays.", |_: NoArguments| async { Ok("paid") }))
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
}

pub(crate) fn sessions(provider: &ScriptedProvider, store: impl SessionStore + 'static) -> StoredSessions {
    let bundle = builder(provider).with_session_store(store).build().unwrap();
    bundle.stored_sessions().unwrap()
}

pub(crate) fn call(id: &str, name: &str) -> ToolCall {
    ToolCall::function(id, name, "{}")
}

async fn texts(session: &AgentSession) -> Vec<String> {
    let messages = session.messages().await;
    messages
        .iter()
        .map(|message| format!("{}: {}", message.role(), message.text()))
        .collect()
}

/// Returns the number of writes of a session.
async fn writes(store: &Store, id: &str) -> usize {
    store.read(&stream_of("local", id), 1).await.unwrap().len()
}

#[tokio::test]
async fn a_round_of_tools_is_four_writes_and_continues_elsewhere() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "say"), call("b", "say")]),
        ScriptStep::text("Hi."),
        ScriptStep::text("Ada."),
    ]);
    let sessions = sessions(&provider, Arc::clone(&store));
    let session = sessions.create("s-1", ada()).await.unwrap();
    assert_eq!(session.turn("I am Ada.").await.unwrap().text(), "Hi.");
    // Input, reply with the begin of both calls, a write for each result, answer.
    assert_eq!(writes(&store, "s-1").await, 5);
    let info = sessions.get("s-1").await.unwrap().unwrap();
    assert_eq!(
        (info.title.as_deref(), info.status),
        (Some("I am Ada."), SessionStatus::Completed)
    );

    let opened = sessions.open("s-1", ada()).await.unwrap();
    assert_eq!(texts(&opened).await, texts(&session).await);
    assert!(!opened.is_interrupted().await && opened.uncertain_calls().await.is_empty());
    assert_eq!(opened.usage().await, session.usage().await);
    assert_eq!(opened.turn("Who am I?").await.unwrap().text(), "Ada.");
    let sent = provider.requests()[2]
        .messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect::<Vec<_>>();
    assert_eq!(sent, ["Be Ada.", "I am Ada.", "", "said", "said", "Hi.", "Who am I?"]);

    // The first copy is out of date now.
    let error = session.turn("Hello?").await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (AgentErrorKind::Conflict, false));
    assert_eq!(error.fault().kind, FaultKind::Conflict);
    assert_eq!(
        error.to_string(),
        "the turn was interrupted: the session was continued elsewhere, so this copy of it is out of date; open it again"
    );
    assert_eq!(texts(&sessions.open("s-1", ada()).await.unwrap()).await.len(), 7);
}

#[tokio::test]
async fn one_tool_between_two_replies_is_four_writes() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "say")]), ScriptStep::text("Hi.")]);
    let session = sessions(&provider, Arc::clone(&store))
        .create("s-1", ada())
        .await
        .unwrap();
    session.turn("Say it.").await.unwrap();
    assert_eq!(writes(&store, "s-1").await, 4);
}

#[tokio::test]
async fn the_messages_can_be_read_without_the_agent() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "say")]), ScriptStep::text("Hi.")]);
    let sessions = sessions(&provider, Arc::clone(&store));
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Say it.").await.unwrap();
    let rows = sessions.messages("s-1", &MessageFilter::new()).await.unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.seq, row.role, row.content.as_str(), row.run.as_deref()))
        .collect();
    let run = Some("turn-1");
    assert_eq!(
        found,
        [
            (1, MessageRole::User, "Say it.", run),
            (2, MessageRole::Assistant, "", run),
            (3, MessageRole::Tool, "said", run),
            (4, MessageRole::Assistant, "Hi.", run),
        ]
    );
    assert!(matches!(&rows[1].metadata, Some(MessageMetadata::ToolCall { call_id, .. }) if call_id == "a"));
    let runs = store.runs("local", "s-1", &RunFilter::new()).await.unwrap();
    assert_eq!(
        runs.iter().map(|run| run.status.as_str()).collect::<Vec<_>>(),
        ["completed"]
    );
}

#[tokio::test]
async fn a_suspended_turn_continues_in_another_process() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "pay")]), ScriptStep::text("Paid.")]);
    let first = sessions(&provider, Arc::clone(&store));
    let session = first.create("s-1", ada()).await.unwrap();
    assert_eq!(session.turn("Pay.").await.unwrap().questions().len(), 1);
    let info = first.get("s-1").await.unwrap().unwrap();
    assert_eq!(
        (info.status, info.pending_tool_call_id.as_deref()),
        (SessionStatus::Pending, Some("a"))
    );

    let session = sessions(&provider, Arc::clone(&store))
        .open("s-1", ada())
        .await
        .unwrap();
    assert!(session.is_suspended().await && !session.is_interrupted().await);
    let question = session.questions().await[0].id.clone();
    let outcome = session.resume([(question, Answer::approve())]).await.unwrap();
    assert_eq!(outcome.text(), "Paid.");
    assert_eq!(
        first.get("s-1").await.unwrap().unwrap().status,
        SessionStatus::Completed
    );
}

#[tokio::test]
async fn an_abandoned_question_leaves_a_usable_session() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "pay")]), ScriptStep::text("Never mind.")]);
    let sessions = sessions(&provider, Arc::clone(&store));
    sessions.create("s-1", ada()).await.unwrap().turn("Pay.").await.unwrap();
    let session = sessions.open("s-1", ada()).await.unwrap();
    assert!(session.abandon_turn().await.unwrap());
    assert_eq!(session.turn("Do not pay.").await.unwrap().text(), "Never mind.");
    let opened = sessions.open("s-1", ada()).await.unwrap();
    assert_eq!(texts(&opened).await, texts(&session).await);
    assert_eq!(
        sessions.get("s-1").await.unwrap().unwrap().status,
        SessionStatus::Completed
    );
    let runs = store.runs("local", "s-1", &RunFilter::new()).await.unwrap();
    assert_eq!(
        runs.iter().map(|run| run.status.as_str()).collect::<Vec<_>>(),
        ["cancelled", "completed"]
    );
}

#[tokio::test]
async fn a_failed_turn_is_stored_as_failed_and_the_next_one_runs() {
    let store = store();
    let failure = || {
        ScriptStep::error(agcore_llm::LlmError::new(
            agcore_llm::LlmErrorKind::Authentication,
            "no",
        ))
    };
    let provider = ScriptedProvider::new([failure(), ScriptStep::text("Hi.")]);
    let sessions = sessions(&provider, Arc::clone(&store));
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Hello").await.unwrap_err();
    let info = sessions.get("s-1").await.unwrap().unwrap();
    assert_eq!((info.status, info.error_id.is_some()), (SessionStatus::Failed, true));
    let session = sessions.open("s-1", ada()).await.unwrap();
    assert_eq!(session.turn("Hello again").await.unwrap().text(), "Hi.");
    assert_eq!(
        sessions.get("s-1").await.unwrap().unwrap().status,
        SessionStatus::Completed
    );
}

#[tokio::test]
async fn changes_between_turns_are_stored_with_the_next_turn() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::text("One."), ScriptStep::text("Two.")]);
    let sessions = sessions(&provider, Arc::clone(&store));
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("1").await.unwrap();
    let earlier = vec![Arc::new(Message::user("0")), Arc::new(Message::assistant("Zero."))];
    session.set_messages(earlier).await.unwrap();
    session.tools().grant(Grant::new("say"));
    session.turn("2").await.unwrap();
    let opened = sessions.open("s-1", ada()).await.unwrap();
    assert_eq!(
        texts(&opened).await,
        ["user: 0", "assistant: Zero.", "user: 2", "assistant: Two."]
    );
    assert_eq!(opened.tools().grants(), [Grant::new("say")]);
}

#[tokio::test]
async fn new_limits_apply_to_an_opened_session() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::text("One."),
        ScriptStep::text("Two."),
        ScriptStep::text("Three."),
    ]);
    let first = sessions(&provider, Arc::clone(&store));
    first.create("s-1", ada()).await.unwrap().turn("1").await.unwrap();
    let mut limits = Limits::new();
    limits.max_tool_turns = 3;
    let config = agcore_agent::AgentConfig::new().with_limits(limits);
    let bundle = builder(&provider)
        .with_config(config)
        .with_session_store(Arc::clone(&store))
        .build()
        .unwrap();
    let other = bundle.stored_sessions().unwrap();
    other.open("s-1", ada()).await.unwrap().turn("2").await.unwrap();
    let session = other.open("s-1", ada()).await.unwrap();
    assert_eq!(session.turn("3").await.unwrap().text(), "Three.");
    assert_eq!(texts(&first.open("s-1", ada()).await.unwrap()).await.len(), 6);
}

#[tokio::test]
async fn a_branch_begins_after_a_turn() {
    let store = store();
    let provider = ScriptedProvider::new(["One.", "Two.", "Other.", "More."].map(ScriptStep::text));
    let sessions = sessions(&provider, Arc::clone(&store));
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("1").await.unwrap();
    session.turn("2").await.unwrap();

    let branch = sessions.branch("s-1", ada()).at(2).with_id("s-2").await.unwrap();
    branch.turn("2b").await.unwrap();
    let expected = ["user: 1", "assistant: One.", "user: 2b", "assistant: Other."];
    assert_eq!(texts(&sessions.open("s-2", ada()).await.unwrap()).await, expected);
    assert_eq!(texts(&session).await.len(), 4);
    let info = sessions.get("s-2").await.unwrap().unwrap();
    assert_eq!(
        info.origin.map(|origin| (origin.session, origin.message)),
        Some(("s-1".to_owned(), 2))
    );
    let rows = sessions.messages("s-2", &MessageFilter::new()).await.unwrap();
    assert_eq!(
        rows.iter().map(|row| row.content.as_str()).collect::<Vec<_>>(),
        ["1", "One.", "2b", "Other."]
    );

    // A branch of a branch, at a message that was copied and at one that was not; and of nothing.
    for (message, expected) in [(2, 2), (4, 4), (0, 0)] {
        let id = format!("s-2-{message}");
        let branch = sessions
            .branch("s-2", ada())
            .at(message)
            .with_id(id.as_str())
            .await
            .unwrap();
        assert_eq!(texts(&branch).await.len(), expected);
        let title = sessions.get(&id).await.unwrap().unwrap().title;
        assert_eq!(title.as_deref(), (message > 0).then_some("1"));
        assert_eq!(texts(&sessions.open(&id, ada()).await.unwrap()).await.len(), expected);
    }
    for (message, reason) in [(1, "inside a turn"), (3, "inside a turn"), (9, "has 4 messages")] {
        let error = sessions
            .branch("s-1", ada())
            .at(message)
            .with_id("s-9")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), AgentErrorKind::InvalidInput);
        assert!(error.to_string().contains(reason), "{error}");
        assert!(sessions.get("s-9").await.unwrap().is_none());
    }
}

#[tokio::test]
async fn a_session_is_opened_or_else_created() {
    let provider = ScriptedProvider::new(["One.", "Two."].map(ScriptStep::text));
    let sessions = sessions(&provider, store());
    let missing = sessions.open("s-1", ada()).await.unwrap_err();
    assert_eq!(missing.kind(), AgentErrorKind::NotFound);
    let session = sessions.open("s-1", ada()).or_create().await.unwrap();
    session.turn("1").await.unwrap();
    let again = sessions.open("s-1", ada()).or_create().await.unwrap();
    assert_eq!(texts(&again).await, ["user: 1", "assistant: One."]);
    // The id is taken by a session of somebody else: it is neither opened nor replaced.
    let others = sessions.clone().with_actor(Actor::user("bob"));
    let error = others.open("s-1", ada()).or_create().await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidInput);
    let (first, second) = (sessions.new_id(), sessions.new_id());
    assert_ne!(first, second);
    sessions.create(first.as_str(), ada()).await.unwrap();
    assert!(sessions.get(&first).await.unwrap().is_some());
}

#[tokio::test]
async fn sessions_are_listed_renamed_and_deleted() {
    let store = store();
    let provider = ScriptedProvider::new(["One.", "Two.", "Three."].map(ScriptStep::text));
    let sessions = sessions(&provider, Arc::clone(&store));
    for id in ["s-1", "s-2"] {
        sessions.create(id, ada()).await.unwrap().turn(id).await.unwrap();
    }
    let error = sessions.create("s-1", ada()).await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidInput);
    let page = sessions.list(None, 1).await.unwrap();
    let rest = sessions.list(Some(SessionCursor::of(&page[0])), 10).await.unwrap();
    assert_eq!((page[0].id.as_str(), rest.len()), ("s-2", 1));
    sessions.rename("s-1", Some("Greetings")).await.unwrap();
    assert_eq!(
        sessions.get("s-1").await.unwrap().unwrap().title.as_deref(),
        Some("Greetings")
    );

    // Another actor sees none of them.
    let others = sessions.clone().with_actor(Actor::new("local", "bob"));
    assert!(others.list(None, 10).await.unwrap().is_empty());
    assert_eq!(
        others.open("s-1", ada()).await.unwrap_err().kind(),
        AgentErrorKind::NotFound
    );
    assert!(!others.delete("s-1").await.unwrap());
    assert_eq!(
        others.rename("s-1", None).await.unwrap_err().kind(),
        AgentErrorKind::NotFound
    );

    let open = sessions.open("s-1", ada()).await.unwrap();
    assert!(sessions.delete("s-1").await.unwrap());
    let error = open.turn("Hello?").await.unwrap_err();
    assert!(error.to_string().contains("deleted"), "{error}");
    assert_eq!(
        sessions.open("s-1", ada()).await.unwrap_err().kind(),
        AgentErrorKind::NotFound
    );
    assert!(!sessions.delete("s-1").await.unwrap());
}

#[tokio::test]
async fn damaged_records_are_reported() {
    let store = store();
    let provider = ScriptedProvider::new([]);
    let sessions = sessions(&provider, Arc::clone(&store));
    let record = |kind: &str, version, data| {
        let at = agcore_session::Timestamp::from(ManualClock::jumping().now());
        agcore_session::Record::new(kind, version, at, data)
    };
    let cases = [
        (record("agent", 2, serde_json::json!({})), "version 2"),
        (record("other", 1, serde_json::json!({})), "kind `other`"),
        (
            record("agent", 1, serde_json::json!({"writer": "x"})),
            "does not contain a state",
        ),
        (record("agent", 1, serde_json::json!({"writer": 1})), "cannot be read"),
    ];
    for (number, (record, reason)) in cases.into_iter().enumerate() {
        let id = format!("s-{number}");
        sessions.create(id.as_str(), ada()).await.unwrap();
        let commit = agcore_session::Commit::new().with_record(record);
        store.commit("local", &id, 0, commit).await.unwrap();
        let error = sessions.open(&id, ada()).await.unwrap_err();
        assert_eq!(error.kind(), AgentErrorKind::InvalidState);
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn without_a_store_there_are_no_stored_sessions() {
    let bundle = builder(&ScriptedProvider::new([])).build().unwrap();
    let error = bundle.stored_sessions().unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidConfig);
    assert!(error.to_string().contains("with_session_store"), "{error}");
}

#[tokio::test]
async fn events_name_the_message_under_which_a_reply_is_stored() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "say")]),
        ScriptStep::calls([call("b", "pay")]),
        ScriptStep::text("Done."),
    ]);
    let store = store();
    let sessions = sessions(&provider, Arc::clone(&store));
    let session = sessions.create("s", ada()).await.unwrap();
    let mut events = Vec::new();
    let mut turn = session.turn("Go.").stream();
    while let Some(event) = turn.next().await {
        events.push(event);
    }
    let questions = turn.finish().await.unwrap().questions().to_vec();
    // Another process continues the turn.
    let session = sessions.open("s", ada()).await.unwrap();
    let mut turn = session.resume([(questions[0].id.clone(), Answer::approve())]).stream();
    while let Some(event) = turn.next().await {
        events.push(event);
    }
    let rows = sessions.messages("s", &MessageFilter::new()).await.unwrap();
    let stored = |wanted: &str| {
        let found = rows.iter().find(|row| match &row.metadata {
            Some(MessageMetadata::ToolCall { call_id, .. }) => call_id == wanted,
            _ => row.content == wanted,
        });
        found.map(|row| row.id.clone()).unwrap()
    };
    let named = |is_wanted: &dyn Fn(&EventKind) -> bool| {
        let found = events.iter().filter(|event| is_wanted(&event.kind));
        found
            .map(|event| event.message.as_deref().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let ended = |wanted: &'static str| move |kind: &EventKind| matches!(kind, EventKind::Tool(ToolEvent::Completed { call_id, .. }) if *call_id == *wanted);
    assert_eq!(named(&ended("a")), [Some(stored("a"))]);
    assert_eq!(
        named(&ended("b")),
        [Some(stored("b"))],
        "known after the session was opened again"
    );
    let text = named(&|kind| matches!(kind, EventKind::Text(TextEvent::Text(_))));
    assert!(!text.is_empty());
    assert!(text.iter().all(|id| *id == Some(stored("Done."))), "{text:?}");
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        named(&|kind| matches!(kind, EventKind::Turn(TurnEvent::Complete { .. }))),
        [None]
    );
}

#[tokio::test]
async fn events_are_stored_with_the_state_that_they_report() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "pay")]), ScriptStep::text("Paid.")]);
    let bundle = builder(&provider).build().unwrap();
    let sessions = bundle.stored_sessions_in(Arc::new(Arc::clone(&store))).with_events();
    let session = sessions.create("s-1", ada()).await.unwrap();
    session.turn("Pay.").await.unwrap();
    let suspended = recorded(&store).await;
    let names: Vec<_> = suspended.iter().map(|event| name_of(&event.kind)).collect();
    assert_eq!(
        names,
        [
            "turn started",
            "message",
            "usage",
            "tool requested",
            "asked",
            "suspended"
        ]
    );

    let question = session.questions().await[0].id.clone();
    let session = sessions.open("s-1", ada()).await.unwrap();
    session.resume([(question, Answer::approve())]).await.unwrap();
    let all = recorded(&store).await;
    let names: Vec<_> = all[suspended.len()..]
        .iter()
        .map(|event| name_of(&event.kind))
        .collect();
    assert_eq!(
        names,
        [
            "answered",
            "tool started",
            "tool completed",
            "message",
            "usage",
            "turn complete"
        ]
    );

    // Events name the message of the reply to which they belong, which has a row of its own if it has a text.
    let rows = store.messages("local", "s-1", &MessageFilter::new()).await.unwrap();
    let answer = all
        .iter()
        .rev()
        .find(|event| name_of(&event.kind) == "message")
        .unwrap();
    assert_eq!(answer.message.as_deref(), Some(&*rows.last().unwrap().id));
    assert!(all.iter().all(|event| &*event.agent == "ada" && event.turn == 0));
}

async fn recorded(store: &Store) -> Vec<RecordedEvent> {
    let events = store.events("local", "s-1", &EventFilter::new()).await.unwrap();
    let read = |event: StoredEvent| {
        assert_eq!((&*event.kind, &*event.run), (RecordedEvent::KIND, "turn-1"));
        serde_json::from_value(event.data).unwrap()
    };
    events.into_iter().map(read).collect()
}

fn name_of(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Turn(TurnEvent::Started(_)) => "turn started",
        EventKind::Turn(TurnEvent::Complete { .. }) => "turn complete",
        EventKind::Text(TextEvent::MessageComplete(_)) => "message",
        EventKind::Model(ModelEvent::Usage(_)) => "usage",
        EventKind::Tool(ToolEvent::Requested { .. }) => "tool requested",
        EventKind::Tool(ToolEvent::Started { .. }) => "tool started",
        EventKind::Tool(ToolEvent::Completed { .. }) => "tool completed",
        EventKind::Person(PersonEvent::Asked(_)) => "asked",
        EventKind::Person(PersonEvent::Answered { .. }) => "answered",
        EventKind::Person(PersonEvent::Suspended(_)) => "suspended",
        _ => "other",
    }
}
