//! `/permissions`: the rules for the tools, and the answers that were kept.

use std::path::PathBuf;

use agcore::tools::{Grant, GrantStore, RegisteredTool, RuleState};
use agcore_args::ChatArgs;
use agcore_settings::{
    PermissionEntry, Settings,
    places::user_settings,
    setup::{RuleChange, change_rules},
};
use agcore_terminal::{render::sanitized_line, table::table};
use agcore_workbench::{grants::full_rule, policy::mode_switch::ModeSwitch};

use super::mode::rebuild;
use crate::{
    command::chat::{conversation::Conversation, disabled::Part},
    exit::Failure,
};

/// The forms of the command.
const USAGE: &str = "type /permissions, /permissions allow|ask|deny RULE for this chat, /permissions always allow|ask|deny RULE for \
    later chats, too, or /permissions remove NUMBER or TOOL";

/// Shows the rules and the answers, or changes them.
///
/// # Errors
/// When the terminal was closed, or the settings are invalid.
pub(super) async fn permissions(
    argument: &str,
    args: &ChatArgs,
    settings: &mut Settings,
    conversation: &mut Conversation,
) -> Result<(), Failure> {
    let mut words = argument.splitn(2, char::is_whitespace);
    let (first, rest) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default().trim(),
    );
    let screen = conversation.screen;
    match (first, rest) {
        ("", _) => {
            show(conversation, settings).await?;
            conversation.show_part("", Part::Permissions)
        }
        ("remove" | "revoke", "") => screen.error(USAGE),
        ("remove" | "revoke", which) => match which.parse::<usize>() {
            Ok(number) => remove(number, args, settings, conversation).await,
            Err(_) => revoke(conversation, which).await,
        },
        ("always", rule) => match rule.split_once(char::is_whitespace) {
            Some((state, rule)) => add(state, rule.trim(), true, (args, settings), conversation).await,
            None => screen.error(USAGE),
        },
        (state, rule) if !rule.is_empty() => add(state, rule, false, (args, settings), conversation).await,
        _ => screen.error(USAGE),
    }
}

/// Adds a rule for this chat, and to the user's settings file if it is for later chats, too.
async fn add(
    state: &str,
    rule: &str,
    is_kept: bool,
    (args, settings): (&ChatArgs, &mut Settings),
    conversation: &mut Conversation,
) -> Result<(), Failure> {
    let screen = conversation.screen;
    let state = match state {
        "allow" => RuleState::Allow,
        "ask" => RuleState::Ask,
        "deny" => RuleState::Deny,
        _ => return screen.error(USAGE),
    };
    let mut entry = match PermissionEntry::typed(state, rule) {
        Ok(entry) => entry,
        Err(error) => return screen.error(&error.to_string()),
    };
    let file = match user_settings().filter(|_| is_kept) {
        Some(file) => file,
        None if is_kept => return screen.error("there is no place for your settings: set HOME or AGCORE_CONFIG_DIR"),
        None => PathBuf::new(),
    };
    if is_kept {
        entry = entry.in_file(&file);
    }
    settings.tools.permissions.push(entry);
    let mode = conversation.turns.modes.current().get();
    // An unknown tool must not end the chat.
    let checked = ModeSwitch::new(
        &conversation.tools.registry,
        &settings.tools,
        (args.permission_mode(), mode),
    );
    let stored = checked.map_err(|error| error.to_string()).and_then(|_| match is_kept {
        true => change_rules(&file, RuleChange::Add, state, rule),
        false => Ok(()),
    });
    if let Err(reason) = stored {
        settings.tools.permissions.pop();
        return screen.error(&reason);
    }
    apply(args, settings, conversation).await?;
    let rule = sanitized_line(rule);
    screen.note(&match is_kept {
        true => format!(
            "Added to {}: {state} {rule}",
            sanitized_line(&file.display().to_string())
        ),
        false => format!("Added until this chat ends: {state} {rule}"),
    })
}

/// Uses the rules as they are now.
async fn apply(args: &ChatArgs, settings: &Settings, conversation: &mut Conversation) -> Result<(), Failure> {
    conversation.folder.use_rules(&settings.tools);
    let mode = conversation.turns.modes.current().get();
    rebuild(mode, args, settings, conversation).await.map(drop)
}

/// Removes the rule or the answer with this number in the list.
async fn remove(
    number: usize,
    args: &ChatArgs,
    settings: &mut Settings,
    conversation: &mut Conversation,
) -> Result<(), Failure> {
    let (rules, screen) = (settings.tools.permissions.len(), conversation.screen);
    let Some(index) = number.checked_sub(1).filter(|index| *index < rules) else {
        return revoke_one(conversation, number, number.saturating_sub(rules)).await;
    };
    let entry = &settings.tools.permissions[index];
    let (state, rule) = (entry.state, entry.text().to_owned());
    match entry.file() {
        Some(file) if user_settings().as_deref() == Some(file) => {
            if let Err(reason) = change_rules(file, RuleChange::Remove, state, &rule) {
                return screen.error(&reason);
            }
        }
        Some(_) => {
            return screen.error(&format!(
                "the rule is in {entry}; remove it there, and trust the folder again if it is that of the folder"
            ));
        }
        None => {}
    }
    settings.tools.permissions.remove(index);
    apply(args, settings, conversation).await?;
    screen.note(&format!("Removed: {state} {}", sanitized_line(&rule)))
}

async fn show(conversation: &Conversation, settings: &Settings) -> Result<(), Failure> {
    let (session, policy) = (&conversation.session, conversation.turns.policy());
    let tools = session.bundle().tools().list();
    let row = |tool: &RegisteredTool| {
        let access = policy.access(tool, Some(session.tools()));
        [tool.name().to_string(), access.to_string()]
    };
    let rows: Vec<_> = tools.iter().map(row).collect();
    let entries = &settings.tools.permissions;
    let rules = table(&(1..).zip(entries).map(rule_row).collect::<Vec<_>>());
    let rules = match entries.is_empty() {
        true => String::new(),
        false => format!("Rules, where deny overrides ask, and ask overrides allow:\n{rules}"),
    };
    let file = sanitized_line(&policy.grants().place().to_string());
    let answers: String = (entries.len() + 1..)
        .zip(answers(conversation).await)
        .map(|(number, (grant, is_kept))| {
            let duration = match is_kept {
                true => format!("always, in {file}"),
                false => "until this chat ends".to_owned(),
            };
            format!("  {number} {}, {duration}\n", full_rule(&grant))
        })
        .collect();
    let answers = match answers.as_str() {
        "" => "No answers are kept.\n".to_owned(),
        answers => format!("Allowed by your answers:\n{answers}"),
    };
    let mode = policy.mode().as_str();
    let rows = table(&rows);
    conversation
        .screen
        .list(&format!("Permission mode: {mode}\n{rows}{rules}{answers}"))?;
    conversation.screen.note(
        "/permissions allow RULE adds a rule until this chat ends, as do ask and deny; /permissions always allow RULE keeps it. \
         /permissions remove NUMBER removes a rule or an answer, and /permissions remove TOOL all answers about a tool.",
    )
}

/// Returns the row of a rule: its number, what it does, and where it is.
fn rule_row((number, entry): (usize, &PermissionEntry)) -> [String; 4] {
    [
        format!("  {number}"),
        entry.state.to_string(),
        sanitized_line(entry.text()),
        sanitized_line(&entry.to_string()),
    ]
}

/// Returns the answers that are kept, each with whether that is for later chats as well. An answer for good is also one of the
/// session.
async fn answers(conversation: &Conversation) -> Vec<(Grant, bool)> {
    let (session, policy) = (&conversation.session, conversation.turns.policy());
    let kept = policy.grants().list(&session.actor()).await.unwrap_or_default();
    let mut answers: Vec<(Grant, bool)> = session
        .tools()
        .grants()
        .into_iter()
        .map(|grant| (grant, false))
        .collect();
    answers.retain(|(grant, _)| !kept.contains(grant));
    answers.extend(kept.into_iter().map(|grant| (grant, true)));
    answers
}

/// Revokes an answer by its place among the answers, from 1. `number` is that in the list.
async fn revoke_one(conversation: &Conversation, number: usize, place: usize) -> Result<(), Failure> {
    let (session, screen) = (&conversation.session, conversation.screen);
    let found = answers(conversation).await.into_iter().nth(place.wrapping_sub(1));
    let Some((grant, is_kept)) = found else {
        return screen.error(&format!(
            "there is no answer {number}; /permissions lists the rules and answers"
        ));
    };
    session.tools().revoke(&grant);
    if is_kept && let Err(error) = conversation.turns.policy().grants().revoke(&grant).await {
        return screen.error(&error.to_string());
    }
    screen.note(&format!("Revoked: {}", full_rule(&grant)))
}

async fn revoke(conversation: &Conversation, tool: &str) -> Result<(), Failure> {
    let (session, screen) = (&conversation.session, conversation.screen);
    let policy = conversation.turns.policy();
    let store = policy.grants();
    let mut count = session.tools().revoke_tool(tool);
    let kept = store.list(&session.actor()).await.unwrap_or_default();
    for grant in kept.iter().filter(|grant| grant.tool.to_string() == tool) {
        match store.revoke(grant).await {
            Ok(was_kept) => count += usize::from(was_kept),
            Err(error) => return screen.error(&error.to_string()),
        }
    }
    let tool = sanitized_line(tool);
    match count {
        0 => screen.error(&format!(
            "no answer about {tool} is kept; /permissions lists the answers"
        )),
        _ => screen.note(&format!("Revoked. Calls of {tool} follow the rules again.")),
    }
}
