//! The command line.

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt as _};

use crate::features::Selections;
use crate::lints::Pages;
use crate::stage::Stage;
use crate::{dist, fuzz, graph, tidy};

/// The help text, which is also printed without a command.
pub(crate) const HELP: &str = "\
Tasks of the workspace.

Usage: cargo xtask <command>

Checks; each prints a line, and the last line is `N passed, N failed`:
  ci                        what a change must pass: fmt, tidy, graph, clippy, public docs,
                            test, features (none and the default ones), deny
  quick [COMMIT]            while you work: fmt, tidy, graph, clippy, and the tests of what
                            changed since COMMIT and of what depends on it; by default since
                            the last commit that `main` of the remote has, or HEAD
  nightly                   what ci leaves out: docs with private items, each feature,
                            platforms, limits, upgrade, soak
  fmt                       formatting, by rustfmt
  tidy [NAME…] [--range A..B]
                            conventions that no compiler checks: lengths, docs, prose,
                            public API, commit messages (of the range) and others
  graph [--check] [NAME…]   floors, doors, module cycles and budgets; writes
                            docs/graph.md, or compares it with --check
  clippy                    warnings of the compiler and of clippy
  docs                      warnings of rustdoc
  test                      unit, integration and doc tests; runs every example
  features                  checks each library, and `agcore`, with each feature
  platforms                 type-checks libraries and program for Windows and macOS, if the
                            targets are installed
  limits                    compares the instructions of the benches with their limits;
                            needs valgrind
  upgrade                   lets processes of this version and of a newer one, with one more
                            migration, work with one database
  deny                      licenses, bans and sources of dependencies, by cargo-deny

Generated files:
  gen [--check]             writes the tables of features and the snapshots of the public
                            API (docs/api), or compares them with --check

Not part of ci:
  bench [NAME]              runs the benches, or those of one bench or package; `peers`
                            compares agcore with hand-written clients and async-openai,
                            `libraries` with other libraries, which takes long, and `queues`
                            the leases of runs with a job queue; needs a PostgreSQL server
  footprint                 builds a minimal agent on agcore and on other libraries, and
                            compares crates, CPU time of the build and size
  soak [FILTER]             runs the tests with more cases (AGCORE_SOAK=1)
  fuzz [TARGET] [--seconds N]
                            runs the fuzz targets, or one of them, for a minute each by
                            default; needs a C++ compiler
  sdk-types                 validates request bodies against the types of the vendors;
                            installs their Python packages into the target folder
  mcp-conformance           runs the official conformance suite of MCP on our server and client;
                            installs it from npm into the target folder
  agui-schemas              validates AG-UI events with the packages of AG-UI for TypeScript and
                            Python, of 1.0 and 0.x; installs them into the target folder
  mcp-sdks                  runs our MCP server and client with the TypeScript and Python SDKs
                            and the reference servers; installs them into the target folder
  pgvector                  runs the tests of indexes on a PostgreSQL server with the extension
                            pgvector; installs it into the target folder
  agui-clients              runs conversations of these packages with `agcore serve`
  acp-clients               drives `agcore acp` with the clients of the Agent Client Protocol of npm and PyPI
  otel-collector            compares the spans and metrics of `agcore serve` with the names that
                            OpenTelemetry publishes; installs its packages into the target folder
  openai-clients            runs conversations of the packages of OpenAI for Python and Node, and of
                            LiteLLM, with `agcore serve`; installs them into the target folder
  ui-clients                runs chats of the package `ai` of npm, versions 5 to 7, with
                            `agcore serve`; installs them into the target folder
  web-clients               uses the pages of examples/web in Chromium, among them one with
                            CopilotKit; installs their packages into the target folder
  api-fuzz                  sends random requests to `agcore serve`, made by schemathesis from
                            its OpenAPI document; installs it into the target folder

  catalog [LITELLM SECOND]  composes the models and prices that agcore-catalog ships, from the wheels of LiteLLM
                            and genai-prices; without them, installs these into the target folder

  dist [--profile NAME]     builds the program for a release, static if this machine can do that, and
                            writes an archive with manual pages, completions, licenses and checksums
  book                      writes the guide and the reference as HTML, with mdBook, and checks the links

  help                      prints this text

Exit status: 0 on success, 1 if something failed, 2 for a wrong command line.";

/// A parsed command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Ci,
    Quick { since: Option<String> },
    Nightly,
    Stage(Stage),
    Bench { name: Option<String> },
    Soak { filter: Option<String> },
    Footprint,
    Dist { profile: String },
    Book,
    SdkTypes,
    ApiFuzz,
    McpConformance,
    AguiSchemas,
    McpSdks,
    AguiClients,
    AcpClients,
    OtelCollector,
    OpenAiClients,
    UiClients,
    WebClients,
    Pgvector,
    Catalog { wheels: Vec<PathBuf> },
    Fuzz { target: Option<String>, time: Duration },
}

/// Parses the arguments after the program's name.
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
            Arg::Long("profile") => rest.profile = Some(parser.value()?.string()?),
            Arg::Long("range") => rest.range = Some(parser.value()?.string()?),
            Arg::Value(value) if command.is_none() => command = Some(value.into_string()?),
            Arg::Value(value) => rest.words.push(value.into_string()?),
            _ => return Err(argument.unexpected()),
        }
    }
    match command {
        Some(command) => by_name(&command, rest),
        None => rest.nothing().map(|()| Command::Help),
    }
}

/// The arguments after the command. Each command removes the ones that it accepts; any others are an error.
#[derive(Debug, Default)]
struct Rest {
    check: bool,
    /// Not zero, which means no limit to libFuzzer.
    seconds: Option<NonZeroU64>,
    profile: Option<String>,
    range: Option<String>,
    words: Vec<String>,
}

impl Rest {
    /// Returns the words, after rejecting the remaining options.
    fn words(self) -> Result<Vec<String>, lexopt::Error> {
        if self.check {
            return Err("--check is only valid for `graph` and `gen`".into());
        }
        if self.seconds.is_some() {
            return Err("--seconds is only valid for `fuzz`".into());
        }
        if self.profile.is_some() {
            return Err("--profile is only valid for `dist`".into());
        }
        if self.range.is_some() {
            return Err("--range is only valid for `tidy`".into());
        }
        Ok(self.words)
    }

    fn nothing(self) -> Result<(), lexopt::Error> {
        self.at_most_one().and_then(|word| match word {
            Some(word) => Err(format!("unexpected argument `{word}`").into()),
            None => Ok(()),
        })
    }

    fn at_most_one(self) -> Result<Option<String>, lexopt::Error> {
        let mut words = self.words()?.into_iter();
        let first = words.next();
        match words.next() {
            Some(word) => Err(format!("unexpected argument `{word}`").into()),
            None => Ok(first),
        }
    }
}

/// Returns a command that takes no arguments and is not a stage.
fn alone(command: &str) -> Option<Command> {
    Some(match command {
        "book" => Command::Book,
        "footprint" => Command::Footprint,
        "mcp-conformance" => Command::McpConformance,
        "api-fuzz" => Command::ApiFuzz,
        "agui-clients" => Command::AguiClients,
        "acp-clients" => Command::AcpClients,
        "otel-collector" => Command::OtelCollector,
        "openai-clients" => Command::OpenAiClients,
        "ui-clients" => Command::UiClients,
        "agui-schemas" => Command::AguiSchemas,
        "pgvector" => Command::Pgvector,
        "mcp-sdks" => Command::McpSdks,
        "sdk-types" => Command::SdkTypes,
        "help" => Command::Help,
        "ci" => Command::Ci,
        "nightly" => Command::Nightly,
        "web-clients" => Command::WebClients,
        _ => return None,
    })
}

fn by_name(command: &str, mut rest: Rest) -> Result<Command, lexopt::Error> {
    if let Some(command) = alone(command) {
        return rest.nothing().map(|()| command);
    }
    let stage = match command {
        "graph" => {
            let check = std::mem::take(&mut rest.check);
            let only = names_of_checks(rest.words()?, &graph::names())?;
            return Ok(Command::Stage(Stage::Graph { check, only }));
        }
        "tidy" => {
            let range = rest.range.take();
            let only = names_of_checks(rest.words()?, &tidy::names())?;
            return Ok(Command::Stage(Stage::Tidy { only, range }));
        }
        "gen" => {
            let check = std::mem::take(&mut rest.check);
            return rest.nothing().map(|()| Command::Stage(Stage::Generate { check }));
        }
        "bench" => return rest.at_most_one().map(|name| Command::Bench { name }),
        "soak" => return rest.at_most_one().map(|filter| Command::Soak { filter }),
        "fuzz" => {
            let seconds = rest.seconds.take().map(NonZeroU64::get);
            let time = seconds.map_or(fuzz::DEFAULT_TIME, Duration::from_secs);
            return rest.at_most_one().map(|target| Command::Fuzz { target, time });
        }
        "dist" => {
            let profile = rest.profile.take().unwrap_or_else(|| dist::PROFILE.to_owned());
            return rest.nothing().map(|()| Command::Dist { profile });
        }
        "catalog" => {
            let wheels = rest.words()?.into_iter().map(PathBuf::from).collect();
            return Ok(Command::Catalog { wheels });
        }
        "quick" => return rest.at_most_one().map(|since| Command::Quick { since }),
        "fmt" => Stage::Fmt,
        "clippy" => Stage::Clippy,
        "docs" => Stage::Docs(Pages::Both),
        "test" => Stage::Test,
        "deny" => Stage::Deny,
        "features" => Stage::Features(Selections::Each),
        "platforms" => Stage::Platforms,
        "limits" => Stage::Limits,
        "upgrade" => Stage::Upgrade,
        other => return Err(format!("unknown command `{other}`").into()),
    };
    rest.nothing().map(|()| Command::Stage(stage))
}

fn names_of_checks(words: Vec<String>, names: &[&str]) -> Result<Vec<String>, lexopt::Error> {
    match words.iter().find(|word| !names.contains(&word.as_str())) {
        Some(word) => Err(format!("unknown check `{word}`; known are: {}", names.join(", ")).into()),
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
    fn parses_commands() {
        check("", Command::Help);
        check("help", Command::Help);
        check("ci --help", Command::Help);
        check("ci", Command::Ci);
        check("nightly", Command::Nightly);
        check("quick", Command::Quick { since: None });
        let since = Some("HEAD~3".to_owned());
        check("quick HEAD~3", Command::Quick { since });
        check("deny", Command::Stage(Stage::Deny));
        check("bench", Command::Bench { name: None });
        check("limits", Command::Stage(Stage::Limits));
        check("upgrade", Command::Stage(Stage::Upgrade));
        check("footprint", Command::Footprint);
        check("book", Command::Book);
        let profile = |name: &str| Command::Dist {
            profile: name.to_owned(),
        };
        check("dist", profile("dist"));
        check("dist --profile dev", profile("dev"));
        check("sdk-types", Command::SdkTypes);
        check("pgvector", Command::Pgvector);
        let wheels = vec!["a.whl".into(), "b.whl".into()];
        check("catalog a.whl b.whl", Command::Catalog { wheels });
        check("catalog", Command::Catalog { wheels: Vec::new() });
        check("agui-schemas", Command::AguiSchemas);
        check("agui-clients", Command::AguiClients);
        check("acp-clients", Command::AcpClients);
        check("otel-collector", Command::OtelCollector);
        check("openai-clients", Command::OpenAiClients);
        check("ui-clients", Command::UiClients);
        check("web-clients", Command::WebClients);
        check("api-fuzz", Command::ApiFuzz);
        check("mcp-conformance", Command::McpConformance);
        check("mcp-sdks", Command::McpSdks);
        let filter = Some("machine".to_owned());
        check("soak machine", Command::Soak { filter });
        let (target, time) = (Some("sse".to_owned()), Duration::from_secs(5));
        check("fuzz sse --seconds 5", Command::Fuzz { target, time });
        let time = fuzz::DEFAULT_TIME;
        check("fuzz", Command::Fuzz { target: None, time });
    }

    #[test]
    fn parses_names_of_checks_and_options() {
        let only = vec!["doors".to_owned()];
        check(
            "graph doors --check",
            Command::Stage(Stage::Graph { check: true, only }),
        );
        let only = vec!["commits".to_owned()];
        let range = Some("HEAD~2..HEAD".to_owned());
        check(
            "tidy commits --range HEAD~2..HEAD",
            Command::Stage(Stage::Tidy { only, range }),
        );
        check("gen --check", Command::Stage(Stage::Generate { check: true }));
        assert!(
            parse_line("graph door")
                .unwrap_err()
                .starts_with("unknown check `door`; known are: floors")
        );
    }

    #[test]
    fn rejects_unknown_arguments() {
        check_error("cli", "unknown command `cli`");
        check_error("ci now", "unexpected argument `now`");
        check_error("sdk-types openai", "unexpected argument `openai`");
        check_error("bench a b", "unexpected argument `b`");
        check_error("tidy --check", "--check is only valid for `graph` and `gen`");
        check_error("soak --profile dev", "--profile is only valid for `dist`");
        check_error("graph --seconds 5", "--seconds is only valid for `fuzz`");
        check_error("fuzz --range a..b", "--range is only valid for `tidy`");
        assert!(parse_line("fuzz --seconds 0").is_err());
        check_error("fmt --fix", "invalid option '--fix'");
    }
}
