//! Arguments of `serve hooks`.

use std::path::PathBuf;

use agcore_settings::SettingsOptions;
use clap::{Parser, Subcommand};

use crate::setup::reports::ReportArgs;

#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// List the hooks of the settings, and whether their secrets are there
    List(ReportArgs),
    /// Print a curl command that sends a signed delivery
    #[command(after_help = CURL_HELP)]
    Curl(HookRequestArgs),
}

const CURL_HELP: &str = "\
Nothing is sent. A secret that a sender signs with is not part of the command; one that is sent itself is named as a variable.

Examples:
  agcore serve hooks curl issues --file issue.json --event issues
  agcore serve hooks curl issues --file issue.json --event issues | sh";

/// Arguments of `serve hooks curl`.
#[derive(Debug, Parser)]
pub struct HookRequestArgs {
    /// ID of the hook, as `agcore serve hooks list` shows it
    pub id: String,
    /// File with the body of the delivery, as JSON
    #[arg(long, value_name = "FILE")]
    pub file: PathBuf,
    /// URL of the server
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8737")]
    pub url: String,
    /// ID of the delivery, unless it is a part of the body; by default a new one
    #[arg(long, value_name = "ID")]
    pub delivery: Option<String>,
    /// Event of GitHub, such as issues or push
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    #[command(flatten)]
    pub settings: SettingsOptions,
}
