//! [`Support`]: what the system offers to confine commands.

/// The mechanisms of the system that confine commands, and what does not hold without the others.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Support {
    /// Why commands cannot be confined at all, if that is so.
    pub missing: Option<String>,
    /// The version of the interface of Landlock, on Linux.
    pub landlock: Option<u32>,
    /// Whether system calls can be filtered (seccomp), on Linux.
    pub filters: bool,
    /// Why there are no user, mount and network namespaces, if that is so.
    pub namespaces: Result<(), String>,
    /// Whether commands cannot send signals to other processes.
    pub confines_signals: bool,
    /// Whether the processes of a command can be counted.
    pub limits_processes: bool,
}

impl Support {
    /// Returns whether commands can be confined.
    pub fn is_available(&self) -> bool {
        self.missing.is_none()
    }

    /// Returns the mechanisms that are used, on one line.
    pub fn parts(&self) -> String {
        let parts = [
            self.landlock.map(|version| format!("Landlock {version}")),
            self.filters.then(|| "seccomp".to_owned()),
            self.namespaces.is_ok().then(|| "namespaces".to_owned()),
            cfg!(target_os = "macos").then(|| "Seatbelt".to_owned()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns what does not hold on this system although commands are confined, one sentence for each.
    pub fn gaps(&self) -> Vec<String> {
        if !self.is_available() || cfg!(target_os = "macos") {
            return Vec::new();
        }
        let mut gaps = Vec::new();
        if let Err(reason) = &self.namespaces {
            gaps.push(format!(
                "user namespaces cannot be used ({reason}): the settings of git and agcore in the workspace are not write-protected, \
                 /tmp is not private but read-only (TMPDIR is writable), modes and times of other files can be changed, and there is no \
                 loopback interface without network"
            ));
        }
        if self.namespaces.is_err() || !self.limits_processes {
            gaps.push(match self.limits_processes {
                true => "the number of processes is not limited without user namespaces".to_owned(),
                false => {
                    "the number of processes is not limited, because the kernel does not limit those of root".to_owned()
                }
            });
        }
        if !self.confines_signals {
            gaps.push("commands can send signals to other processes of the user (Linux 6.12 confines them)".to_owned());
        }
        gaps
    }
}
