//! The command line of a benchmark program.

use std::{env, process};

use crate::{Fallible, count, job::Suite, run, server};

/// Runs what the command line asks for, and exits with status 1 if that fails.
pub fn main(suite: &Suite) {
    // Cargo adds the argument `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let Err(error) = dispatch(suite, &arguments) {
        println!("failed: {error}");
        process::exit(1);
    }
}

fn dispatch(suite: &Suite, arguments: &[&str]) -> Fallible {
    match *arguments {
        ["serve", core] => server::serve(core.parse().ok()),
        ["client", job, client, url, core] => run::client(suite, job, client, url, core.parse().ok()),
        ["rounds", job, client, rounds] => run::rounds(suite, job, client, rounds.parse()?),
        ["count"] => count::jobs(suite),
        ["count", job, ref clients @ ..] => count::clients(suite.find(job)?, clients),
        ["limits"] => count::limits(suite),
        ref jobs => run::jobs(suite, jobs),
    }
}
