//! [`Args`]: the command line as a whole.
//!
//! Each paragraph of an epilogue is a single line: clap wraps it to the window.

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal},
    path::PathBuf,
};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::{Shell, generate};

use crate::{
    approvals::ApprovalsCommand,
    catalog::CatalogCommand,
    chat::{
        ChatArgs,
        acp::{ACP_HELP, AcpArgs},
        chat_help,
    },
    cost::{COST_HELP, CostArgs},
    eval::{EVAL_HELP, EvalArgs},
    flow::FlowCommand,
    help::{self, USAGE, epilogue, manual::MAN_HELP, missing, option_help::with_option_help},
    inspect::InspectCommand,
    mcp::McpCommand,
    prompt,
    run::{RUN_HELP, RunArgs},
    serve::{SERVE_HELP, ServeArgs, WORKER_HELP, WorkerArgs},
    sessions::{ListArgs, SessionsCommand},
    setup::{
        init::{INIT_HELP, InitArgs, NEW_HELP, NewArgs},
        keys::KeysCommand,
        reports::{COMPLETION_HELP, CONFIG_HELP, DOCTOR_HELP, MODELS_HELP, ModelsArgs, ReportArgs, SCHEMA_HELP},
        trust::{TRUST_HELP, TrustArgs},
    },
    skills::{AgentsCommand, SkillsCommand},
    stored::{
        admin::AdminCommand, knowledge::KnowledgeCommand, memory::MemoryCommand, quotas::QuotasCommand,
        schedules::SchedulesCommand, store::StoreCommand, webhooks::WebhooksCommand,
    },
    tools::ToolsCommand,
};

/// LLM agents on the command line.
#[derive(Debug, Parser)]
#[command(name = "agcore", version, after_long_help = epilogue(), override_usage = USAGE, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
    /// Disable colors and spinners
    #[arg(long, global = true, visible_alias = "no-colour")]
    pub no_color: bool,
    /// Log calls and retries to standard error: off, error, warn, info, debug or trace; overrides AGCORE_LOG
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "LEVEL",
        ignore_case = true,
        hide_possible_values = true
    )]
    pub log: Option<LogLevel>,
    /// Form of the log: text or json
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORM",
        ignore_case = true,
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub log_format: Option<LogFormat>,
}

/// The form of the log.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

/// The least severe level that is logged.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a demo agent with streaming, tools, an approval and several turns; needs no API key and no network
    #[command(after_help = DEMO_HELP)]
    Demo {
        /// Open a chat with a scripted model instead, to try the program without a key
        #[arg(long)]
        chat: bool,
        /// Serve the scripted model to other programs instead, on this port of 127.0.0.1, until Ctrl-C
        #[arg(long, value_name = "PORT", conflicts_with = "chat")]
        serve: Option<u16>,
    },
    /// Chat with a model that can call a few tools
    #[command(after_help = chat_help())]
    Chat(ChatArgs),
    /// Make a plan for a task and carry it out
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Serve an agent over HTTP, for AG-UI clients
    #[command(after_help = SERVE_HELP)]
    Serve(Box<ServeArgs>),
    /// Run agents in an editor, with the Agent Client Protocol over standard input and output
    #[command(after_help = ACP_HELP)]
    Acp(AcpArgs),
    /// Execute runs that servers accept, together with other workers
    #[command(after_help = WORKER_HELP)]
    Worker(WorkerArgs),
    /// Manage schedules, whose runs a server starts at certain times
    #[command(arg_required_else_help = true)]
    Schedules {
        #[command(subcommand)]
        command: SchedulesCommand,
    },
    /// Manage webhooks, which a server notifies when runs end or wait for a person
    #[command(arg_required_else_help = true)]
    Webhooks {
        #[command(subcommand)]
        command: WebhooksCommand,
    },
    /// Limit what tenants and users of servers may use, and show what they have used
    #[command(arg_required_else_help = true)]
    Quotas {
        #[command(subcommand)]
        command: QuotasCommand,
    },
    /// Look after tenants, workers and dead letters of servers, and make tokens for administrators
    #[command(arg_required_else_help = true)]
    Admin {
        #[command(subcommand)]
        command: AdminCommand,
    },
    /// Run the cases of a file and report the problems, or compare two reports
    #[command(after_help = EVAL_HELP)]
    Eval(Box<EvalArgs>),
    /// Run, check or draw a flow of agents
    #[command(arg_required_else_help = true)]
    Flow {
        #[command(subcommand)]
        command: FlowCommand,
    },
    /// Open a chat that begins with a prompt, or answer the prompt once
    #[command(hide = true, name = prompt::COMMAND, override_usage = USAGE, after_help = chat_help())]
    Prompt(ChatArgs),
    /// Find or ask for a provider and an API key, and write your settings
    #[command(after_help = INIT_HELP)]
    Init(InitArgs),
    /// Store, list or delete API keys, in the keyring of the system
    #[command(arg_required_else_help = true)]
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
    },
    /// Write a small project that depends on agcore
    #[command(after_help = NEW_HELP)]
    New(NewArgs),
    /// List, show or call the chat's tools without a model
    #[command(arg_required_else_help = true)]
    Tools {
        #[command(subcommand)]
        command: ToolsCommand,
    },
    /// List, search, show, rename, export, replay or delete the sessions that are kept; without a command, list them
    Sessions {
        #[command(subcommand)]
        command: Option<SessionsCommand>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// List or answer the questions of turns that wait for approval
    #[command(arg_required_else_help = true)]
    Approvals {
        #[command(subcommand)]
        command: ApprovalsCommand,
    },
    /// List the skills that a model can read
    #[command(arg_required_else_help = true)]
    Skills {
        #[command(subcommand)]
        command: SkillsCommand,
    },
    /// List the agents in files
    #[command(arg_required_else_help = true)]
    Agents {
        #[command(subcommand)]
        command: AgentsCommand,
    },
    /// List, call or check MCP servers, or serve the program's tools to other MCP clients
    #[command(arg_required_else_help = true)]
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// Trust the settings and instructions in the files of the current directory
    #[command(after_help = TRUST_HELP)]
    Trust(TrustArgs),
    /// List the models that a server offers
    #[command(after_help = MODELS_HELP)]
    Models(ModelsArgs),
    /// Check a catalog of models, update list prices, or compute costs from prices
    #[command(arg_required_else_help = true)]
    Catalog {
        #[command(subcommand)]
        command: CatalogCommand,
    },
    /// Show what the model calls of the kept sessions cost
    #[command(after_help = COST_HELP)]
    Cost(CostArgs),
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
    /// Keep pages of a wiki and search them
    #[command(arg_required_else_help = true)]
    Knowledge {
        #[command(subcommand)]
        command: KnowledgeCommand,
    },
    /// List or delete what was remembered
    #[command(arg_required_else_help = true)]
    Memory {
        #[command(subcommand)]
        command: MemoryCommand,
    },
    /// Create, check, copy or compact a database of sessions and memory
    #[command(arg_required_else_help = true)]
    Store {
        #[command(subcommand)]
        command: StoreCommand,
    },
    /// Print the JSON Schema of a line of --output-format stream-json
    #[command(after_help = SCHEMA_HELP)]
    Schema,
    /// Print a script that completes commands and options in a shell
    #[command(after_help = COMPLETION_HELP)]
    Completion {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page of the program, or of a command
    #[command(after_help = MAN_HELP)]
    Man {
        /// The command, such as `chat` or `mcp serve`; without one, the program
        command: Vec<String>,
        /// Write the pages of the program and of all commands to a directory instead
        #[arg(long, value_name = "DIR", conflicts_with = "command")]
        dir: Option<PathBuf>,
    },
}

impl Args {
    /// Parses the arguments of the process. Invalid ones, and `--help`, end it. Without arguments, standard input is a prompt if
    /// `has_input`, which may wait for it.
    #[expect(clippy::disallowed_methods, reason = "the command line is where arguments are read")]
    pub fn from_process(has_input: impl FnOnce() -> bool) -> Self {
        let arguments: Vec<OsString> = env::args_os().collect();
        let begins_alone = || match io::stdin().is_terminal() {
            true => io::stdout().is_terminal(),
            false => has_input(),
        };
        let program = prompt::with_exec_help(Self::program(), &arguments);
        let arguments = prompt::with_command(arguments, &program, begins_alone);
        let matches = help::with_groups(program.clone()).try_get_matches_from(&arguments);
        let matches =
            matches.unwrap_or_else(|error| help::exit(&help::tip::with_tips(error, &arguments, &program), &arguments));
        Self::from_arg_matches(&matches).unwrap_or_else(|error| help::exit(&error, &arguments))
    }

    /// Returns the program, with the help of its options.
    pub(crate) fn program() -> clap::Command {
        missing::mark(with_option_help(Self::command()))
    }

    /// Returns the script that completes commands and options in a shell.
    pub fn completion(shell: Shell) -> String {
        let mut script = Vec::new();
        let mut command = prompt::without_command(Self::program());
        generate(shell, &mut command, "agcore", &mut script);
        String::from_utf8_lossy(&script).into_owned()
    }

    /// Returns the manual page of a command, in the form that `man` reads. Returns `None` if there is no such command.
    pub fn manual(path: &[String]) -> Option<String> {
        let program = Self::described();
        let mut command = &program;
        for name in path {
            command = command.find_subcommand(name)?;
        }
        Some(help::manual::page(command))
    }

    /// Returns the manual pages of the program and of all commands: the names of their files, and the pages.
    pub fn manuals() -> Vec<(String, String)> {
        help::manual::pages(&Self::described(), "agcore".to_owned())
    }

    /// Returns the program as its manual describes it: commands have their full names and the options of the program.
    fn described() -> clap::Command {
        let described = Self::program();
        let about = described.get_about().cloned().unwrap_or_default();
        let mut program = prompt::without_command(described).about(about).after_help(epilogue());
        program = program.version(env!("CARGO_PKG_VERSION"));
        program.build();
        program
    }
}

const DEMO_HELP: &str = "\
The model is a script that this process serves on 127.0.0.1; everything else is real: HTTP, streaming, tools and \
history. The demo verifies what it shows and exits with code 1 if anything did not happen.

With --chat, you write the messages yourself. The model repeats them, calls the tools that they mention (\"save a note\"), and \
fails on request; it lists its commands if you send \"help\". Tools really run in the current directory, after \
the usual questions. The chat is not saved.

With --serve, the same model answers the requests of any program that uses the Chat Completions API of OpenAI, with any key. Port 0 \
takes a free one; the base URL is printed.

Examples:
  agcore demo
  agcore demo --chat
  agcore demo --serve 8080";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit_code::exit_codes;

    #[test]
    fn the_help_and_the_documentation_list_every_exit_code() {
        let (help, page) = (epilogue(), include_str!("../../../docs/cli.md"));
        for (code, meaning) in exit_codes() {
            assert!(help.contains(&format!("\n  {code:<3}  {meaning}")), "{code}: {help}");
            assert!(
                page.contains(&format!("\n| {code} | {}", meaning.replace('|', "\\|"))),
                "{code}"
            );
        }
        let listed = |text: &str, start: &str| {
            let (_, rows) = text.split_once(start).unwrap();
            rows.lines().take_while(|line| !line.is_empty()).count()
        };
        let count = exit_codes().count();
        assert_eq!(listed(&help, "Exit codes:\n"), count);
        assert_eq!(listed(page, "| code | meaning |\n|---|---|\n"), count);
    }
}
