//! Parts that a build does not have: the features that add them, and the sentence that names these.
//!
//! The arguments of missing commands are parsed and their help is shown, so that a user learns what is missing and how to get it.
#![cfg_attr(feature = "full", allow(dead_code, reason = "the whole program misses nothing"))]

use clap::Command;

/// A part of the program that a feature of its package adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The feature.
    feature: &'static str,
    /// The commands that are missing without it.
    commands: &'static [&'static str],
    is_built: bool,
}

/// Editors.
pub const ACP: Part = Part {
    feature: "acp",
    commands: &["acp"],
    is_built: cfg!(feature = "acp"),
};

/// Evaluations.
pub const EVAL: Part = Part {
    feature: "eval",
    commands: &["eval"],
    is_built: cfg!(feature = "eval"),
};

/// Flows.
pub const FLOW: Part = Part {
    feature: "flow",
    commands: &["flow"],
    is_built: cfg!(feature = "flow"),
};

/// MCP servers.
pub const MCP: Part = Part {
    feature: "mcp",
    commands: &["mcp"],
    is_built: cfg!(feature = "mcp"),
};

/// Schemas of answers, which are an option.
pub const SCHEMA: Part = Part {
    feature: "schema",
    commands: &[],
    is_built: cfg!(feature = "schema"),
};

/// The server.
pub const SERVE: Part = Part {
    feature: "serve",
    commands: &["serve", "worker"],
    is_built: cfg!(feature = "serve"),
};

/// The database.
pub const STORE: Part = Part {
    feature: "store",
    commands: &[
        "admin",
        "knowledge",
        "memory",
        "quotas",
        "schedules",
        "store",
        "webhooks",
    ],
    is_built: cfg!(feature = "store"),
};

/// All parts with commands or options.
const PARTS: [Part; 7] = [ACP, EVAL, FLOW, MCP, SCHEMA, SERVE, STORE];

/// The command that installs the whole program.
const INSTALL: &str = "cargo install --locked --path crates/agcore-cli --features full";

impl Part {
    /// Returns a sentence that names the feature which a command or an option needs, and the command that installs it.
    pub fn sentence(self, used: &str) -> String {
        format!(
            "`{used}` needs the feature `{}`, which this build of agcore does not have; in a clone of the repository, `{INSTALL}` \
             installs the whole program",
            self.feature
        )
    }
}

/// Marks the commands that this build does not have in the help.
pub fn mark(program: Command) -> Command {
    mark_parts(program, PARTS.into_iter().filter(|part| !part.is_built))
}

fn mark_parts(program: Command, parts: impl Iterator<Item = Part>) -> Command {
    parts.flat_map(|part| part.commands).fold(program, |program, name| {
        program.mut_subcommand(name, |command| {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            command.about(format!("{about} (not in this build)"))
        })
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::Args;

    #[test]
    fn every_part_is_a_feature_of_the_whole_program() {
        let manifest = include_str!("../../Cargo.toml");
        let (_, full) = manifest.split_once("\nfull = [").unwrap();
        let (full, _) = full.split_once(']').unwrap();
        for Part { feature, .. } in PARTS {
            assert!(manifest.contains(&format!("\n{feature} = [")), "{feature}");
            assert!(full.contains(&format!("\"{feature}\"")), "{feature}: {full}");
        }
    }

    #[test]
    fn a_missing_command_names_its_feature_and_how_to_install_it() {
        assert_eq!(
            SERVE.sentence("agcore serve"),
            "`agcore serve` needs the feature `serve`, which this build of agcore does not have; in a clone of the repository, \
             `cargo install --locked --path crates/agcore-cli --features full` installs the whole program"
        );
    }

    #[test]
    fn missing_commands_are_listed_and_marked() {
        let program = mark_parts(Args::command(), PARTS.into_iter());
        for name in PARTS.iter().flat_map(|part| part.commands) {
            let command = program.find_subcommand(name).unwrap();
            let about = command.get_about().unwrap().to_string();
            assert!(about.ends_with(" (not in this build)"), "{name}: {about}");
            assert!(!command.is_hide_set(), "{name}");
        }
        let chat = program.find_subcommand("chat").unwrap();
        assert!(!chat.get_about().unwrap().to_string().contains("not in this build"));
    }

    #[test]
    fn the_tests_run_with_the_whole_program_or_mark_what_is_missing() {
        let is_marked = |part: &Part| {
            let program = mark(Args::command());
            let is_marked = |name: &&str| {
                let about = program.find_subcommand(name).unwrap().get_about().unwrap().to_string();
                about.contains("not in this build")
            };
            part.commands.iter().any(is_marked)
        };
        for part in PARTS.iter().filter(|part| !part.commands.is_empty()) {
            assert_eq!(is_marked(part), !part.is_built, "{part:?}");
        }
    }
}
