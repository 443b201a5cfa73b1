//! Counts of clients under valgrind, which do not depend on the load of the machine: instructions, cache misses and copied
//! bytes.

use crate::{
    Fallible,
    job::{Job, Suite},
    limit::Figure,
    report::short,
    valgrind::{self, Counts},
};

/// The factor by which a count may exceed its limit: compilers and C libraries differ by this much.
const MARGIN: f64 = 1.03;

/// Counts all clients of all jobs that have rounds, and prints a table for each job.
pub fn jobs(suite: &Suite) -> Fallible {
    let jobs = suite.jobs.iter().filter(|job| job.rounds.is_some());
    jobs.into_iter().try_for_each(|job| clients(job, &[]))
}

/// Counts the named clients of a job, or all of them, and prints a table.
pub fn clients(job: &Job, names: &[&str]) -> Fallible {
    if !valgrind::is_installed() {
        println!("{}", valgrind::SKIPPED);
        return Ok(());
    }
    println!(
        "\n## {} (`{}`), counted by valgrind\n\n\
         | client | instructions per {unit} | I1 misses | D1 misses | bytes copied |\n|---|---|---|---|---|",
        job.title,
        job.name,
        unit = job.unit,
    );
    for client in if names.is_empty() { job.clients } else { names } {
        let Counts {
            instructions,
            i1_misses,
            d1_misses,
            copied_bytes,
        } = valgrind::counts(job, client)?;
        let [instructions, i1_misses, d1_misses, copied_bytes] =
            [instructions, i1_misses, d1_misses, copied_bytes].map(short);
        println!("| {client} | {instructions} | {i1_misses} | {d1_misses} | {copied_bytes} |");
    }
    Ok(())
}

/// Checks the limits on instructions, which are relative to a client of the same run, and prints a table.
///
/// # Errors
///
/// Returns an error that lists the missed limits.
pub fn limits(suite: &Suite) -> Fallible {
    if !valgrind::is_installed() {
        println!("{}", valgrind::SKIPPED);
        return Ok(());
    }
    println!("| job | client | instructions | ratio | limit | |\n|---|---|---|---|---|---|");
    let mut missed = Vec::new();
    for limit in suite.limits {
        let (Figure::Instructions { of }, Some(required)) = (limit.figure, limit.required) else {
            continue;
        };
        let (job, client) = (suite.find(limit.job)?, limit.client);
        let own = valgrind::instructions(job, client)?;
        let ratio = own / valgrind::instructions(job, of)?;
        let (name, is_met) = (job.name, ratio <= required * MARGIN);
        let verdict = if is_met { "met" } else { "**missed**" };
        let own = short(own);
        println!("| {name} | {client} | {own} | {ratio:.3} × {of} | {required} | {verdict} |");
        if !is_met {
            missed.push(format!(
                "{client} of {name} takes {ratio:.3} × {of}, more than {required}"
            ));
        }
    }
    match missed.is_empty() {
        true => Ok(()),
        false => Err(missed.join("; ").into()),
    }
}
