//! The permission mode of an interactive chat: who is asked about calls, and another mode at the prompt.

mod carry_out;

pub(in crate::command::chat) use self::carry_out::offer_plan;

use agcore_args::ChatArgs;
use agcore_settings::Settings;
use agcore_workbench::{
    People, Surface,
    permission_mode::PermissionMode,
    policy::mode_switch::ModeSwitch,
    program_tools::{Previews, ToolFolder},
};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::command::chat::{conversation::Conversation, session::ChatSessions};

use crate::{
    approve::{AskUser, Question},
    exit::Failure,
};

/// Returns the user as the approver of calls, and the receiver of the questions.
pub(in crate::command::chat) fn people(
    modes: &ModeSwitch,
    folder: ToolFolder,
) -> (People, UnboundedReceiver<Question>) {
    let (ask_user, questions) = AskUser::new(Previews::new(&folder));
    let people = People {
        policy: modes.session_policy(ask_user),
        audit: None,
        mode: modes.current().clone(),
        folder,
    };
    (people, questions)
}

/// Continues the session in another permission mode.
///
/// # Errors
/// When the terminal was closed, or the settings are invalid.
pub(in crate::command::chat) async fn set_mode(
    mode: PermissionMode,
    args: &ChatArgs,
    settings: &Settings,
    conversation: &mut Conversation,
) -> Result<(), Failure> {
    match rebuild(mode, args, settings, conversation).await? {
        true => conversation.screen.note(&conversation.turns.modes.note()),
        false => Ok(()),
    }
}

/// Continues the session with the settings as they are now, in a permission mode. Returns whether that was possible; otherwise the
/// reason was shown.
///
/// # Errors
/// When the terminal was closed, or the settings are invalid.
pub(in crate::command::chat) async fn rebuild(
    mode: PermissionMode,
    args: &ChatArgs,
    settings: &Settings,
    conversation: &mut Conversation,
) -> Result<bool, Failure> {
    let screen = conversation.screen;
    let modes = (args.permission_mode(), mode);
    let modes = ModeSwitch::new(&conversation.tools.registry, &settings.tools, modes)?;
    let (people, questions) = people(&modes, conversation.folder.clone());
    let chats = ChatSessions::new(
        args,
        settings,
        &conversation.tools,
        conversation.chats.sessions.clone(),
        Surface::Terminal(people),
    )?;
    let session = match chats.reopen(conversation.session.id(), &conversation.agent).await {
        Ok(session) => session,
        Err(failure) => return screen.error(&failure.to_string()).map(|()| false),
    };
    (conversation.chats, conversation.session) = (chats, session);
    (conversation.turns.modes, conversation.turns.questions.calls) = (modes, questions);
    Ok(true)
}
