//! Lets the user choose a session from a list.

use agcore::session::Session;
use agcore_args::SessionArgs;
use agcore_terminal::{
    console::{Console, Line},
    render::{sanitized_line, window_height, wrapped},
};

use crate::{
    exit::Failure,
    sessions::{Extent, SessionKind, Sessions, current_folder, numbered_table},
    stdout::print,
    trust_dialog::is_at_terminal,
};

/// The largest number of sessions to choose from.
const MAX_CHOICES: usize = 20;

/// The number of sessions to choose from, however low the window is.
const MIN_CHOICES: usize = 5;

/// The lines of the window for the headings and the question.
const MARGIN: usize = 5;

/// Returns the session that the options select, or `None` for a new one.
///
/// # Errors
/// When there is no such session, no terminal at which to choose one, or the user chooses none.
pub(in crate::command) async fn selected(args: &SessionArgs, sessions: &Sessions) -> Result<Option<Session>, Failure> {
    match args.resume.as_deref() {
        Some("") if !is_at_terminal() => Err(Failure::usage(
            "there is no terminal at which to choose a session\nPass its ID: --resume ID. `agcore sessions list` lists the \
             sessions.",
        )),
        Some("") => match choose(sessions, &Console::open()?, None).await? {
            Some(session) => Ok(Some(session)),
            None => Err(Failure::task("no session was chosen")),
        },
        Some(start) => checked(named(sessions, start).await?, sessions.kind()).map(Some),
        None if args.continues => newest(sessions).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the session with this id or name. If several have it, the user chooses one of them.
async fn named(sessions: &Sessions, start: &str) -> Result<Session, Failure> {
    let found = sessions.matching(start).await?;
    if found.len() < 2 || !is_at_terminal() {
        return sessions.only(start, found).await;
    }
    print(&format!("Several sessions match `{}`.\n", sanitized_line(start)))?;
    let chosen = choose_from(sessions, &Console::open()?, found).await?;
    chosen.ok_or_else(|| Failure::task("no session was chosen"))
}

/// Returns the number of sessions to choose from: they must fit into the window.
fn choices() -> usize {
    window_height().saturating_sub(MARGIN).clamp(MIN_CHOICES, MAX_CHOICES)
}

/// Shows the newest sessions, or those that contain a text, and reads the number of one. Any other text searches again. Returns
/// `None` if the user chooses none.
///
/// # Errors
/// When the database or the terminal cannot be read.
pub(super) async fn choose(
    sessions: &Sessions,
    console: &Console,
    text: Option<&str>,
) -> Result<Option<Session>, Failure> {
    let known = match text {
        None => newest_of(sessions).await?,
        Some(text) => containing(sessions, text).await?,
    };
    choose_from(sessions, console, known).await
}

/// Shows these sessions first; otherwise like [`choose`].
///
/// # Errors
/// When the database or the terminal cannot be read.
pub(super) async fn choose_from(
    sessions: &Sessions,
    console: &Console,
    mut known: Vec<Session>,
) -> Result<Option<Session>, Failure> {
    loop {
        if known.len() > choices() {
            known.truncate(choices());
            print("Older sessions are not listed; type a text to search them.\n")?;
        }
        print(&numbered_table(&known))?;
        let prompt = format!(
            "Continue which session? [{}, or a text to search; Enter for none]: ",
            numbers(known.len())
        );
        let Line::Entered(word) = console.read_line(&(wrapped(&prompt, 2) + " ")).await? else {
            return Ok(None);
        };
        if word.is_empty() {
            return Ok(None);
        }
        let number = word.parse::<usize>().unwrap_or(0);
        if (1..=known.len()).contains(&number) {
            return Ok(Some(known.swap_remove(number - 1)));
        }
        match containing(sessions, &word).await?.as_slice() {
            [] => print(&format!("No session contains `{}`.\n", sanitized_line(&word)))?,
            found => known = found.to_vec(),
        }
    }
}

/// Returns the numbers from 1 on that can be chosen.
pub(super) fn numbers(count: usize) -> String {
    match count {
        1 => "1".to_owned(),
        count => format!("1-{count}"),
    }
}

async fn newest_of(sessions: &Sessions) -> Result<Vec<Session>, Failure> {
    let known = sessions.list(None, Extent::Started, choices() + 1).await?;
    match (known.is_empty(), sessions.kind()) {
        (false, _) => Ok(known),
        (true, SessionKind::Task) => Err(Failure::task("there are no tasks yet; to begin one: agcore run TASK")),
        (true, SessionKind::Any) => Err(Failure::task("there are no sessions yet")),
    }
}

async fn containing(sessions: &Sessions, text: &str) -> Result<Vec<Session>, Failure> {
    let found = sessions.search(text, None, Extent::Started, choices() + 1).await?;
    Ok(found.into_iter().map(|found| found.session).collect())
}

/// Returns the session if it is of the kind that is wanted.
fn checked(session: Session, kind: SessionKind) -> Result<Session, Failure> {
    match kind.is_of(&session) {
        true => Ok(session),
        false => Err(Failure::usage(format!(
            "the session {id} is not a task of `agcore run`\nTo continue it as a chat: agcore chat --resume {id}",
            id = session.id
        ))),
    }
}

/// Returns the newest session of the current directory.
async fn newest(sessions: &Sessions) -> Result<Session, Failure> {
    let folder = current_folder().unwrap_or_default();
    if let Some(newest) = sessions.list(Some(&folder), Extent::Started, 1).await?.pop() {
        return Ok(newest);
    }
    let (what, start) = match sessions.kind() {
        SessionKind::Task => ("task", "\nTo begin one: agcore run TASK"),
        SessionKind::Any => ("session", ""),
    };
    Err(Failure::usage(format!(
        "there is no {what} of this folder yet{start}\n`agcore sessions list` lists the sessions of all folders; --resume ID \
         continues one of them."
    )))
}
