//! [`Subject`]: a way to keep jobs in PostgreSQL and to have workers execute them.

use std::{error::Error, fmt, str::FromStr, sync::Arc, time::Duration};

/// The result of what can fail for any reason, which the program then prints.
pub type Fallible<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// A way to keep jobs. All have the same settings, except those that only one of them has.
pub trait Subject: 'static {
    /// The name in the report.
    const NAME: &'static str;

    /// Whether one of the workers, which all others wait for, looks for the jobs of those that have ended.
    const HAS_LEADER: bool;

    /// Counts the jobs that are stored as completed.
    const COMPLETED: &'static str;

    /// The connections of those who add jobs.
    type Producer: Clone + Send + Sync + 'static;

    /// A worker in this process.
    type Worker: Send + 'static;

    /// Creates the tables in an empty database.
    fn prepare(url: &str) -> impl Future<Output = Fallible>;

    /// Opens connections to add jobs.
    fn open(url: &str, connections: u32) -> impl Future<Output = Fallible<Self::Producer>> + Send;

    /// Adds the job with this number. It is stored when this returns.
    fn enqueue(producer: &Self::Producer, number: u64) -> impl Future<Output = Fallible> + Send;

    /// Returns how the job with this number is stored.
    fn state(producer: &Self::Producer, number: u64) -> impl Future<Output = Fallible<String>> + Send;

    /// Closes the connections.
    fn close(producer: Self::Producer) -> impl Future<Output = ()> + Send;

    /// Starts a worker.
    fn work(url: &str, plan: Plan, report: Report) -> impl Future<Output = Fallible<Self::Worker>> + Send;

    /// Has a worker look for jobs, as a program does that adds a job and executes jobs, unless the database does it.
    fn wake(worker: &Self::Worker);

    /// Waits for the jobs that a worker has, and ends it.
    fn stop(worker: Self::Worker) -> impl Future<Output = ()> + Send;
}

/// The settings of a worker.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The name, which is different for each.
    pub name: String,
    /// The number of jobs that it executes at a time.
    pub slots: u32,
    /// The time that each job takes.
    pub work: Duration,
    /// The time after which others take its jobs.
    pub periods: Periods,
    /// Whether it stops a job when its lease has ended by its own clock, if the subject can.
    pub obeys: bool,
    /// Whether it reports that ends were stored, which costs some subjects a read.
    pub confirms: bool,
    /// Whether it executes no jobs, but does what one of the workers has to do.
    pub is_idle: bool,
}

/// The periods of leases and of what follows from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Periods {
    /// Those that each subject has without settings.
    Default,
    /// A job can be taken after this time without a sign of its worker. Signs of life, searches for lost jobs and elections come
    /// three times as often.
    Lease(Duration),
}

/// An event in the life of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Its work began.
    Started,
    /// Its work has ended.
    Ended,
    /// Its work has ended, and the worker knew that it should have stopped.
    EndedLate,
    /// Its work was stopped, because the lease had ended.
    Stopped,
    /// Its end is stored.
    Stored,
    /// Its end was refused.
    Refused,
}

/// A report of a worker about a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// The event.
    pub what: What,
    /// The number of the job.
    pub number: u64,
}

/// Takes the notices of a worker.
pub type Report = Arc<dyn Fn(Notice) + Send + Sync>;

impl Plan {
    /// Creates the plan of a worker for jobs that take no time, with the default periods.
    pub fn new(name: &str, slots: u32) -> Self {
        Self {
            name: name.to_owned(),
            slots,
            work: Duration::ZERO,
            periods: Periods::Default,
            obeys: true,
            confirms: false,
            is_idle: false,
        }
    }

    /// Returns the number of connections, which is the same for all subjects.
    pub fn connections(&self) -> u32 {
        self.slots + 4
    }
}

const NAMES: &[(What, &str)] = &[
    (What::Started, "started"),
    (What::Ended, "ended"),
    (What::EndedLate, "ended-late"),
    (What::Stopped, "stopped"),
    (What::Stored, "stored"),
    (What::Refused, "refused"),
];

/// The line in which a worker in another process reports.
impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(what, _)| *what == self.what);
        write!(f, "{} {}", name.map_or("", |(_, name)| name), self.number)
    }
}

impl FromStr for Notice {
    type Err = Box<dyn Error + Send + Sync>;

    fn from_str(line: &str) -> Fallible<Self> {
        let unknown = || format!("a worker has printed an unknown line: {line}");
        let (name, number) = line.split_once(' ').ok_or_else(unknown)?;
        let found = NAMES.iter().find(|(_, known)| *known == name).ok_or_else(unknown)?;
        Ok(Self {
            what: found.0,
            number: number.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_read_as_they_were_printed() {
        for (what, _) in NAMES {
            let notice = Notice { what: *what, number: 7 };
            assert_eq!(notice.to_string().parse::<Notice>().unwrap(), notice);
        }
        assert!("began 7".parse::<Notice>().is_err());
        assert!("started".parse::<Notice>().is_err());
    }
}
