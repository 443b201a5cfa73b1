//! A tool loop with two requests and three parallel tools.

use std::fmt::Write as _;

use bytes::Bytes;
use futures_util::future::try_join_all;

use super::{Job, Rounds, expect, measure, runtime};
use crate::{
    Fallible, canned,
    client::{
        baseline::Baseline,
        minimal::{self, Call},
        ours, tools,
    },
    figures::Figures,
};

pub(crate) const JOB: Job = Job {
    name: "loop",
    title: "A loop of two requests and three parallel tools",
    unit: "loop",
    clients: &["H", "R", "session"],
    pinned: true,
    repetitions: 9,
    run,
};

const ROUNDS: Rounds = Rounds {
    warm: 200,
    timed: 1500,
    counted: 300,
    units: 1,
};

fn run(client: &str, url: &str) -> Fallible<Figures> {
    let (runtime, url) = (runtime()?, format!("{url}/loop"));
    if client == "session" {
        let (bundle, agent) = (ours::bundle(&url)?, ours::agent());
        let session = ours::session(&bundle, &agent);
        return measure(&runtime, &ROUNDS, async || {
            // Start a new conversation each time.
            session.set_messages(Vec::new()).await?;
            let (_, outcome) = ours::read_events(&session, "What about Paris?").await?;
            expect(outcome.report().map(|report| report.rounds), Some(1))?;
            expect(&*outcome.text(), canned::ANSWER)
        });
    }
    let (mut baseline, tail) = (runtime.block_on(Baseline::new(client, &url))?, canned::loop_tail());
    let first = Bytes::from([canned::LOOP_HEAD, &tail].concat());
    measure(&runtime, &ROUNDS, async || {
        let reply = baseline.whole(first.clone()).await?;
        let calls = minimal::message(&reply)?.tool_calls;
        let results = calls.iter().map(|call| tools::look_up_raw(&call.function.arguments));
        let results = try_join_all(results).await?;
        let reply = baseline.whole(second_request(&calls, &results, &tail)?).await?;
        expect(minimal::message(&reply)?.content.as_deref(), Some(canned::ANSWER))
    })
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
