//! The jobs of `agcore-benches` with other clients beside those of agcore. `cargo xtask bench peers` runs them in both profiles.

mod async_openai;

use agcore_benches::{
    job::{Job, Suite},
    jobs::{history, idle, many, many_tools, stream, tool_loop, turn},
    program,
};

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
        run: |task| match task.client {
            ASYNC_OPENAI => async_openai::turn(task),
            _ => turn::run(task),
        },
        ..turn::JOB
    },
    Job {
        clients: &["H", "R", ASYNC_OPENAI, "session-new", "session-kept", "hook", "events"],
        run: |task| match task.client {
            ASYNC_OPENAI => async_openai::tool_loop(task),
            _ => tool_loop::run(task),
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
            ASYNC_OPENAI => async_openai::many_tools(task),
            _ => many_tools::run(task),
        },
        ..many_tools::JOB
    },
    Job {
        clients: &["H", "R", ASYNC_OPENAI, "delta", "events"],
        run: |task| match task.client {
            ASYNC_OPENAI => async_openai::stream(task),
            _ => (stream::JOB.run)(task),
        },
        ..stream::JOB
    },
    Job {
        clients: &["H", "R", ASYNC_OPENAI, "delta", "events"],
        run: |task| match task.client {
            ASYNC_OPENAI => async_openai::many(task),
            _ => many::run(task),
        },
        ..many::JOB
    },
    Job {
        clients: HISTORY_CLIENTS,
        run: |task| match task.client {
            ASYNC_OPENAI => async_openai::history(task, 50),
            _ => (history::SHORT.run)(task),
        },
        ..history::SHORT
    },
    Job {
        clients: HISTORY_CLIENTS,
        run: |task| match task.client {
            ASYNC_OPENAI => async_openai::history(task, 500),
            _ => (history::MEDIUM.run)(task),
        },
        ..history::MEDIUM
    },
    Job {
        clients: HISTORY_CLIENTS,
        run: |task| match task.client {
            ASYNC_OPENAI => async_openai::history(task, 5000),
            _ => (history::LONG.run)(task),
        },
        ..history::LONG
    },
    idle::JOB,
];

const HISTORY_CLIENTS: &[&str] = &["H", "R", ASYNC_OPENAI, "chat", "session-kept", "offline"];

fn main() {
    program::main(&Suite {
        jobs: JOBS,
        limits: &[],
    });
}
