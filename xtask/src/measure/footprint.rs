//! `footprint`: what a dependency on agcore costs a small program.
//!
//! An agent with one tool is built on agcore, on rig and on adk-rust, and by hand on async-openai and genai, all with default
//! features where these suffice. The number of crates, the CPU time of the build, and the size of the program are compared.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;

use crate::measure::peers;
use crate::process;
use crate::workspace::Workspace;

/// The packages in `benches/peers/minimal`.
const PROGRAMS: &[&str] = &[
    "minimal-agcore",
    "minimal-async-openai",
    "minimal-genai",
    "minimal-rig",
    "minimal-adk-rust",
];

const OWN: &str = "minimal-agcore";

/// The profiles in which they are built: stripped, and as cargo's release profile or with thin link-time optimization.
const PROFILES: &[&str] = &["minimal", "minimal-thin-lto"];

/// The unit of CPU times in `/proc`, which Linux fixes.
const TICK: Duration = Duration::from_millis(10);

/// Builds the programs and prints a table, without those that do not build. Returns `false` if that of agcore is one of these.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<bool> {
    // Downloads are not part of the build.
    if !process::succeeds(&mut peers::cargo(workspace, "fetch", [""; 0]))? {
        return Ok(false);
    }
    let mut rows = Vec::new();
    for profile in PROFILES {
        for program in PROGRAMS {
            match Footprint::of(workspace, program, profile)? {
                Some(footprint) => rows.push(footprint.row(program, profile)),
                None if *program == OWN => return Ok(false),
                None => println!("skipped: {program} does not build with this compiler"),
            }
        }
    }
    println!("\n| program | profile | crates | with build scripts and macros | CPU seconds of the build | bytes |");
    println!("|---|---|---|---|---|---|\n{}", rows.join("\n"));
    Ok(true)
}

#[derive(Debug, Clone, Copy)]
struct Footprint {
    /// The crates that are linked, without those that only run during the build.
    linked: usize,
    built: usize,
    /// User and system time of all processes of the build. `None` where it is not known.
    cpu: Option<Duration>,
    bytes: u64,
}

impl Footprint {
    /// Builds a program in an empty target directory, which is removed afterwards. Returns `None` if that fails.
    fn of(workspace: &Workspace, program: &str, profile: &str) -> anyhow::Result<Option<Self>> {
        let target = peers::target(workspace).join("footprint");
        remove(&target)?;
        let mut build = peers::cargo(workspace, "build", ["--profile", profile, "--package", program]);
        build.env("CARGO_TARGET_DIR", &target);
        let before = cpu_of_children();
        let succeeded = process::succeeds(&mut build)?;
        let after = cpu_of_children();
        let executable = target
            .join(profile)
            .join(program)
            .with_extension(std::env::consts::EXE_EXTENSION);
        let bytes = fs::metadata(&executable).map(|data| data.len());
        remove(&target)?;
        if !succeeded {
            return Ok(None);
        }
        Ok(Some(Self {
            linked: peers::crates(workspace, program, "normal,no-proc-macro")?,
            built: peers::crates(workspace, program, "normal,build")?,
            cpu: after.zip(before).map(|(after, before)| after.saturating_sub(before)),
            bytes: bytes.with_context(|| format!("{} was not built", executable.display()))?,
        }))
    }

    fn row(&self, program: &str, profile: &str) -> String {
        let Self {
            linked,
            built,
            cpu,
            bytes,
        } = self;
        let cpu = cpu.map_or("not measured".to_owned(), |cpu| format!("{:.0}", cpu.as_secs_f64()));
        format!("| {program} | {profile} | {linked} | {built} | {cpu} | {bytes} |")
    }
}

fn remove(folder: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Returns the CPU time of all processes that this one has started and waited for, with those that they waited for.
fn cpu_of_children() -> Option<Duration> {
    ticks_of_children(&fs::read_to_string("/proc/self/stat").ok()?).map(|ticks| TICK * ticks)
}

/// Returns the fields `cutime` and `cstime`, which are the 16th and the 17th.
fn ticks_of_children(stat: &str) -> Option<u32> {
    // The second field is the name of the program, which may contain spaces and parentheses.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(13);
    let mut next = || fields.next()?.parse::<u32>().ok();
    Some(next()? + next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_cpu_time_of_children() {
        let stat = "42 (my (odd) name) S 1 42 42 0 -1 4194304 100 2000 0 0 7 8 1500 250 20 0 1 0 12345 1000 200";
        assert_eq!(ticks_of_children(stat), Some(1750));
        assert_eq!(ticks_of_children("42 (short) S 1"), None);
    }
}
