//! The command line's arguments.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

/// What stands under every help page.
const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the task, the model or a tool failed
  2    wrong arguments or settings
  3    no key, a wrong one, or one that may not do this
  4    the server cannot be reached, or did not answer in time
  130  cancelled with Ctrl-C";

/// LLM agents on the command line.
#[derive(Debug, Parser)]
#[command(name = "agcore", version, after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show an agent at work: streaming, tools, an approval, memory. No key and no network needed
    Demo,
    /// Talk to a model, with a few tools
    #[command(after_help = CHAT_HELP)]
    Chat(ChatArgs),
    /// Look into saved answers of model servers
    Inspect {
        #[command(subcommand)]
        command: InspectCommand,
    },
}

const CHAT_HELP: &str = "\
Examples:
  OPENAI_API_KEY=sk-... agcore chat
  agcore chat --provider ollama --model llama3.2
  agcore chat --provider vllm --base-url http://localhost:8000/v1 --model my-model
  echo 'Why is the sky blue?' | agcore chat
  agcore chat --json 'Say hello' | jq .kind

Settings, the first that is there: options, environment (AGCORE_PROVIDER, AGCORE_MODEL,
AGCORE_BASE_URL, AGCORE_API_KEY, OPENAI_MODEL, OPENAI_BASE_URL, OPENAI_API_KEY), .env, agcore.toml.

In a chat: /help lists the commands, Ctrl-C cancels a turn, Ctrl-D leaves.";

/// Arguments of `chat`.
#[derive(Debug, Parser)]
pub(crate) struct ChatArgs {
    /// One message; without it, lines of the terminal, or all of standard input
    pub(crate) message: Option<String>,
    /// Whose API: openai, deepseek, qwen, ollama, vllm, llama.cpp …
    #[arg(long, short, value_name = "TYPE")]
    pub(crate) provider: Option<String>,
    /// The model
    #[arg(long, short)]
    pub(crate) model: Option<String>,
    /// What stands before /chat/completions
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The agent's instructions
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// The settings file; agcore.toml in this folder if there is one
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
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

#[derive(Debug, Subcommand)]
pub(crate) enum InspectCommand {
    /// Decode saved answers and write what they say in a neutral form
    #[command(after_help = INSPECT_HELP)]
    Case(CaseArgs),
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
