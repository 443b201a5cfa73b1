//! Workers that are killed or stopped, and their jobs.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use tokio::time::sleep;

use crate::{
    agcore::Agcore,
    child::Process,
    database::{Database, Server},
    figures::{short, spread},
    peer::Awa,
    subject::{Fallible, Periods, Plan, Subject, What},
};

/// The number of jobs that the worker has.
const JOBS: u64 = 4;

/// The time that a job takes during which its worker is stopped.
const WORK: Duration = Duration::from_secs(1);

/// The time in which a worker that continues ends its jobs.
const REST: Duration = Duration::from_secs(6);

/// The workers of one test, each a process of its own.
struct Stage<S: Subject> {
    producer: S::Producer,
    victim: Process,
    other: Process,
    /// The worker that leads, if it must not be the one to which the failure happens.
    _leader: Option<Process>,
}

impl<S: Subject> Stage<S> {
    /// Starts a worker, has it take jobs, and starts another one.
    async fn set(
        server: &Server,
        (template, name): (&Database, &str),
        victim: &Plan,
        leads: bool,
        jobs: u64,
    ) -> Fallible<Self> {
        let database = server.copy(template, name).await?;
        let mut leader = None;
        if S::HAS_LEADER && !leads {
            let mut plan = Plan::new("leader", 1);
            (plan.is_idle, plan.periods) = (true, victim.periods);
            leader = Some(Process::start::<S>(&database, &plan).await?);
            database.led_by("leader").await?;
        }
        let producer = S::open(&database.url("producer")?, 2).await?;
        let mut process = Process::start::<S>(&database, victim).await?;
        if S::HAS_LEADER && leads {
            database.led_by(&victim.name).await?;
        }
        for number in 1..=jobs {
            S::enqueue(&producer, number).await?;
        }
        process.starts(usize::try_from(jobs)?, after(REST)).await?;
        let mut plan = Plan::new("other", victim.slots);
        plan.periods = victim.periods;
        let other = Process::start::<S>(&database, &plan).await?;
        Ok(Self {
            producer,
            victim: process,
            other,
            _leader: leader,
        })
    }
}

/// Kills workers that have jobs. Returns a table of the times until other workers have started them.
pub async fn kill(server: &Server, templates: [&Database; 2], periods: Periods, rounds: usize) -> Fallible<String> {
    let mut rows = [const { (Vec::new(), Vec::new()) }; 3];
    for round in 0..rounds {
        let name = |subject: &str| format!("kill_{subject}_{}", fastrand::u32(..));
        let part = (round as f64 + 0.5) / rounds as f64;
        // They wait most of the time, each in a database of its own.
        let times = tokio::try_join!(
            killed::<Agcore>(server, (templates[0], name("agcore")), periods, false, part),
            killed::<Awa>(server, (templates[1], name("awa")), periods, false, part),
            killed::<Awa>(server, (templates[1], name("leader")), periods, true, part),
        )?;
        for (row, (first, last)) in rows.iter_mut().zip([times.0, times.1, times.2]) {
            row.0.push(first);
            row.1.push(last);
        }
        eprintln!("killed {} of {rounds}", round + 1);
    }
    let names = [
        "agcore",
        "awa",
        "awa, the killed worker was the leader of the maintenance",
    ];
    let mut text = format!(
        "\n## {JOBS} jobs of a worker that is killed: {}\n\n",
        described(periods)
    );
    text += "| subject | first job begins again after, s | last job, s |\n|---|---|---|\n";
    for (name, (first, last)) in names.iter().zip(&rows) {
        text += &format!("| {name} | {} | {} |\n", spread(first), spread(last));
    }
    Ok(text)
}

/// Kills a worker that has jobs, at a moment between two signs of life. Returns the seconds until the first and the last job have
/// started again.
async fn killed<S: Subject>(
    server: &Server,
    (template, name): (&Database, String),
    periods: Periods,
    leads: bool,
    part: f64,
) -> Fallible<(f64, f64)> {
    let mut plan = Plan::new("victim", u32::try_from(JOBS)?);
    (plan.work, plan.periods) = (Duration::from_secs(3600), periods);
    let mut stage = Stage::<S>::set(server, (template, &name), &plan, leads, JOBS).await?;
    let (third, patience) = match periods {
        Periods::Default => (Duration::from_secs(5), Duration::from_secs(180)),
        Periods::Lease(length) => (length / 3, length * 10),
    };
    sleep(third + third.mul_f64(part)).await;
    stage.victim.signal(Signal::KILL)?;
    let killed = Instant::now();
    let starts = stage.other.starts(usize::try_from(JOBS)?, killed + patience).await?;
    S::close(stage.producer).await;
    let seconds = |time: Option<&Instant>| time.map_or(f64::NAN, |time| (*time - killed).as_secs_f64());
    Ok((seconds(starts.iter().min()), seconds(starts.iter().max())))
}

/// The fate of the job of a stopped worker.
#[derive(Debug)]
struct Stopped {
    /// The seconds until another worker has started the job, from the moment at which the first was stopped.
    taken: Option<f64>,
    /// Whether that was before the first worker continued.
    is_meanwhile: bool,
    /// The reports of the first worker after it continued.
    end: Vec<What>,
    /// The number of times that the work has ended.
    ends: usize,
    state: String,
}

/// Stops workers for longer than their leases. Returns a table of what they do when they continue.
pub async fn pause(server: &Server, templates: [&Database; 2], lease: Duration, pause: Duration) -> Fallible<String> {
    let run = (lease, pause);
    let (obedient, reckless, awa, leader) = tokio::try_join!(
        stopped::<Agcore>(server, (templates[0], "pause_obedient"), run, true, false),
        stopped::<Agcore>(server, (templates[0], "pause_reckless"), run, false, false),
        stopped::<Awa>(server, (templates[1], "pause_awa"), run, true, false),
        stopped::<Awa>(server, (templates[1], "pause_leader"), run, true, true),
    )?;
    let rows = [
        (
            "agcore, a worker that checks its clock, as that of the server",
            obedient,
        ),
        ("agcore, a worker that does not", reckless),
        ("awa", awa),
        ("awa, the stopped worker is the leader of the maintenance", leader),
    ];
    let mut text = format!(
        "\n## A worker that is stopped for {pause:?} while it has a job of {WORK:?}: {}\n\n",
        described(Periods::Lease(lease))
    );
    text += "| subject | another worker begins the job after, s | work of the stopped worker | its end of the job | \
             times that the work has ended | stored |\n|---|---|---|---|---|---|\n";
    for (name, stopped) in rows {
        text += &stopped.row(name);
    }
    Ok(text)
}

async fn stopped<S: Subject>(
    server: &Server,
    (template, name): (&Database, &str),
    (lease, pause): (Duration, Duration),
    obeys: bool,
    leads: bool,
) -> Fallible<Stopped> {
    let mut plan = Plan::new("victim", 1);
    (plan.work, plan.periods) = (WORK, Periods::Lease(lease));
    (plan.obeys, plan.confirms) = (obeys, true);
    let mut stage = Stage::<S>::set(server, (template, name), &plan, leads, 0).await?;
    // The worker that is to be stopped takes the job: the other one is stopped until then.
    stage.other.signal(Signal::STOP)?;
    S::enqueue(&stage.producer, 1).await?;
    stage.victim.starts(1, after(REST)).await?;
    stage.victim.signal(Signal::STOP)?;
    let at = Instant::now();
    stage.other.signal(Signal::CONT)?;
    sleep(pause).await;
    stage.victim.signal(Signal::CONT)?;
    let continued = Instant::now();
    let mut found = Stopped {
        taken: None,
        is_meanwhile: false,
        end: Vec::new(),
        ends: 0,
        state: String::new(),
    };
    let until = continued + REST;
    while let Some((notice, time)) = stage.other.next(until).await {
        match notice.what {
            What::Started => {
                found.taken.get_or_insert((time - at).as_secs_f64());
                found.is_meanwhile |= time < continued;
            }
            What::Ended | What::EndedLate => found.ends += 1,
            What::Stopped | What::Stored | What::Refused => {}
        }
    }
    while let Some((notice, _)) = stage.victim.next(until).await {
        found.ends += usize::from(matches!(notice.what, What::Ended | What::EndedLate));
        found.end.push(notice.what);
    }
    found.state = S::state(&stage.producer, 1).await?;
    S::close(stage.producer).await;
    Ok(found)
}

impl Stopped {
    fn row(&self, name: &str) -> String {
        let taken = match (self.taken, self.is_meanwhile) {
            (Some(taken), true) => short(taken),
            (Some(taken), false) => format!("{}, only after the stopped one continued", short(taken)),
            (None, _) => "never".to_owned(),
        };
        let has = |what| self.end.contains(&what);
        let work = match (has(What::Stopped), has(What::Ended), has(What::EndedLate)) {
            (true, _, _) => "stopped before its end",
            (_, true, _) => "ran to its end, nothing has stopped it",
            (_, _, true) => "ran to its end, although the lease was known to be over",
            _ => "nothing was reported",
        };
        let end = match (has(What::Stored), has(What::Refused), has(What::Stopped)) {
            (true, _, _) => "stored",
            (_, true, _) => "refused",
            (_, _, true) => "not tried",
            _ => "not stored",
        };
        format!(
            "| {name} | {taken} | {work} | {end} | {} | {} |\n",
            self.ends, self.state
        )
    }
}

fn described(periods: Periods) -> String {
    match periods {
        Periods::Default => "default periods".to_owned(),
        Periods::Lease(length) => format!("leases of {length:?}"),
    }
}

fn after(time: Duration) -> Instant {
    Instant::now() + time
}
