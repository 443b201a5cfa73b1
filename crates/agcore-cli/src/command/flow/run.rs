//! `agcore flow run`: runs a flow.

use std::{
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use agcore::{
    Message,
    agent::Skills,
    chat::{Actor, Content, text::suggestion},
    files::StandardPreprocessor,
    flow::{
        Checkpoints, FileFlow, FileFlowBuilder, FileFlowRun, FlowEvent, FlowFile, FlowKind, FlowRequest, FlowResult,
        StoredContext, StoredMemory,
    },
    llm::SystemClock,
    session::title_of,
};
use agcore_args::{ChatArgs, FlowValues, OutputFormat};
use agcore_terminal::{
    process::shell_word,
    render::{Render, TICK},
};
use serde_json::Value;
use tokio::{sync::mpsc, time};
use tokio_util::sync::CancellationToken;

use super::{
    file::{build, failure, read},
    given_files::{GivenFiles, origin},
    kept_options::{completed, kept},
    profile::Profile,
    progress::Progress,
    turn::{Turn, messages},
};

use crate::{
    command::chat::{Front, OneShot, selected},
    exit::{Failure, FailureKind},
    input::{self, attachments::with_files},
    output::Output,
    sessions::Sessions,
    stdout::print,
    trust_dialog, workbench,
};

/// A run of a flow file.
#[derive(Clone, Copy)]
pub(crate) struct FlowRun<'a> {
    pub(crate) file: &'a Path,
    pub(crate) chat: &'a ChatArgs,
    pub(crate) values: &'a FlowValues,
}

/// Runs a flow file, or continues a run of it. The answer goes to standard output, everything else to standard error.
///
/// # Errors
/// When the file has problems, the settings are invalid, a node fails, or the run waits for an answer.
pub(in crate::command) async fn run_file(run: &FlowRun<'_>, front: &Front<'_>) -> Result<(), Failure> {
    let file = read(run.file)?;
    let chat = run.chat;
    let may_ask = chat.output_format() == OutputFormat::Text;
    let settings = trust_dialog::settings(&chat.settings, may_ask, front.interrupts, front.color).await?;
    let settings = chat.applied_to(settings)?;
    trust_dialog::print_notices(&settings.context_files.warnings())?;
    let sessions = Sessions::of_chat(&chat.session).await?;
    let selected = selected(&chat.session, &sessions).await?;
    let (values, note) = completed(run.values, selected.as_ref());
    trust_dialog::print_notices(&note.into_iter().collect::<Vec<_>>())?;
    let sessions = sessions.with_flow_options(kept(&values));
    let run = &FlowRun {
        values: &values,
        ..*run
    };
    let profile = Profile::of(run.values).await?;
    let prompt = prompt(run, &file, selected.is_some()).await?;
    let (tools, asked) = workbench::open_for_user(&settings, !chat.no_tools).await?;
    let mut one_shot = OneShot::new(
        chat,
        &settings,
        &tools,
        sessions.clone(),
        selected.as_ref(),
        (front, asked),
    )
    .await?;
    one_shot.announce(chat, &tools, front.output)?;
    let session = one_shot.session.clone();
    // From the message of the user until the answer is stored.
    let _hold = session.hold().await?;
    let builder = FileFlow::builder(file, session.bundle().clone()).with_skills(skills(run.values)?);
    let builder = with_user(builder, profile.as_ref(), settings.system.as_str());
    let flow = build(with_stores(builder, &sessions))?;
    let turn = turn_of(&sessions, session.id(), prompt.is_some()).await?;
    let owner = Actor::local();
    let store = sessions.store();
    let saved = Checkpoints::create_in(&*store, sessions.checkpoints(), &owner, session.id(), &turn.id()).await;
    let saved = saved.map_err(|error| failure(&error))?;
    let started = match prompt {
        Some(mut prompt) => {
            prompt.request.user = profile.map(|profile| profile.user.to_string());
            let is_titled = selected.is_some() || chat.session.name.is_some();
            let title = (!is_titled).then_some(run.file);
            flow.start(begin(prompt, &session, &sessions, title).await?)
        }
        None => flow.resume(saved.clone()),
    };
    let started = with_answers(started.with_checkpoints(saved), run.values);
    let result = follow(started, front, (&mut *one_shot.render, chat.quiet)).await;
    let ended = match result {
        Ok(result) => finish(run, &session, &result, front.output).await,
        Err(failure) => Err(failure),
    };
    let ended = one_shot.finish(ended, front.output).await;
    tools.servers.close().await;
    ended
}

/// Returns the next turn of a session for a new message, else the last one, which continues.
async fn turn_of(sessions: &Sessions, session: &str, is_new: bool) -> Result<Turn, Failure> {
    match is_new {
        true => Turn::next(sessions, session).await,
        false => Turn::last(sessions, session).await,
    }
}

/// A message of the user, and the request to the flow that belongs to it.
struct Prompt {
    content: Content,
    request: FlowRequest,
}

/// Reads the message of the user and the files. Returns `None` if a run is continued without a new message.
async fn prompt(run: &FlowRun<'_>, file: &FlowFile, is_selected: bool) -> Result<Option<Prompt>, Failure> {
    let chat = run.chat;
    if is_selected && chat.message.is_none() {
        return match chat.files.is_empty() {
            true => Ok(None),
            false => Err(Failure::usage("--file sends a file with a message: add a PROMPT")),
        };
    }
    check_variables(file, run.values)?;
    let text = input::message(chat.message.as_deref()).await?;
    let mut request = FlowRequest::default();
    for (name, value) in &run.values.set {
        request = request.with_variable(name.as_str(), value.as_str());
    }
    // Other flows see files as a part of the message.
    if file.kind != FlowKind::Planner {
        let content = with_files(text, &chat.files)?;
        return Ok(Some(Prompt { content, request }));
    }
    for path in &chat.files {
        request = request.with_file(origin(path)?);
    }
    Ok(Some(Prompt {
        content: Content::from(text),
        request,
    }))
}

/// Checks that every variable of the file has a value, before anything is asked or sent.
///
/// # Errors
/// When one of them has none, or a value is for a variable that the file does not have.
fn check_variables(file: &FlowFile, values: &FlowValues) -> Result<(), Failure> {
    let is_set = |name: &&String| values.set.iter().any(|(set, _)| set == *name);
    let missing: Vec<&String> = file.variables.iter().filter(|name| !is_set(name)).collect();
    if !missing.is_empty() {
        let options: Vec<String> = missing.iter().map(|name| format!("--set {name}=VALUE")).collect();
        return Err(Failure::usage(format!(
            "the flow needs a value for {}\nAdd {}.",
            missing
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", "),
            options.join(" ")
        )));
    }
    let unknown = values.set.iter().find(|(set, _)| !file.variables.contains(set));
    match unknown {
        None => Ok(()),
        Some((name, _)) => {
            let near = suggestion(name, &file.variables);
            Err(Failure::usage(format!("the flow has no variable `{name}`{near}")))
        }
    }
}

/// Adds the message to the conversation. The title of a new one is the beginning of the message, or else the name of the file.
async fn begin(
    Prompt { content, mut request }: Prompt,
    session: &agcore::AgentSession,
    sessions: &Sessions,
    file: Option<&Path>,
) -> Result<FlowRequest, Failure> {
    let message = Message::user(content);
    request.request = message.text().into_owned();
    session.add_message(message).await?;
    if let Some(file) = file {
        let title = title_of(&request.request, &file.display().to_string());
        let tenant = Actor::local().tenant;
        sessions.store().rename(&tenant, session.id(), Some(&title)).await?;
    }
    request.conversation = Some(session.id().to_owned());
    request.messages = messages(sessions, session.id()).await?;
    Ok(request)
}

/// Describes the user to all agents, before the instructions of the settings.
fn with_user(builder: FileFlowBuilder, profile: Option<&Profile>, system: &str) -> FileFlowBuilder {
    let Some(profile) = profile else {
        return builder.with_system_prompt(system);
    };
    let prompt = match system.is_empty() {
        true => profile.prompt.clone(),
        false => format!("{}\n\n{system}", profile.prompt),
    };
    builder
        .with_system_prompt(prompt)
        .with_profiles(profile.document.clone())
}

/// Lets a flow read earlier turns, the notes about the user, and the files that the user names.
fn with_stores(builder: FileFlowBuilder, sessions: &Sessions) -> FileFlowBuilder {
    let owner = Actor::local();
    let preprocessor = StandardPreprocessor::new(Arc::new(SystemClock::new()));
    builder
        .with_context(StoredContext::new(sessions.store(), owner.tenant.as_str()))
        .with_memory(StoredMemory::new(sessions.memory(), owner))
        .with_files(preprocessor, GivenFiles)
}

/// Reads the skills that agents may use.
fn skills(values: &FlowValues) -> Result<Skills, Failure> {
    match &values.skills {
        Some(folder) => Ok(Skills::read(folder)?),
        None => Ok(Skills::default()),
    }
}

fn with_answers(mut run: FileFlowRun, values: &FlowValues) -> FileFlowRun {
    for (id, answer) in &values.answer {
        run = run.with_answer(id.as_str(), answer_of(answer));
    }
    run
}

/// Reads an answer: JSON objects, numbers and so on are values, everything else is a text.
fn answer_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Shows the events of a run until it ends. The first Ctrl-C cancels it, the second exits the program.
async fn follow(
    run: FileFlowRun,
    front: &Front<'_>,
    (render, is_quiet): (&mut dyn Render, bool),
) -> Result<FlowResult, Failure> {
    let token = CancellationToken::new();
    let _guard = front.interrupts.cancel(&token);
    let (send, mut events) = mpsc::unbounded_channel::<FlowEvent>();
    // A receiver that is gone has stopped because of an error.
    let run = run
        .with_token(token)
        .with_observer(move |event| drop(send.send(event.clone())));
    let mut run = std::pin::pin!(run.into_future());
    let (progress, mut ticks) = (Progress::new(is_quiet), time::interval(TICK));
    let show = |event: &FlowEvent, render: &mut dyn Render| {
        let shown = match front.output {
            Some(output) => output.flow_event(event),
            None => progress.show(event, render),
        };
        shown.map_err(|error| Failure::output(&error))
    };
    let result = loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => show(&event, render)?,
            result = &mut run => break result,
            _ = ticks.tick() => render.tick().map_err(|error| Failure::output(&error))?,
        }
    };
    while let Ok(event) = events.try_recv() {
        show(&event, render)?;
    }
    render.hide().map_err(|error| Failure::output(&error))?;
    result.map_err(|error| failure(&error))
}

/// Prints the answer, or the questions of a run that waits.
async fn finish(
    run: &FlowRun<'_>,
    session: &agcore::AgentSession,
    result: &FlowResult,
    output: Option<&Output>,
) -> Result<(), Failure> {
    if let Some(output) = output {
        output.flow_result(result).map_err(|error| Failure::output(&error))?;
    }
    if result.is_suspended() {
        return Err(Failure::new(
            FailureKind::Suspended,
            questions(run, session.id(), result),
        ));
    }
    let answer = result.answer.clone().unwrap_or_default();
    // A run that had ended already returns its answer again.
    let known = session.messages().await;
    let is_known = |last: &Arc<Message>| last.as_assistant().is_some_and(|last| last.text() == answer);
    if !known.last().is_some_and(is_known) {
        session.add_message(Message::assistant(answer.as_str())).await?;
    }
    if output.is_none() {
        print(&format!("{answer}\n"))?;
    }
    let _ = io::stdout().lock().flush();
    Ok(())
}

/// Describes the open questions, and how to answer them.
fn questions(run: &FlowRun<'_>, session: &str, result: &FlowResult) -> String {
    let mut text = "the flow waits for an answer".to_owned();
    for interrupt in &result.interrupts {
        let prompt = match &interrupt.prompt {
            Value::String(prompt) => prompt.clone(),
            other => other
                .get("prompt")
                .and_then(Value::as_str)
                .map_or_else(|| other.to_string(), str::to_owned),
        };
        text += &format!("\n{}: {prompt}", interrupt.node);
        text += &format!(
            "\nContinue with: agcore flow run {} --resume {session} --answer '{}=ANSWER'",
            shell_word(&run.file.display().to_string()),
            interrupt.id
        );
    }
    text
}
