//! [`Job`]: a command in the background.

use std::{
    io::{self, PipeWriter},
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore_terminal::render::truncated;
use tokio::{
    process::Child,
    sync::{mpsc::Receiver, watch},
    time::{Instant, sleep_until, timeout},
};

use crate::{
    bounded_output::BoundedOutput,
    program_tools::{
        ToolFolder,
        shell::{GRACE_PERIOD, Tail, describe, start},
    },
    shell_command::Group,
};

/// The time in which a command that is stopped can end by itself.
const STOP_PERIOD: Duration = Duration::from_secs(2);

/// The longest part of a command line that messages contain, in columns.
const SHOWN: usize = 100;

/// The state of a background command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobState {
    /// It runs.
    Running,
    /// It has ended, in this way.
    Ended(String),
}

/// A background command, as shown to users.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JobInfo {
    /// The number by which it is stopped.
    pub id: u64,
    /// The command line.
    pub command: String,
    /// Whether it runs.
    pub state: JobState,
    /// How long it has run.
    pub age: Duration,
    /// The last line of its output that is not blank.
    pub last_line: String,
}

/// A command in the background.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: u64,
    /// The session whose model has started it.
    pub(super) session: String,
    pub(super) command: String,
    started: Instant,
    output: Mutex<Output>,
    order: watch::Sender<Order>,
    has_ended: watch::Sender<bool>,
}

/// Whether a command may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Run,
    /// It is asked to end, and killed if it does not.
    Stop,
    Kill,
}

#[derive(Debug, Default)]
struct Output {
    /// The part that the model has not read.
    unread: BoundedOutput,
    tail: Tail,
    end: Option<End>,
    /// Whether the model knows that the command has ended.
    is_end_known: bool,
}

/// The end of a command.
#[derive(Debug, Clone)]
struct End {
    text: String,
    age: Duration,
}

/// The processes of a command. Dropping them kills them all.
struct Processes {
    child: Child,
    group: Group,
    chunks: Receiver<Vec<u8>>,
    /// The group ends when this is closed, however the program ends.
    _lifeline: PipeWriter,
}

impl Processes {
    fn start(command: &str, outside: bool, folder: &ToolFolder) -> io::Result<Self> {
        let (reader, lifeline) = io::pipe()?;
        let place = (folder.path(), folder.kept_variables());
        let shell = folder.sandbox().supervised_shell(command, place, outside)?;
        let input = match cfg!(windows) {
            true => Stdio::null(),
            false => Stdio::from(reader),
        };
        let (child, chunks) = start(shell, input)?;
        Ok(Self {
            group: Group::of(&child),
            child,
            chunks,
            _lifeline: lifeline,
        })
    }
}

impl Job {
    /// Starts a command in a folder, and in its sandbox unless it is to run outside. Must be called within a runtime, whose end
    /// kills the command.
    ///
    /// # Errors
    /// When the shell cannot be started.
    pub(super) fn start(
        (id, session): (u64, &str),
        command: &str,
        outside: bool,
        folder: &ToolFolder,
    ) -> io::Result<Arc<Self>> {
        let processes = Processes::start(command, outside, folder)?;
        let job = Arc::new(Self {
            id,
            session: session.to_owned(),
            command: command.to_owned(),
            started: Instant::now(),
            output: Mutex::default(),
            order: watch::Sender::new(Order::Run),
            has_ended: watch::Sender::new(false),
        });
        tokio::spawn(Arc::clone(&job).follow(processes));
        Ok(job)
    }

    /// Follows the command to its end.
    async fn follow(self: Arc<Self>, mut processes: Processes) {
        let mut orders = self.order.subscribe();
        let text = tokio::select! {
            biased;
            () = ordered(&mut orders, Order::Kill) => "killed".to_owned(),
            text = self.end_of(&mut processes) => text,
        };
        // What the command has left running ends with it.
        drop(processes);
        let mut output = self.output();
        output.unread.finish();
        output.end = Some(End {
            text,
            age: self.started.elapsed(),
        });
        drop(output);
        self.has_ended.send_replace(true);
    }

    /// Collects the output until the command has ended, or was asked to end. Returns how it has ended.
    async fn end_of(&self, processes: &mut Processes) -> String {
        let mut orders = self.order.subscribe();
        let (mut status, mut is_open) = (None, true);
        let mut deadline: Option<Instant> = None;
        while is_open || status.is_none() {
            tokio::select! {
                biased;
                () = ordered(&mut orders, Order::Stop), if status.is_none() => {
                    processes.group.terminate();
                    // After that, it is killed.
                    let _ = timeout(STOP_PERIOD, self.drained(processes)).await;
                    return "stopped".to_owned();
                }
                chunk = processes.chunks.recv(), if is_open => match chunk {
                    Some(chunk) => self.output().add(&chunk),
                    None => is_open = false,
                },
                ended = processes.child.wait(), if status.is_none() => {
                    status = Some(ended);
                    deadline = Some(Instant::now() + GRACE_PERIOD);
                }
                () = until(deadline) => break,
            }
        }
        match status {
            Some(Ok(status)) => describe(status),
            Some(Err(error)) => error.to_string(),
            None => "ended".to_owned(),
        }
    }

    /// Collects the output until the shell has ended and all of it has arrived.
    async fn drained(&self, processes: &mut Processes) {
        let (mut is_running, mut is_open) = (true, true);
        while is_running || is_open {
            tokio::select! {
                biased;
                chunk = processes.chunks.recv(), if is_open => match chunk {
                    Some(chunk) => self.output().add(&chunk),
                    None => is_open = false,
                },
                _ = processes.child.wait(), if is_running => is_running = false,
            }
        }
    }

    /// Ends the command, and waits until it has ended.
    pub(super) async fn stop(&self) {
        self.order_to(Order::Stop);
        self.ended().await;
    }

    /// Kills the command.
    pub(super) fn kill(&self) {
        self.order_to(Order::Kill);
    }

    fn order_to(&self, order: Order) {
        self.order.send_replace(order);
    }

    /// Waits until the command has ended. Cancel safe.
    pub(super) async fn ended(&self) {
        let mut end = self.has_ended.subscribe();
        // It cannot fail while the job has the sender.
        let _ = end.wait_for(|has_ended| *has_ended).await;
    }

    /// Returns whether the command runs.
    pub(super) fn is_running(&self) -> bool {
        self.output().end.is_none()
    }

    /// Returns the state and the output since the last time, for the model.
    pub(super) fn read(&self) -> String {
        let mut output = self.output();
        let text = output.unread.take();
        let state = match output.end.clone() {
            Some(End { text, age }) => {
                output.is_end_known = true;
                format!("{text} after {}", time(age))
            }
            None => format!("running for {}", time(self.started.elapsed())),
        };
        match text.is_empty() {
            true => format!("{state}\nThere is no new output.\n"),
            false => format!("{state}\n{text}"),
        }
    }

    /// Describes how the command has ended, once, unless the model knows it.
    pub(super) fn take_end(&self) -> Option<String> {
        let mut output = self.output();
        let End { text, age } = output.end.clone().filter(|_| !output.is_end_known)?;
        output.is_end_known = true;
        let (id, command) = (self.id, shown(&self.command));
        Some(format!(
            "Command {id} (`{command}`) has ended: {text} after {}. `shell_output` returns its output.",
            time(age)
        ))
    }

    /// Describes the job for users.
    pub(super) fn info(&self) -> JobInfo {
        let output = self.output();
        JobInfo {
            id: self.id,
            command: self.command.clone(),
            age: output
                .end
                .as_ref()
                .map_or_else(|| self.started.elapsed(), |end| end.age),
            state: match &output.end {
                Some(end) => JobState::Ended(end.text.clone()),
                None => JobState::Running,
            },
            last_line: output.tail.last_line(),
        }
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Output {
    fn add(&mut self, chunk: &[u8]) {
        let text = self.unread.add(chunk);
        self.tail.add(&text);
    }
}

/// Returns the start of a command line, on one line.
pub(super) fn shown(command: &str) -> String {
    truncated(command.trim(), SHOWN)
}

/// Formats the time that a command took, in whole seconds: `12 s`, `3 min 5 s`, `2 h 10 min`.
pub(super) fn time(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Waits for an order. Cancel safe.
async fn ordered(orders: &mut watch::Receiver<Order>, wanted: Order) {
    // It cannot fail while the job has the sender.
    let _ = orders.wait_for(|order| *order == wanted).await;
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

impl JobInfo {
    /// Formats the command for a list: its number, state, age and command line, and the last line of its output.
    pub fn lines(&self, width: usize) -> Vec<String> {
        let state = match &self.state {
            JobState::Running => "running",
            JobState::Ended(text) => text,
        };
        let first = format!("{}  {state}, {}: {}", self.id, time(self.age), self.command.trim());
        let last = (!self.last_line.is_empty()).then(|| format!("   {}", self.last_line));
        [first]
            .into_iter()
            .chain(last)
            .map(|line| truncated(&line, width))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        let check = |seconds: u64, expected: &str| assert_eq!(time(Duration::from_secs(seconds)), expected);
        check(0, "0 s");
        check(59, "59 s");
        check(185, "3 min 5 s");
        check(7_800, "2 h 10 min");
    }

    #[test]
    fn a_list_fits_the_window_and_hides_control_characters() {
        let mut info = JobInfo {
            id: 3,
            command: " npm run\n\u{1b}[2Jdev ".to_owned(),
            state: JobState::Running,
            age: Duration::from_secs(5),
            last_line: "字".repeat(40),
        };
        let lines = info.lines(39);
        assert_eq!(lines[0], "3  running, 5 s: npm run \u{fffd}[2Jdev");
        assert!(lines[1].starts_with("   字字") && lines[1].ends_with('…'), "{lines:?}");
        info.last_line.clear();
        info.state = JobState::Ended("exit code 1".to_owned());
        assert_eq!(info.lines(20), ["3  exit code 1, 5 s…"]);
    }
}
