//! A sandbox for commands that models run: what they may read, write and reach is decided by the kernel, not by the text of the
//! command.
//!
//! ```rust
//! use agcore_sandbox::{Mode, Policy, Sandbox};
//!
//! # use agcore_sandbox::Support;
//! # if cfg!(not(unix)) || !Support::of_system().is_available() { return Ok(()) }
//! let sandbox = Sandbox::new(Policy::new(Mode::Workspace).with_write("/srv/project"))?;
//! let listed = sandbox.command("ls")?.arg("/").output()?;
//! assert!(listed.status.success());
//! let touched = sandbox.command("touch")?.arg("/etc/outside").output()?;
//! assert!(!touched.status.success());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! On Linux, three mechanisms work together. [`Support`] describes which of them a kernel has, and [`Support::gaps`] what does not
//! hold without one:
//!
//! | mechanism | what it does |
//! |---|---|
//! | Landlock | allows files by their place, and keeps commands from other processes: from their memory, and from signals to them |
//! | seccomp | denies system calls that lead out of a sandbox, such as `mount`, `keyctl` and `io_uring_setup`, and sockets of the Unix domain, behind which services act for the user |
//! | user, mount and network namespaces | replace `/tmp` by a private folder, write-protect files below a folder that can be written, and replace the network by a loopback interface |
//!
//! Landlock and seccomp are required. On macOS, a profile of Seatbelt does the same.
//!
//! # What a sandbox does not do
//!
//! - It does not hide the names of files, nor the command lines of other processes.
//! - It does not limit how long a command runs, how much it writes, or how many processors it uses.
//! - Programs that need sockets of the Unix domain, 32-bit programs, `sudo` and pseudoterminals do not work.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod policy;
mod support;
mod temporary;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod elsewhere;
mod sandbox;
mod hint;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
use elsewhere as system;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;

pub use self::{
    error::SandboxError,
    policy::{Limits, Mode, Network, Policy},
    sandbox::Sandbox,
    support::Support,
};
