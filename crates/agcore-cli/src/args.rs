//! The command line's arguments.

use std::path::PathBuf;

use clap::{Args as ArgGroup, Parser, Subcommand, ValueEnum, builder::NonEmptyStringValueParser};

const HELP: &str = "\
Examples:
  agcore demo
  OPENAI_API_KEY=sk-... agcore chat
  git diff | agcore chat --system 'Review this change.'
  agcore tools call arithmetic '{\"operation\": \"add\", \"a\": 1, \"b\": 2}'
  agcore doctor
  agcore inspect case answers/*.json --out results

Exit codes:
  0    done
  1    the task, the model or a tool failed
  2    wrong arguments, input or settings
  3    no key, a wrong one, or one that may not do this
  4    the server cannot be reached, or did not answer in time
  130  ended by Ctrl-C
  141  the reader of the output has gone (agcore chat ... | head -1)";

/// LLM agents on the command line.
#[derive(Debug, Parser)]
#[command(name = "agcore", version, after_help = HELP, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Plain text: no colours, no spinners
    #[arg(long, global = true, visible_alias = "no-color")]
    pub(crate) no_colour: bool,
    /// Write a log to standard error: models, retries, tools, with their times
    #[arg(long, global = true, value_enum, value_name = "LEVEL", ignore_case = true)]
    pub(crate) log: Option<LogLevel>,
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing, whatever AGCORE_LOG says
    Off,
    /// What failed
    Error,
    /// What may be wrong
    Warn,
    /// Calls of models and tools, and retries
    Info,
    /// More
    Debug,
    /// All
    Trace,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show an agent at work: streaming, tools, an approval, memory. No key and no network needed
    #[command(after_help = DEMO_HELP)]
    Demo,
    /// Talk to a model, with a few tools
    #[command(after_help = CHAT_HELP)]
    Chat(ChatArgs),
    /// List, show or call the tools of a chat, without a model
    #[command(arg_required_else_help = true)]
    Tools {
        #[command(subcommand)]
        command: ToolsCommand,
    },
    /// List the models of a server
    #[command(after_help = MODELS_HELP)]
    Models(ModelsArgs),
    /// Show every setting and where it came from; keys are never shown
    #[command(after_help = CONFIG_HELP)]
    Config(ReportArgs),
    /// Check settings, key, server and terminal, and say what to do
    #[command(after_help = DOCTOR_HELP)]
    Doctor(ReportArgs),
    /// Look into saved answers of model servers
    #[command(arg_required_else_help = true)]
    Inspect {
        #[command(subcommand)]
        command: InspectCommand,
    },
}

const MODELS_HELP: &str = "\
Examples:
  agcore models
  agcore models --filter gpt
  agcore models --provider ollama --json | jq '.[].id'";

const CONFIG_HELP: &str = "\
Members of the settings file and AGCORE_ variables that nobody knows are told on standard error.

Examples:
  agcore config
  agcore config --provider deepseek --json";

const DOCTOR_HELP: &str = "\
The server is asked for its list of models; no model is called, and no key is shown. Each line is ok, warn or fail; the exit
code is that of the first fail: 2 settings, 3 key, 4 server unreachable, else 1.

Examples:
  agcore doctor
  agcore doctor --provider ollama --base-url http://gpu:11434/v1 --model llama3.2
  agcore doctor --json | jq '.checks[] | select(.status == \"fail\")'";

const DEMO_HELP: &str = "\
The model is a script that runs in this process, behind a server on 127.0.0.1; everything else is real: HTTP, streaming,
tools, history. What it shows is checked, and the exit code is 1 when any of it did not happen.

Example:
  agcore demo";

const CHAT_HELP: &str = "\
Examples:
  OPENAI_API_KEY=sk-... agcore chat
  ANTHROPIC_API_KEY=sk-... agcore chat --provider anthropic --model claude-sonnet-4-5
  agcore chat --provider ollama --model llama3.2
  agcore chat --provider vllm --base-url http://localhost:8000/v1 --model my-model
  echo 'Why is the sky blue?' | agcore chat
  agcore chat --json 'Say hello' | jq .kind

Settings, the first that is there: options, environment, .env, agcore.toml, defaults.
  Variables: AGCORE_PROVIDER, AGCORE_MODEL, AGCORE_BASE_URL, AGCORE_API_KEY, AGCORE_SYSTEM, AGCORE_HISTORY
  (on or off); the vendor's own variable for its key (ANTHROPIC_API_KEY ...); for OpenAI also OPENAI_MODEL and
  OPENAI_BASE_URL. In the environment only: AGCORE_LOG, AGCORE_TRACE_CONTENT (on or off), and the variables of
  OpenTelemetry (OTEL_EXPORTER_OTLP_ENDPOINT ...).
  Members of agcore.toml: provider, model, base_url, api_key, system, history, [permissions].

Tools: current_time, arithmetic, read_notes, save_note (agcore-notes.md in this folder). Saving asks; without a terminal,
or an --yes, the answer is no. agcore.toml can say otherwise, by tools' names, patterns and permissions; deny stands over
ask over allow:
  [permissions]
  allow = [\"save_note\"]
  ask = [\"read_*\"]
  deny = [\"network\"]

In a chat: /help lists the commands, Alt-Enter or a \\ at the end begins another line, Ctrl-C cancels a turn, Ctrl-D leaves.
With one message the answer goes to standard output, everything else to standard error.";

/// Arguments of `chat`.
#[derive(Debug, Parser)]
pub(crate) struct ChatArgs {
    /// One message; without it, lines of the terminal, or all of standard input
    pub(crate) message: Option<String>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Offer no tools
    #[arg(long)]
    pub(crate) no_tools: bool,
    /// Run tools that need permission without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print events as JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// What can be set on the command line, over all other sources.
#[derive(Debug, Default, ArgGroup)]
pub(crate) struct SettingsArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// The model
    #[arg(long, short, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// The agent's instructions
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Let spans and the log hold what is said, too
    #[arg(long)]
    pub(crate) trace_content: bool,
}

/// Which server.
#[derive(Debug, Default, Clone, ArgGroup)]
pub(crate) struct ServerArgs {
    /// Whose API: openai, openai-responses, anthropic, ollama, ollama-native, deepseek, qwen, vllm, llama.cpp …
    #[arg(long, short, value_name = "TYPE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) provider: Option<String>,
    /// What stands before the API's own paths: /chat/completions, /responses, /messages, /chat
    #[arg(long, value_name = "URL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) base_url: Option<String>,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}

/// Arguments of `models`.
#[derive(Debug, Parser)]
pub(crate) struct ModelsArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Only models whose name or owner holds this, whatever the case
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Print all that the server tells as a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `config` and `doctor`.
#[derive(Debug, Parser)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where it stands which tools may run.
#[derive(Debug, Default, Clone, ArgGroup)]
pub(crate) struct PolicyArgs {
    /// The settings file; agcore.toml in this folder if there is one
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where it is kept which tools always may run; .agcore-grants.json beside the settings
    #[arg(long, value_name = "FILE")]
    pub(crate) grants: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools: what they do and need, and whether they may run
    #[command(after_help = LIST_HELP)]
    List(PolicyArgs),
    /// Show all of a tool, the schema of its arguments included, as JSON
    #[command(after_help = SHOW_HELP)]
    Show {
        /// The tool
        name: String,
        #[command(flatten)]
        policy: PolicyArgs,
    },
    /// Call a tool and print its result
    #[command(after_help = CALL_HELP)]
    Call(CallArgs),
}

const LIST_HELP: &str = "\
Examples:
  agcore tools list
  agcore tools list --config strict.toml";

const SHOW_HELP: &str = "\
Examples:
  agcore tools show save_note
  agcore tools show arithmetic | jq .parameters";

const CALL_HELP: &str = "\
A call passes the same rules as one of a model: [permissions] of agcore.toml, what was always allowed, and a question at the
terminal. Without a terminal at both standard input and output, what would be asked is denied, unless --yes is given.

The exit code is 1 when the tool failed or was denied, 2 when there is no such tool or the arguments do not fit.

Examples:
  agcore tools call current_time
  agcore tools call arithmetic '{\"operation\": \"divide\", \"a\": 1, \"b\": 3}'
  echo '{\"text\": \"buy milk\"}' | agcore tools call save_note --yes";

/// Arguments of `tools call`.
#[derive(Debug, Parser)]
pub(crate) struct CallArgs {
    /// The tool
    pub(crate) name: String,
    /// Its arguments, a JSON object; without it, standard input where that is no terminal, else none
    pub(crate) json: Option<String>,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Run it without asking; what is denied stays denied
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InspectCommand {
    /// Decode saved answers and write what they say in a neutral form
    #[command(after_help = INSPECT_HELP)]
    Case(CaseArgs),
    /// Decode one saved body, a stream or a whole answer, and show what it says
    #[command(after_help = STREAM_HELP)]
    Stream(StreamArgs),
    /// List the exchanges of a cassette: recorded requests and replies
    #[command(after_help = CASSETTE_HELP)]
    Cassette(CassetteArgs),
}

const CASSETTE_HELP: &str = "\
A damaged cassette is listed as far as it can be read; the exit code is 1 then. What is no cassette, or one of a newer version,
is 2.

Examples:
  agcore inspect cassette tests/session.jsonl
  agcore inspect cassette tests/session.jsonl --json | jq '.exchanges[].usage'";

/// Arguments of `inspect cassette`.
#[derive(Debug, Parser)]
pub(crate) struct CassetteArgs {
    /// The cassette
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const STREAM_HELP: &str = "\
The file is the body of an answer as `curl` saves it: server-sent events, lines of JSON, or one JSON document. An answer that
ends in an error is shown as far as it goes; the exit code is 1 then.

Examples:
  curl -sN https://api.openai.com/v1/chat/completions ... > answer.sse && agcore inspect stream answer.sse
  agcore inspect stream answer.sse --dialect anthropic --deltas
  agcore inspect stream answer.sse --json | jq .usage";

/// Arguments of `inspect stream`.
#[derive(Debug, Parser)]
pub(crate) struct StreamArgs {
    /// The body; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The API that it was made by: openai-chat, openai-responses, anthropic, ollama
    #[arg(long, value_name = "NAME", default_value = "openai-chat")]
    pub(crate) dialect: String,
    /// Show each increment of the answer, too, with the line of the body that ended it
    #[arg(long, conflicts_with = "json")]
    pub(crate) deltas: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const INSPECT_HELP: &str = "\
A case is a JSON file: id, dialect, quirk, http {status, headers}, body (a file beside it for a stream,
else the text itself), splits, close. Each result is one JSON object: printed, a line each, or
written to DIR/<id>.json.

A case that cannot be read, or whose dialect is not built in, is named on standard error; all others
are written; the exit code is 1 then.

Examples:
  agcore inspect case answers/*.json --out results
  agcore inspect case odd-stream.json --mode bytes";

/// Arguments of `inspect case`.
#[derive(Debug, Parser)]
pub(crate) struct CaseArgs {
    /// The cases
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write results to this folder instead of standard output
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How the bytes are handed to the decoder
    #[arg(long, value_enum, default_value_t = ReadMode::Listed)]
    pub(crate) mode: ReadMode,
}

/// How the bytes of a case are handed to the decoder.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ReadMode {
    /// Cut where the case says
    Listed,
    /// All in one read
    Whole,
    /// One byte per read
    Bytes,
}
