//! [`Child`]: a process that does a job.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    process::{self, ChildStdout, Command, Stdio},
};

use super::{
    boundaries::{REPORT, Report, Stop},
    job,
    place::Place,
};

/// A process that does a job. It ends with the test, even if that panics.
pub(super) struct Child {
    process: process::Child,
    lines: BufReader<ChildStdout>,
}

impl Child {
    /// Starts the ignored test `test` of this program as a process that works at a place.
    pub(super) fn start(test: &str, place: &Place, stop: Stop) -> Self {
        let program = env::current_exe().expect("the test program has a path");
        let mut process = Command::new(program)
            .args(["--exact", test, "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(place.errors())
            .spawn()
            .expect("the test program starts");
        let lines = BufReader::new(process.stdout.take().expect("standard output is a pipe"));
        let input = process.stdin.as_mut().expect("standard input is a pipe");
        input
            .write_all(job::text(place, stop).as_bytes())
            .expect("the process reads its job");
        Self { process, lines }
    }

    /// Waits for the next report. Returns `None` if the process has ended without one.
    pub(super) fn next(&mut self) -> Option<Report> {
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line).expect("the output is text");
            if read == 0 {
                return None;
            }
            match line.trim_end().rsplit_once(REPORT) {
                Some((_, "Stopped")) => return Some(Report::Stopped),
                Some((_, "Done")) => return Some(Report::Done),
                _ => {}
            }
        }
    }

    /// Returns whether the process has ended, with its job done.
    pub(super) fn is_done(&mut self) -> bool {
        let ended = self.process.try_wait().expect("the process can be asked");
        ended.is_some() && self.next() == Some(Report::Done)
    }

    /// Kills the process (SIGKILL) and waits for its end.
    pub(super) fn kill(&mut self) {
        self.process.kill().expect("the process can be killed");
        self.process.wait().expect("the process can be awaited");
    }
}

#[cfg(unix)]
impl Child {
    /// Waits until the process is stopped, which it has reported that it will be.
    pub(super) fn wait_until_stopped(&self) {
        use rustix::process::{Pid, WaitOptions, waitpid};

        let pid = Pid::from_child(&self.process);
        let waited = waitpid(Some(pid), WaitOptions::UNTRACED).expect("the process can be awaited");
        let is_stopped = waited.is_some_and(|(_, status)| status.stopped());
        assert!(is_stopped, "the process ended instead of being stopped");
    }

    /// Continues the process.
    pub(super) fn resume(&self) {
        use rustix::process::{Pid, Signal, kill_process};

        kill_process(Pid::from_child(&self.process), Signal::CONT).expect("the process can be continued");
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The errors would be that the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
