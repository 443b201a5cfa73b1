//! The jobs of `agcore-benches` with other clients beside those of agcore. `cargo xtask bench peers` runs them in both
//! profiles, and `cargo xtask bench libraries` compares agcore with libraries of this kind.

#[cfg(feature = "adk-rust")]
mod adk_rust;
#[cfg(feature = "async-openai")]
mod async_openai;
#[cfg(feature = "genai")]
mod genai;
#[cfg(feature = "rig")]
mod rig;
mod peer;
mod comparison;

use std::env;

use agcore_benches::{
    job::{Job, Suite},
    jobs::{history, idle, many, many_tools, stream, tool_loop, turn},
    program,
};

use peer::Peer;

/// The name of the client of async-openai in all jobs.
const ASYNC_OPENAI: &str = "async-openai";

const JOBS: &[Job] = &[
    Job {
        clients: &[
            "H",
            "R",
            ASYNC_OPENAI,
            "chat",
            "session-new",
            "session-kept",
            "hook",
            "events",
        ],
        run: |task| match Peer::find(task.client) {
            Some(peer) => (peer.turn)(task),
            None => turn::run(task),
        },
        ..turn::JOB
    },
    Job {
        clients: &["H", "R", ASYNC_OPENAI, "session-new", "session-kept", "hook", "events"],
        run: |task| match Peer::find(task.client) {
            Some(peer) => (peer.tool_loop)(task),
            None => tool_loop::run(task),
        },
        ..tool_loop::JOB
    },
    Job {
        clients: &[
            "H",
            "R",
            ASYNC_OPENAI,
            "session-new",
            "session-kept",
            "offline-new",
            "offline-kept",
        ],
        run: |task| match task.client {
            #[cfg(feature = "async-openai")]
            ASYNC_OPENAI => async_openai::many_tools(task),
            _ => many_tools::run(task),
        },
        ..many_tools::JOB
    },
    Job {
        clients: &["H", "R", ASYNC_OPENAI, "delta", "events"],
        run: |task| match Peer::find(task.client) {
            Some(peer) => (peer.stream)(task),
            None => (stream::JOB.run)(task),
        },
        ..stream::JOB
    },
    Job {
        clients: &["H", "R", ASYNC_OPENAI, "delta", "events"],
        run: |task| match task.client {
            #[cfg(feature = "async-openai")]
            ASYNC_OPENAI => async_openai::many(task),
            _ => many::run(task),
        },
        ..many::JOB
    },
    Job {
        clients: HISTORY_CLIENTS,
        run: |task| match Peer::find(task.client) {
            Some(peer) => (peer.history)(task, 50),
            None => (history::SHORT.run)(task),
        },
        ..history::SHORT
    },
    Job {
        clients: HISTORY_CLIENTS,
        run: |task| match Peer::find(task.client) {
            Some(peer) => (peer.history)(task, 500),
            None => (history::MEDIUM.run)(task),
        },
        ..history::MEDIUM
    },
    Job {
        clients: HISTORY_CLIENTS,
        run: |task| match Peer::find(task.client) {
            Some(peer) => (peer.history)(task, 5000),
            None => (history::LONG.run)(task),
        },
        ..history::LONG
    },
    idle::JOB,
];

const HISTORY_CLIENTS: &[&str] = &["H", "R", ASYNC_OPENAI, "chat", "session-kept", "offline"];

const SUITE: Suite = Suite {
    jobs: JOBS,
    limits: &[],
};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.split_first() {
        Some((first, rest)) if first == "compare" => comparison::main(&SUITE, rest),
        _ => program::main(&SUITE),
    }
}
