//! The command-line arguments.
//!
//! Each paragraph of an epilogue is a single line: clap wraps it to the window.

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
  0    success
  1    the task, the model or a tool failed
  2    invalid arguments, input or settings
  3    API key missing, rejected or lacking a permission
  4    server unreachable, or no answer in time
  130  interrupted with Ctrl-C
  141  output closed by its reader, as in `agcore chat ... | head -1`";

/// LLM agents on the command line.
#[derive(Debug, Parser)]
#[command(name = "agcore", version, after_help = HELP, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Disable colors and spinners
    #[arg(long, global = true, visible_alias = "no-colour")]
    pub(crate) no_color: bool,
    /// Log model calls, tool calls and retries to standard error; overrides AGCORE_LOG
    #[arg(long, global = true, value_enum, value_name = "LEVEL", ignore_case = true)]
    pub(crate) log: Option<LogLevel>,
}

/// The least severe level that is logged.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a demo agent with streaming, tools, an approval and memory; needs no API key and no network
    #[command(after_help = DEMO_HELP)]
    Demo,
    /// Chat with a model that can call a few tools
    #[command(after_help = CHAT_HELP)]
    Chat(ChatArgs),
    /// List, show or call the chat's tools without a model
    #[command(arg_required_else_help = true)]
    Tools {
        #[command(subcommand)]
        command: ToolsCommand,
    },
    /// List the models that a server offers
    #[command(after_help = MODELS_HELP)]
    Models(ModelsArgs),
    /// Show every setting and where it comes from; API keys are never printed
    #[command(after_help = CONFIG_HELP)]
    Config(ReportArgs),
    /// Check settings, API key, server and terminal, and suggest fixes
    #[command(after_help = DOCTOR_HELP)]
    Doctor(ReportArgs),
    /// Decode saved responses of model servers
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
Unknown settings and AGCORE_* variables produce warnings on standard error.

Examples:
  agcore config
  agcore config --provider deepseek --json";

const DOCTOR_HELP: &str = "\
Each check prints ok, warn or fail, and what to do about a problem. The server is asked for its list of models; \
no model is called, and no API key is printed.

The exit code is that of the first failed check: 2 for settings, 3 for the API key, 4 for an unreachable server, \
1 for anything else.

Examples:
  agcore doctor
  agcore doctor --provider ollama --model llama3.2
  agcore doctor --provider vllm --base-url http://gpu:8000/v1 --model my-model
  agcore doctor --json | jq '.checks[] | select(.status == \"fail\")'";

const DEMO_HELP: &str = "\
The model is a script that this process serves on 127.0.0.1; everything else is real: HTTP, streaming, tools and \
history. The demo verifies what it shows and exits with code 1 if anything did not happen.

Example:
  agcore demo";

const CHAT_HELP: &str = "\
With a single message, given as an argument or on standard input, the answer goes to standard output and everything \
else to standard error. In an interactive chat, /help lists the commands, Alt-Enter or a trailing \\ starts a new \
line, Ctrl-C cancels the turn, and Ctrl-D exits.

Examples:
  OPENAI_API_KEY=sk-... agcore chat
  agcore chat --provider anthropic --model claude-sonnet-4-5
  agcore chat --provider ollama --model llama3.2
  agcore chat --base-url http://localhost:8000/v1 --model my-model
  echo 'Why is the sky blue?' | agcore chat
  agcore chat --json 'Say hello' | jq -c .kind

Settings, highest priority first:
  1. command-line options
  2. environment variables
  3. .env in the current directory
  4. agcore.toml in the current directory, or the file named by --config
  5. defaults

Environment variables:
  AGCORE_PROVIDER       provider, such as openai or anthropic
  AGCORE_MODEL          model name
  AGCORE_BASE_URL       API base URL
  AGCORE_API_KEY        API key
  AGCORE_SYSTEM         instructions for the agent
  AGCORE_HISTORY        keep typed lines for the next chat: on or off
  OPENAI_API_KEY, ...   API key, in the variable that the vendor uses
  OPENAI_MODEL, OPENAI_BASE_URL
                        used by the OpenAI providers only

Environment variables that are ignored in .env:
  AGCORE_LOG            log level
  AGCORE_TRACE_CONTENT  include message content in spans and log: on or off
  OTEL_EXPORTER_OTLP_ENDPOINT, ...
                        the standard variables of OpenTelemetry

Settings in agcore.toml:
  provider, model, base_url, api_key, system, history, [permissions]

Tools:
  current_time, arithmetic
  read_notes, save_note  (agcore-notes.md in the current directory)

save_note asks for approval. With a single message there is no one to ask, so calls that need approval are denied \
unless --yes is given. [permissions] in agcore.toml changes the rules by tool name, pattern or permission; deny \
overrides ask, and ask overrides allow:
  [permissions]
  allow = [\"save_note\"]
  ask = [\"read_*\"]
  deny = [\"network\"]";

/// Arguments of `chat`.
#[derive(Debug, Parser)]
pub(crate) struct ChatArgs {
    /// A single message; without it, reads standard input or, at a terminal, starts an interactive chat
    pub(crate) message: Option<String>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Do not offer tools to the model
    #[arg(long)]
    pub(crate) no_tools: bool,
    /// Run tools that need approval without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print events as JSON Lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Settings that can be given on the command line, where they override all other sources.
#[derive(Debug, Default, ArgGroup)]
pub(crate) struct SettingsArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Model name
    #[arg(long, short, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// Instructions for the agent (the system prompt)
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Include message content in spans and the log
    #[arg(long)]
    pub(crate) trace_content: bool,
}

/// The server to talk to.
#[derive(Debug, Default, Clone, ArgGroup)]
pub(crate) struct ServerArgs {
    /// Provider: openai, openai-responses, anthropic, ollama, ollama-native, deepseek, qwen, vllm, llama.cpp …
    #[arg(long, short, value_name = "TYPE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) provider: Option<String>,
    /// API base URL, e.g. http://localhost:8000/v1
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
    /// Show only models whose name or owner contains TEXT, ignoring case
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Print everything that the server reports as a JSON array
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

/// The files that decide which tools may run.
#[derive(Debug, Default, Clone, ArgGroup)]
pub(crate) struct PolicyArgs {
    /// Settings file; defaults to agcore.toml in the current directory, if it exists
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// File that stores "always allow" answers; defaults to .agcore-grants.json next to the settings file
    #[arg(long, value_name = "FILE")]
    pub(crate) grants: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools, the permissions they need, and whether they may run
    #[command(after_help = LIST_HELP)]
    List(PolicyArgs),
    /// Print everything about a tool as JSON, including the schema of its arguments
    #[command(after_help = SHOW_HELP)]
    Show {
        /// Name of the tool
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
The call follows the same rules as a call made by a model: [permissions] in agcore.toml, stored \"always allow\" \
answers, and otherwise a question at the terminal. Unless both standard input and standard output are terminals, a \
call that needs approval is denied; pass --yes to allow it.

The exit code is 1 if the tool fails or the call is denied, and 2 if there is no such tool or the arguments are invalid.

Examples:
  agcore tools call current_time
  agcore tools call arithmetic '{\"operation\": \"divide\", \"a\": 1, \"b\": 3}'
  echo '{\"text\": \"buy milk\"}' | agcore tools call save_note --yes";

/// Arguments of `tools call`.
#[derive(Debug, Parser)]
pub(crate) struct CallArgs {
    /// Name of the tool
    pub(crate) name: String,
    /// Arguments as a JSON object; without it, reads standard input unless that is a terminal
    pub(crate) json: Option<String>,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
    /// Run the tool without asking for approval; calls denied by a rule stay denied
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InspectCommand {
    /// Decode wire cases and write their contents in a vendor-neutral form
    #[command(after_help = CASE_HELP)]
    Case(CaseArgs),
    /// Decode one saved response body and show its contents
    #[command(after_help = STREAM_HELP)]
    Stream(StreamArgs),
    /// List the exchanges recorded in a cassette
    #[command(after_help = CASSETTE_HELP)]
    Cassette(CassetteArgs),
}

const CASSETTE_HELP: &str = "\
A cassette is a file of recorded requests and replies. If it is damaged, the readable exchanges are listed and the \
exit code is 1. If the file is not a cassette, or comes from a newer version, the exit code is 2.

Examples:
  agcore inspect cassette tests/session.jsonl
  agcore inspect cassette tests/session.jsonl --json | jq '.exchanges[].usage'";

/// Arguments of `inspect cassette`.
#[derive(Debug, Parser)]
pub(crate) struct CassetteArgs {
    /// Cassette file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const STREAM_HELP: &str = "\
The file is a response body as saved by `curl`: server-sent events, JSON lines, or a single JSON document. If the \
response ends in an error, everything before it is shown and the exit code is 1.

Examples:
  curl -sN https://api.openai.com/v1/chat/completions ... > answer.sse
  agcore inspect stream answer.sse
  agcore inspect stream answer.sse --dialect anthropic --deltas
  agcore inspect stream answer.sse --json | jq .usage";

/// Arguments of `inspect stream`.
#[derive(Debug, Parser)]
pub(crate) struct StreamArgs {
    /// Response body; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// API that produced the body: openai-chat, openai-responses, anthropic, ollama
    #[arg(long, value_name = "NAME", default_value = "openai-chat")]
    pub(crate) dialect: String,
    /// Also show each increment and the line of the body that completed it
    #[arg(long, conflicts_with = "json")]
    pub(crate) deltas: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const CASE_HELP: &str = "\
A case is a JSON file with the members id, dialect and body, and optionally quirk, http {status, headers}, splits and \
close. The body is the text itself or, if there is a member bytes with its size, the name of a file in the same directory.

Each result is one JSON object, printed on one line or, with --out, written to DIR/<id>.json.

Cases that cannot be read or whose dialect is not supported are reported on standard error. The others are still \
processed, and the exit code is 1.

Examples:
  agcore inspect case answers/*.json --out results
  agcore inspect case odd-stream.json --mode bytes";

/// Arguments of `inspect case`.
#[derive(Debug, Parser)]
pub(crate) struct CaseArgs {
    /// Case files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Write results to this directory instead of standard output
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Size of the pieces in which the body is decoded
    #[arg(long, value_enum, default_value_t = ReadMode::Listed)]
    pub(crate) mode: ReadMode,
}

/// The size of the pieces in which the body of a case is decoded.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ReadMode {
    /// Split at the positions in the case
    Listed,
    /// All bytes at once
    Whole,
    /// One byte at a time
    Bytes,
}
