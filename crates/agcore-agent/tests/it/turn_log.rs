//! Logs that write sessions in place of their store: what they receive, and under which run.

use std::sync::{Arc, Mutex};

use agcore_agent::{AgentErrorKind, StoredSessions, TurnCommit, TurnLog};
use agcore_chat::{Answer, EventKind, TextEvent, ToolEvent, TurnEvent};
use agcore_session::{
    EventFilter, Hold, MessageFilter, NewSession, Run, RunFilter, RunStatus, SessionError, SessionErrorKind,
    SessionReader, SessionWriter, stream_of,
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;

use crate::stored::{ada, builder, call, store};

type Store = Arc<agcore_session::InMemorySessionStore>;

/// Writes to a store, and keeps what it receives: the run and the event.
struct Log {
    store: Store,
    seen: Mutex<Vec<(String, EventKind)>>,
    /// The number of writes that fail from now on.
    fails: Mutex<usize>,
    refuses: Mutex<bool>,
    holds: bool,
}

impl Log {
    fn new(store: &Store) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::clone(store),
            seen: Mutex::default(),
            fails: Mutex::default(),
            refuses: Mutex::default(),
            holds: false,
        })
    }

    fn sessions(self: &Arc<Self>, provider: &ScriptedProvider) -> StoredSessions {
        let bundle = builder(provider).build().unwrap();
        let sessions = bundle.stored_sessions_in(Arc::new(Arc::clone(&self.store)));
        sessions.with_turn_log(Arc::clone(self) as Arc<dyn TurnLog>)
    }

    /// Returns the runs of the events so far, without repetitions.
    fn runs_of_events(&self) -> Vec<String> {
        let mut runs: Vec<String> = self.seen.lock().unwrap().iter().map(|(run, _)| run.clone()).collect();
        runs.dedup();
        runs
    }

    fn texts(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        let texts = seen.iter().filter_map(|(_, event)| match event {
            EventKind::Text(TextEvent::MessageComplete(message)) => Some(message.text().into_owned()),
            EventKind::Tool(ToolEvent::Completed { output, .. }) => Some(output.to_string()),
            _ => None,
        });
        texts.collect()
    }
}

#[async_trait]
impl TurnLog for Log {
    async fn commit(&self, tenant: &str, session: &str, expected: u64, turn: TurnCommit) -> Result<(), SessionError> {
        assert!(turn.commit.events.is_empty());
        {
            let mut fails = self.fails.lock().unwrap();
            if *fails > 0 {
                *fails -= 1;
                return Err(SessionError::new(SessionErrorKind::Storage, "the disk is full"));
            }
        }
        self.store.commit(tenant, session, expected, turn.commit).await?;
        let events = turn.events.into_iter().map(|event| (turn.run.to_string(), event.kind));
        self.seen.lock().unwrap().extend(events);
        Ok(())
    }

    async fn before_create(&self, session: &NewSession) -> Result<(), SessionError> {
        let known = self.store.get_session(&session.owner.tenant, &session.id).await?;
        assert!(known.is_none(), "it is not created yet");
        match *self.refuses.lock().unwrap() {
            true => Err(SessionError::new(SessionErrorKind::Storage, "no more sessions")),
            false => Ok(()),
        }
    }

    fn hold(&self, _: &str, _: &str) -> Option<Hold> {
        self.holds.then(Hold::granted)
    }
}

/// Returns the runs of a session with their statuses.
async fn runs(store: &Store) -> Vec<(String, RunStatus)> {
    let runs: Vec<Run> = store.runs("local", "s", &RunFilter::new()).await.unwrap();
    runs.into_iter().map(|run| (run.id, run.status)).collect()
}

fn paying() -> ScriptedProvider {
    ScriptedProvider::new([ScriptStep::calls([call("a", "pay")]), ScriptStep::text("Paid.")])
}

#[tokio::test]
async fn a_log_receives_each_event_once_with_the_write_that_it_reports() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "say")]),
        ScriptStep::text("Hi."),
        ScriptStep::text("Bye."),
    ]);
    let log = Log::new(&store);
    let session = log.sessions(&provider).create("s", ada()).await.unwrap();
    session.turn("Hello").with_run("r1").await.unwrap();
    session.turn("Goodbye").await.unwrap();
    assert_eq!(log.texts(), ["", "said", "Hi.", "Bye."]);
    // A turn without an id of its own is numbered.
    assert_eq!(log.runs_of_events(), ["r1", "turn-2"]);
    let statuses = [
        ("r1".into(), RunStatus::Completed),
        ("turn-2".into(), RunStatus::Completed),
    ];
    assert_eq!(runs(&store).await, statuses);
    let rows = store.messages("local", "s", &MessageFilter::new()).await.unwrap();
    assert!(rows[..4].iter().all(|row| row.run.as_deref() == Some("r1")), "{rows:?}");
    // What the log does with the events is its business.
    assert!(
        store
            .events("local", "s", &EventFilter::new())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_write_that_fails_reports_nothing_until_it_is_repeated() {
    let (store, provider) = (store(), ScriptedProvider::new([ScriptStep::text("Hi.")]));
    let log = Log::new(&store);
    let session = log.sessions(&provider).create("s", ada()).await.unwrap();
    *log.fails.lock().unwrap() = 1;
    let error = session.turn("Hello").with_run("r1").await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::Storage);
    assert!(log.runs_of_events().is_empty());
    session.turn("Hello").with_run("r2").await.unwrap();
    assert_eq!(
        (log.runs_of_events(), log.texts()),
        (vec!["r2".to_owned()], vec!["Hi.".to_owned()])
    );
}

#[tokio::test]
async fn a_turn_keeps_its_run_in_another_process() {
    let (store, provider) = (store(), paying());
    let log = Log::new(&store);
    let session = log.sessions(&provider).create("s", ada()).await.unwrap();
    session.turn("Pay.").with_run("r1").await.unwrap();
    assert_eq!(runs(&store).await, [("r1".into(), RunStatus::Interrupted)]);
    let session = log.sessions(&provider).open("s", ada()).await.unwrap();
    let question = session.questions().await[0].id.clone();
    session.resume([(question, Answer::approve())]).await.unwrap();
    assert_eq!(log.runs_of_events(), ["r1"]);
    assert_eq!(runs(&store).await, [("r1".into(), RunStatus::Completed)]);
}

#[tokio::test]
async fn a_turn_that_is_answered_continues_as_another_run() {
    let (store, provider) = (store(), paying());
    let log = Log::new(&store);
    let session = log.sessions(&provider).create("s", ada()).await.unwrap();
    session.turn("Pay.").with_run("r1").await.unwrap();
    let question = session.questions().await[0].id.clone();
    let answers = [(question, Answer::approve())];
    session.resume(answers).with_run("r2").await.unwrap();
    assert_eq!(log.runs_of_events(), ["r1", "r2"]);
    // The status of the first one is left to the caller.
    let statuses = [
        ("r1".into(), RunStatus::Interrupted),
        ("r2".into(), RunStatus::Completed),
    ];
    assert_eq!(runs(&store).await, statuses);
}

#[tokio::test]
async fn the_run_of_an_abandoned_turn_is_cancelled() {
    for opens_again in [false, true] {
        let (store, provider) = (store(), paying());
        let log = Log::new(&store);
        let mut session = log.sessions(&provider).create("s", ada()).await.unwrap();
        session.turn("Pay.").with_run("r1").await.unwrap();
        if opens_again {
            session = log.sessions(&provider).open("s", ada()).await.unwrap();
        }
        assert!(session.abandon_turn().await.unwrap());
        session.save().await.unwrap();
        assert_eq!(runs(&store).await, [("r1".into(), RunStatus::Cancelled)]);
        session.turn("Something else").with_run("r2").await.unwrap();
        let statuses = [("r1".into(), RunStatus::Cancelled), ("r2".into(), RunStatus::Completed)];
        assert_eq!(runs(&store).await, statuses, "{opens_again}");
        assert_eq!(log.runs_of_events(), ["r1", "r2"]);
    }
}

#[tokio::test]
async fn a_turn_that_replaces_a_dropped_one_ends_it_in_its_own_run() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "say")]), ScriptStep::text("Hi.")]);
    let log = Log::new(&store);
    let session = log.sessions(&provider).create("s", ada()).await.unwrap();
    let mut turn = session.turn("Hello").with_run("r1").stream();
    while let Some(event) = turn.next().await {
        if matches!(event.kind, EventKind::Tool(ToolEvent::Requested { .. })) {
            break;
        }
    }
    drop(turn);
    session.turn("Again").with_run("r2").await.unwrap();
    assert_eq!(log.runs_of_events(), ["r1", "r2"]);
    let statuses = [("r1".into(), RunStatus::Cancelled), ("r2".into(), RunStatus::Completed)];
    assert_eq!(runs(&store).await, statuses);
    let seen = log.seen.lock().unwrap();
    let ended = seen
        .iter()
        .filter(|(run, event)| run == "r1" && matches!(event, EventKind::Turn(TurnEvent::Complete { .. })));
    assert_eq!(ended.count(), 1);
}

#[tokio::test]
async fn a_log_may_refuse_new_sessions_and_have_the_right_to_drive_them() {
    let (store, provider) = (store(), ScriptedProvider::new([ScriptStep::text("Hi.")]));
    let log = Log::new(&store);
    *log.refuses.lock().unwrap() = true;
    let error = log.sessions(&provider).create("s", ada()).await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::Storage);
    assert!(store.get_session("local", "s").await.unwrap().is_none());

    *log.refuses.lock().unwrap() = false;
    let session = log.sessions(&provider).create("s", ada()).await.unwrap();
    let _held = store.hold(&stream_of("local", "s")).await.unwrap();
    assert_eq!(session.turn("Hello").await.unwrap_err().kind(), AgentErrorKind::Held);
    let holding = Arc::new(Log {
        store: Arc::clone(&store),
        seen: Mutex::default(),
        fails: Mutex::default(),
        refuses: Mutex::default(),
        holds: true,
    });
    let session = holding.sessions(&provider).open("s", ada()).await.unwrap();
    assert_eq!(session.turn("Hello").await.unwrap().text(), "Hi.");
}
