//! `compare`: agcore beside other libraries, in alternating runs against the same server.
//!
//! Each library runs in a program of its own, so that it has only its own dependencies. The command line names them:
//! `compare [JOB]… [--program LIBRARY COMMAND [ARGUMENT]…]…`. A program gets the arguments of a client process and prints
//! the figures of one run.

use std::{
    collections::BTreeMap,
    env, process,
    time::{Duration, Instant},
};

use agcore_benches::{
    Fallible,
    figures::Figures,
    job::{Job, Suite},
    report::{Summary, short},
    run::{Place, Server, run_client},
};

/// The names of the compared jobs, with their headings.
const JOBS: [(&str, &str); 4] = [
    ("turn", "turn"),
    ("loop", "loop with three tools"),
    ("stream", "streamed chunk"),
    ("history-1000", "turn after 1000 messages"),
];

/// The number of runs of each library.
const RUNS: usize = 15;

/// The number of runs of a library that takes longer than this for one of them.
const RUNS_OF_SLOW: usize = 5;

const SLOW: Duration = Duration::from_secs(3);

/// A row of the tables.
#[derive(Debug)]
struct Library {
    /// The name on the command line and in the table. Rows with the same name have the same program.
    name: &'static str,
    /// The part of it that is measured.
    part: &'static str,
    /// The clients in the order of [`JOBS`].
    clients: [Option<&'static str>; 4],
}

/// The rows. All are compared with the first.
const LIBRARIES: &[Library] = &[
    Library {
        name: OWN,
        part: "agent",
        clients: [
            Some("session-new"),
            Some("session-new"),
            Some("events"),
            Some("session-kept"),
        ],
    },
    Library {
        name: OWN,
        part: "client",
        clients: [Some("chat"), None, Some("delta"), Some("chat")],
    },
    Library::same("async-openai", "client, loop by hand"),
    Library::same("genai", "client, loop by hand"),
    Library::same("rig", "agent"),
    Library::same("adk-rust", "agent"),
    Library::same("LangGraph", "agent, Python"),
    Library::same("pydantic-ai", "agent, Python"),
];

/// The library that this program contains in any case.
const OWN: &str = "agcore";

impl Library {
    /// A library whose client has the name of the library in all jobs.
    const fn same(name: &'static str, part: &'static str) -> Self {
        let clients = [Some(name), Some(name), Some(name), Some(name)];
        Self { name, part, clients }
    }
}

/// The commands of the libraries.
type Programs<'a> = BTreeMap<&'a str, &'a [String]>;

/// The runs of a library in a job, or why it failed.
type Outcome = Result<Summary, String>;

/// Runs what the command line asks for, and exits with status 1 if that fails.
pub fn main(suite: &Suite, arguments: &[String]) {
    if let Err(error) = compare(suite, arguments) {
        println!("\nfailed: {error}");
        process::exit(1);
    }
}

fn compare(suite: &Suite, arguments: &[String]) -> Fallible {
    let own = [env::current_exe()?.to_string_lossy().into_owned()];
    let (names, programs) = parse(arguments, &own)?;
    let compared = |name: &str| names.is_empty() || names.contains(&name);
    let mut columns = Vec::new();
    for (index, (name, heading)) in JOBS.iter().enumerate().filter(|(_, (name, _))| compared(name)) {
        let job = suite.find(name)?;
        let outcomes = outcomes(job, index, &programs)?;
        println!("{}", details(job, &outcomes));
        columns.push((*heading, outcomes));
    }
    println!("{}", overview(&columns));
    let failed = |(heading, outcomes): &(&str, Vec<Option<Outcome>>)| {
        let libraries = LIBRARIES.iter().zip(outcomes);
        let failed = libraries.filter(|(_, outcome)| matches!(outcome, Some(Err(_))));
        failed
            .map(|(library, _)| format!("{} ({heading})", library.name))
            .collect::<Vec<_>>()
    };
    let failed: Vec<String> = columns.iter().flat_map(failed).collect();
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!("some libraries could not be measured: {}", failed.join(", ")).into()),
    }
}

/// Parses the names of jobs and the commands of libraries.
fn parse<'a>(arguments: &'a [String], own: &'a [String]) -> Fallible<(Vec<&'a str>, Programs<'a>)> {
    let mut parts = arguments.split(|argument| argument == "--program");
    let names: Vec<&str> = parts.next().unwrap_or_default().iter().map(String::as_str).collect();
    if let Some(unknown) = names.iter().find(|name| JOBS.iter().all(|(job, _)| job != *name)) {
        let known = JOBS.map(|(name, _)| name).join(", ");
        return Err(format!("`{unknown}` is not compared; compared jobs: {known}").into());
    }
    let mut programs = Programs::from([(OWN, own)]);
    for part in parts {
        let (name, command) = part.split_first().ok_or("`--program` needs a library and a command")?;
        if command.is_empty() || LIBRARIES.iter().all(|library| library.name != name) {
            return Err(format!("`--program {name}` needs the name of a library and a command").into());
        }
        programs.insert(name, command);
    }
    Ok((names, programs))
}

/// Runs all libraries of a job. The runs alternate, so that other load on the machine affects all of them.
fn outcomes(job: &Job, index: usize, programs: &Programs<'_>) -> Fallible<Vec<Option<Outcome>>> {
    let place = Place::of(job)?;
    let server = Server::start(&place)?;
    let mut runs: Vec<Result<Vec<Figures>, String>> = vec![Ok(Vec::new()); LIBRARIES.len()];
    let mut limits = [RUNS; LIBRARIES.len()];
    for number in 0..RUNS {
        for ((library, runs), limit) in LIBRARIES.iter().zip(&mut runs).zip(&mut limits) {
            let client = library.clients.get(index).copied().flatten();
            let (Some(client), Some(command)) = (client, programs.get(library.name)) else {
                continue;
            };
            let Ok(earlier) = runs else { continue };
            if number >= *limit {
                continue;
            }
            let start = Instant::now();
            match run_client(command, job, client, &server, &place) {
                Ok(figures) => earlier.push(figures),
                Err(error) => *runs = Err(error.to_string()),
            }
            if start.elapsed() > SLOW {
                *limit = RUNS_OF_SLOW;
            }
        }
    }
    let outcome = |runs: Result<Vec<Figures>, String>| match runs {
        Ok(runs) if runs.is_empty() => None,
        Ok(runs) => Some(Ok(Summary::of(&runs))),
        Err(error) => Some(Err(error)),
    };
    Ok(runs.into_iter().map(outcome).collect())
}

/// Formats the table of a job. Ratios are those of the best runs, with those of the medians in parentheses.
fn details(job: &Job, outcomes: &[Option<Outcome>]) -> String {
    let mut table = format!(
        "\n## {} (`{}`)\n\n\
         | library | measured | CPU, µs per {}: best (median) | × agcore | allocations | bytes allocated | peak MiB |\n\
         |---|---|---|---|---|---|---|\n",
        job.title, job.name, job.unit
    );
    let baseline = baseline(outcomes);
    for (Library { name, part, .. }, outcome) in LIBRARIES.iter().zip(outcomes) {
        let row = match outcome {
            None => continue,
            Some(Err(error)) => format!("failed: {} | | | |", error.replace(['|', '\n'], " ")),
            Some(Ok(Summary { best, median })) => format!(
                "{} ({}) | {} | {} | {} | {}",
                short(best.cpu_us),
                short(median.cpu_us),
                baseline.map_or(String::new(), |base| format!(
                    "{} ({})",
                    short(best.cpu_us / base.best.cpu_us),
                    short(median.cpu_us / base.median.cpu_us)
                )),
                known(median.allocations),
                known(median.bytes),
                known(median.peak_mib),
            ),
        };
        table += &format!("| {name} | {part} | {row} |\n");
    }
    table
}

/// Formats the table of all jobs: the best CPU times with their ratios, and allocations and memory of the first job.
fn overview(columns: &[(&str, Vec<Option<Outcome>>)]) -> String {
    let headings: String = columns.iter().map(|(heading, _)| format!(" {heading} |")).collect();
    let first = columns.first().map_or("", |(heading, _)| heading);
    let mut table = format!(
        "\n## All jobs\n\nCPU time of the best run in µs, and its ratio to that of agcore's agent.\n\n\
         | library | measured |{headings} allocations, {first} | peak MiB, {first} |\n|---|---|{}---|---|\n",
        "---|".repeat(columns.len())
    );
    for (at, Library { name, part, .. }) in LIBRARIES.iter().enumerate() {
        let of = |outcomes: &[Option<Outcome>]| match outcomes.get(at) {
            Some(Some(Ok(summary))) => Some(*summary),
            _ => None,
        };
        if columns.iter().all(|(_, outcomes)| of(outcomes).is_none()) {
            continue;
        }
        table += &format!("| {name} | {part} |");
        for (_, outcomes) in columns {
            let cell = of(outcomes).map_or("–".to_owned(), |Summary { best, .. }| {
                let ratio = baseline(outcomes).map(|base| best.cpu_us / base.best.cpu_us);
                let ratio = ratio.map_or(String::new(), |ratio| format!(" ({} ×)", short(ratio)));
                format!("{}{ratio}", short(best.cpu_us))
            });
            table += &format!(" {cell} |");
        }
        let first = columns.first().and_then(|(_, outcomes)| of(outcomes));
        let median = first.map(|summary| summary.median);
        let figure = |of: fn(&Figures) -> f64| median.as_ref().map_or("–".to_owned(), |median| known(of(median)));
        table += &format!(
            " {} | {} |\n",
            figure(|run| run.allocations),
            figure(|run| run.peak_mib)
        );
    }
    table
}

/// Returns the runs of the library with which all others are compared.
fn baseline(outcomes: &[Option<Outcome>]) -> Option<Summary> {
    match outcomes.first() {
        Some(Some(Ok(summary))) => Some(*summary),
        _ => None,
    }
}

/// Formats a figure, if it was measured.
fn known(figure: f64) -> String {
    match figure.is_nan() {
        true => "–".to_owned(),
        false => short(figure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn run(cpu_us: f64) -> Option<Outcome> {
        let figures = Figures {
            cpu_us,
            allocations: f64::NAN,
            ..Figures::of_units(1.0)
        };
        Some(Ok(Summary::of(&[figures])))
    }

    #[test]
    fn a_command_belongs_to_the_library_before_it() {
        let (arguments, own) = (
            words("loop --program rig ./rig --program genai python -B x.py"),
            words("own"),
        );
        let (names, programs) = parse(&arguments, &own).unwrap();
        assert_eq!(names, ["loop"]);
        assert_eq!(programs["rig"], ["./rig"]);
        assert_eq!(programs["genai"], ["python", "-B", "x.py"]);
        assert_eq!(programs[OWN], ["own"]);
    }

    #[test]
    fn rejects_unknown_jobs_and_libraries() {
        for (arguments, expected) in [
            ("many", "`many` is not compared"),
            (
                "--program other ./other",
                "`--program other` needs the name of a library",
            ),
            (
                "--program rig",
                "`--program rig` needs the name of a library and a command",
            ),
            ("turn --program", "`--program` needs a library and a command"),
        ] {
            let error = parse(&words(arguments), &[]).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn the_overview_shows_what_was_measured_only() {
        let mut outcomes: Vec<Option<Outcome>> = LIBRARIES.iter().map(|_| None).collect();
        outcomes[0] = run(10.0);
        outcomes[2] = run(15.0);
        outcomes[3] = Some(Err("unexpected reply".to_owned()));
        let table = overview(&[("turn", outcomes)]);
        assert!(
            table.contains("| agcore | agent | 10.0 (1.00 ×) | – | 0.0000 |"),
            "{table}"
        );
        assert!(
            table.contains("| async-openai | client, loop by hand | 15.0 (1.50 ×) | – |"),
            "{table}"
        );
        assert!(!table.contains("genai"), "{table}");
    }

    #[test]
    fn a_failure_is_a_row_of_its_own() {
        let mut outcomes: Vec<Option<Outcome>> = LIBRARIES.iter().map(|_| None).collect();
        outcomes[4] = Some(Err("a | b\nc".to_owned()));
        let table = details(&agcore_benches::jobs::turn::JOB, &outcomes);
        assert!(table.contains("| rig | agent | failed: a   b c | | | | |"), "{table}");
    }
}
