//! The command-line arguments.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::time::Duration;

use agcore_testkit::mock_server::MockOptions;
use lexopt::{Arg, Parser, ValueExt};

/// The default pace of `echo`.
pub(crate) const ECHO_PACE: Duration = Duration::from_millis(20);
/// The default pace of `slow`.
pub(crate) const SLOW_PACE: Duration = Duration::from_millis(300);

const HELP: &str = "\
agcore-mock: a mock model server on 127.0.0.1 with a scripted model.

The server implements OpenAI Chat Completions and Responses, Anthropic Messages (all under /v1), Ollama's /api/chat, Gemini's
/v1beta/models and Bedrock's /model.
It prints its base URL as the first line.

Usage: agcore-mock [OPTIONS]

Options:
  --port N              Listen on this port of 127.0.0.1, or on a free one if N is 0 (default: 0)
  --behavior NAME       Select the model (default: echo)
                          echo: echoes messages, calls the tools they mention, runs commands (send 'help')
                          demo: the model of 'agcore demo'
                          slow: like echo, at three words per second
                          tools: like echo, but calls every offered tool
  --script FILE|JSON    Play a script instead; '-' reads it from standard input
  --pace MS             Wait this many milliseconds between two pieces of a stream
  --key KEY             Reject requests without this API key with status 401
  --model NAME          Reject requests for other models with status 404; may be repeated
  --prefix PATH         Serve the /v1 APIs under this path as well; may be repeated
  --lenient             Accept requests that the vendors would reject
  --log                 Write one line per request to standard error
  --until-stdin-closes  Stop when standard input closes, so that the server does not outlive its parent process
  -h, --help            Print this help
  -V, --version         Print the version

Scripts:
  A script is a JSON object: {\"steps\": [STEP, ...], \"repeat\": true|false}. Each request is answered by the next step; with
  'repeat', the first one follows the last. A step is an answer, an error or a raw response:
    answer  \"text\", \"reasoning\", \"refusal\": strings
            \"tool_calls\": [{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}, \"id\": \"call_1\"}]; a string as
            'arguments' is sent as it is
            \"finish\": \"stop\", \"length\", \"tool_calls\", \"content_filter\"
            \"usage\": {\"input\": 9, \"output\": 3}, \"model\": \"NAME\"
    error   \"error\": {\"status\": 429, \"message\": \"slow down\", \"retry_after\": \"2\"}
    raw     \"raw\": {\"status\": 200, \"headers\": {\"content-type\": \"text/html\"}, \"body\": \"<html>\"}
  Every step may also have \"pace_ms\": 20, \"headers\": {\"name\": \"value\"} and \"faults\": [{\"cut\": {\"at\": {\"after_events\": 2},
  \"ending\": \"reset\"}}].

Examples:
  agcore-mock --port 8080 --log
  agcore-mock --behavior demo
  agcore-mock --key sk-test --model small --model large
  agcore-mock --script '{\"steps\": [{\"text\": \"Hello\", \"faults\": [{\"cut\": {\"at\": {\"after_events\": 2}, \"ending\": \"reset\"}}]}]}'
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=x agcore chat

Exit codes:
  0  the server was stopped by Ctrl-C or the end of standard input
  1  the server could not start, for example because the port is in use
  2  invalid arguments or an invalid script
  3  replies of the script were left, or requests arrived after the last one";

/// The command to run.
pub(crate) enum Command {
    /// Print this text and exit.
    Print(String),
    /// Start the server.
    Serve(Arguments),
}

/// The arguments of the server.
pub(crate) struct Arguments {
    pub(crate) options: MockOptions,
    pub(crate) model: Model,
    pub(crate) pace: Option<Duration>,
    pub(crate) log: bool,
    pub(crate) until_stdin_closes: bool,
}

/// The model to serve.
pub(crate) enum Model {
    Echo,
    Demo,
    Slow,
    Tools,
    Script(Source),
}

/// The source of a script.
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
            Self::Stdin => f.write_str("from standard input"),
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
            Arg::Long("behavior" | "behaviour") => {
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
            Arg::Long("lenient") => arguments.options = arguments.options.without_validation(),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Serve(arguments))
}

/// Sets an option of the server that takes a value.
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
            return Err(format!("unknown behavior '{name}': expected echo, demo, slow or tools").into());
        }
    })
}
