//! The interactive chat: reads lines and runs commands and turns.

mod greeting;
mod heading;
pub(super) mod mode;
mod permissions;
pub(super) mod shell_prefix;

use std::{borrow::Cow, io, sync::Arc};

use agcore::session::CostEntry;
use agcore_args::ChatArgs;
use agcore_settings::{Settings, vendor::versioned_url};
use agcore_terminal::{
    clipboard::PastedImages,
    console::{Console, Draft, EchoOff, PromptLine},
    interrupt::Interrupts,
    render::sanitized_line,
    size::extent,
    window::{Notify, Window},
};
use agcore_workbench::{
    Surface, Workbench,
    permission_mode::{plan_mode, prompt},
    policy::mode_switch::ModeSwitch,
    program_tools::ToolFolder,
};

use self::{
    greeting::{greet, load_history, provider},
    heading::show_heading,
    mode::{offer_plan, people, set_mode},
    permissions::permissions,
};
use super::{
    background::end_jobs,
    commands::{self, Next, rewind::rewind},
    conversation::Conversation,
    last_model::{continued, note_other_provider},
    mentions::attach,
    one_shot::Front,
    picker::selected,
    screen::Screen,
    session::{ChatSessions, agent_of, model_of},
    settle::settle,
    slash::{self, KEYS, Slash},
    turn_log::{Costs, TurnLog},
    turn_runner::{Questions, TurnRunner},
};

use crate::{
    exit::Failure, input::attachments::with_files, prices::Prices, server_question::ServerQuestions, sessions::Sessions,
};

/// The size from which the extent of a message is shown, so that one can see that all of a pasted text arrived.
const LARGE: usize = 2_000;

/// The number of lines from which the extent of a message is shown.
const MANY_LINES: usize = 20;

/// Runs a chat at the terminal until the user leaves. A turn that fails is reported and does not end the chat.
///
/// # Errors
/// When the terminal cannot be used or the settings are invalid.
pub(super) async fn run(
    args: &ChatArgs,
    settings: &mut Settings,
    tools: &Workbench,
    asked: ServerQuestions,
    front: &Front<'_>,
) -> Result<(), Failure> {
    if args.session.suspend {
        return Err(Failure::usage("--suspend is for single messages: add -p and a message"));
    }
    let mut conversation = conversation(args, settings, tools, asked, front).await?;
    let ended = Box::pin(converse(args, settings, front.interrupts, &mut conversation)).await;
    let farewell = farewell(&conversation).await;
    ended.and(farewell)
}

/// Reads lines and handles them until the user leaves.
async fn converse(
    args: &ChatArgs,
    settings: &mut Settings,
    interrupts: &Interrupts,
    conversation: &mut Conversation,
) -> Result<(), Failure> {
    let console = conversation.console.clone();
    // At the prompt, the editor receives Ctrl-C as a key.
    let _guard = interrupts.ignore();
    let _echo_off = Console::reads_keys().then(EchoOff::with_distinct_enter);
    console.set_commands(
        slash::command_names(&conversation.tools.project),
        conversation.screen.palette.dim,
    );
    let folder = conversation.folder.clone();
    console.set_files(Arc::new(move || folder.file_names()));
    begin(args, settings, conversation).await?;
    let (mut pressed, mut draft) = (Pressed::Other, Draft::default());
    loop {
        if let Some(typed) = offer_plan(args, settings, conversation).await? {
            draft.before = typed;
        }
        let screen = conversation.screen;
        let line = read_line(conversation, pressed, std::mem::take(&mut draft)).await?;
        let before = std::mem::replace(&mut pressed, Pressed::of(&line));
        match line {
            PromptLine::Closed => return Ok(()),
            PromptLine::Interrupted { first: false } if before == Pressed::CtrlC => return Ok(()),
            PromptLine::Interrupted { .. } => screen.note("To leave, press Ctrl-C again or Ctrl-D, or type /exit.")?,
            PromptLine::Escaped if before == Pressed::Esc => {
                pressed = Pressed::Other;
                draft.before = rewind(conversation).await?.unwrap_or_default();
            }
            PromptLine::Escaped => {
                screen.note("To go back to an earlier message, press Esc again, or type /rewind.")?;
            }
            PromptLine::PasteImage(kept) => draft = pasted(kept, conversation).await?,
            PromptLine::OpenEditor(text) => draft = edited(text, screen).await?,
            PromptLine::ShowLast(kept) => {
                commands::show_last(conversation)?;
                draft = kept;
            }
            PromptLine::CycleMode(kept) => {
                let mode = conversation.turns.modes.next();
                set_mode(mode, args, settings, conversation).await?;
                draft = kept;
            }
            PromptLine::Entered(line) => match handle_line(line, conversation).await? {
                Next::Continue => {}
                Next::Edit(line) => draft.before = line,
                Next::Plan => {
                    let mode = plan_mode(conversation.turns.modes.current().get(), args.permission_mode());
                    set_mode(mode, args, settings, conversation).await?;
                }
                Next::Permissions(argument) => permissions(&argument, args, settings, conversation).await?,
                Next::Exit => return Ok(()),
            },
        }
    }
}

/// Shows what the chat begins with, and sends the message of the arguments.
async fn begin(args: &ChatArgs, settings: &Settings, conversation: &mut Conversation) -> Result<(), Failure> {
    greet(settings, conversation)?;
    if settings.history && !args.session.ephemeral {
        load_history(&conversation.console, conversation.screen)?;
    }
    if args.session.continues_session() {
        note_other_provider(conversation).await?;
        settle(conversation).await?;
    }
    send_first(args, conversation).await
}

/// Reads a line at the prompt, which names the permission mode.
async fn read_line(conversation: &mut Conversation, pressed: Pressed, draft: Draft) -> Result<PromptLine, Failure> {
    // Each mode on the way to the one that is wanted would leave a heading.
    if pressed != Pressed::ShiftTab {
        show_heading(conversation).await?;
    }
    let prompt = prompt(conversation.turns.modes.current().get());
    Ok(conversation.console.read_prompt(prompt, draft).await?)
}

/// Sends the message of the arguments, if there is one.
async fn send_first(args: &ChatArgs, conversation: &mut Conversation) -> Result<(), Failure> {
    let (Some(message), screen) = (&args.message, conversation.screen) else {
        return Ok(());
    };
    screen.speaker("you")?;
    screen.print(&format!(
        "{}{message}\n",
        prompt(conversation.turns.modes.current().get())
    ))?;
    conversation.send(with_files(message.clone(), &args.files)?).await
}

/// The last key at the prompt, if pressing it twice has another effect, or it is often pressed several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pressed {
    CtrlC,
    Esc,
    ShiftTab,
    Other,
}

impl Pressed {
    fn of(line: &PromptLine) -> Self {
        match line {
            PromptLine::Interrupted { .. } => Self::CtrlC,
            PromptLine::Escaped => Self::Esc,
            PromptLine::CycleMode(_) => Self::ShiftTab,
            _ => Self::Other,
        }
    }
}

/// Adds the image in the clipboard to the input.
async fn pasted(mut draft: Draft, conversation: &mut Conversation) -> Result<Draft, Failure> {
    match conversation.images.paste().await {
        Ok(mention) => draft.before += &mention,
        Err(error) => conversation.screen.error(&error)?,
    }
    Ok(draft)
}

/// Lets the user change the text in an editor.
async fn edited(text: String, screen: Screen) -> Result<Draft, Failure> {
    let before = match agcore_terminal::editor::edit(&text).await {
        Ok(edited) => edited,
        Err(error) => {
            screen.error(&error)?;
            text
        }
    };
    Ok(Draft {
        before,
        after: String::new(),
    })
}

/// Shows how the session can be continued later.
async fn farewell(conversation: &Conversation) -> Result<(), Failure> {
    let session = &conversation.session;
    conversation.chats.forget_if_empty(session.id()).await;
    let problems = conversation.chats.recording_problems();
    problems
        .iter()
        .try_for_each(|problem| conversation.screen.error(problem))?;
    end_jobs(conversation).await?;
    let is_used = session.usage().await.calls > 0 || !session.messages().await.is_empty();
    match is_used && conversation.chats.sessions.is_kept() {
        true => conversation.screen.note(&format!(
            "To continue this session: agcore chat --resume {}",
            session.id()
        )),
        false => Ok(()),
    }
}

async fn conversation(
    args: &ChatArgs,
    settings: &Settings,
    tools: &Workbench,
    asked: ServerQuestions,
    front: &Front<'_>,
) -> Result<Conversation, Failure> {
    let sessions = Sessions::of_chat(&args.session).await?;
    let selected = selected(&args.session, &sessions).await?;
    let console = Console::open()?;
    let screen = Screen {
        palette: front.color.palette(&io::stdout()).with_theme(settings.theme),
    };
    let folder = ToolFolder::of_settings(&settings.tools)?;
    let modes = (args.permission_mode(), args.permission_mode());
    let modes = ModeSwitch::new(&tools.registry, &settings.tools, modes)?;
    let (people, calls) = people(&modes, folder.clone());
    let chats = ChatSessions::new(args, settings, tools, sessions, Surface::Terminal(people))?;
    let agent = agent_of(args, settings, tools)?;
    let agent = continued(agent, (args, settings), &chats.sessions, selected.as_ref()).await?;
    let model = model_of(&agent, settings);
    let session = chats
        .start(selected.as_ref(), args.session.fork_session, &agent)
        .await?;
    chats.name(&session, args).await?;
    let continued = selected.as_ref().filter(|_| !args.session.fork_session);
    let mut costs = costs(args, settings, &model)?;
    if let (Some(costs), Some(session)) = (&mut costs, continued) {
        costs.add_earlier(&CostEntry::of_session(&*chats.sessions.store(), session).await?);
    }
    let log = TurnLog::with_costs(costs);
    let questions = Questions { calls, servers: asked };
    let turns = turn_runner((settings, front, modes), (&console, screen, &folder), questions, log);
    Ok(Conversation {
        chats,
        session,
        model,
        agent,
        project_instructions: settings.context_files.clone(),
        disabled: settings.disabled().to_vec(),
        provider: provider(settings),
        turns,
        tools: tools.clone(),
        console,
        screen,
        attached: Vec::new(),
        folder,
        images: PastedImages::default(),
        last: None,
        shows_status: settings.terminal.status.value,
    })
}

/// Returns what runs the turns of a chat.
fn turn_runner(
    (settings, front, modes): (&Settings, &Front<'_>, ModeSwitch),
    (console, screen, folder): (&Console, Screen, &ToolFolder),
    questions: Questions,
    log: TurnLog,
) -> TurnRunner {
    TurnRunner {
        console: console.clone(),
        screen,
        folder: folder.clone(),
        questions,
        interrupts: front.interrupts.clone(),
        modes,
        better_url: versioned_url(&settings.provider),
        limits: settings.limits.clone(),
        log,
        unanswered: Vec::new(),
        window: window(settings, screen),
    }
}

/// Takes over the window of the terminal, unless escape codes are disabled.
fn window(settings: &Settings, screen: Screen) -> Window {
    let (window, is_colored) = (&settings.terminal, screen.palette.is_colored);
    let notify = if is_colored { window.notify.value } else { Notify::Off };
    Window::new(window.title.value && is_colored, notify, window.notify_after.value)
}

/// Returns the costs of the chat, if there are prices.
fn costs(args: &ChatArgs, settings: &Settings, model: &str) -> Result<Option<Costs>, Failure> {
    let prices = Prices::read(args.catalog.as_deref(), settings.prices.as_ref(), &settings.provider)?;
    Ok(prices.map(|prices| Costs::new(prices, settings.provider.name(), model)))
}

/// Handles an entered line: nothing, a command, or a message.
async fn handle_line(line: String, conversation: &mut Conversation) -> Result<Next, Failure> {
    let screen = conversation.screen;
    if line.is_empty() {
        return Ok(Next::Continue);
    }
    if let Err(error) = conversation.console.add_history(&line) {
        screen.note(&format!("The history is no longer saved: {error}"))?;
    }
    if line == "?" {
        screen.list(KEYS)?;
        return Ok(Next::Continue);
    }
    if let Some(command) = line.strip_prefix('!') {
        return run_shell(command.trim(), conversation).await;
    }
    let parsed = line
        .starts_with('/')
        .then(|| slash::parse(&line, &conversation.tools.project));
    let message = match parsed {
        Some(Ok(Slash::Command(kind, argument))) => return commands::run(kind, argument, conversation).await,
        Some(Ok(Slash::Message(message))) => Cow::Borrowed(message),
        Some(Ok(Slash::Own { message, file })) => {
            screen.note(&format!("The message of {} is sent.", sanitized_line(&file)))?;
            Cow::Owned(message)
        }
        Some(Err(error)) => {
            screen.error(&error)?;
            return Ok(Next::Continue);
        }
        None => Cow::Borrowed(line.as_str()),
    };
    let attached = match attach(&message, &conversation.tools.servers).await {
        Ok(attached) => attached,
        Err(error) => {
            screen.error(&error)?;
            return Ok(Next::Edit(line));
        }
    };
    if message.len() > LARGE || message.lines().count() > MANY_LINES {
        screen.note(&format!("Your message has {}.", extent(&message)))?;
    }
    attached.notes.iter().try_for_each(|note| screen.note(note))?;
    conversation.send(attached.content).await?;
    Ok(Next::Continue)
}

async fn run_shell(command: &str, conversation: &mut Conversation) -> Result<Next, Failure> {
    if command.is_empty() {
        conversation
            .screen
            .error("type a shell command after the !, for example !ls")?;
        return Ok(Next::Continue);
    }
    let block = shell_prefix::run(command, &conversation.turns.interrupts, conversation.screen).await?;
    conversation.attached.extend(block);
    Ok(Next::Continue)
}
