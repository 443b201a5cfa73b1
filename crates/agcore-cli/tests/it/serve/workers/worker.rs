//! [`Worker`]: a worker in a process of its own.

use std::{
    fs::File,
    process::{Child, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::Agcore;

/// A worker in a process of its own, which is killed when this is dropped.
pub(super) struct Worker(Child);

impl Worker {
    pub(super) fn start(agcore: &Agcore, log: File) -> Self {
        let mut command = agcore.command();
        // Only the models of the test use them.
        command.args(["worker", "--tools", "--slots", "4"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn();
        Self(child.unwrap())
    }

    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Returns whether this is the name of the worker in the database.
    pub(super) fn is(&self, name: &str) -> bool {
        is_name_of(name, self.id())
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Returns whether the process has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may be stopped, or may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns whether this is the name in the database of the worker with this process id.
pub(super) fn is_name_of(name: &str, process: u32) -> bool {
    let rest = name.strip_prefix("agcore worker (process ");
    let digits = rest.and_then(|rest| rest.split([' ', ')']).next());
    digits.is_some_and(|digits| digits.parse() == Ok(process))
}
