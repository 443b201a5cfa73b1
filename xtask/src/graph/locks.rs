//! Locks: the lock files of the packages outside of the workspace list what these depend on today. Cargo reads them only when
//! someone runs the benchmarks or the fuzz targets, and refuses to build with an outdated one.

use crate::process;
use crate::report::Report;
use crate::report::check::Check;
use crate::report::finding::Finding;
use crate::workspace::Workspace;

/// The manifests beside these lock files.
const MANIFESTS: &[&str] = &[
    "benches/peers/Cargo.toml",
    "benches/queues/Cargo.toml",
    "fuzz/Cargo.toml",
];

/// The words with which cargo reports a lock file that does not match its manifest.
const OUTDATED: &str = "cannot update the lock file";

/// Checks each lock file. Without a registry, nothing is known about them.
pub(crate) fn check(workspace: &Workspace, report: &mut Report) {
    let mut findings = Vec::new();
    for manifest in MANIFESTS {
        let arguments = ["metadata", "--locked", "--format-version", "1", "--manifest-path"];
        let mut command = workspace.cargo.command(arguments);
        command.arg(workspace.root.join(manifest));
        match process::capture(&mut command) {
            Ok(output) if output.status.success() => {}
            Ok(output) => match verdict(manifest, &String::from_utf8_lossy(&output.stderr)) {
                Ok(finding) => findings.push(finding),
                Err(reason) => return report.add(&Check::skipped("locks", reason)),
            },
            Err(error) => return report.add(&Check::from_result("locks", Err(error))),
        }
    }
    report.add(&Check::new("locks", findings));
}

/// Returns the problem of the lock file, or why cargo failed.
fn verdict(manifest: &str, errors: &str) -> Result<Finding, String> {
    if !errors.contains(OUTDATED) {
        let first = errors.lines().find(|line| line.starts_with("error"));
        return Err(format!(
            "cargo cannot read {manifest}: {}",
            first.unwrap_or("without a reason")
        ));
    }
    Ok(Finding::new(
        manifest.replace(".toml", ".lock"),
        "the lock file does not list what the manifest and its path dependencies need",
        format!("`cargo metadata --manifest-path {manifest} > /dev/null` updates it"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_registry_is_not_an_outdated_lock_file() {
        let outdated = "error: cannot update the lock file fuzz/Cargo.lock because --locked was passed";
        assert!(verdict("fuzz/Cargo.toml", outdated).is_ok());
        let offline = "note: …\nerror: failed to get `serde` as a dependency";
        let reason = verdict("fuzz/Cargo.toml", offline).unwrap_err();
        assert!(
            reason.ends_with("error: failed to get `serde` as a dependency"),
            "{reason}"
        );
    }
}
