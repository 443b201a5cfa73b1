//! [`Live`]: a session that is open in an editor, and the turn that runs in it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, ConfigOptionUpdate, CurrentModeUpdate, Notice,
    NoticeSeverity, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelectOption, SessionMode,
    SessionModeState, SessionUpdate, UnstructuredCommandInput,
};
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{
    call_view::{CallView, DescribeCalls, FileChange},
    editor::Editor,
    error::AcpError,
    host::{Choice, Choices, CommandInfo, HostedSession},
    translator::message,
};

/// The id of the option with the permission mode.
const MODE: &str = "mode";

/// The id of the option with the model.
const MODEL: &str = "model";

/// A session that is open in an editor.
pub(crate) struct Live {
    pub(crate) hosted: Box<dyn HostedSession>,
    pub(crate) editor: Editor,
    turn: Mutex<Turn>,
    /// Notified when a turn ends.
    ended: Notify,
}

/// The turn of a session.
#[derive(Default)]
enum Turn {
    #[default]
    None,
    Running(CancellationToken),
    /// The session is closed, after this turn.
    Closed(Option<CancellationToken>),
}

impl Live {
    pub(crate) fn new(hosted: Box<dyn HostedSession>, editor: Editor) -> Self {
        Self {
            hosted,
            editor,
            turn: Mutex::default(),
            ended: Notify::new(),
        }
    }

    /// Begins a turn. Returns its token.
    ///
    /// # Errors
    /// While another turn runs, and when the session is closed.
    pub(crate) fn begin(&self) -> Result<CancellationToken, AcpError> {
        let mut turn = self.lock();
        match &*turn {
            Turn::None => {}
            Turn::Running(_) => {
                return Err(AcpError::busy(
                    "a turn is running in this session; wait until it ends, or cancel it with session/cancel",
                ));
            }
            Turn::Closed(_) => return Err(AcpError::busy("this session is being closed")),
        }
        let token = CancellationToken::new();
        *turn = Turn::Running(token.clone());
        self.editor.begin_turn();
        Ok(token)
    }

    /// Notes that the turn has ended.
    pub(crate) fn end(&self) {
        let mut turn = self.lock();
        *turn = match *turn {
            Turn::Closed(_) => Turn::Closed(None),
            _ => Turn::None,
        };
        drop(turn);
        self.ended.notify_waiters();
    }

    /// Lets no other turn begin.
    ///
    /// # Errors
    /// While a turn runs.
    pub(crate) fn retire(&self) -> Result<(), AcpError> {
        let mut turn = self.lock();
        if turn.token().is_some() {
            return Err(AcpError::busy("a turn is running in this session; cancel it first"));
        }
        *turn = Turn::Closed(None);
        Ok(())
    }

    /// Cancels the turn that runs, if one does, and lets no other begin.
    pub(crate) fn shut(&self) {
        let mut turn = self.lock();
        let token = turn.token().cloned();
        if let Some(token) = &token {
            token.cancel();
        }
        *turn = Turn::Closed(token);
    }

    /// Waits until no turn runs.
    pub(crate) async fn ended(&self) {
        loop {
            let ended = self.ended.notified();
            if !self.is_running() {
                return;
            }
            ended.await;
        }
    }

    /// Cancels the turn that runs, if one does.
    pub(crate) fn cancel(&self) {
        if let Some(token) = self.lock().token() {
            token.cancel();
        }
    }

    /// Returns whether a turn runs.
    pub(crate) fn is_running(&self) -> bool {
        self.lock().token().is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the permission modes for the editor.
    pub(crate) fn mode_state(&self) -> Option<SessionModeState> {
        let Choices { current, all } = self.hosted.modes();
        let mode = |choice: Choice| SessionMode::new(choice.id, choice.name).description(choice.description);
        (!all.is_empty()).then(|| SessionModeState::new(current, all.into_iter().map(mode).collect()))
    }

    /// Returns the options for the editor: the permission mode, and the model if it can be changed.
    pub(crate) fn config(&self) -> Vec<SessionConfigOption> {
        let (modes, models) = (self.hosted.modes(), self.hosted.models());
        let mode = select(MODE, "Permission mode", SessionConfigOptionCategory::Mode, modes);
        let model = select(MODEL, "Model", SessionConfigOptionCategory::Model, models);
        mode.into_iter().chain(model).collect()
    }

    /// Changes an option.
    ///
    /// # Errors
    /// When there is no such option or value.
    pub(crate) async fn configure(&self, option: &str, value: &str) -> Result<(), AcpError> {
        match option {
            MODE => self.change_mode(value).await,
            MODEL => self.hosted.set_model(value),
            other => Err(AcpError::invalid(format!(
                "there is no option `{}`; `{MODE}` and `{MODEL}` can be set",
                agcore_chat::text::sanitized_line(other)
            ))),
        }
    }

    /// Changes the permission mode, and reports it in both forms that editors know.
    ///
    /// # Errors
    /// When there is no such mode, or it cannot be entered.
    pub(crate) async fn change_mode(&self, id: &str) -> Result<(), AcpError> {
        self.hosted.set_mode(id)?;
        let current = self.hosted.modes().current;
        self.editor
            .update(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(current)))
            .await;
        let config = ConfigOptionUpdate::new(self.config());
        self.editor.update(SessionUpdate::ConfigOptionUpdate(config)).await;
        Ok(())
    }

    /// Sends what an editor shows of a session from the beginning: the commands, and notices.
    pub(crate) async fn introduce(&self) {
        let commands: Vec<AvailableCommand> = self.hosted.commands().into_iter().map(command).collect();
        if !commands.is_empty() {
            let update = SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(commands));
            self.editor.update(update).await;
        }
        for notice in self.hosted.notices() {
            let update = match self.editor.shows_notices() {
                true => SessionUpdate::Notice(Notice::new(NoticeSeverity::Warning, notice)),
                false => message(format!("({notice})\n\n")),
            };
            self.editor.update(update).await;
        }
    }
}

impl Turn {
    /// Returns the token of the turn that runs, if one does.
    fn token(&self) -> Option<&CancellationToken> {
        match self {
            Self::Running(token) | Self::Closed(Some(token)) => Some(token),
            Self::None | Self::Closed(None) => None,
        }
    }
}

impl DescribeCalls for Live {
    fn describe(&self, tool: &str, arguments: &Value) -> CallView {
        self.editor.named_view(self.hosted.describe(tool, arguments))
    }

    fn change_made(&self, call_id: &str) -> Option<FileChange> {
        let change = self.hosted.change_made(call_id)?;
        Some(self.editor.named_change(change))
    }
}

fn select(
    id: &str,
    name: &str,
    category: SessionConfigOptionCategory,
    choices: Choices,
) -> Option<SessionConfigOption> {
    let Choices { current, all } = choices;
    let option =
        |choice: Choice| SessionConfigSelectOption::new(choice.id, choice.name).description(choice.description);
    let options: Vec<SessionConfigSelectOption> = all.into_iter().map(option).collect();
    (!options.is_empty()).then(|| SessionConfigOption::select(id.to_owned(), name, current, options).category(category))
}

fn command(info: CommandInfo) -> AvailableCommand {
    let input = info
        .hint
        .map(|hint| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint)));
    AvailableCommand::new(info.name, info.description).input(input)
}
