//! Options that select the session of a chat.

use clap::{Args as ArgGroup, builder::NonEmptyStringValueParser};

/// The session that a chat continues, and whether it is kept.
#[derive(Debug, Default, ArgGroup)]
pub struct SessionArgs {
    /// Continue the newest session of the current directory
    #[arg(long = "continue", short = 'c', group = "session")]
    pub continues: bool,
    /// Continue a session, named by its ID, the beginning of it, or its name; without a value, choose from a list
    #[arg(long, short, value_name = "ID|NAME", num_args = 0..=1, default_missing_value = "", group = "session")]
    pub resume: Option<String>,
    /// With --continue or --resume, continue in a copy and leave the session as it is
    #[arg(long, visible_alias = "fork", requires = "session")]
    pub fork_session: bool,
    /// Name the session, for lists and for --resume; with --continue or --resume, rename it
    #[arg(long, short, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "ephemeral")]
    pub name: Option<String>,
    /// Do not keep the session after the program ends
    #[arg(long, visible_alias = "no-session-persistence", conflicts_with = "session")]
    pub ephemeral: bool,
    /// If calls need approval, end and wait for `agcore approvals` instead of asking; continue with --resume
    #[arg(long, conflicts_with_all = ["ephemeral", "yes", "permission_mode"])]
    pub suspend: bool,
}

impl SessionArgs {
    /// Returns whether an existing session is continued.
    pub fn continues_session(&self) -> bool {
        self.continues || self.resume.is_some()
    }
}
