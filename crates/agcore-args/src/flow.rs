//! Arguments of `flow`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::chat::ChatArgs;

#[cfg(feature = "flow")]
pub(super) use agcore::profile::Uuid;

/// The UUID of a user, which no command of this build reads.
#[cfg(not(feature = "flow"))]
pub(super) type Uuid = String;

const RUN_HELP: &str = "\
Each node is shown on standard error when it starts and ends; the answer goes to standard output. The run is saved after each node: \
a run that was interrupted continues with --continue or --resume, and repeats no call of a tool that has finished. If the flow asks \
a question, the program ends with exit code 8; answer it with --answer.

With a PROMPT, --continue and --resume begin the next turn of the conversation. Planner flows read the files of --file as documents and \
tables, inherit those of earlier turns, and keep notes about the user, which `agcore memory` lists.

Examples:
  agcore flow run help.flow.yaml 'Where is my order?'
  agcore flow run article.flow.yaml 'Write about tea.' --set tone=calm
  agcore flow run article.flow.yaml --continue
  agcore flow run garden.flow.yaml 'Plan the beds.' --file beds.xlsx --profiles me.toml
  agcore flow run garden.flow.yaml 'Now the flowers.' --continue
  agcore flow run article.flow.yaml --resume 0199 --answer 0:publish#1:question=yes

Settings, environment variables, tools, permission modes and output formats are those of `agcore chat --help`.";

const CHECK_HELP: &str = "\
All problems are reported at once, each with its line and column. The exit code is 0 only if there are none.

Example:
  agcore flow check *.flow.yaml";

const DRAW_HELP: &str = "\
Examples:
  agcore flow draw help.flow.yaml > help.mmd
  agcore flow draw help.flow.yaml --format svg > help.svg
  agcore flow draw help.flow.yaml --format svg --run 0199 > run.svg";

#[derive(Debug, Subcommand)]
pub enum FlowCommand {
    /// Run a flow
    #[command(after_help = RUN_HELP)]
    Run(Box<FlowRunArgs>),
    /// Check flow files
    #[command(after_help = CHECK_HELP)]
    Check(FlowCheckArgs),
    /// Print a picture of a flow, on request with the path of a run
    #[command(after_help = DRAW_HELP)]
    Draw(FlowDrawArgs),
    /// Print the JSON Schema of flow files
    Schema,
}

/// Arguments of `flow run`.
#[derive(Debug, Args)]
pub struct FlowRunArgs {
    /// The flow file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub chat: ChatArgs,
    #[command(flatten)]
    pub flow: FlowValues,
}

/// Values that a run is given.
#[derive(Debug, Default, Clone, Args)]
pub struct FlowValues {
    /// Set a variable of the flow file
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
    /// Answer a question of the run that is continued
    #[arg(long, value_name = "ID=ANSWER", value_parser = pair)]
    pub answer: Vec<(String, String)>,
    /// Read the skills of a router from this directory
    #[arg(long, value_name = "DIR")]
    pub skills: Option<PathBuf>,
    /// Describe the user to all agents by a profile from this file, in TOML or YAML
    #[arg(long, value_name = "FILE")]
    pub profiles: Option<PathBuf>,
    /// The UUID of the user, if the file has several profiles
    #[arg(long, value_name = "ID", requires = "profiles")]
    pub user: Option<Uuid>,
}

/// Arguments of `flow check`.
#[derive(Debug, Args)]
pub struct FlowCheckArgs {
    /// The flow files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// Arguments of `flow draw`.
#[derive(Debug, Args)]
pub struct FlowDrawArgs {
    /// The flow file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The language of the picture
    #[arg(long, value_enum, default_value_t = PictureFormat::Mermaid, ignore_case = true)]
    pub format: PictureFormat,
    /// Mark the path of a run, named by the ID of its session or the beginning of it
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
}

/// The language of a picture.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PictureFormat {
    Mermaid,
    Dot,
    Svg,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("a name and a value are expected, separated by `=`")?;
    match name.is_empty() {
        true => Err("the name is empty".to_owned()),
        false => Ok((name.to_owned(), value.to_owned())),
    }
}
