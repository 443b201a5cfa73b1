//! Settles what an earlier process left open in a session: an interrupted turn, or questions.

use agcore::chat::{Answer, Question};
use agcore_terminal::{console::Line, render::uncertain_line};

use super::{
    background::show_todos,
    conversation::Conversation,
    elsewhere::resolve,
    saved::{shortened, show_last_exchanges},
};
use crate::{exit::Failure, input::confirm, open_question, sessions::answers_of, turn::Input};

/// Shows where the session stopped, and continues a turn that is open if the user wants that.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn settle(conversation: &mut Conversation) -> Result<(), Failure> {
    let screen = conversation.screen;
    show_last_exchanges(screen, &conversation.session).await?;
    show_todos(conversation, true)?;
    let count = conversation.session.messages().await.len();
    screen.note(&format!(
        "Session {}, {count} messages in the conversation.",
        conversation.session.id()
    ))?;
    if !resolve(conversation).await? {
        return Ok(());
    }
    if conversation.session.is_suspended().await {
        screen.note("The last turn waits for answers.")?;
        return go_on(conversation).await;
    }
    if !conversation.session.is_interrupted().await {
        return Ok(());
    }
    screen.note("The last turn was interrupted before it ended. What it had finished is kept. It began with:")?;
    // The conversation ends before the turn that is open.
    let id = conversation.session.id().to_owned();
    match conversation.chats.sessions.last_input(&id).await {
        Ok(input) => screen.note(&format!("you: {}", shortened(&input.unwrap_or_default())))?,
        Err(failure) => screen.error(&failure.to_string())?,
    }
    for call in conversation.session.uncertain_calls().await {
        screen.note(&uncertain_line(&call))?;
    }
    conversation.console.discard_typed();
    match confirm(&conversation.console, "Continue the turn? [y]es, [n]o: ", None).await? {
        Some(true) => go_on(conversation).await,
        Some(false) | None => end_turn(conversation).await,
    }
}

/// Continues an open turn until it ends. Questions that are not answered yet are asked.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn go_on(conversation: &mut Conversation) -> Result<(), Failure> {
    let screen = conversation.screen;
    loop {
        let mut answers = match answers_of(&conversation.chats.sessions, &conversation.session).await {
            Ok(answers) => answers,
            Err(failure) => return screen.error(&failure.to_string()),
        };
        for question in conversation.session.questions().await {
            if answers.iter().any(|(id, _)| *id == question.id) {
                continue;
            }
            match ask(conversation, &question).await? {
                Some(answer) => answers.push((question.id, answer)),
                None => {
                    return screen.note(
                        "The turn still waits: /resume and `agcore approvals` show its questions again; a new message ends it.",
                    );
                }
            }
        }
        if !conversation.run(None, Input::Answers(answers)).await? {
            return Ok(());
        }
    }
}

async fn end_turn(conversation: &Conversation) -> Result<(), Failure> {
    let screen = conversation.screen;
    if let Err(error) = conversation.session.abandon_turn().await {
        return screen.error(&error.to_string());
    }
    conversation.save_change().await?;
    screen.note("The turn is ended.")
}

/// Asks a question of the turn. Returns `None` if the user does not answer.
async fn ask(conversation: &Conversation, question: &Question) -> Result<Option<Answer>, Failure> {
    conversation.screen.question(&open_question::text(question))?;
    conversation.console.discard_typed();
    loop {
        let Line::Entered(line) = conversation.console.read_line(open_question::PROMPT).await? else {
            return Ok(None);
        };
        if let Some(answer) = open_question::parse(&line) {
            return Ok(Some(answer));
        }
    }
}
