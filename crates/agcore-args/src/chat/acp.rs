//! Arguments of `acp`.

use std::path::PathBuf;

use agcore_settings::SettingsOptions;
use agcore_workbench::permission_mode::PermissionMode;
use clap::{Parser, builder::NonEmptyStringValueParser};

use super::model_option::ModelOption;
use super::{ChatArgs, OutputFormat};
use crate::session::SessionArgs;

pub(crate) const ACP_HELP: &str = "\
An editor starts this command, and shows the turns, the questions about calls and the changes of files. Standard output contains \
lines of the protocol only; warnings and the log go to standard error. The command ends when the editor closes standard input: a turn \
that waits for an answer is suspended, and the others are cancelled.

The sessions are those of the program: what begins in an editor continues with `agcore chat --continue`, and the other way round.

A process works in one folder, that of its first session. Until you trust it with `agcore trust`, its settings and MCP servers are \
ignored, also those that the editor hands over.

Set the key with `agcore keys set` or `agcore init`; it never passes through the editor.

Examples:
  agcore acp
  agcore acp --model anthropic:claude-sonnet-4-5
  agcore acp --permission-mode acceptEdits
  agcore acp --log info

In the settings of Zed:
  {\"agent_servers\": {\"agcore\": {\"type\": \"custom\", \"command\": \"agcore\", \"args\": [\"acp\"]}}}";

/// Arguments of `acp`.
#[derive(Debug, Parser)]
pub struct AcpArgs {
    /// Answer with an agent in a file of .agcore/agents, or of agents next to your user settings, instead of the default one
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    agent: Option<String>,
    #[command(flatten)]
    settings: SettingsOptions,
    /// Parameter of the requests to the model, such as `temperature=0`; the value is JSON, or else text. Can be repeated
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = ModelOption::parse)]
    options: Vec<ModelOption>,
    /// Catalog with the prices of models; by default catalog.toml next to your user settings, if it exists
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
    /// Do not offer tools to the model
    #[arg(long)]
    no_tools: bool,
    /// The permission mode of new sessions: default, acceptEdits, plan, dontAsk or bypassPermissions
    #[arg(long, value_enum, value_name = "MODE", default_value_t = PermissionMode::Default, hide_possible_values = true)]
    permission_mode: PermissionMode,
    /// Run this tool without asking in this run: an entry as in the list `allow` of [permissions], which `ask` and `deny` override.
    /// Can be repeated
    #[arg(long, value_name = "TOOL", value_parser = NonEmptyStringValueParser::new())]
    allow: Vec<String>,
    /// Folder that the tools for files may use besides the current directory; can be repeated
    #[arg(long = "add-dir", value_name = "DIR", value_parser = NonEmptyStringValueParser::new())]
    add_dirs: Vec<String>,
    /// Do not keep the sessions after the program ends
    #[arg(long, visible_alias = "no-session-persistence")]
    ephemeral: bool,
}

impl AcpArgs {
    /// Returns the arguments of a chat with the same agent.
    pub fn into_chat(self) -> ChatArgs {
        ChatArgs {
            message: None,
            print: true,
            files: Vec::new(),
            agent: self.agent,
            session: SessionArgs {
                ephemeral: self.ephemeral,
                ..SessionArgs::default()
            },
            settings: self.settings,
            options: self.options,
            catalog: self.catalog,
            schema: None,
            record: None,
            no_tools: self.no_tools,
            permission_mode: self.permission_mode,
            yes: false,
            allow: self.allow,
            add_dirs: self.add_dirs,
            output_format: OutputFormat::Text,
            include_partial_messages: false,
            quiet: false,
            json: false,
        }
    }
}
