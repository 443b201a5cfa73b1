//! Arguments of `mcp`.

use std::net::SocketAddr;

use agcore_settings::{PolicyOptions, listen_address};
use clap::{Parser, Subcommand};

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// List the MCP servers with their state and tools
    #[command(after_help = LIST_HELP)]
    List(McpListArgs),
    /// Call a tool of a server and print its result
    #[command(after_help = CALL_HELP)]
    Call(McpCallArgs),
    /// Sign in at a server over HTTP, and keep its tokens
    #[command(after_help = LOGIN_HELP)]
    Login(McpLoginArgs),
    /// Delete the tokens of a server
    Logout(McpLogoutArgs),
    /// Serve the tools of the program to another MCP client, over standard input and output or HTTP
    #[command(after_help = SERVE_HELP)]
    Serve(McpServeArgs),
    /// Check each server: its settings, the connection and its tools, and suggest fixes
    #[command(after_help = DOCTOR_HELP)]
    Doctor(McpDoctorArgs),
}

const LIST_HELP: &str = "\
Servers are set in these places, highest priority first:
  1. .mcp.json in the current directory, if you trust it, or the file named by --mcp-config
  2. [mcp.servers.NAME] in agcore.toml of the current directory, if you trust it, and in your user settings
  3. mcp.json next to your user settings, in ~/.config/agcore (%APPDATA%\\agcore on Windows)

JSON files have the form that other MCP clients use; a table in agcore.toml has the same members:
  {\"mcpServers\": {\"files\": {\"command\": \"npx\", \"args\": [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]}}}
  {\"mcpServers\": {\"wiki\": {\"url\": \"https://example.com/mcp\", \"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}}}}

${NAME} is replaced by an environment variable. A server that is started sees only the variables in `env` and harmless \
ones such as PATH.

The exit code is 1 if a server fails.

Examples:
  agcore mcp list
  agcore mcp list --json | jq -r '.servers[] | select(.status == \"failed\") | .error'";

const CALL_HELP: &str = "\
The call follows the same rules as a call made by a model: [permissions] in agcore.toml, stored \"always allow\" \
answers, and otherwise a question at the terminal. Without a terminal, a call that needs approval is denied; pass --yes to \
allow it.

In rules, the tool is named SERVER_TOOL, and the permission mcp:SERVER stands for all tools of a server:
  [permissions]
  allow = [\"mcp:files\"]
  ask = [\"files_write_*\"]

Examples:
  agcore mcp call files list_directory '{\"path\": \".\"}'
  echo '{\"path\": \"notes.txt\"}' | agcore mcp call files read_text_file --yes";

const LOGIN_HELP: &str = "\
The page at which you sign in is printed; open it in a browser on this machine. The tokens are kept in mcp-tokens.json, next \
to the stored answers, in a file that only you can read, and refreshed when they expire. A server with an Authorization \
header in its settings needs no sign-in.

A client that is registered at the vendor is named by --client-id, and its secret by AGCORE_MCP_CLIENT_SECRET.

Examples:
  agcore mcp login wiki
  agcore mcp login wiki --scope read --scope write
  agcore mcp logout wiki";

const SERVE_HELP: &str = "\
Calls follow [permissions] in agcore.toml. No one can be asked, so calls that need approval are denied; pass --yes to allow \
them, or allow them by a rule.

With --listen, clients connect to http://ADDRESS/mcp. Addresses that other machines can reach need a token in \
AGCORE_MCP_TOKEN, which clients send as `Authorization: Bearer TOKEN`.

Examples:
  agcore mcp serve
  agcore mcp serve --listen 127.0.0.1:8931
  {\"mcpServers\": {\"agcore\": {\"command\": \"agcore\", \"args\": [\"mcp\", \"serve\"]}}}";

const DOCTOR_HELP: &str = "\
The exit code is 1 if a server fails.

Examples:
  agcore mcp doctor
  agcore mcp doctor files
  agcore mcp doctor --json | jq '.checks[] | select(.status == \"fail\")'";

/// Arguments of `mcp list`.
#[derive(Debug, Parser)]
pub struct McpListArgs {
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// Print everything about each server and tool as a JSON object
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `mcp call`.
#[derive(Debug, Parser)]
pub struct McpCallArgs {
    /// Name of the server
    pub server: String,
    /// Name of the tool, as the server calls it
    pub tool: String,
    /// Arguments as a JSON object; without it, reads standard input unless that is a terminal
    pub json: Option<String>,
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// Run the tool without asking for approval; calls denied by a rule stay denied
    #[arg(long)]
    pub yes: bool,
}

/// Arguments of `mcp login`.
#[derive(Debug, Parser)]
pub struct McpLoginArgs {
    /// Name of the server
    pub server: String,
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// A scope to request; may be repeated. By default, those that the server asks for
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,
    /// The ID of a client that is registered at the authorization server
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,
}

/// Arguments of `mcp logout`.
#[derive(Debug, Parser)]
pub struct McpLogoutArgs {
    /// Name of the server
    pub server: String,
    #[command(flatten)]
    pub policy: PolicyOptions,
}

/// Arguments of `mcp serve`.
#[derive(Debug, Parser)]
pub struct McpServeArgs {
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// Serve HTTP at this address, IP:PORT or localhost:PORT, instead of standard input and output
    #[arg(long, value_name = "IP:PORT", value_parser = listen_address::parse)]
    pub listen: Option<SocketAddr>,
    /// Run tools that need approval; calls denied by a rule stay denied
    #[arg(long)]
    pub yes: bool,
}

/// Arguments of `mcp doctor`.
#[derive(Debug, Parser)]
pub struct McpDoctorArgs {
    /// Name of a server; without it, all servers are checked
    pub server: Option<String>,
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}
