//! Arguments of `trust`.

use std::path::PathBuf;

use clap::Parser;

pub(crate) const TRUST_HELP: &str = "\
Until you trust a folder, its agcore.toml may only set `history`; everything \
else in it, .env, AGENTS.md and CLAUDE.md is ignored. This command shows what the files would change and asks. The \
decision is remembered with a hash of each file: after any change you are asked again.

Examples:
  agcore trust
  agcore trust --yes
  agcore trust --list
  agcore trust --revoke";

/// Arguments of `trust`.
#[derive(Debug, Parser)]
pub struct TrustArgs {
    /// Trust the current directory without asking
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    pub yes: bool,
    /// List the trusted folders
    #[arg(long, conflicts_with = "revoke")]
    pub list: bool,
    /// Stop trusting a folder; by default the current directory
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub revoke: Option<PathBuf>,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    pub json: bool,
}
