//! A tool loop with two requests and three parallel tools.

use std::fmt::Write as _;

use agcore_agent::AgentSession;
use agcore_cycle::TurnOutcome;
use bytes::Bytes;
use futures_util::future::try_join_all;

use crate::{
    Fallible, canned,
    client::{
        baseline::Baseline,
        minimal::{self, Call},
        ours, tools,
    },
    figures::Figures,
    job::{Job, Rounds, Task, expect, runtime},
};

/// The job.
pub const JOB: Job = Job {
    name: "loop",
    title: "A loop of two requests and three parallel tools",
    unit: "loop",
    clients: &["H", "R", "session-new", "session-kept", "hook", "events"],
    pinned: true,
    repetitions: 15,
    rounds: Some(ROUNDS),
    run,
};

/// The rounds of all clients.
pub const ROUNDS: Rounds = Rounds {
    warm: 200,
    timed: 1500,
    counted: 300,
    units: 1,
};

/// The input of the user.
pub const INPUT: &str = "What about Paris?";

/// Runs a client of this package.
pub fn run(task: &Task<'_>) -> Fallible<Figures> {
    let (runtime, url) = (runtime()?, format!("{}/loop", task.url));
    let (tools, agent) = (tools::registry(canned::TOOLS)?, ours::agent());
    match task.client {
        "session-new" => {
            let bundle = ours::bundle(ours::provider(&url)?, tools)?;
            task.measure(&runtime, &ROUNDS, async || {
                converse(&ours::session(&bundle, &agent)).await
            })
        }
        "session-kept" => {
            let session = ours::session(&ours::bundle(ours::provider(&url)?, tools)?, &agent);
            task.measure(&runtime, &ROUNDS, async || {
                session.set_messages(Vec::new()).await?;
                converse(&session).await
            })
        }
        "hook" => {
            let bundle = ours::bundle_with_hook(ours::provider(&url)?, tools)?;
            task.measure(&runtime, &ROUNDS, async || {
                converse(&ours::session(&bundle, &agent)).await
            })
        }
        "events" => {
            let bundle = ours::bundle(ours::provider(&url)?, tools)?;
            task.measure(&runtime, &ROUNDS, async || {
                let (_, outcome) = ours::read_events(&ours::session(&bundle, &agent), INPUT).await?;
                check(&outcome)
            })
        }
        baseline => {
            let (mut baseline, tail) = (
                runtime.block_on(Baseline::new(baseline, &url))?,
                canned::tools_tail(canned::TOOLS),
            );
            let first = Bytes::from([canned::LOOP_HEAD, &tail].concat());
            task.measure(&runtime, &ROUNDS, async || {
                let reply = baseline.whole(first.clone()).await?;
                let calls = minimal::message(&reply)?.tool_calls;
                let results = calls.iter().map(|call| tools::look_up_raw(&call.function.arguments));
                let results = try_join_all(results).await?;
                let reply = baseline.whole(second_request(&calls, &results, &tail)?).await?;
                expect(minimal::message(&reply)?.content.as_deref(), Some(canned::ANSWER))
            })
        }
    }
}

/// Runs the loop in a session.
pub async fn converse(session: &AgentSession) -> Fallible {
    check(&session.turn(INPUT).await?)
}

fn check(outcome: &TurnOutcome) -> Fallible {
    expect(outcome.report().map(|report| report.rounds), Some(1))?;
    expect(&*outcome.text(), canned::ANSWER)
}

/// Creates the request with the results of the tools.
fn second_request(calls: &[Call], results: &[String], tail: &str) -> Fallible<Bytes> {
    let mut body = String::with_capacity(2048);
    body.push_str(canned::LOOP_HEAD);
    body.push_str(r#",{"role":"assistant","content":null,"tool_calls":["#);
    for (index, Call { id, function }) in calls.iter().enumerate() {
        let (comma, name) = (if index > 0 { "," } else { "" }, &function.name);
        let arguments = serde_json::to_string(&function.arguments)?;
        write!(
            body,
            r#"{comma}{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":{arguments}}}}}"#
        )?;
    }
    body.push_str("]}");
    for (Call { id, .. }, result) in calls.iter().zip(results) {
        let result = serde_json::to_string(result)?;
        write!(body, r#",{{"role":"tool","tool_call_id":"{id}","content":{result}}}"#)?;
    }
    body.push_str(tail);
    Ok(body.into())
}
