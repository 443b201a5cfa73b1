//! The options of a command line that override settings.

use std::path::PathBuf;

use agcore_sandbox::Mode;

/// The files that decide which tools may run.
#[derive(Debug, Default, Clone)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct PolicyOptions {
    /// Settings file; replaces agcore.toml in the current directory
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub config: Option<PathBuf>,
    /// File listing MCP servers as `{"mcpServers": {…}}`; replaces .mcp.json in the current directory
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub mcp_config: Option<PathBuf>,
    /// File that stores "always allow" answers; by default they are stored for each folder in the user's state directory
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub grants: Option<PathBuf>,
    /// Confine commands of the shell tool: off, workspace (the default, where the system can) or strict
    #[cfg_attr(feature = "clap", arg(long, value_name = "MODE", value_parser = sandbox_mode()))]
    pub sandbox: Option<Mode>,
    /// Trust the files of the current directory in this run, without remembering it
    #[cfg_attr(feature = "clap", arg(long))]
    pub trust_folder: bool,
}

/// The settings that override all other sources.
#[derive(Debug, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SettingsOptions {
    /// Model name, or provider and model as PROVIDER:MODEL or PROVIDER/MODEL
    #[cfg_attr(feature = "clap", arg(long, short, value_name = "NAME", value_parser = non_empty()))]
    pub model: Option<String>,
    /// The server and the files.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub server: ServerOptions,
    /// Instructions for the agent (the system prompt)
    #[cfg_attr(feature = "clap", arg(long, value_name = "TEXT"))]
    pub system: Option<String>,
    /// Include message content in spans and the log
    #[cfg_attr(feature = "clap", arg(long))]
    pub trace_content: bool,
    /// Do not add AGENTS.md and CLAUDE.md to the instructions
    #[cfg_attr(feature = "clap", arg(long))]
    pub no_context_files: bool,
}

/// The server to talk to.
#[derive(Debug, Default, Clone)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ServerOptions {
    /// Provider: openai, openai-responses, anthropic, gemini, gemini-native, ollama, ollama-native, deepseek, vllm …
    #[cfg_attr(feature = "clap", arg(long, value_name = "TYPE", value_parser = non_empty()))]
    pub provider: Option<String>,
    /// API base URL, e.g. http://localhost:8000/v1
    #[cfg_attr(feature = "clap", arg(long, value_name = "URL", value_parser = non_empty()))]
    pub base_url: Option<String>,
    /// Proxy URL, or off; by default, HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY decide
    #[cfg_attr(feature = "clap", arg(long, value_name = "URL", value_parser = non_empty()))]
    pub proxy: Option<String>,
    /// Do not read .env
    #[cfg_attr(feature = "clap", arg(long))]
    pub no_env_file: bool,
    /// The files that decide which tools may run.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub policy: PolicyOptions,
}

#[cfg(feature = "clap")]
fn sandbox_mode() -> impl clap::builder::TypedValueParser<Value = Mode> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};

    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).try_map(|name| name.parse::<Mode>())
}

#[cfg(feature = "clap")]
fn non_empty() -> clap::builder::NonEmptyStringValueParser {
    clap::builder::NonEmptyStringValueParser::new()
}
