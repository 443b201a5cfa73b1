//! Arguments of `init`, which writes the settings, and of `new`, which creates a project.

use std::path::PathBuf;

use clap::Parser;

pub(crate) const INIT_HELP: &str = "\
Looks for API keys in the environment and among the stored keys, and for an Ollama server on this machine, asks for what is \
missing, and writes your user settings, which apply in every folder. A key that you enter is stored as with `agcore keys \
set`, and not in the settings. Without a terminal, nothing is asked: pass --provider, and --yes to change an existing file.

Examples:
  agcore init
  agcore init --provider ollama --model llama3.2
  agcore init --provider compatible --base-url http://localhost:8000/v1 --model my-model --yes";

/// Arguments of `init`.
#[derive(Debug, Default, Parser)]
pub struct InitArgs {
    /// The provider, such as `openai`, `anthropic` or `ollama`
    #[arg(long)]
    pub provider: Option<String>,
    /// The model
    #[arg(short, long, value_name = "NAME")]
    pub model: Option<String>,
    /// The base URL, if it is not the provider's default
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Change an existing settings file without asking
    #[arg(long)]
    pub yes: bool,
}

pub(crate) const NEW_HELP: &str = "\
The project is a small agent with one tool. It runs offline at once, and with a real model if AGCORE_MODEL names one; the key \
comes from AGCORE_API_KEY, or from the variable of the vendor. It depends on agcore at the place from which this program was built while that exists, and on the released version otherwise.

Examples:
  agcore new my-agent && cd my-agent && cargo run
  agcore new my-agent --path ~/projects/assistant";

/// Arguments of `new`.
#[derive(Debug, Parser)]
pub struct NewArgs {
    /// The name of the package
    pub name: String,
    /// The directory of the project, which must be empty or not exist yet; by default NAME
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
}
