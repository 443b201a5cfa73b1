//! The offer to carry out a plan, after a turn in plan mode.

use agcore::{Message, chat::Content};
use agcore_args::ChatArgs;
use agcore_settings::Settings;
use agcore_terminal::console::Line;
use agcore_workbench::permission_mode::{PermissionMode, plan_mode, prompt};

use super::set_mode;

use crate::{command::chat::conversation::Conversation, exit::Failure};

/// The message that lets the model begin.
const BEGIN: &str = "Carry out the plan.";

/// The possible answers.
const PROMPT: &str = "[y]es [a]ccept edits [n]o: ";

/// The choice of the user after a plan.
#[derive(Debug, PartialEq, Eq)]
enum Answer<'l> {
    /// Carry it out, and ask as the settings say.
    Yes,
    /// Carry it out, and ask about no change of a file.
    AcceptEdits,
    /// Keep planning.
    No,
    /// Say this.
    Say(&'l str),
}

/// Asks whether the plan of the last turn is carried out, and does so. Returns what the user wants to say instead, if that is
/// anything.
///
/// # Errors
/// When the terminal was closed, or the settings are invalid.
pub(in crate::command::chat) async fn offer_plan(
    args: &ChatArgs,
    settings: &Settings,
    conversation: &mut Conversation,
) -> Result<Option<String>, Failure> {
    if !std::mem::take(&mut conversation.turns.log.has_answered) || !has_plan(conversation).await {
        return Ok(None);
    }
    let (screen, after) = (
        conversation.screen,
        plan_mode(PermissionMode::Plan, args.permission_mode()),
    );
    screen.print("\n")?;
    screen.question("Carry out this plan?")?;
    screen.print(&choices(after))?;
    conversation.console.discard_typed();
    let Line::Entered(line) = conversation.console.read_line(PROMPT).await? else {
        return Ok(None);
    };
    let mode = match parse(&line) {
        Answer::Yes => after,
        Answer::AcceptEdits => PermissionMode::AcceptEdits,
        Answer::No => return Ok(None),
        Answer::Say(text) => return Ok(Some(text.to_owned())),
    };
    set_mode(mode, args, settings, conversation).await?;
    let current = conversation.turns.modes.current().get();
    // The reason why the mode could not be changed is on the screen.
    if current == mode {
        screen.speaker("you")?;
        screen.print(&format!("{}{BEGIN}\n", prompt(current)))?;
        conversation.send(Content::Text(BEGIN.to_owned())).await?;
    }
    Ok(None)
}

/// Returns whether the last answer may be a plan without a reaction yet.
async fn has_plan(conversation: &Conversation) -> bool {
    if conversation.turns.modes.current().get() != PermissionMode::Plan || conversation.console.has_typed() {
        return false;
    }
    let messages = conversation.session.messages().await;
    match messages.last().map(|message| &**message) {
        Some(answer @ Message::Assistant(_)) => is_plan(&answer.text()),
        _ => false,
    }
}

/// Returns whether an answer may be a plan, and not a question to the user.
fn is_plan(answer: &str) -> bool {
    let is_decoration = |c: char| c.is_whitespace() || "*_`\"'”’)".contains(c);
    let end = answer.trim_end_matches(is_decoration);
    !end.is_empty() && !end.ends_with(['?', '？'])
}

fn choices(mode: PermissionMode) -> String {
    format!(
        "  1 y  yes, in the permission mode {}\n  2 a  yes, and change files without asking (acceptEdits)\n  3 n  no, keep planning; \
         or say what to change\n",
        mode.as_str()
    )
}

fn parse(line: &str) -> Answer<'_> {
    match line.to_lowercase().as_str() {
        "y" | "yes" | "1" => Answer::Yes,
        "a" | "accept" | "accept edits" | "2" => Answer::AcceptEdits,
        "" | "n" | "no" | "3" => Answer::No,
        _ => Answer::Say(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_no_plan() {
        for plan in ["1. Rename it.\n2. Test it.", "I would fix it. Why? It fails."] {
            assert!(is_plan(plan), "{plan}");
        }
        for other in ["", " \n", "Which file?", "**Which file?**", "哪个文件？\n"] {
            assert!(!is_plan(other), "{other}");
        }
    }

    #[test]
    fn other_texts_become_the_next_message() {
        assert_eq!(parse("Y"), Answer::Yes);
        assert_eq!(parse("2"), Answer::AcceptEdits);
        assert_eq!(parse(""), Answer::No);
        assert_eq!(parse("Yes, but keep a.txt"), Answer::Say("Yes, but keep a.txt"));
    }
}
