//! Arguments of `skills` and `agents`.

use agcore_settings::PolicyOptions;
use clap::{Parser, Subcommand};

#[derive(Debug, Subcommand)]
pub enum SkillsCommand {
    /// List the skills that a model can read, with their files
    #[command(after_help = SKILLS_HELP)]
    List(ProjectArgs),
}

#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// List the agents in files, with their files
    #[command(after_help = AGENTS_HELP)]
    List(ProjectArgs),
}

const SKILLS_HELP: &str = "\
A skill is a folder with a file SKILL.md, in .agcore/skills of the current directory, if you trust it, or in skills next to \
your user settings. SKILL.md begins with its name and description:
  ---
  name: release-notes
  description: How to write release notes. Use it before a release.
  ---
  The instructions, which the model reads when a task fits.

Examples:
  agcore skills list
  agcore skills list --json | jq -r '.skills[].name'";

const AGENTS_HELP: &str = "\
An agent is a file NAME.md or NAME.toml, in .agcore/agents of the current directory, if you trust it, or in agents next to \
your user settings. A Markdown file begins with its name; all other members are optional:
  ---
  name: tester
  description: Runs the tests and explains failures.
  tools: [shell, read_file]
  model: gpt-5-mini
  ---
  The instructions of the agent.

An agent with a description can be asked by the model of a chat, as a tool `ask_NAME`. `agcore chat --agent NAME` and /agents \
NAME chat with it.

Examples:
  agcore agents list
  agcore chat --agent tester";

/// Arguments of `skills list` and `agents list`.
#[derive(Debug, Parser)]
pub struct ProjectArgs {
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}
