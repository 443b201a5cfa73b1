//! Runs jobs: a server process, a process for each run of each client, the clients in turn.

use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use crate::{
    Fallible, core,
    figures::Figures,
    job::{JOBS, Job},
    report::{self, Medians},
};

/// In place of a core: any.
const ANY: &str = "any";

/// A client's own process: runs it and tells the figures.
pub(crate) fn client(job: &str, who: &str, url: &str, core: Option<usize>) -> Fallible {
    core.map_or(Ok(()), core::stay_on)?;
    println!("{}", (find(job)?.run)(who, url)?);
    Ok(())
}

/// Runs these jobs, or all, and prints what they came to.
pub(crate) fn jobs(names: &[&str]) -> Fallible {
    let chosen: Vec<&Job> = match names {
        [] => JOBS.iter().collect(),
        names => names.iter().map(|name| find(name)).collect::<Fallible<_>>()?,
    };
    if !cfg!(target_os = "linux") {
        println!("Not Linux: nothing is pinned, the wall clock stands for CPU time, memory is not known.");
    }
    for job in chosen {
        let medians = measured(job)?;
        println!("{}{}", report::figures(job, &medians), report::limits(job, &medians));
    }
    Ok(())
}

fn find(name: &str) -> Fallible<&'static Job> {
    JOBS.iter().find(|job| job.name == name).ok_or_else(|| {
        let known: Vec<_> = JOBS.iter().map(|job| job.name).collect();
        format!("no job is called {name}; there are: {}", known.join(", ")).into()
    })
}

/// The medians of all clients. One run of each before the next of any, so that what else the machine does falls on all.
fn measured(job: &Job) -> Fallible<Medians> {
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
            let told = String::from_utf8(output.stdout)?;
            runs.push(
                told.trim()
                    .parse()
                    .map_err(|error| format!("{} of {}: {error}", client, job.name))?,
            );
        }
    }
    let medians = runs.iter().map(|runs| Figures::median(runs));
    Ok(job.clients.iter().copied().zip(medians).collect())
}

fn own_program() -> Fallible<Command> {
    Ok(Command::new(env::current_exe()?))
}

/// The server's process, which ends with this value.
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
        let told = process.stdout.take().ok_or("the server has no output")?;
        BufReader::new(told).read_line(&mut url)?;
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
