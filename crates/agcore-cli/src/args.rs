//! The command-line arguments.
//!
//! Each paragraph of an epilogue is a single line: clap wraps it to the window.

mod settings;
mod chat;
mod tools;
mod reports;
mod inspect;
mod prompt;
mod trust;

pub(crate) use self::{
    chat::{ChatArgs, OutputFormat, PermissionMode},
    inspect::{CaseArgs, CassetteArgs, InspectCommand, ReadMode, StreamArgs},
    reports::{ModelsArgs, ReportArgs},
    settings::{PolicyArgs, SettingsArgs},
    tools::{CallArgs, ToolsCommand},
    trust::TrustArgs,
};

use std::{env, ffi::OsString};

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use self::{
    chat::CHAT_HELP,
    reports::{CONFIG_HELP, DOCTOR_HELP, MODELS_HELP},
    trust::TRUST_HELP,
};

const HELP: &str = "\
A prompt without a command opens a chat that begins with it. With -p, or if standard input or output is not a terminal, \
the prompt is answered once instead. `agcore chat --help` lists the options.

Examples:
  agcore demo
  OPENAI_API_KEY=sk-... agcore chat
  agcore 'Why is the sky blue?'
  git diff | agcore -p 'Review this change.'
  agcore tools call arithmetic '{\"operation\": \"add\", \"a\": 1, \"b\": 2}'
  agcore doctor
  agcore inspect case answers/*.json --out results

Exit codes:
  0    success
  1    the task, the model or a tool failed
  2    invalid arguments, input or settings
  3    API key missing, rejected or lacking a permission
  4    server unreachable, or no answer in time
  6    a tool call was denied because no one could be asked
  130  interrupted with Ctrl-C
  141  output closed by its reader, as in `agcore chat ... | head -1`";

const USAGE: &str = "agcore <COMMAND> [OPTIONS]
       agcore [CHAT OPTIONS] [-p] PROMPT";

/// LLM agents on the command line.
#[derive(Debug, Parser)]
#[command(name = "agcore", version, after_help = HELP, override_usage = USAGE, arg_required_else_help = true)]
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
    /// Answer one message and exit, like `agcore -p`
    #[command(after_help = CHAT_HELP)]
    Run(ChatArgs),
    /// Stands for a prompt without a command.
    #[command(hide = true, name = prompt::COMMAND, override_usage = USAGE, after_help = CHAT_HELP)]
    Prompt(ChatArgs),
    /// List, show or call the chat's tools without a model
    #[command(arg_required_else_help = true)]
    Tools {
        #[command(subcommand)]
        command: ToolsCommand,
    },
    /// Trust the settings and instructions in the files of the current directory
    #[command(after_help = TRUST_HELP)]
    Trust(TrustArgs),
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

impl Args {
    /// Parses the arguments of the process. Invalid ones, and `--help`, end it.
    #[expect(clippy::disallowed_methods, reason = "the command line is where arguments are read")]
    pub(crate) fn from_process() -> Self {
        let arguments: Vec<OsString> = env::args_os().collect();
        Self::parse_from(prompt::with_command(arguments, &Self::command()))
    }
}

const DEMO_HELP: &str = "\
The model is a script that this process serves on 127.0.0.1; everything else is real: HTTP, streaming, tools and \
history. The demo verifies what it shows and exits with code 1 if anything did not happen.

Example:
  agcore demo";
