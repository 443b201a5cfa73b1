//! Workers that are stopped (SIGSTOP) at any write, at any call of a model, and before and after each effect of a tool, and continued
//! when another worker has done their work. With PostgreSQL only: a process that is stopped while it writes keeps a file of SQLite
//! locked, and no other process can take over.

mod place;
mod trial;

use std::{env, sync::Arc, time::Duration};

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_chat::{AssistantMessage, ChatResponse, Choice, FinishReason, Message};
use agcore_server::{Role, Server, Sharing};
use agcore_session::{RunFilter, RunStatus, SessionReader};
use agcore_testkit::{
    crash::{Boundaries, Job, Log, Pauses, Place},
    scripted::{ScriptStep, ScriptedProvider},
    stores::faulty::FaultyStore,
};
use agcore_tools::{NoArguments, SuspendingApprover, ToolAnnotations, typed};
use tokio_util::sync::CancellationToken;

use self::{
    place::{block_on, need_server, open},
    trial::Conversation,
};
use crate::support::{Store, call};

/// Long enough for the worker that takes over on a busy machine, and short, because each trial waits for its end.
const LEASE: Duration = Duration::from_secs(2);

/// The writes at which a worker is stopped. The others are those of tasks beside the run, which is anywhere meanwhile.
const WRITES: [&str; 4] = ["commit", "save_checkpoint", "create", "append"];

/// Begins the lines of the log that must not come from a worker whose lease has expired.
const STARTS: &str = "starts";

/// The line of the log for the effect of the tool.
const EFFECT: &str = "the tool has acted";

fn sharing(role: Role) -> Sharing {
    Sharing::new("test")
        .with_role(role)
        .with_poll(Duration::from_millis(10))
        .with_lease(LEASE)
        .with_max_attempts(1000)
}

/// Returns a model that answers by what a request contains, so that another process gets the same reply to it.
fn model(log: &Log, boundaries: &Boundaries) -> ScriptedProvider {
    let step = || {
        let (log, boundaries) = (log.clone(), boundaries.clone());
        ScriptStep::from_fn(move |request| {
            log.add(&format!("{STARTS} a call of the model"));
            boundaries.pass_blocking();
            let is_result = |message: &Arc<Message>| matches!(**message, Message::Tool(_));
            let (message, finish_reason) = match request.messages.iter().any(is_result) {
                true => (AssistantMessage::new("Said it."), FinishReason::Stop),
                false => (
                    AssistantMessage::from_blocks([call("c1", "say").into()]),
                    FinishReason::ToolCalls,
                ),
            };
            let choice = Choice {
                message,
                finish_reason: Some(finish_reason),
                ..Choice::default()
            };
            ChatResponse {
                choices: vec![choice],
                ..ChatResponse::default()
            }
        })
    };
    ScriptedProvider::new((0..20).map(|_| step()))
}

fn agent(provider: &ScriptedProvider, log: &Log, boundaries: &Boundaries) -> AgentBuilder {
    let (log, boundaries) = (log.clone(), boundaries.clone());
    let say = typed("say", "Says it.", move |_: NoArguments| {
        let (log, boundaries) = (log.clone(), boundaries.clone());
        async move {
            log.add(&format!("{STARTS} the tool"));
            boundaries.pass_blocking();
            log.add(EFFECT);
            boundaries.pass_blocking();
            Ok("said")
        }
    });
    AgentBuilder::new()
        .with_provider(provider.clone())
        .with_tool(say.with_annotations(ToolAnnotations::default()))
        .with_approver(SuspendingApprover)
}

/// Works until no run waits or is running.
async fn work(place: &Place, boundaries: &Boundaries) {
    let (log, observed) = (place.log(), boundaries.clone());
    let store = open(place).await;
    let store: Store = Arc::new(FaultyStore::observed(store, move |_, method| {
        if WRITES.contains(&method) {
            observed.pass_blocking();
        }
    }));
    let provider = model(&log, boundaries);
    let bundle = agent(&provider, &log, boundaries).build().unwrap();
    let server = Server::builder()
        .with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."))
        .with_store(Arc::clone(&store))
        .with_sharing(sharing(Role::Worker))
        .build()
        .unwrap();
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let worker = tokio::spawn(async move { server.work(stopped).await });
    while !is_over(&store).await {
        // The end of a run is seen in the store only.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stop.cancel();
    worker.await.unwrap().unwrap();
}

async fn is_over(store: &Store) -> bool {
    let runs = store.runs("local", trial::THREAD, &RunFilter::new()).await.unwrap();
    let is_parked = |status| status == RunStatus::Interrupted;
    runs.iter().all(|run| run.status.is_over() || is_parked(run.status))
}

#[test]
#[ignore = "does the job of a process that other tests start"]
fn job() {
    let Some(job) = Job::receive() else { return };
    block_on(work(job.place(), job.boundaries()));
    job.done();
}

/// Returns the pauses: all in soak tests, and otherwise every fifth, from another one each time.
#[expect(clippy::disallowed_methods, reason = "a variable asks for all of them")]
fn pauses() -> Pauses {
    let step = if env::var_os("AGCORE_SOAK").is_some() { 1 } else { 5 };
    let first = usize::try_from(std::process::id()).unwrap() % step;
    Pauses::new("pauses::job").with_boundaries(first, step)
}

#[test]
fn a_worker_that_is_continued_after_its_lease_does_nothing() {
    if need_server().is_none() {
        return;
    }
    let boundaries =
        pauses().at_every_boundary(|| Conversation::start(need_server().expect("the server was there a moment ago")));
    assert!(boundaries > 5, "only {boundaries} boundaries");
}
