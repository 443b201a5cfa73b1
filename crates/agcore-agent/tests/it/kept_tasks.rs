//! Tasks in stored sessions: continued after each write, without repeating what was done.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore_agent::{AgentErrorKind, AgentSession, AgentSpec, StepQuestions, StoredSessions, TaskAgent, agent};
use agcore_chat::{
    Answer, AssistantMessage, ChatResponse, Question, QuestionKind, SystemClock, ToolAnnotations, ToolCall,
};
use agcore_llm::{LlmError, provider_fn};
use agcore_session::{InMemorySessionStore, SessionStore};
use agcore_testkit::stores::faulty::{FaultPlan, FaultyStore, StoreFault};
use agcore_tools::{NoArguments, typed};
use async_trait::async_trait;

const PLAN: &str = r#"{"steps": [{"description": "Find x."}, {"description": "Use x.", "depends_on": [1]}]}"#;

/// A model, a tool and a store that processes share.
#[derive(Clone)]
struct World {
    store: Arc<dyn SessionStore>,
    requests: Arc<AtomicUsize>,
    calls: Arc<AtomicUsize>,
}

impl World {
    fn new() -> Self {
        Self {
            store: Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new()))),
            requests: Arc::default(),
            calls: Arc::default(),
        }
    }

    /// Returns what one process uses, whose store goes wrong as planned.
    fn process(&self, faults: FaultPlan, is_idempotent: bool) -> (TaskAgent, StoredSessions) {
        let requests = Arc::clone(&self.requests);
        let model = provider_fn(move |call| {
            requests.fetch_add(1, Ordering::SeqCst);
            let messages = &call.request.messages;
            let asked = messages[1].text().into_owned();
            let has_result = messages.len() > 2;
            async move {
                let mut response = ChatResponse::from_text(match asked {
                    asked if asked.starts_with("Goal: ") => PLAN,
                    asked if asked.contains("Your step: Find x.") => "x is 7",
                    asked if asked.contains("Your step: Use x.") => {
                        assert!(asked.contains("x is 7"), "{asked}");
                        "x was used"
                    }
                    _ => "All done.",
                });
                if !has_result && response.text() == "x is 7" {
                    let call = ToolCall::function("c1", "find", "{}");
                    response.choices[0].message = AssistantMessage::default().with_call(call);
                }
                Ok::<_, LlmError>(response)
            }
        });
        let calls = Arc::clone(&self.calls);
        let find = typed("find", "Finds x.", move |_: NoArguments| {
            calls.fetch_add(1, Ordering::SeqCst);
            async { Ok("7") }
        });
        let bundle = agent(model)
            .with_instructions("You work.")
            .with_tool(find.with_annotations(ToolAnnotations::new().with_idempotent(is_idempotent)))
            .with_session_store(FaultyStore::new(Arc::clone(&self.store), faults))
            .build()
            .unwrap();
        // A store that fails stays away until the next process.
        let sessions = bundle.stored_sessions().unwrap().with_store_patience(Duration::ZERO);
        (TaskAgent::new(bundle.clone()), sessions)
    }

    async fn open(&self, sessions: &StoredSessions) -> AgentSession {
        let spec = AgentSpec::new("assistant", "");
        match self.store.get_session("local", "t").await.unwrap() {
            Some(_) => sessions.open("t", spec).await.unwrap(),
            None => sessions.create("t", spec).await.unwrap(),
        }
    }
}

/// The number of commits of the task, in which nothing goes wrong.
async fn undisturbed() -> usize {
    let world = World::new();
    let commits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&commits);
    let plan = FaultPlan::from_fn(move |_, method| {
        counted.fetch_add(usize::from(method == "commit"), Ordering::SeqCst);
        None
    });
    let (task, sessions) = world.process(plan, true);
    let session = world.open(&sessions).await;
    let report = task.run_in(&session, "Find and use x.").await.unwrap();
    assert_eq!(report.answer.as_deref(), Some("All done."));
    assert_eq!((report.usage.calls, world.requests.load(Ordering::SeqCst)), (5, 5));
    let messages = session.messages().await;
    let texts: Vec<_> = messages.iter().map(|message| message.text()).collect();
    assert_eq!(texts, ["Find and use x.", "All done."]);

    // What has ended is not done again.
    let (task, sessions) = world.process(FaultPlan::new(), true);
    let again = task.continue_in(&world.open(&sessions).await).await.unwrap();
    assert_eq!(
        (again.answer, again.plan, again.usage),
        (report.answer, report.plan, report.usage)
    );
    assert_eq!(world.requests.load(Ordering::SeqCst), 5);
    commits.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_task_continues_after_each_write() {
    let commits = undisturbed().await;
    assert!(commits > 10, "{commits}");
    for fault in [StoreFault::Fail, StoreFault::LoseAnswer] {
        for failing in 0..commits {
            let world = World::new();
            let number = AtomicUsize::new(0);
            let plan = FaultPlan::from_fn(move |_, method| {
                // The store is gone from this commit on.
                let is_gone = method == "commit" && number.fetch_add(1, Ordering::SeqCst) >= failing;
                is_gone.then_some(fault)
            });
            let (task, sessions) = world.process(plan, true);
            let session = world.open(&sessions).await;
            let error = task.run_in(&session, "Find and use x.").await.unwrap_err();
            assert_eq!(error.kind(), AgentErrorKind::Unavailable, "{failing}: {error}");
            drop((task, sessions, session));

            let (task, sessions) = world.process(FaultPlan::new(), true);
            let session = world.open(&sessions).await;
            let report = match task.continue_in(&session).await {
                // Not even the goal was written.
                Err(error) if error.kind() == AgentErrorKind::NotFound => {
                    assert_eq!(failing, 0);
                    task.run_in(&session, "Find and use x.").await.unwrap()
                }
                report => report.unwrap(),
            };
            assert_eq!(report.answer.as_deref(), Some("All done."), "{fault:?} {failing}");
            assert_eq!(session.messages().await.len(), 2, "{fault:?} {failing}");
            // Only what was not stored is done again.
            let requests = world.requests.load(Ordering::SeqCst);
            assert!(requests <= 6, "{fault:?} {failing}: {requests} requests");
            assert!(world.calls.load(Ordering::SeqCst) <= 2, "{fault:?} {failing}");
        }
    }
}

#[tokio::test]
async fn a_call_whose_outcome_is_unknown_is_not_repeated() {
    let commits = undisturbed().await;
    let mut uncertain = 0;
    for failing in 0..commits {
        let world = World::new();
        let number = AtomicUsize::new(0);
        let plan = FaultPlan::from_fn(move |_, method| {
            let is_gone = method == "commit" && number.fetch_add(1, Ordering::SeqCst) >= failing;
            is_gone.then_some(StoreFault::Fail)
        });
        let (task, sessions) = world.process(plan, false);
        let session = world.open(&sessions).await;
        task.run_in(&session, "Find and use x.").await.unwrap_err();
        let (task, sessions) = world.process(FaultPlan::new(), false);
        let session = world.open(&sessions).await;
        if failing == 0 {
            continue;
        }
        let report = task.continue_in(&session).await.unwrap();
        assert_eq!(world.calls.load(Ordering::SeqCst), 1, "{failing}");
        if let Some(failed) = report.failures().next() {
            uncertain += 1;
            assert!(failed.reason().unwrap().contains("find"), "{failed:?}");
        }
    }
    assert!((1..=3).contains(&uncertain), "{uncertain}");
}

/// Answers questions about calls that were running, and counts them.
struct Answers {
    answer: Option<Answer>,
    asked: Arc<AtomicUsize>,
}

#[async_trait]
impl StepQuestions for Answers {
    async fn answer(&self, question: &Question) -> Option<Answer> {
        assert_eq!(question.kind, QuestionKind::Uncertain);
        assert!(question.prompt.contains("find"), "{}", question.prompt);
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.answer.clone()
    }
}

#[tokio::test]
async fn a_person_is_asked_about_a_call_whose_outcome_is_unknown() {
    let commits = undisturbed().await;
    for answer in [Some(Answer::approve()), Some(Answer::deny("It was found.")), None] {
        let mut uncertain = 0;
        for failing in 1..commits {
            let world = World::new();
            let number = AtomicUsize::new(0);
            let plan = FaultPlan::from_fn(move |_, method| {
                let is_gone = method == "commit" && number.fetch_add(1, Ordering::SeqCst) >= failing;
                is_gone.then_some(StoreFault::Fail)
            });
            let (task, sessions) = world.process(plan, false);
            let session = world.open(&sessions).await;
            task.run_in(&session, "Find and use x.").await.unwrap_err();

            let asked = Arc::new(AtomicUsize::new(0));
            let answers = Answers {
                answer: answer.clone(),
                asked: Arc::clone(&asked),
            };
            let (task, sessions) = world.process(FaultPlan::new(), false);
            let session = world.open(&sessions).await;
            let report = task.with_questions(answers).continue_in(&session).await.unwrap();
            let asked = asked.load(Ordering::SeqCst);
            uncertain += asked;
            // Without an answer, the step fails. With one it continues, and the call runs again only after a yes.
            assert_eq!(
                report.is_success(),
                asked == 0 || answer.is_some(),
                "{answer:?} {failing}"
            );
            let is_repeated = asked > 0 && answer == Some(Answer::approve());
            assert_eq!(
                world.calls.load(Ordering::SeqCst),
                1 + usize::from(is_repeated),
                "{answer:?} {failing}"
            );
        }
        assert!((1..=3).contains(&uncertain), "{uncertain}");
    }
}

#[tokio::test]
async fn misuse_is_reported() {
    let world = World::new();
    let (task, sessions) = world.process(FaultPlan::new(), true);
    let unstored = agent(provider_fn(|_| async { Ok(ChatResponse::from_text("")) }))
        .session()
        .unwrap();
    let error = task.run_in(&unstored, "x").await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidConfig, "{error}");
    let session = world.open(&sessions).await;
    let error = task.continue_in(&session).await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::NotFound, "{error}");
    task.run_in(&session, "Find and use x.").await.unwrap();
    let error = task.run_in(&session, "Again.").await.unwrap_err();
    assert_eq!(error.kind(), AgentErrorKind::InvalidInput, "{error}");
}
