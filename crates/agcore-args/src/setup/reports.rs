//! Arguments of `models`, `config` and `doctor`, and the help of commands that only print.

use std::path::PathBuf;

use agcore_settings::{ServerOptions, SettingsOptions};
use clap::Parser;

pub(crate) const MODELS_HELP: &str = "\
Models of a vendor are shown with the list price for a million tokens and the context window that the program knows. --listed \
shows all models whose list prices it knows, without asking a server. With --catalog, the models of a catalog are listed without asking a server: kind, context window, price per million tokens \
(the first tier), and which keys are set in the environment. Keys are never printed.

Examples:
  agcore models
  agcore models --catalog models.toml
  agcore models --filter gpt
  agcore models --listed --filter claude
  agcore models --provider ollama --json | jq '.models[].id'";

pub(crate) const CONFIG_HELP: &str = "\
Unknown settings and AGCORE_* variables produce warnings on standard error.

Examples:
  agcore config
  agcore config --provider deepseek --json";

pub(crate) const DOCTOR_HELP: &str = "\
Each check prints ok, warn or fail, and what to do about a problem. The server is asked for its list of models; \
no model is called, and no API key is printed.

The exit code is that of the first failed check: 2 for settings, 3 for the API key, 4 for an unreachable server, \
1 for anything else.

Examples:
  agcore doctor
  agcore doctor --model ollama:llama3.2
  agcore doctor --provider vllm --base-url http://gpu:8000/v1 --model my-model
  agcore doctor --json | jq '.checks[] | select(.status == \"fail\")'";

/// Arguments of `models`.
#[derive(Debug, Parser)]
pub struct ModelsArgs {
    #[command(flatten)]
    pub server: ServerOptions,
    /// List the models of a catalog in TOML or YAML
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<PathBuf>,
    /// List the models of all vendors whose prices are known, without asking a server
    #[arg(long, conflicts_with = "catalog")]
    pub listed: bool,
    /// Show only models whose name or owner contains TEXT, ignoring case
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Print everything that is known as a JSON object
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `config` and `doctor`.
#[derive(Debug, Parser)]
pub struct ReportArgs {
    #[command(flatten)]
    pub settings: SettingsOptions,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(crate) const SCHEMA_HELP: &str = "\
--output-format json prints the last of these lines alone, the one whose type is `result`. Readers must ignore types and \
members that they do not know. The version (`v`) changes only if that is not enough.

Example:
  agcore schema > agcore-output.schema.json";

pub(crate) const COMPLETION_HELP: &str = "\
Examples:
  agcore completion bash > ~/.local/share/bash-completion/completions/agcore
  agcore completion zsh > ~/.zfunc/_agcore          (with ~/.zfunc in fpath)
  agcore completion fish > ~/.config/fish/completions/agcore.fish";
