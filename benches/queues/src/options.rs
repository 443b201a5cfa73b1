//! [`Options`]: the arguments of the program.

use std::time::Duration;

use crate::subject::Fallible;

/// The number of jobs that are added and executed in a second.
pub const THROUGHPUT: &str = "throughput";

/// The time until a job starts that finds an idle worker.
pub const IDLE: &str = "idle";

/// The jobs of a worker that is killed.
pub const KILL: &str = "kill";

/// The job of a worker that is stopped for a while.
pub const PAUSE: &str = "pause";

const PARTS: [&str; 4] = [THROUGHPUT, IDLE, KILL, PAUSE];

const USAGE: &str = "usage: agcore-queues [throughput] [idle] [kill] [pause] [--rounds N] [--samples N] [--kills N] \
                     [--lease MILLIS] [--pause MILLIS] [--defaults]";

/// The arguments: names of parts, which are all of them by default, and sizes.
#[derive(Debug, Clone)]
pub struct Options {
    parts: Vec<String>,
    /// The rounds of the throughput.
    pub rounds: usize,
    /// The jobs that find an idle worker.
    pub samples: usize,
    /// The workers of each subject that are killed.
    pub kills: usize,
    /// The length of leases.
    pub lease: Duration,
    /// The time for which a worker is stopped.
    pub pause: Duration,
    /// Whether workers are killed with the default periods as well, which takes two minutes.
    pub defaults: bool,
}

impl Options {
    /// Parses the arguments of the command line.
    pub fn parse(arguments: &[String]) -> Fallible<Self> {
        let mut options = Self {
            parts: Vec::new(),
            rounds: 5,
            samples: 200,
            kills: 3,
            lease: Duration::from_secs(2),
            pause: Duration::from_secs(8),
            defaults: false,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut number = || -> Fallible<u64> {
                let number = arguments
                    .next()
                    .ok_or_else(|| format!("{argument} needs a number; {USAGE}"))?;
                Ok(number.parse()?)
            };
            match &**argument {
                "--rounds" => options.rounds = usize::try_from(number()?)?.max(1),
                "--samples" => options.samples = usize::try_from(number()?)?.max(10),
                "--kills" => options.kills = usize::try_from(number()?)?.max(1),
                "--lease" => options.lease = Duration::from_millis(number()?.max(300)),
                "--pause" => options.pause = Duration::from_millis(number()?),
                "--defaults" => options.defaults = true,
                part if PARTS.contains(&part) => options.parts.push(part.to_owned()),
                unknown => return Err(format!("unknown argument {unknown}; {USAGE}").into()),
            }
        }
        if options.pause <= options.lease {
            return Err("a worker must be stopped for longer than its lease".into());
        }
        Ok(options)
    }

    /// Returns whether a part is measured.
    pub fn has(&self, part: &str) -> bool {
        match self.parts.is_empty() {
            true => !self.defaults,
            false => self.parts.iter().any(|selected| selected == part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Fallible<Options> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&arguments)
    }

    #[test]
    fn all_parts_are_measured_unless_some_are_named() {
        assert!(PARTS.iter().all(|part| parse("").unwrap().has(part)));
        let some = parse("idle --rounds 2").unwrap();
        assert_eq!(PARTS.map(|part| some.has(part)), [false, true, false, false]);
        assert!(!parse("--defaults").unwrap().has(KILL));
    }

    #[test]
    fn wrong_arguments_are_refused() {
        assert!(parse("speed").is_err());
        assert!(parse("--rounds").is_err());
        assert!(parse("--lease 5000 --pause 4000").is_err());
    }
}
