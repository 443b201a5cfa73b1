//! The profile of a policy for Seatbelt, the sandbox of macOS.

use std::path::{Path, PathBuf};

use crate::policy::{Mode, Network, Policy};

/// The folders that are readable in the mode `strict`.
const SYSTEM: &[&str] = &[
    "/Applications",
    "/Library",
    "/System",
    "/bin",
    "/dev",
    "/etc",
    "/opt",
    "/private/etc",
    "/private/var/db",
    "/private/var/select",
    "/sbin",
    "/usr",
    "/var/db",
    "/var/select",
];

/// Rules that hold in every profile. The last rule that matches an operation decides.
const BASE: &str = "\
(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow user-preference-read)
(allow ipc-posix-sem)
(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\") (global-name \"com.apple.system.logger\"))
(allow file-read-metadata)
(allow file-write-data file-ioctl (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/dtracehelper\"))
(allow file-read* (literal \"/\"))
";

/// Returns the profile.
pub(crate) fn profile(policy: &Policy, temporary: &Path) -> String {
    let mut profile = BASE.to_owned();
    let mut rule = |rule: &str, path: &Path| {
        // The kernel compares paths without links.
        let path: PathBuf = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        profile += &format!("({rule} (subpath {}))\n", quoted(&path));
    };
    match policy.mode() {
        Mode::Strict => SYSTEM.iter().for_each(|path| rule("allow file-read*", Path::new(path))),
        _ => rule("allow file-read*", Path::new("/")),
    }
    policy.hidden().for_each(|path| rule("deny file-read-data", path));
    policy.read().for_each(|path| rule("allow file-read*", path));
    for path in policy.write().chain([temporary]) {
        rule("allow file-read* file-write*", path);
    }
    // Below a folder that can be written, too.
    let is_inner = |path: &&Path| policy.write().any(|root| path.starts_with(root) && *path != root);
    policy
        .hidden()
        .filter(is_inner)
        .for_each(|path| rule("deny file-read-data file-write*", path));
    policy.protected().for_each(|path| rule("deny file-write*", path));
    if policy.network() == Network::On {
        profile += "(allow network-outbound (remote ip))\n(allow network-inbound (local ip))\n(allow system-socket)\n\
                    (allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n";
    }
    profile
}

/// Returns a path as a string of the profile.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_rules_take_back_what_earlier_ones_allow() {
        let policy = Policy::new(Mode::Workspace)
            .with_write("/w")
            .with_hidden("/srv/keys")
            .with_protected("/w/.git/hooks");
        let profile = profile(&policy, Path::new("/t"));
        let at = |text: &str| {
            profile
                .find(text)
                .unwrap_or_else(|| panic!("{text} is not in {profile}"))
        };
        assert!(at("(allow file-read* (subpath \"/\"))") < at("(deny file-read-data (subpath \"/srv/keys\"))"));
        assert!(
            at("(allow file-read* file-write* (subpath \"/w\"))")
                < at("(deny file-write* (subpath \"/w/.git/hooks\"))")
        );
        assert!(!profile.contains("network"), "{profile}");
    }

    #[test]
    fn a_path_cannot_end_its_string() {
        let policy = Policy::new(Mode::Strict).with_write("/a\") (allow default) (\"\\");
        let profile = profile(&policy, Path::new("/t"));
        assert!(
            profile.contains(r#"(subpath "/a\") (allow default) (\"\\")"#),
            "{profile}"
        );
        assert!(!profile.contains("(allow file-read* (subpath \"/\"))"), "{profile}");
    }
}
