//! [`Surface`]: where an agent runs, which decides who answers its questions.

use std::{fmt, sync::Arc};

use agcore::{
    ToolRegistry,
    agent::OpenQuestionPolicy,
    tools::{Approver, AuditSink, SuspendingApprover, ToolPolicy},
};
use agcore_settings::{Settings, SettingsError};

use crate::{
    permission_mode::{CurrentMode, PermissionMode},
    policy::Policy,
    program_tools::ToolFolder,
};

/// The tools for the notes of the program.
const NOTES: [&str; 2] = ["read_notes", "save_note"];

/// Where an agent runs. The rules, hooks, budgets and the redaction of the settings hold on every surface; they differ in who is
/// asked about calls, and in the permission mode.
#[derive(Debug)]
pub enum Surface {
    /// A person in front of the program: a chat, a single message, a task, or a flow that was started at the terminal.
    Terminal(People),
    /// An editor with a person in front of it. The problems of hooks are logged, because an editor has no place for them.
    Editor(People),
    /// The agent of a server, for many users. Questions suspend its turns.
    Serve {
        /// Whether users have credentials of their own. The notes of the program are one file, which they must not share.
        has_users: bool,
    },
    /// An evaluation. Calls that need approval are denied without a question.
    Eval,
    /// The replay of a recorded session. Calls that need approval are denied without a question.
    Replay,
}

/// The person who decides about calls at a terminal.
#[derive(Clone)]
pub struct People {
    /// The rules and the approver.
    pub policy: ToolPolicy,
    /// Receives the decisions.
    pub audit: Option<Arc<dyn AuditSink>>,
    /// The mode that decides about calls that need approval.
    pub mode: CurrentMode,
    /// The folder of the tools, whose changes the approver sees.
    pub folder: ToolFolder,
}

impl fmt::Debug for People {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("People")
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// The parts of an agent that its surface decides.
pub(crate) struct Deciders {
    pub(crate) people: People,
    pub(crate) open_questions: OpenQuestionPolicy,
    /// Whether somebody takes the problems of hooks, which are logged otherwise.
    pub(crate) takes_problems: bool,
    /// The tools that are not offered.
    pub(crate) removed: &'static [&'static str],
}

impl Surface {
    pub(crate) fn deciders(self, tools: &ToolRegistry, settings: &Settings) -> Result<Deciders, SettingsError> {
        let alone = |mode, approver| alone(tools, settings, mode, approver);
        match self {
            Self::Terminal(people) => Ok(Deciders {
                people,
                // The terminal shows questions before it takes a message; nothing may wait for them unseen.
                open_questions: OpenQuestionPolicy::Refuse,
                takes_problems: true,
                removed: &[],
            }),
            Self::Editor(people) => Ok(Deciders {
                people,
                // The questions of an earlier turn are asked before a message begins the next one.
                open_questions: OpenQuestionPolicy::Refuse,
                takes_problems: false,
                removed: &[],
            }),
            Self::Serve { has_users } => Ok(Deciders {
                removed: if has_users { &NOTES } else { &[] },
                ..alone(PermissionMode::Default, Some(Arc::new(SuspendingApprover)))?
            }),
            Self::Eval => alone(PermissionMode::DontAsk, None),
            Self::Replay => alone(PermissionMode::Default, None),
        }
    }
}

/// Returns the deciders without a person at a terminal.
fn alone(
    tools: &ToolRegistry,
    settings: &Settings,
    mode: PermissionMode,
    approver: Option<Arc<dyn Approver>>,
) -> Result<Deciders, SettingsError> {
    let policy = Policy::for_mode(tools, &settings.tools, mode)?;
    Ok(Deciders {
        people: People {
            policy: policy.with_approver(approver),
            audit: None,
            mode: mode.into(),
            folder: ToolFolder::of_settings(&settings.tools)?,
        },
        open_questions: OpenQuestionPolicy::default(),
        takes_problems: false,
        removed: &[],
    })
}
