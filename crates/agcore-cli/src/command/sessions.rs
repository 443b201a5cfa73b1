//! `agcore sessions`: the sessions that are kept.

mod replay;
mod trajectory;
mod transcript;

use agcore::session::{MessageFilter, Session, StoredMessage};
use agcore_args::{DeleteArgs, ExportArgs, ExportFormat, ListArgs, RenameArgs, SearchArgs, SessionsCommand, ShowArgs};
use agcore_terminal::{
    interrupt::Interrupts,
    render::{Color, sanitized_line},
    table::table,
    transcript::{Part, html},
};
use serde_json::{Value, json};

use self::{
    replay::replay,
    trajectory::trajectory,
    transcript::{part, transcript},
};
use crate::{
    exit::Failure,
    sessions::{Extent, Sessions, current_folder, folder_of, last_turn, time},
    stdout::print,
    trust_dialog::{ask_yes_or_no, is_at_terminal},
};

/// Runs a `sessions` command, or lists the sessions if there is none.
///
/// # Errors
/// When there is no such session, or the database cannot be read or written.
pub(crate) async fn run(
    command: Option<SessionsCommand>,
    list_args: ListArgs,
    interrupts: &Interrupts,
    color: Color,
) -> Result<(), Failure> {
    let command = match command {
        Some(_) if list_args.are_given() => {
            return Err(Failure::usage(
                "options of a command follow its name, as in `agcore sessions list --here`",
            ));
        }
        Some(command) => command,
        None => SessionsCommand::List(list_args),
    };
    if let SessionsCommand::Replay(args) = &command {
        return replay(args, interrupts, color).await;
    }
    let sessions = Sessions::open().await?;
    match &command {
        SessionsCommand::Replay(_) => Ok(()),
        SessionsCommand::List(args) => list(args, &sessions).await,
        SessionsCommand::Search(args) => search(args, &sessions).await,
        SessionsCommand::Rename(args) => rename(args, &sessions).await,
        SessionsCommand::Show(args) => show(args, &sessions).await,
        SessionsCommand::Export(args) => export(args, &sessions).await,
        SessionsCommand::Delete(args) => delete(args, &sessions, interrupts).await,
    }
}

async fn list(args: &ListArgs, sessions: &Sessions) -> Result<(), Failure> {
    let folder = args.here.then(|| current_folder().unwrap_or_default());
    let listed = sessions.list(folder.as_deref(), extent(args), args.limit).await?;
    if args.json {
        let listed: Vec<Value> = listed.iter().map(described).collect();
        return print(&format!("{:#}\n", json!({ "sessions": listed })));
    }
    match listed.as_slice() {
        [] => print("There are no sessions.\n"),
        listed => print(&sessions.table(listed).await?),
    }
}

async fn search(args: &SearchArgs, sessions: &Sessions) -> Result<(), Failure> {
    let SearchArgs { text, list } = args;
    let folder = list.here.then(|| current_folder().unwrap_or_default());
    let found = sessions
        .search(text, folder.as_deref(), extent(list), list.limit)
        .await?;
    if list.json {
        let found = found.iter().map(|found| {
            let mut shown = described(&found.session);
            shown["excerpt"] = found.excerpt.as_str().into();
            shown
        });
        let found: Vec<Value> = found.collect();
        return print(&format!("{:#}\n", json!({ "sessions": found })));
    }
    match found.as_slice() {
        [] => {
            let more = match list.all {
                true => "",
                false => "\n--all also searches chats in which no turn succeeded.",
            };
            Err(Failure::task(format!(
                "no session contains `{}`{more}",
                sanitized_line(text)
            )))
        }
        found => print(&sessions.found_table(found).await?),
    }
}

fn extent(args: &ListArgs) -> Extent {
    if args.all { Extent::All } else { Extent::Started }
}

async fn rename(args: &RenameArgs, sessions: &Sessions) -> Result<(), Failure> {
    let session = sessions.find(&args.session.id).await?;
    sessions.rename(&session.id, &args.name).await?;
    print(&format!(
        "{} has the name `{}`.\n",
        sanitized_line(&session.id),
        sanitized_line(&args.name)
    ))
}

async fn show(args: &ShowArgs, sessions: &Sessions) -> Result<(), Failure> {
    let session = sessions.find(&args.session.id).await?;
    let messages = messages(&session, sessions).await?;
    if args.json {
        let mut shown = described(&session);
        shown["messages"] = json!(messages);
        return print(&format!("{shown:#}\n"));
    }
    let row = |name: &str, value: &str| [name.to_owned(), sanitized_line(value)];
    let rows = [
        row("session", &session.id),
        row("title", session.title.as_deref().unwrap_or_default()),
        row("folder", folder_of(&session).unwrap_or_default()),
        row("last turn", last_turn(&session).unwrap_or_default()),
        row("created", &time(session.created_at)),
        row("changed", &time(session.updated_at)),
    ];
    print(&format!("{}\n{}", table(&rows), transcript(&messages)))
}

async fn export(args: &ExportArgs, sessions: &Sessions) -> Result<(), Failure> {
    let session = sessions.find(&args.session.id).await?;
    match args.format {
        ExportFormat::Messages => export_messages(&session, sessions).await,
        ExportFormat::Trajectory => {
            let lines = trajectory(&session, sessions).await?.to_json_lines();
            print(&lines.map_err(|error| Failure::task(error.to_string()))?)
        }
        ExportFormat::ShareGpt => {
            let line = trajectory(&session, sessions).await?.to_share_gpt();
            print(&format!("{line}\n"))
        }
        ExportFormat::Html => {
            let parts: Vec<Part> = messages(&session, sessions).await?.iter().map(part).collect();
            print(&html(session.title.as_deref().unwrap_or(&session.id), &parts))
        }
    }
}

async fn export_messages(session: &Session, sessions: &Sessions) -> Result<(), Failure> {
    let mut head = described(session);
    head["type"] = "session".into();
    let mut lines = format!("{head}\n");
    for message in messages(session, sessions).await? {
        let mut line = json!(message);
        line["type"] = "message".into();
        lines += &format!("{line}\n");
    }
    print(&lines)
}

async fn delete(args: &DeleteArgs, sessions: &Sessions, interrupts: &Interrupts) -> Result<(), Failure> {
    let mut found = Vec::new();
    for id in &args.ids {
        found.push(sessions.find(id).await?);
    }
    found.dedup_by(|a, b| a.id == b.id);
    if !args.yes {
        if !is_at_terminal() {
            return Err(Failure::usage(
                "cannot ask whether to delete, because there is no terminal; pass --yes",
            ));
        }
        print(&sessions.table(&found).await?)?;
        if !ask_yes_or_no("Delete? [y]es, [n]o: ", interrupts).await? {
            return Err(Failure::task("nothing was deleted: you answered no"));
        }
    }
    for session in &found {
        let id = sanitized_line(&session.id);
        match args.with_costs {
            true => {
                sessions.delete_with_costs(session).await?;
                print(&format!("{id} is deleted with its costs.\n"))?;
            }
            false => {
                sessions.erase(session).await?;
                print(&format!("{id} is deleted; its costs are kept.\n"))?;
            }
        }
    }
    Ok(())
}

async fn messages(session: &Session, sessions: &Sessions) -> Result<Vec<StoredMessage>, Failure> {
    let (store, filter) = (sessions.store(), MessageFilter::new());
    Ok(store.messages(session.tenant(), &session.id, &filter).await?)
}

/// Describes a session as JSON.
fn described(session: &Session) -> Value {
    json!({
        "id": session.id,
        "title": session.title,
        "status": session.status,
        "last_turn": last_turn(session),
        "folder": folder_of(session),
        "created_at": time(session.created_at),
        "updated_at": time(session.updated_at),
        "origin": session.origin,
    })
}
