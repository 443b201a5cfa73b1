//! The command line.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::time::Duration;

use agcore_testkit::mock_server::MockOptions;
use lexopt::{Arg, Parser, ValueExt};

/// The pace of `echo`.
pub(crate) const ECHO_PACE: Duration = Duration::from_millis(20);
/// The pace of `slow`.
pub(crate) const SLOW_PACE: Duration = Duration::from_millis(300);

const HELP: &str = "\
agcore-mock: a model server on 127.0.0.1 whose model is a script.

It speaks OpenAI Chat Completions and Responses, Anthropic Messages (all under /v1) and Ollama's /api/chat, and prints
its base URL as the first line.

Usage: agcore-mock [OPTIONS]

Options:
  --port N              listen on this port of 127.0.0.1; 0 (default) is any free one
  --behaviour NAME      echo (default): echoes, calls tools that are mentioned, knows commands (say 'help')
                        demo: the model of 'agcore demo'
                        slow: echo, three words a second
                        tools: echo, but calls every offered tool
  --script FILE|JSON    plays a script instead; '-' reads it from standard input
  --pace MS             waits so long between two pieces of a stream
  --key KEY             refuses other keys with 401
  --model NAME          serves only this model, others get 404; may be repeated
  --prefix PATH         serves the /v1 APIs under this path, too; may be repeated
  --lenient             takes requests that the vendors would refuse
  --log                 writes a line per request to standard error
  --until-stdin-closes  ends when standard input ends, so that no orphan stays behind
  -h, --help            prints this
  -V, --version         prints the version

Examples:
  agcore-mock --port 8080 --log
  agcore-mock --behaviour demo
  agcore-mock --key sk-test --model small --model large
  agcore-mock --script '{\"steps\": [{\"text\": \"Hello\", \"faults\": [{\"cut\": {\"at\": {\"after_events\": 2}, \"ending\": \"reset\"}}]}]}'
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=x agcore chat

Exit codes:
  0  served, and stopped by Ctrl-C or the end of standard input
  1  could not serve, for example because the port is taken
  2  wrong arguments or a wrong script
  3  the script had replies left, or requests came after its last reply";

/// What is asked for.
pub(crate) enum Command {
    /// Print this and end.
    Print(String),
    /// Serve.
    Serve(Arguments),
}

/// How to serve.
pub(crate) struct Arguments {
    pub(crate) options: MockOptions,
    pub(crate) model: Model,
    pub(crate) pace: Option<Duration>,
    pub(crate) log: bool,
    pub(crate) until_stdin_closes: bool,
}

/// The behaviour.
pub(crate) enum Model {
    Echo,
    Demo,
    Slow,
    Tools,
    Script(Source),
}

/// Where a script comes from.
pub(crate) enum Source {
    Inline(String),
    Stdin,
    File(OsString),
}

impl Source {
    pub(crate) fn read(&self) -> io::Result<String> {
        match self {
            Self::Inline(text) => Ok(text.clone()),
            Self::Stdin => io::read_to_string(io::stdin()),
            Self::File(path) => fs::read_to_string(path),
        }
    }
}

impl From<OsString> for Source {
    fn from(argument: OsString) -> Self {
        match argument.to_str() {
            Some("-") => Self::Stdin,
            Some(text) if text.trim_start().starts_with('{') => Self::Inline(text.to_owned()),
            _ => Self::File(argument),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline(_) => f.write_str("in the arguments"),
            Self::Stdin => f.write_str("on standard input"),
            Self::File(path) => write!(f, "'{}'", path.to_string_lossy()),
        }
    }
}

pub(crate) fn parse(mut parser: Parser) -> Result<Command, lexopt::Error> {
    let mut arguments = Arguments {
        options: MockOptions::new().without_recording(),
        model: Model::Echo,
        pace: None,
        log: false,
        until_stdin_closes: false,
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP.to_owned())),
            Arg::Short('V') | Arg::Long("version") => {
                return Ok(Command::Print(format!("agcore-mock {}", env!("CARGO_PKG_VERSION"))));
            }
            Arg::Long("log") => arguments.log = true,
            Arg::Long("until-stdin-closes") => arguments.until_stdin_closes = true,
            Arg::Long("behaviour" | "behavior") => {
                arguments.model = model(&parser.value()?.string()?)?;
            }
            Arg::Long("script") => arguments.model = Model::Script(parser.value()?.into()),
            Arg::Long("pace") => {
                arguments.pace = Some(Duration::from_millis(parser.value()?.parse()?));
            }
            Arg::Long(name @ ("port" | "key" | "model" | "prefix")) => {
                let name = name.to_owned();
                arguments.options = option(arguments.options, &name, parser.value()?)?;
            }
            Arg::Long("lenient") => arguments.options = arguments.options.without_judging(),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Serve(arguments))
}

/// The options of the server itself that take a value.
fn option(options: MockOptions, name: &str, value: OsString) -> Result<MockOptions, lexopt::Error> {
    Ok(match name {
        "port" => options.with_port(value.parse()?),
        "key" => options.with_key(value.string()?),
        "model" => options.with_model(value.string()?),
        _ => options.with_prefix(value.string()?),
    })
}

fn model(name: &str) -> Result<Model, lexopt::Error> {
    Ok(match name {
        "echo" => Model::Echo,
        "demo" => Model::Demo,
        "slow" => Model::Slow,
        "tools" => Model::Tools,
        _ => {
            return Err(format!("unknown behaviour '{name}': use echo, demo, slow or tools").into());
        }
    })
}
