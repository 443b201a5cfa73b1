//! Runs jobs: starts a server process, and a process for each run of each client, alternating the clients.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use crate::{
    Fallible, core,
    figures::Figures,
    job::{Job, Plan, Suite, Task},
    report::{self, Summaries, Summary},
};

/// Runs a client, in its own process, and prints its figures.
pub fn client(suite: &Suite, job: &str, client: &str, url: &str, core: Option<usize>) -> Fallible {
    core.map_or(Ok(()), core::pin_to)?;
    let plan = Plan::Measured;
    println!("{}", (suite.find(job)?.run)(&Task { client, url, plan })?);
    Ok(())
}

/// Runs this many rounds of a client against a server of its own, without measuring anything.
pub fn rounds(suite: &Suite, job: &str, client: &str, rounds: u32) -> Fallible {
    let (job, server) = (suite.find(job)?, Server::start(&Place::any())?);
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
    let place = Place::of(job)?;
    let (server, own) = (Server::start(&place)?, [own_program()?]);
    let mut runs: Vec<Vec<Figures>> = vec![Vec::new(); job.clients.len()];
    for _ in 0..job.repetitions {
        for (client, runs) in job.clients.iter().zip(&mut runs) {
            runs.push(run_client(&own, job, client, &server, &place)?);
        }
    }
    let summaries = runs.iter().map(|runs| Summary::of(runs));
    Ok(job.clients.iter().copied().zip(summaries).collect())
}

/// Runs a client in a process of its own, which is started with this command, and returns its figures.
pub fn run_client<S>(command: &[S], job: &Job, client: &str, server: &Server, place: &Place) -> Fallible<Figures>
where
    S: AsRef<OsStr>,
{
    let (program, arguments) = command.split_first().ok_or("a command without a program")?;
    let output = Command::new(program)
        .args(arguments)
        .args(["client", job.name, client, &server.url, &place.0])
        .stderr(Stdio::inherit())
        .output()?;
    let report = String::from_utf8(output.stdout)?;
    let figures = report.trim().parse();
    figures.map_err(|error| format!("{client} of {}: {error}", job.name).into())
}

fn own_program() -> Fallible<OsString> {
    Ok(env::current_exe()?.into())
}

/// Where client and server run: the argument for the core to which they are pinned.
#[derive(Debug)]
pub struct Place(String);

impl Place {
    /// Returns the last core for a job whose processes are pinned.
    pub fn of(job: &Job) -> Fallible<Self> {
        let core = core::last()?.filter(|_| job.pinned);
        Ok(core.map_or_else(Self::any, |core| Self(core.to_string())))
    }

    fn any() -> Self {
        Self("any".to_owned())
    }
}

/// The server process, which is stopped when this value is dropped.
#[derive(Debug)]
pub struct Server {
    process: Child,
    url: String,
}

impl Server {
    /// Starts the server.
    pub fn start(place: &Place) -> Fallible<Self> {
        let mut process = Command::new(own_program()?)
            .args(["serve", &place.0])
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
