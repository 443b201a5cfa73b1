//! Options that override settings, shared by several commands.

use std::path::PathBuf;

use clap::{Args as ArgGroup, builder::NonEmptyStringValueParser};

/// The files that decide which tools may run.
#[derive(Debug, Default, Clone, ArgGroup)]
pub(crate) struct PolicyArgs {
    /// Settings file; replaces agcore.toml in the current directory
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// File listing MCP servers as `{"mcpServers": {…}}`; replaces .mcp.json in the current directory
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Option<PathBuf>,
    /// File that stores "always allow" answers; by default they are stored for each folder in the user's state directory
    #[arg(long, value_name = "FILE")]
    pub(crate) grants: Option<PathBuf>,
    /// Trust the files of the current directory in this run, without remembering it
    #[arg(long)]
    pub(crate) trust_folder: bool,
}

/// Settings that can be given on the command line, where they override all other sources.
#[derive(Debug, Default, ArgGroup)]
pub(crate) struct SettingsArgs {
    /// Model name, or provider and model as PROVIDER:MODEL or PROVIDER/MODEL
    #[arg(long, short, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Instructions for the agent (the system prompt)
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Include message content in spans and the log
    #[arg(long)]
    pub(crate) trace_content: bool,
    /// Do not add AGENTS.md and CLAUDE.md to the instructions
    #[arg(long)]
    pub(crate) no_context_files: bool,
}

/// The server to talk to.
#[derive(Debug, Default, Clone, ArgGroup)]
pub(crate) struct ServerArgs {
    /// Provider: openai, openai-responses, anthropic, ollama, ollama-native, deepseek, qwen, vllm, llama.cpp …
    #[arg(long, value_name = "TYPE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) provider: Option<String>,
    /// API base URL, e.g. http://localhost:8000/v1
    #[arg(long, value_name = "URL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) base_url: Option<String>,
    /// Proxy URL, or off; by default, HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY decide
    #[arg(long, value_name = "URL", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) proxy: Option<String>,
    /// Do not read .env
    #[arg(long)]
    pub(crate) no_env_file: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}
