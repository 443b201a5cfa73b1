//! Workers in processes of their own, which can be killed and stopped.

use std::{
    env,
    io::{Write, stdout},
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    sync::mpsc::{self, UnboundedReceiver},
    time::timeout_at,
};

use crate::{
    agcore::Agcore,
    database::Database,
    peer::Awa,
    subject::{Fallible, Notice, Periods, Plan, Subject, What},
};

/// The first argument of the process of a worker.
pub const ROLE: &str = "worker";

/// The line that a worker prints when it has started.
const READY: &str = "ready";

/// The longest time until it has.
const PATIENCE: Duration = Duration::from_secs(20);

/// A worker in a process of its own, which ends with this.
#[derive(Debug)]
pub struct Process {
    child: Child,
    notices: UnboundedReceiver<(Notice, Instant)>,
}

impl Process {
    /// Starts a worker and waits until it works.
    pub async fn start<S: Subject>(database: &Database, plan: &Plan) -> Fallible<Self> {
        let lease = match plan.periods {
            Periods::Default => 0,
            Periods::Lease(length) => length.as_millis(),
        };
        let numbers = [u128::from(plan.slots), plan.work.as_millis(), lease].map(|number| number.to_string());
        let flags = [plan.obeys, plan.confirms, plan.is_idle].map(|flag| flag.to_string());
        let mut child = Command::new(env::current_exe()?)
            .args([ROLE, S::NAME, &database.url(&plan.name)?, &plan.name])
            .args(numbers)
            .args(flags)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = child.stdout.take().ok_or("a worker has no output")?;
        let (sender, notices) = mpsc::unbounded_channel();
        let mut lines = BufReader::new(output).lines();
        let first = timeout_at((Instant::now() + PATIENCE).into(), lines.next_line()).await;
        if !matches!(&first, Ok(Ok(Some(line))) if line == READY) {
            return Err(format!("a worker of {} has not started: {first:?}", S::NAME).into());
        }
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                match line.parse() {
                    // Nothing waits for it any more when the measurement has ended.
                    Ok(notice) => drop(sender.send((notice, Instant::now()))),
                    Err(error) => eprintln!("{error}"),
                }
            }
        });
        Ok(Self { child, notices })
    }

    /// Returns the next notice before a moment.
    pub async fn next(&mut self, until: Instant) -> Option<(Notice, Instant)> {
        timeout_at(until.into(), self.notices.recv()).await.ok().flatten()
    }

    /// Waits for this number of jobs to start. Returns when they did.
    pub async fn starts(&mut self, jobs: usize, until: Instant) -> Fallible<Vec<Instant>> {
        let mut starts = Vec::new();
        while starts.len() < jobs {
            let next = self.next(until).await;
            let (notice, time) = next.ok_or_else(|| format!("{} of {jobs} jobs have started in time", starts.len()))?;
            if notice.what == What::Started {
                starts.push(time);
            }
        }
        Ok(starts)
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> Fallible {
        let id = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(kill_process(id.ok_or("the worker has ended")?, signal)?)
    }
}

/// Runs the worker that the arguments describe, until it is killed.
pub async fn main(arguments: &[String]) -> Fallible {
    let [name, url, worker, slots, work, lease, obeys, confirms, is_idle] = arguments else {
        return Err("a worker needs nine arguments".into());
    };
    let mut plan = Plan::new(worker, slots.parse()?);
    plan.work = Duration::from_millis(work.parse()?);
    plan.periods = match lease.parse()? {
        0 => Periods::Default,
        millis => Periods::Lease(Duration::from_millis(millis)),
    };
    (plan.obeys, plan.confirms, plan.is_idle) = (obeys.parse()?, confirms.parse()?, is_idle.parse()?);
    match &**name {
        Agcore::NAME => work_for_ever::<Agcore>(url, plan).await,
        Awa::NAME => work_for_ever::<Awa>(url, plan).await,
        _ => Err(format!("no worker is named {name}").into()),
    }
}

async fn work_for_ever<S: Subject>(url: &str, plan: Plan) -> Fallible {
    let report = Arc::new(|notice: Notice| print(&notice.to_string()));
    let _worker = S::work(url, plan, report).await?;
    print(READY);
    std::future::pending().await
}

fn print(line: &str) {
    let mut output = stdout().lock();
    // The process that reads has ended, and with it this one.
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}
