//! Arguments of `keys`.

use clap::{Parser, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Store the API key of a provider; asks for it, or reads it from standard input
    #[command(after_help = SET_HELP)]
    Set(SetKeyArgs),
    /// List the API keys that are stored or set, and never the keys themselves
    #[command(after_help = LIST_HELP)]
    List(ListKeysArgs),
    /// Delete stored API keys
    #[command(after_help = DELETE_HELP)]
    Delete(DeleteKeysArgs),
}

const SET_HELP: &str = "\
The key is kept in the keyring of the system. Without one, it is kept in a file that only you can read, and the command says \
so. Keys in the environment, in .env and in agcore.toml have precedence.

Examples:
  agcore keys set openai
  agcore keys set anthropic < key.txt
  pass show openai | agcore keys set openai --store file";

const LIST_HELP: &str = "\
The keyring is not asked, so that it need not be unlocked.

Examples:
  agcore keys list
  agcore keys list --json | jq -r '.keys[].variable'";

const DELETE_HELP: &str = "\
Examples:
  agcore keys delete openai
  agcore keys delete anthropic mistral --yes";

/// Arguments of `keys set`.
#[derive(Debug, Parser)]
pub struct SetKeyArgs {
    /// The provider, such as `openai`, or the variable of its key, such as `OPENAI_API_KEY`
    pub provider: String,
    /// Where the key is kept: keyring, file, or auto for the keyring if there is one
    #[arg(long, value_enum, value_name = "PLACE", default_value_t, hide_possible_values = true)]
    pub store: KeyPlace,
}

/// Where a key is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum KeyPlace {
    /// In the keyring, or in the file if there is none
    #[default]
    Auto,
    /// In the keyring of the system
    Keyring,
    /// In a file that only you can read
    File,
}

/// Arguments of `keys list`.
#[derive(Debug, Parser)]
pub struct ListKeysArgs {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `keys delete`.
#[derive(Debug, Parser)]
pub struct DeleteKeysArgs {
    /// The providers, or the variables of their keys
    #[arg(required = true, value_name = "PROVIDER")]
    pub providers: Vec<String>,
    /// Delete them without asking
    #[arg(long, short)]
    pub yes: bool,
}
