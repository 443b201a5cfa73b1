//! Arguments of `chat`, `run` and of a prompt without a command.

pub(super) mod acp;
pub(super) mod model_option;

use std::path::PathBuf;

use agcore_settings::{SETTINGS, Settings, SettingsError, SettingsOptions, variables};
use agcore_workbench::permission_mode::PermissionMode;
use clap::{Parser, ValueEnum, builder::NonEmptyStringValueParser};

use self::model_option::ModelOption;
use super::session::SessionArgs;

const BEFORE_SETTINGS: &str = "\
A chat begins with the prompt, if there is one. With -p, or if standard input or output is not a terminal, the prompt is answered \
once instead: the answer goes to standard output and everything else to standard error. In a chat, /help lists the commands and ? the keys, Ctrl-J \
starts a new line, Ctrl-C cancels the turn, and Ctrl-D exits.

Examples:
  OPENAI_API_KEY=sk-... agcore chat
  agcore chat --model anthropic:claude-sonnet-4-5
  agcore chat --model ollama:llama3.2
  agcore chat --base-url http://localhost:8000/v1 --model my-model
  git diff | agcore -p 'Review this change.'
  echo 'Why is the sky blue?' | agcore chat
  agcore -p 'Say hello' --output-format json | jq -r .text
  agcore -p 'Name a color.' --option temperature=0 --option seed=1
  agcore -p 'Which tests fail?' --allow 'shell(cargo test *)'
  agcore chat --continue
  agcore chat --name 'trip to Lisbon'
  agcore chat --resume 'trip to Lisbon'
  agcore -p 'And now in French.' --resume 0199

Permission modes, for calls that need approval:
  default            ask about them
  acceptEdits        allow them if the tool only changes files, and ask about the others
  plan               deny tools that are not read-only, even if a rule allows them
  dontAsk            deny them
  bypassPermissions  allow them

Output formats:
  text         the answer
  json         one JSON object with the result
  stream-json  a JSON object on each line for every event, and one with the result at the end; the same as --json

Settings, highest priority first:
  1. command-line options
  2. environment variables
  3. .env in the current directory, if you trust it
  4. agcore.toml in the current directory, or the file named by --config
  5. your user settings: agcore.toml in ~/.config/agcore (%APPDATA%\\agcore on Windows)
  6. for API keys, those that `agcore keys set` has stored
  7. defaults

Until you trust a folder with `agcore trust`, its agcore.toml may only set `history`; the rest of it, \
.env, AGENTS.md and CLAUDE.md are ignored, with a warning. At a terminal, you are asked.
";

const AFTER_SETTINGS: &str = "\
Instructions of a project:
  AGENTS.md, else CLAUDE.md, from the root of the git repository down to the current directory; before them, your own
  AGENTS.md next to your user settings

Skills, agents and commands, if you trust the folder:
  .agcore/skills/NAME/SKILL.md, .agcore/agents/NAME.md or NAME.toml, .agcore/commands/NAME.md, which /NAME sends; or
  skills, agents and commands next to your user settings; skills also in .agents/skills and .claude/skills

Tools:
  read_file, list_files, search, current_time, arithmetic, read_notes,
  update_todos, shell_output, shell_stop
  edit_file, write_file, shell, fetch_url, save_note  (need approval)

The tools for files are confined to the current directory, and to those of --add-dir, and do not read secrets such as .env.

Approval is asked for at the terminal, even if standard input or output is redirected. Without a terminal, or in \
a background job, calls that need approval are denied, and the exit code is 6; --yes or --permission-mode changes that. \
[permissions] in agcore.toml changes the rules by tool name, pattern or permission, where deny \
overrides ask, and ask overrides allow:
  [permissions]
  allow = [\"save_note\", \"shell(cargo test *)\"]
  ask = [\"read_*\"]
  deny = [\"network\"]";

/// Returns the help after the options: examples, and the settings with their variables.
pub(super) fn chat_help() -> String {
    let lines = |is_environment_only: bool| -> String {
        let variables = variables().filter(|variable| variable.is_environment_only == is_environment_only);
        variables
            .map(|variable| format!("  {:<21} {}\n", variable.name, variable.help))
            .collect()
    };
    let settings: Vec<&str> = SETTINGS.iter().filter_map(|setting| setting.in_file).collect();
    format!(
        "{BEFORE_SETTINGS}
Environment variables:
{}  OPENAI_API_KEY, ...   API key, in the variable that the vendor uses
  OPENAI_MODEL, OPENAI_BASE_URL
                        used by the OpenAI providers only

Environment variables that are ignored in .env:
{}  HTTPS_PROXY, ...      proxy for servers on other machines
  OTEL_EXPORTER_OTLP_ENDPOINT, ...
                        the standard variables of OpenTelemetry

Settings in agcore.toml:
  {}

{AFTER_SETTINGS}",
        lines(false),
        lines(true),
        settings.join(", ")
    )
}

/// Arguments of `chat`, `run` and of a prompt without a command.
#[derive(Debug, Parser)]
pub struct ChatArgs {
    /// The message, to which piped input is appended. If it is missing or `-`, standard input is the message; at a
    /// terminal, a chat begins with it
    #[arg(value_name = "PROMPT")]
    pub message: Option<String>,
    /// Answer once and exit, even at a terminal
    #[arg(long, short, visible_alias = "prompt")]
    pub print: bool,
    /// Text file or image to send with the message; can be repeated
    #[arg(long = "file", value_name = "PATH", visible_alias = "image")]
    pub files: Vec<PathBuf>,
    /// Chat with an agent in a file of .agcore/agents, or of agents next to your user settings, instead of the default one
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub agent: Option<String>,
    #[command(flatten)]
    pub session: SessionArgs,
    #[command(flatten)]
    pub settings: SettingsOptions,
    /// Parameter of the requests to the model, such as `temperature=0`; the value is JSON, or else text. Can be repeated
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = ModelOption::parse)]
    pub options: Vec<ModelOption>,
    /// Catalog with the prices of models; by default catalog.toml next to your user settings, if it exists
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<PathBuf>,
    /// Answer with JSON that matches this JSON Schema: a file, or JSON that begins with `{`
    #[arg(long, value_name = "FILE|JSON")]
    pub schema: Option<PathBuf>,
    /// Append the exchanges with the model to a cassette, which tests and evaluations can replay without a network; keys are
    /// removed, the conversation is not
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Do not offer tools to the model
    #[arg(long)]
    pub no_tools: bool,
    /// How to handle calls that need approval: default, acceptEdits, plan, dontAsk or bypassPermissions
    #[arg(long, value_enum, value_name = "MODE", default_value_t = PermissionMode::Default, hide_possible_values = true)]
    permission_mode: PermissionMode,
    /// Run tools that need approval without asking, like --permission-mode bypassPermissions
    #[arg(long, visible_aliases = ["yolo", "dangerously-skip-permissions"], conflicts_with = "permission_mode")]
    yes: bool,
    /// Run this tool without asking in this run: an entry as in the list `allow` of [permissions], which `ask` and `deny` override.
    /// Can be repeated
    #[arg(long, value_name = "TOOL", value_parser = NonEmptyStringValueParser::new())]
    pub allow: Vec<String>,
    /// Folder that the tools for files may use besides the current directory; can be repeated
    #[arg(long = "add-dir", value_name = "DIR", value_parser = NonEmptyStringValueParser::new())]
    pub add_dirs: Vec<String>,
    /// Format of standard output: text, json or stream-json
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OutputFormat::Text, hide_possible_values = true)]
    pub output_format: OutputFormat,
    /// With --output-format stream-json, also print text, reasoning and progress of tools as they arrive
    #[arg(long)]
    pub include_partial_messages: bool,
    /// Print only the answer, and errors: no tool calls, no reasoning, no tokens
    #[arg(long, short)]
    pub quiet: bool,
    /// The same as --output-format stream-json
    #[arg(long, hide = true, conflicts_with = "output_format")]
    pub json: bool,
}

/// The format in which a single turn is printed on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// The answer
    Text,
    /// One JSON object with the result
    Json,
    /// A JSON object on each line for every event, and one with the result at the end
    StreamJson,
}

impl ChatArgs {
    /// Adds the rules and the folders of these arguments to settings.
    ///
    /// # Errors
    /// When a rule is invalid, or a folder cannot be used.
    pub fn applied_to(&self, settings: Settings) -> Result<Settings, SettingsError> {
        settings.allowing(&self.allow)?.adding(&self.add_dirs)
    }

    /// Returns the permission mode.
    pub fn permission_mode(&self) -> PermissionMode {
        match self.yes {
            true => PermissionMode::BypassPermissions,
            false => self.permission_mode,
        }
    }

    /// Returns the output format.
    pub fn output_format(&self) -> OutputFormat {
        if self.json {
            OutputFormat::StreamJson
        } else {
            self.output_format
        }
    }
}
