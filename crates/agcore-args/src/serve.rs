//! Arguments of `serve`.

mod hooks;

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use agcore_settings::{SettingsOptions, listen_address};
use clap::{Args, Parser, Subcommand};

pub use self::hooks::{HookRequestArgs, HooksCommand};

pub(super) const SERVE_HELP: &str = "\
Runs continue when clients disconnect, and when the server is killed and started again. Without tokens, only clients on this \
machine are served. The sessions are those of `agcore chat`.

The table [serve] in agcore.toml sets the same, and limits and the keys of JSON Web Tokens. With AGCORE_STORE, a URL such as \
postgres://USER:PASSWORD@HOST/DATABASE, the sessions are in a database server.

One server uses a database alone; a second one is refused. For a restart without a gap, start the new server with --hand-over \
and stop the old one: the new one listens as soon as the old one has ended, and clients that reconnect miss no event.

With --role, any number of processes share a database: some accept requests (api), some execute runs (worker, or `agcore worker`), \
or each does both (all). If a worker is killed, another one continues its runs when their leases have expired, after 15 s.

The flow files in `flows/` next to your user settings, and in `.agcore/flows/` of a trusted folder, are offered beside the agent: \
`help.flow.yaml` answers at /api/v1/agent/agents/help/run.

Tools that need approval end a run with an interrupt, which clients answer. They act with the rights of this program, so with \
tokens or a proxy they are offered only with --tools.

Example:
  agcore serve --model openai:gpt-5-mini
  curl -N http://127.0.0.1:8737/api/v1/agent/run \\
    -H 'Content-Type: application/json' \\
    -d '{\"threadId\": \"t\", \"runId\": \"r\",
         \"messages\": [{\"id\": \"m\", \"role\": \"user\", \"content\": \"Hello\"}]}'";

pub(super) const WORKER_HELP: &str = "\
Any number of workers execute the runs that servers with `agcore serve --role api` accept, for example on several machines with one \
PostgreSQL (AGCORE_STORE). All processes need the same settings, agents and flows.

If a worker is killed, another one continues its runs when their leases have expired, after 15 s. When a worker is stopped with \
Ctrl-C or SIGTERM, others continue at once what it could not finish.

Example:
  export AGCORE_STORE=postgres://USER:PASSWORD@HOST/DATABASE
  agcore serve --role api --model openai:gpt-5-mini
  agcore worker --slots 16 --model openai:gpt-5-mini";

/// Arguments of `serve`.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ServeArgs {
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
    #[command(flatten)]
    pub settings: SettingsOptions,
    /// Address to listen on: IP:PORT or localhost:PORT; by default 127.0.0.1:8737
    #[arg(long, value_name = "IP:PORT", value_parser = listen_address::parse)]
    pub listen: Option<SocketAddr>,
    /// Require a token, as made by `agcore serve tokens create`; needed for other addresses than 127.0.0.1
    #[arg(long)]
    pub require_token: bool,
    /// Trust the headers X-Agcore-User and X-Agcore-Tenant of a proxy at this address; may be repeated
    #[arg(long = "trusted-proxy", value_name = "IP")]
    pub proxies: Vec<IpAddr>,
    /// Allow web pages of this origin, such as https://app.example.org; may be repeated
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub origins: Vec<String>,
    /// The handling of a run on a thread with an active run or an open question; by default, it is refused
    #[arg(long, value_enum, value_name = "POLICY")]
    pub busy: Option<Busy>,
    /// Cancel the runs that an earlier process has left, instead of continuing them; for the copy of a database
    #[arg(long)]
    pub cancel_unfinished: bool,
    /// Offer tools to the model even if clients need credentials
    #[arg(long, conflicts_with = "no_tools")]
    pub tools: bool,
    /// Offer no tools to the model
    #[arg(long)]
    pub no_tools: bool,
    /// Do not serve the console, pages for people at /console; by default they are served at addresses of this machine
    #[arg(long)]
    pub no_console: bool,
    /// Catalog with the prices of models; by default catalog.toml next to your user settings, if it exists
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<PathBuf>,
    /// If another server uses the database, wait until it has ended, and continue its runs; without it, refuse to start
    #[arg(long)]
    pub hand_over: bool,
    /// Time that runs have to end when the server is stopped, in seconds; by default 10. Others continue later
    #[arg(long, value_name = "N")]
    pub drain_seconds: Option<u64>,
    /// Share the runs of the database with other processes, and do this part of the work
    #[arg(long, value_enum, value_name = "ROLE", conflicts_with_all = ["hand_over", "cancel_unfinished"])]
    pub role: Option<RoleName>,
    #[command(flatten)]
    pub worker: WorkerOptions,
    /// Check the settings, the address and the database, report all problems, and exit
    #[arg(long)]
    pub check: bool,
}

/// Options of a process that executes runs of a database that others use as well.
#[derive(Debug, Default, Clone, Args)]
pub struct WorkerOptions {
    /// Largest number of runs that this process executes at a time when it shares the database; by default 64
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub slots: Option<u32>,
    /// Execute only runs of this tenant when the database is shared; may be repeated
    #[arg(long = "tenant", value_name = "NAME")]
    pub tenants: Vec<String>,
}

/// Arguments of `worker`.
#[derive(Debug, Parser)]
pub struct WorkerArgs {
    #[command(flatten)]
    pub settings: SettingsOptions,
    #[command(flatten)]
    pub worker: WorkerOptions,
    /// Answer /health, /ready and /metrics at this address, for those who supervise the worker; by default nowhere
    #[arg(long, value_name = "IP:PORT", value_parser = listen_address::parse)]
    pub listen: Option<SocketAddr>,
    /// Offer tools to the model; they act with the rights of this program, on behalf of all users
    #[arg(long)]
    pub tools: bool,
    /// Catalog with the prices of models; by default catalog.toml next to your user settings, if it exists
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<PathBuf>,
    /// Time that runs have to end when the worker is stopped, in seconds; by default 10. Others continue elsewhere
    #[arg(long, value_name = "N")]
    pub drain_seconds: Option<u64>,
}

impl From<WorkerArgs> for ServeArgs {
    fn from(args: WorkerArgs) -> Self {
        Self {
            command: None,
            settings: args.settings,
            listen: args.listen,
            require_token: false,
            proxies: Vec::new(),
            origins: Vec::new(),
            busy: None,
            cancel_unfinished: false,
            tools: args.tools,
            no_tools: false,
            no_console: true,
            catalog: args.catalog,
            hand_over: false,
            role: Some(RoleName::Worker),
            worker: args.worker,
            drain_seconds: args.drain_seconds,
            check: false,
        }
    }
}

/// The part of the work of a process.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RoleName {
    All,
    Api,
    Worker,
}

/// The treatment of a run on a thread with an active run.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Busy {
    Refuse,
    Queue,
    Interrupt,
}

#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Create, list or revoke the tokens of clients
    #[command(arg_required_else_help = true)]
    Tokens {
        #[command(subcommand)]
        command: TokensCommand,
    },
    /// List the hooks, with which other programs start runs, or print a request for one
    #[command(arg_required_else_help = true)]
    Hooks {
        #[command(subcommand)]
        command: Box<HooksCommand>,
    },
}

#[derive(Debug, Subcommand)]
pub enum TokensCommand {
    /// Create a token and print it; it cannot be shown again
    Create(CreateTokenArgs),
    /// List the tokens without their text
    List,
    /// Revoke a token; requests with it are refused at once
    Revoke(RevokeTokenArgs),
}

/// Arguments of `serve tokens create`.
#[derive(Debug, Parser)]
pub struct CreateTokenArgs {
    /// User on whose behalf requests are made
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub user: String,
    /// Tenant of the user
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    /// Purpose of the token, for the list
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub label: String,
}

/// Arguments of `serve tokens revoke`.
#[derive(Debug, Parser)]
pub struct RevokeTokenArgs {
    /// ID of the token, as `agcore serve tokens list` shows it
    pub id: String,
}
