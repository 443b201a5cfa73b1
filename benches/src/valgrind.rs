//! Runs clients under valgrind.
//!
//! Each client runs twice with different numbers of rounds. The difference is the cost of the rounds, without setting up and
//! warming up.

use std::{
    env, fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::{
    Fallible,
    figures::Figures,
    job::{Job, Rounds},
};

/// The line that is printed where valgrind is missing.
pub const SKIPPED: &str = "skipped: instructions: valgrind is not installed";

/// The caches of a common core: 32 KiB for instructions, 32 KiB for data, 8 MiB for both.
const CACHES: [&str; 4] = [
    "--cache-sim=yes",
    "--I1=32768,8,64",
    "--D1=32768,8,64",
    "--LL=8388608,16,64",
];

/// Counts per unit of a job.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    /// Executed instructions in user space.
    pub instructions: f64,
    /// Misses of the first-level instruction cache.
    pub i1_misses: f64,
    /// Misses of the first-level data cache.
    pub d1_misses: f64,
    /// Bytes copied by calls of `memcpy` and `memmove`. Copies that the compiler inlines are not included.
    pub copied_bytes: f64,
}

/// Returns whether valgrind is installed.
pub fn is_installed() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Returns all counts of a client.
pub fn counts(job: &Job, client: &str) -> Fallible<Counts> {
    let runs = Runs::new(job, client)?;
    let [instructions, i1_misses, d1_reads, d1_writes] = runs.events(["Ir", "I1mr", "D1mr", "D1mw"], &CACHES)?;
    Ok(Counts {
        instructions,
        i1_misses,
        d1_misses: d1_reads + d1_writes,
        copied_bytes: runs.copied_bytes()?,
    })
}

/// Returns the instructions of a client per unit of its job.
pub fn instructions(job: &Job, client: &str) -> Fallible<f64> {
    let [instructions] = Runs::new(job, client)?.events(["Ir"], &[])?;
    Ok(instructions)
}

/// The two runs of a client.
struct Runs<'a> {
    job: &'a Job,
    client: &'a str,
    rounds: Rounds,
}

impl<'a> Runs<'a> {
    fn new(job: &'a Job, client: &'a str) -> Fallible<Self> {
        let name = job.name;
        let rounds = job.rounds.ok_or_else(|| format!("`{name}` has no rounds to count"))?;
        Ok(Self { job, client, rounds })
    }

    /// Returns these events of callgrind per unit.
    fn events<const N: usize>(&self, names: [&str; N], options: &[&str]) -> Fallible<[f64; N]> {
        self.per_unit(|rounds| {
            let file = Profile::new();
            let file_option = format!("--callgrind-out-file={}", file.0.display());
            let (figures, _) = self.under("callgrind", &[options, &[&file_option]].concat(), rounds)?;
            let profile = fs::read_to_string(&file.0)?;
            let mut totals = [0.0; N];
            for (total, name) in totals.iter_mut().zip(names) {
                *total = event(&profile, name).ok_or_else(|| format!("callgrind did not count `{name}`"))?;
            }
            Ok((figures.units, totals))
        })
    }

    /// Returns the bytes that are copied per unit.
    fn copied_bytes(&self) -> Fallible<f64> {
        let [bytes] = self.per_unit(|rounds| {
            let file = Profile::new();
            let file_option = format!("--dhat-out-file={}", file.0.display());
            let (figures, summary) = self.under("dhat", &["--mode=copy", &file_option], rounds)?;
            let copied = copied(&summary).ok_or("DHAT did not report copies")?;
            Ok((figures.units, [copied]))
        })?;
        Ok(bytes)
    }

    /// Returns the difference of the totals of both runs, divided by that of their units.
    fn per_unit<const N: usize>(&self, run: impl Fn(u32) -> Fallible<(f64, [f64; N])>) -> Fallible<[f64; N]> {
        // Rounds hardly differ, and valgrind is slow.
        let rounds = (self.rounds.counted / 5).max(1);
        let (few_units, few) = run(rounds)?;
        let (many_units, many) = run(3 * rounds)?;
        Ok(std::array::from_fn(|index| {
            (many[index] - few[index]) / (many_units - few_units)
        }))
    }

    /// Runs rounds of the client under a tool. Returns what the client reports, and what valgrind writes to standard error.
    fn under(&self, tool: &str, options: &[&str], rounds: u32) -> Fallible<(Figures, String)> {
        let (job, client) = (self.job.name, self.client);
        let output = Command::new("valgrind")
            .arg(format!("--tool={tool}"))
            .args(options)
            .arg(env::current_exe()?)
            .args(["rounds", job, client, &rounds.to_string()])
            .output()
            .map_err(|error| format!("cannot start valgrind: {error}"))?;
        let report = String::from_utf8(output.stdout)?;
        let summary = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(format!("`{client}` of `{job}` failed under valgrind: {report}{summary}").into());
        }
        Ok((report.trim().parse()?, summary))
    }
}

/// The file of a profile, which is removed when this value is dropped.
struct Profile(PathBuf);

impl Profile {
    fn new() -> Self {
        Self(env::temp_dir().join(format!("agcore-bench-{}.out", std::process::id())))
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        let _missing = fs::remove_file(&self.0);
    }
}

/// Returns the total of an event in a callgrind profile.
fn event(profile: &str, name: &str) -> Option<f64> {
    let line = |key: &str| profile.lines().find_map(|line| line.strip_prefix(key));
    let at = line("events: ")?.split_whitespace().position(|event| event == name)?;
    line("totals: ")?.split_whitespace().nth(at)?.parse().ok()
}

/// Returns the number of bytes in the summary of DHAT.
fn copied(summary: &str) -> Option<f64> {
    let (_, rest) = summary.split_once("Total:")?;
    rest.split_whitespace().next()?.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_totals_of_a_profile() {
        let profile = "version: 1\nevents: Ir Dr I1mr\nsummary: 7 8 9\n\nfn=(1) main\n5 100 1\ntotals: 1000 20 30\n";
        assert_eq!(event(profile, "Ir"), Some(1000.0));
        assert_eq!(event(profile, "I1mr"), Some(30.0));
        assert_eq!(event(profile, "D1mr"), None);
        assert_eq!(event("events: Ir\n", "Ir"), None);
    }

    #[test]
    fn reads_the_bytes_in_the_summary_of_dhat() {
        let summary = "==7== DHAT\n==7== \n==7== Total:     1,234,567 bytes in 89 blocks\n==7== \n";
        assert_eq!(copied(summary), Some(1_234_567.0));
        assert_eq!(copied("==7== valgrind: no such tool"), None);
    }
}
