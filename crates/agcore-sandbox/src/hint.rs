//! [`Sandbox::hint`]: why a command has probably failed.

use crate::{
    policy::{Mode, Network},
    sandbox::Sandbox,
};

/// Messages about files that may not be used.
const FILES: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "eacces",
    "eperm",
    "erofs",
];

/// Messages about a network that cannot be reached.
const NETWORK: &[&str] = &[
    "network is unreachable",
    "could not resolve",
    "couldn't resolve",
    "temporary failure in name resolution",
    "name or service not known",
    "no such host",
    "enotfound",
    "eai_again",
    "enetunreach",
    "dns error",
    "failed to lookup address",
];

/// Messages about limits.
const LIMITS: &[&str] = &[
    "cannot allocate memory",
    "out of memory",
    "memory allocation of",
    "resource temporarily unavailable",
    "cannot fork",
    "retry: resource",
];

impl Sandbox {
    /// Returns why a command has probably failed, if its output looks as if the sandbox was the reason.
    ///
    /// ```
    /// # use agcore_sandbox::{Mode, Policy, Sandbox, Support};
    /// # if !Support::of_system().is_available() { return; }
    /// let sandbox = Sandbox::new(Policy::new(Mode::Workspace)).unwrap();
    /// let hint = sandbox.hint("curl: (6) Could not resolve host: example.com").unwrap();
    /// assert_eq!(hint, "the sandbox has no network");
    /// assert_eq!(sandbox.hint("error: expected `;`"), None);
    /// ```
    pub fn hint(&self, output: &str) -> Option<String> {
        if !self.is_on() {
            return None;
        }
        let output = output.to_lowercase();
        let has = |messages: &[&str]| messages.iter().any(|message| output.contains(message));
        let policy = self.policy();
        if policy.network() == Network::Off && has(NETWORK) {
            return Some("the sandbox has no network".to_owned());
        }
        if has(FILES) {
            let reads = match policy.mode() {
                Mode::Strict => "reads only the system and the workspace, and ",
                _ => "",
            };
            return Some(format!(
                "the sandbox {reads}writes only the workspace and a temporary folder"
            ));
        }
        let limits = policy.limits();
        let is_limited = limits.processes.is_some() || limits.memory.is_some();
        (is_limited && has(LIMITS)).then(|| "the sandbox limits processes and memory".to_owned())
    }
}
