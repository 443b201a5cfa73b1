//! Limits of processes and memory.

use std::process::Command;

use agcore_sandbox::{Limits, Mode, Policy, Sandbox};

use crate::attempt::{Setup, confined, is_root, support};

/// Runs a line with limits, and returns what it wrote.
fn output(line: &str, limits: Limits, setup: Setup) -> Option<String> {
    let support = support(setup)?;
    if support.namespaces.is_err() {
        println!("skipped: processes are counted with user namespaces only");
        return None;
    }
    let policy = Policy::new(Mode::Workspace).with_limits(limits);
    let sandbox = Sandbox::with_support(policy, support).unwrap();
    let mut command: Command = confined(&sandbox, "/bin/sh".as_ref(), setup);
    let output = command.args(["-c", line]).current_dir("/").output().unwrap();
    Some(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// A user who is not root: the kernel does not count the processes of root.
fn user() -> Setup {
    if is_root() { Setup::OtherUser } else { Setup::Full }
}

#[test]
fn the_number_of_processes_is_limited() {
    let limits = Limits {
        processes: Some(8),
        memory: None,
    };
    let line = "i=0; while [ $i -lt 20 ]; do sleep 1 & i=$((i + 1)); done; echo all";
    if let Some(text) = output(line, limits, user()) {
        assert!(!text.contains("all"), "{text}");
        assert!(text.to_lowercase().contains("fork"), "{text}");
    }
    // The limit is that of each command, not that of the user.
    if let Some(text) = output("sleep 0 & wait; echo all", limits, user()) {
        assert_eq!(text, "all\n");
    }
}

#[test]
fn a_fork_bomb_ends() {
    let limits = Limits {
        processes: Some(32),
        memory: None,
    };
    // Without a limit, it would double until the machine has no processes left.
    let line = "bomb() { bomb | bomb & }; (bomb) 2>/dev/null; echo over";
    if let Some(text) = output(line, limits, user()) {
        assert!(text.contains("over") || text.to_lowercase().contains("fork"), "{text}");
    }
}

#[test]
fn the_memory_of_each_process_is_limited() {
    let limits = Limits {
        processes: None,
        memory: Some(64 << 20),
    };
    let line = "head -c 200000000 /dev/zero | tail; echo ended with $?";
    if let Some(text) = output(line, limits, Setup::Full) {
        assert!(!text.contains("ended with 0"), "{text}");
    }
    if let Some(text) = output("head -c 1000000 /dev/zero | tail -c 1 | wc -c", limits, Setup::Full) {
        assert_eq!(text.trim(), "1");
    }
}
