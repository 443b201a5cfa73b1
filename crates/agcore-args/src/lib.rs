//! The command line of the program `agcore`: commands, options, help, completion scripts, manual pages and exit codes.
//!
//! ```rust
//! use agcore_args::{Args, Command};
//! use clap::Parser as _;
//!
//! fn main() {
//!     let args = Args::try_parse_from(["agcore", "chat", "-p", "Why is the sky blue?"]).unwrap();
//!     assert!(matches!(args.command, Command::Chat(_)));
//! }
//! ```
//!
//! The crate contains no command: it parses what a user has typed, and describes what can be typed. It is made for the program
//! `agcore`, and is used by it.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `full` | Every part is in the program. Help marks the commands of parts that it does not have. |
//! | `acp` | `agcore acp` is in the program. |
//! | `eval` | `agcore eval` is in the program. |
//! | `flow` | `agcore flow` is in the program. |
//! | `mcp` | `agcore mcp` is in the program. |
//! | `schema` | `--schema` is in the program. |
//! | `serve` | `agcore serve` is in the program. |
//! | `sqlite` | Sessions in SQLite are in the program. |
//! | `store` | The commands of the database are in the program. |
//!
//! <!-- /features -->
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    reason = "doc comments are the help that users read, in which brackets name tables of agcore.toml"
)]
#![expect(
    missing_docs,
    reason = "doc comments are the help that users read; what clap flattens or lists in one line has none"
)]

mod catalog;
mod chat;
mod cost;
mod eval;
mod flow;
mod help;
mod session;
mod sessions;
mod approvals;
mod mcp;
mod tools;
mod inspect;
mod prompt;
mod run;
mod skills;
mod setup;
mod stored;
mod serve;
mod program;
pub mod exit_code;

pub use self::{
    approvals::{ApprovalsCommand, ListApprovalsArgs},
    catalog::{CatalogCommand, CheckArgs, PriceArgs, UpdateArgs},
    chat::{ChatArgs, OutputFormat, acp::AcpArgs, model_option::ModelOption},
    cost::{CostArgs, CostGroup},
    eval::{DiffArgs, EvalArgs, EvalCommand, SuiteArgs},
    exit_code::FailureKind,
    flow::{FlowCommand, FlowDrawArgs, FlowValues, PictureFormat},
    help::missing,
    inspect::{CaseArgs, CassetteArgs, InspectCommand, ReadMode, StreamArgs},
    mcp::{McpCallArgs, McpCommand, McpDoctorArgs, McpListArgs, McpLoginArgs, McpLogoutArgs, McpServeArgs},
    program::{Args, Command, LogFormat, LogLevel},
    run::RunArgs,
    serve::{Busy, HookRequestArgs, HooksCommand, RoleName, ServeArgs, ServeCommand, TokensCommand, WorkerArgs},
    session::SessionArgs,
    sessions::{
        DeleteArgs, ExportArgs, ExportFormat, ListArgs, RenameArgs, ReplayArgs, SearchArgs, SessionsCommand, ShowArgs,
    },
    setup::{
        init::{InitArgs, NewArgs},
        keys::{DeleteKeysArgs, KeyPlace, KeysCommand, SetKeyArgs},
        reports::{ModelsArgs, ReportArgs},
        trust::TrustArgs,
    },
    skills::{AgentsCommand, ProjectArgs, SkillsCommand},
    tools::ToolsCommand,
};

pub use self::stored::{
    admin::*,
    documents::{
        CatalogDocumentCommand, ListProfilesArgs, ProfileArgs, ProfilesCommand, PutArgs, PutProfilesArgs,
        ShowCatalogArgs,
    },
    knowledge::{
        KnowledgeAddArgs, KnowledgeCommand, KnowledgeDeleteArgs, KnowledgeExportArgs, KnowledgeFilesArgs,
        KnowledgeImportArgs, KnowledgeListArgs, KnowledgeRemoveArgs, KnowledgeSearchArgs, KnowledgeShowArgs, PageArgs,
    },
    memory::{ForgetArgs, MemoryCommand, MemoryListArgs},
    quotas::*,
    schedules::*,
    store::{BackupArgs, EraseUserArgs, FileArgs, PruneArgs, StoreCommand, UserArgs},
    webhooks::*,
};
