//! Runs jobs: starts a server process, and a process for each run of each client, alternating the clients.

use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use crate::{
    Fallible, core,
    figures::Figures,
    job::{Job, Plan, Suite, Task},
    report::{self, Summaries, Summary},
};

/// The argument for the core if the process is not pinned.
const ANY: &str = "any";

/// Runs a client, in its own process, and prints its figures.
pub fn client(suite: &Suite, job: &str, client: &str, url: &str, core: Option<usize>) -> Fallible {
    core.map_or(Ok(()), core::pin_to)?;
    let plan = Plan::Measured;
    println!("{}", (suite.find(job)?.run)(&Task { client, url, plan })?);
    Ok(())
}

/// Runs this many rounds of a client against a server of its own, without measuring anything.
pub fn rounds(suite: &Suite, job: &str, client: &str, rounds: u32) -> Fallible {
    let (job, server) = (suite.find(job)?, Server::start(ANY)?);
    let (url, plan) = (&*server.url, Plan::Bare(rounds));
    println!("{}", (job.run)(&Task { client, url, plan })?);
    Ok(())
}

/// Runs the named jobs, or all of them, and prints the report.
pub fn jobs(suite: &Suite, names: &[&str]) -> Fallible {
    let jobs: Vec<&Job> = match names {
        [] => suite.jobs.iter().collect(),
        names => names.iter().map(|name| suite.find(name)).collect::<Fallible<_>>()?,
    };
    if !cfg!(target_os = "linux") {
        println!("Not Linux: processes are not pinned, CPU times are wall-clock times, and memory is not measured.");
    }
    for job in jobs {
        let summaries = summaries(job)?;
        println!(
            "{}{}",
            report::figures(job, &summaries),
            report::limits(suite, job, &summaries)
        );
    }
    Ok(())
}

/// Returns the best figures and the medians of all clients. The runs of the clients alternate, so that other load on the
/// machine affects all of them.
fn summaries(job: &Job) -> Fallible<Summaries> {
    let core = core::last()?.filter(|_| job.pinned);
    let core = core.map_or(ANY.to_owned(), |core| core.to_string());
    let server = Server::start(&core)?;
    let mut runs: Vec<Vec<Figures>> = vec![Vec::new(); job.clients.len()];
    for _ in 0..job.repetitions {
        for (client, runs) in job.clients.iter().zip(&mut runs) {
            let output = own_program()?
                .args(["client", job.name, client, &server.url, &core])
                .stderr(Stdio::inherit())
                .output()?;
            let report = String::from_utf8(output.stdout)?;
            runs.push(
                report
                    .trim()
                    .parse()
                    .map_err(|error| format!("{} of {}: {error}", client, job.name))?,
            );
        }
    }
    let summaries = runs.iter().map(|runs| Summary::of(runs));
    Ok(job.clients.iter().copied().zip(summaries).collect())
}

fn own_program() -> Fallible<Command> {
    Ok(Command::new(env::current_exe()?))
}

/// The server process, which is stopped when this value is dropped.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(core: &str) -> Fallible<Self> {
        let mut process = own_program()?
            .args(["serve", core])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        let output = process.stdout.take().ok_or("the server has no output")?;
        BufReader::new(output).read_line(&mut url)?;
        Ok(Self {
            process,
            url: url.trim().to_owned(),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _status = self.process.wait();
    }
}
