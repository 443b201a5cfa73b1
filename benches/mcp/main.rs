//! Compares the client and the server of agcore-mcp with bare rmcp: the CPU time of a call over stdio and over HTTP, and of a
//! thousand calls at the same time.
//!
//! `cargo xtask bench mcp` runs everything. Servers are processes of their own. Rounds of agcore and of rmcp alternate, so that
//! other load on the machine affects both. See `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod client;
mod job;
mod requirement;
mod server;

use std::{env, process};

use agcore_benches::{Fallible, core};

use self::{client::Transport, job::Job, requirement::Requirement};

fn main() {
    // Cargo adds the argument `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let Err(error) = dispatch(&arguments) {
        println!("failed: {error}");
        process::exit(1);
    }
}

/// Runs the benchmark, or a part of it: a server, or many calls of one client without any measurement, for a profiler.
fn dispatch(arguments: &[&str]) -> Fallible {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match *arguments {
        ["serve", side, transport] => runtime.block_on(server::serve(side.parse()?, transport.parse()?)),
        ["calls", client, server, at_once, calls] => runtime.block_on(job::calls(
            client.parse()?,
            server.parse()?,
            at_once.parse()?,
            calls.parse()?,
        )),
        [] => runtime.block_on(all()),
        _ => Err("usage: [serve agcore|rmcp stdio|http] [calls CLIENT SERVER AT_ONCE CALLS]".into()),
    }
}

async fn all() -> Fallible {
    // Client and server share a core. Otherwise, wake-ups across cores would be a large part of the measurement.
    if let Some(last) = core::last()? {
        core::pin_to(last)?;
    }
    let jobs = [
        Job {
            title: "one call at a time over stdio",
            transport: Transport::Stdio,
            at_once: 1,
            calls: 1000,
            required: Some(1.2),
        },
        Job {
            title: "1000 calls at once over stdio",
            transport: Transport::Stdio,
            at_once: 1000,
            calls: 2000,
            required: Some(1.2),
        },
        Job {
            title: "one call at a time over HTTP",
            transport: Transport::Http,
            at_once: 1,
            calls: 500,
            required: None,
        },
    ];
    println!("# MCP beside rmcp");
    let mut requirements: Vec<Requirement> = Vec::new();
    for job in &jobs {
        requirements.extend(job.run().await?);
    }
    println!("\n| limit | measured | required | |\n|---|---|---|---|");
    for requirement in &requirements {
        println!("{requirement}");
    }
    Ok(())
}
