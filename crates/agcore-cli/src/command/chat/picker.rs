//! Lets the user choose a session from a list.

use agcore::memory::session::Session;

use crate::{
    args::SessionArgs,
    console::{Console, Line},
    exit::Failure,
    process::print,
    sessions::{SessionKind, Sessions, current_folder, session_rows},
    table::table,
    trust_dialog::is_at_terminal,
};

/// The number of sessions to choose from.
const MAX_CHOICES: usize = 20;

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
        Some("") => match choose(sessions, &Console::open()?).await? {
            Some(session) => Ok(Some(session)),
            None => Err(Failure::task("no session was chosen")),
        },
        Some(start) => checked(sessions.find(start).await?, sessions.kind()).map(Some),
        None if args.continues => newest(sessions).await.map(Some),
        None => Ok(None),
    }
}

/// Shows the newest sessions, and reads the number of one. Returns `None` if the user chooses none.
///
/// # Errors
/// When the database or the terminal cannot be read.
pub(super) async fn choose(sessions: &Sessions, console: &Console) -> Result<Option<Session>, Failure> {
    let mut known = sessions.list(None, MAX_CHOICES).await?;
    if known.is_empty() {
        return Err(Failure::task(match sessions.kind() {
            SessionKind::Task => "there are no tasks yet; to begin one: agcore run TASK",
            SessionKind::Any => "there are no sessions yet",
        }));
    }
    let numbered = session_rows(&known).into_iter().zip(1_u32..);
    let rows: Vec<[String; 6]> = numbered
        .map(|([id, time, state, title, folder], number)| [format!("{number:>2}"), id, time, state, title, folder])
        .collect();
    print(&table(&rows))?;
    loop {
        let prompt = format!("Continue which session? [1-{}], Enter for none: ", known.len());
        let Line::Entered(word) = console.read_line(&prompt).await? else {
            return Ok(None);
        };
        if word.is_empty() {
            return Ok(None);
        }
        let number = word.parse::<usize>().unwrap_or(0);
        if (1..=known.len()).contains(&number) {
            return Ok(Some(known.swap_remove(number - 1)));
        }
    }
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
    if let Some(newest) = sessions.list(Some(&folder), 1).await?.pop() {
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
