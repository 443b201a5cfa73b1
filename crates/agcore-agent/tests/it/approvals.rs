//! Many approvals in one turn, answered in any order, in part, twice, and in other processes.
#![allow(
    clippy::disallowed_methods,
    reason = "the test starts processes with a job in a variable"
)]

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use agcore_agent::{AgentErrorKind, AgentSession, StoredSessions, agent};
use agcore_chat::{Answer, QuestionId, ToolCall};
use agcore_llm::SystemClock;
use agcore_session::SessionStore;
use agcore_store::{postgres::PostgresOptions, sqlite::SqliteStore};
use agcore_testkit::{
    crash::PostgresSchema,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{PermissionRules, Rule, RuleState, SuspendingApprover, typed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{crash::need_server, stored::ada};

/// The variable with the job of a process.
const JOB: &str = "AGCORE_TEST_APPROVALS";

/// The number of calls that wait for an approval.
const CALLS: usize = 100;

#[derive(Deserialize, JsonSchema)]
struct Payment {
    number: usize,
}

/// Where the session is.
#[derive(Clone, Serialize, Deserialize)]
struct Site {
    folder: PathBuf,
    /// The URL of the server and the schema; without them, the database is a file in the folder.
    postgres: Option<(String, String)>,
}

impl Site {
    async fn store(&self) -> Arc<dyn SessionStore> {
        let clock = Arc::new(SystemClock::new());
        match &self.postgres {
            None => Arc::new(SqliteStore::open(self.folder.join("sessions.db"), clock).await.unwrap()),
            Some((url, schema)) => {
                let options = PostgresOptions::new(url).unwrap().with_schema(schema.as_str());
                Arc::new(options.with_pool_size(2).open(clock).await.unwrap())
            }
        }
    }
}

/// Answers that a process gives.
#[derive(Serialize, Deserialize)]
struct Job {
    site: Site,
    answers: Vec<(QuestionId, Answer)>,
}

/// Returns the sessions in a folder. The tool writes each payment to a log.
async fn sessions(site: &Site, model: ScriptedProvider) -> StoredSessions {
    let log = site.folder.join("log");
    let pay = typed("pay", "Pays.", move |payment: Payment| {
        let log = log.clone();
        async move {
            let mut log = fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
            // In one write, so that lines of several payments do not mix.
            log.write_all(format!("{}\n", payment.number).as_bytes()).unwrap();
            Ok(format!("paid {}", payment.number))
        }
    });
    let bundle = agent(model)
        .with_tool(pay)
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay")))
        .with_approver(SuspendingApprover)
        .with_session_store(site.store().await)
        .build()
        .unwrap();
    bundle.stored_sessions().unwrap()
}

/// Opens the session, whose model has the last answer only.
async fn open(site: &Site) -> AgentSession {
    let model = ScriptedProvider::new([ScriptStep::text("All is paid.")]);
    sessions(site, model).await.open("s-1", ada()).await.unwrap()
}

/// Not a test: a process that `approvals_are_answered_in_any_order` starts.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process that another test starts"]
async fn job() {
    let Ok(job) = env::var(JOB) else { return };
    let job: Job = serde_json::from_str(&job).unwrap();
    open(&job.site).await.resume(job.answers).await.unwrap();
}

/// Lets another process give these answers.
fn answer_elsewhere(site: &Site, answers: Vec<(QuestionId, Answer)>) {
    let job = Job {
        site: site.clone(),
        answers,
    };
    let ended = Command::new(env::current_exe().unwrap())
        .args(["--exact", "approvals::job", "--ignored", "--nocapture"])
        .env(JOB, serde_json::to_string(&job).unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

fn paid(folder: &Path) -> Vec<usize> {
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    let mut paid: Vec<usize> = log.lines().map(|line| line.parse().unwrap()).collect();
    paid.sort_unstable();
    paid
}

/// Suspends a session with all calls. Returns the questions with their answers: every third call is denied.
async fn asked(site: &Site) -> Vec<(QuestionId, Answer)> {
    let calls = (0..CALLS).map(|number| {
        let arguments = format!(r#"{{"number": {number}}}"#);
        ToolCall::function(format!("call_{number}"), "pay", arguments)
    });
    let model = ScriptedProvider::new([ScriptStep::calls(calls)]);
    let session = sessions(site, model).await.create("s-1", ada()).await.unwrap();
    let outcome = session.turn("Pay all bills.").await.unwrap();
    let answers = outcome.questions().iter().enumerate().map(|(number, question)| {
        assert_eq!(&*question.call_id, format!("call_{number}"));
        let answer = match number % 3 {
            0 => Answer::deny("Too much."),
            _ => Answer::approve(),
        };
        (question.id.clone(), answer)
    });
    answers.collect()
}

async fn run(seed: u64, schema: Option<&PostgresSchema>) {
    let folder = tempfile::tempdir().unwrap();
    let site = &Site {
        folder: folder.path().to_owned(),
        postgres: schema.map(|schema| (schema.url().to_owned(), schema.name().to_owned())),
    };
    let folder = folder.path();
    let mut random = fastrand::Rng::with_seed(seed);
    let mut left = asked(site).await;
    assert_eq!(left.len(), CALLS);
    random.shuffle(&mut left);
    let mut given: Vec<(QuestionId, Answer)> = Vec::new();
    let mut round = 0;
    while !left.is_empty() {
        let count = random.usize(1..=left.len().min(30));
        let mut answers = left.split_off(left.len() - count);
        given.extend(answers.iter().cloned());
        // Some are given once more, in this round or after an earlier one.
        answers.extend((0..random.usize(..5)).map(|_| given[random.usize(..given.len())].clone()));
        random.shuffle(&mut answers);
        match round % 2 {
            0 => answer_elsewhere(site, answers),
            _ => drop(open(site).await.resume(answers).await.unwrap()),
        }
        round += 1;
        let session = open(site).await;
        assert_eq!(
            session.questions().await.len(),
            left.len(),
            "seed {seed}, round {round}"
        );
        if let (Some((id, Answer::Approve { .. })), false) = (given.first(), left.is_empty()) {
            // Another answer than the one that was given.
            let error = session.resume([(id.clone(), Answer::deny("No."))]).await.unwrap_err();
            assert_eq!(error.kind(), AgentErrorKind::InvalidInput, "seed {seed}");
        }
    }
    let expected: Vec<usize> = (0..CALLS).filter(|number| number % 3 != 0).collect();
    assert_eq!(
        paid(folder),
        expected,
        "seed {seed}: each approved call runs once, the others never"
    );
    let session = open(site).await;
    assert!(!session.is_suspended().await && !session.is_interrupted().await);
    let messages = session.messages().await;
    // Input, calls, results in the order of the calls, answer.
    assert_eq!(messages.len(), CALLS + 3, "seed {seed}");
    assert_eq!(messages.last().unwrap().text(), "All is paid.");
    for (number, message) in messages.iter().skip(2).take(CALLS).enumerate() {
        let text = message.text();
        match number % 3 {
            0 => assert!(text.contains("Too much."), "seed {seed}: {text}"),
            _ => assert_eq!(text, format!("paid {number}"), "seed {seed}"),
        }
    }
    // The answers come once more, after the turn has ended.
    let late = session.resume(given.into_iter().take(1)).await;
    assert!(late.is_err(), "seed {seed}");
    assert_eq!(paid(folder).len(), expected.len(), "seed {seed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_are_answered_in_any_order() {
    for seed in [1, 2] {
        run(seed, None).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_on_a_server_are_answered_in_any_order() {
    let schema = tokio::task::spawn_blocking(need_server).await.unwrap();
    let Some(schema) = schema else { return };
    run(3, Some(&schema)).await;
}
