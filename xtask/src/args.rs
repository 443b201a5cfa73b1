//! The command line.

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt as _};

use crate::stage::Stage;
use crate::{fuzz, graph, tidy};

/// What `cargo xtask` prints when nothing is asked of it.
pub(crate) const HELP: &str = "\
The workspace's own tasks.

Usage: cargo xtask <command>

Checks, each counted; they end with a line `N passed, N failed`:
  ci                        all of the below, in this order
  fmt                       every file is as rustfmt writes it
  clippy                    no warning of the compiler or of clippy
  docs                      no warning of rustdoc
  test                      unit, integration and doc tests; every example runs
  graph [--check] [NAME…]   floors, doors, module circles, budgets; draws docs/graph.md
                            (--check compares it instead)
  tidy [NAME…]              module docs, READMEs, no printing, no stubs, and the like
  deny                      licences, bans and sources of dependencies, by cargo-deny
  features                  each library builds with each of its features
  fuzz, for a moment        every fuzz target runs for some seconds (as a part of ci only)

Longer runs:
  bench [NAME]              the benches, or those of one bench or package
  soak [FILTER]             the tests with their long counts (AGCORE_SOAK=1)
  fuzz [TARGET] [--seconds N]
                            the fuzz targets, or one, for a minute each unless told
                            otherwise; needs a C++ compiler
  sdk-types                 bodies of requests against the types that the vendors publish;
                            installs their Python packages into the target folder

  help                      this text

Exit status: 0 when all went well, 1 when something failed, 2 for a wrong command line.";

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Ci,
    Stage(Stage),
    Bench { name: Option<String> },
    Soak { filter: Option<String> },
    SdkTypes,
    Fuzz { target: Option<String>, time: Duration },
}

/// Reads the arguments after the program's name.
pub(crate) fn parse<I>(arguments: I) -> Result<Command, lexopt::Error>
where
    I: IntoIterator<Item = OsString>,
{
    let mut rest = Rest::default();
    let mut parser = Parser::from_args(arguments);
    let mut command = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help),
            Arg::Long("check") => rest.check = true,
            Arg::Long("seconds") => rest.seconds = Some(parser.value()?.parse()?),
            Arg::Value(value) if command.is_none() => command = Some(value.into_string()?),
            Arg::Value(value) => rest.words.push(value.into_string()?),
            _ => return Err(argument.unexpected()),
        }
    }
    match command {
        Some(command) => named(&command, rest),
        None => rest.none().map(|()| Command::Help),
    }
}

/// What stands after the command.
#[derive(Debug, Default)]
struct Rest {
    check: bool,
    /// libFuzzer takes none for no end.
    seconds: Option<NonZeroU64>,
    words: Vec<String>,
}

impl Rest {
    /// Complains of `--check`, which only `graph` knows, and of `--seconds`, which only `fuzz` knows.
    fn no_option(self) -> Result<Vec<String>, lexopt::Error> {
        if self.check {
            return Err("only `graph` knows --check".into());
        }
        if self.seconds.is_some() {
            return Err("only `fuzz` knows --seconds".into());
        }
        Ok(self.words)
    }

    fn none(self) -> Result<(), lexopt::Error> {
        self.at_most_one().and_then(|word| match word {
            Some(word) => Err(format!("unexpected argument `{word}`").into()),
            None => Ok(()),
        })
    }

    fn at_most_one(self) -> Result<Option<String>, lexopt::Error> {
        let mut words = self.no_option()?.into_iter();
        let first = words.next();
        match words.next() {
            Some(word) => Err(format!("unexpected argument `{word}`").into()),
            None => Ok(first),
        }
    }
}

fn named(command: &str, mut rest: Rest) -> Result<Command, lexopt::Error> {
    let stage = match command {
        "graph" => {
            let frozen = std::mem::take(&mut rest.check);
            let only = known(rest.no_option()?, &graph::names())?;
            return Ok(Command::Stage(Stage::Graph { frozen, only }));
        }
        "tidy" => {
            let only = known(rest.no_option()?, &tidy::names())?;
            return Ok(Command::Stage(Stage::Tidy { only }));
        }
        "bench" => return rest.at_most_one().map(|name| Command::Bench { name }),
        "soak" => return rest.at_most_one().map(|filter| Command::Soak { filter }),
        "fuzz" => {
            let seconds = rest.seconds.take().map(NonZeroU64::get);
            let time = seconds.map_or(fuzz::DEFAULT_TIME, Duration::from_secs);
            return rest.at_most_one().map(|target| Command::Fuzz { target, time });
        }
        "sdk-types" => return rest.none().map(|()| Command::SdkTypes),
        "help" => return rest.none().map(|()| Command::Help),
        "ci" => return rest.none().map(|()| Command::Ci),
        "fmt" => Stage::Fmt,
        "clippy" => Stage::Clippy,
        "docs" => Stage::Docs,
        "test" => Stage::Test,
        "deny" => Stage::Deny,
        "features" => Stage::Features,
        other => return Err(format!("there is no command `{other}`").into()),
    };
    rest.none().map(|()| Command::Stage(stage))
}

fn known(words: Vec<String>, names: &[&str]) -> Result<Vec<String>, lexopt::Error> {
    match words.iter().find(|word| !names.contains(&word.as_str())) {
        Some(word) => Err(format!("there is no check `{word}`; there are: {}", names.join(", ")).into()),
        None => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Command, String> {
        let words = line.split_whitespace().map(OsString::from);
        parse(words).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check(line: &str, expected: Command) {
        assert_eq!(parse_line(line), Ok(expected));
    }

    #[track_caller]
    fn check_error(line: &str, expected: &str) {
        assert_eq!(parse_line(line), Err(expected.to_owned()));
    }

    #[test]
    fn commands_are_known_by_name() {
        check("", Command::Help);
        check("help", Command::Help);
        check("ci --help", Command::Help);
        check("ci", Command::Ci);
        check("deny", Command::Stage(Stage::Deny));
        check("bench", Command::Bench { name: None });
        check("sdk-types", Command::SdkTypes);
        let filter = Some("machine".to_owned());
        check("soak machine", Command::Soak { filter });
        let (target, time) = (Some("sse".to_owned()), Duration::from_secs(5));
        check("fuzz sse --seconds 5", Command::Fuzz { target, time });
        let time = fuzz::DEFAULT_TIME;
        check("fuzz", Command::Fuzz { target: None, time });
    }

    #[test]
    fn graph_and_tidy_take_names_of_checks() {
        let only = vec!["doors".to_owned()];
        check(
            "graph doors --check",
            Command::Stage(Stage::Graph { frozen: true, only }),
        );
        let only = vec!["stubs".to_owned()];
        check("tidy stubs", Command::Stage(Stage::Tidy { only }));
        assert!(
            parse_line("graph door")
                .unwrap_err()
                .starts_with("there is no check `door`; there are: floors")
        );
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        check_error("cli", "there is no command `cli`");
        check_error("ci now", "unexpected argument `now`");
        check_error("sdk-types openai", "unexpected argument `openai`");
        check_error("bench a b", "unexpected argument `b`");
        check_error("tidy --check", "only `graph` knows --check");
        check_error("graph --seconds 5", "only `fuzz` knows --seconds");
        check_error("fuzz --check", "only `graph` knows --check");
        assert!(parse_line("fuzz --seconds 0").is_err());
        check_error("fmt --fix", "invalid option '--fix'");
    }
}
