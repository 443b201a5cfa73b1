//! `agcore flow run`: runs a flow.

use std::{
    io::{self, Write},
    path::Path,
};

use agcore::{
    Message,
    agent::Skills,
    chat::Actor,
    flow::{Checkpoints, FileFlow, FileFlowRun, FlowEvent, FlowRequest, FlowResult},
    memory::session::{SessionStore as _, title_of},
};
use serde_json::Value;
use tokio::{sync::mpsc, time};
use tokio_util::sync::CancellationToken;

use super::{
    file::{RUN, build, failure, read},
    progress::Progress,
};
use crate::{
    args::{ChatArgs, FlowValues, OutputFormat},
    attachments::with_files,
    command::chat::{ChatTools, Front, OneShot, selected},
    exit::{Failure, FailureKind},
    input,
    output::Output,
    process::print,
    render::{Render, TICK},
    sessions::Sessions,
    trust_dialog,
};

/// A run of a flow file.
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
    trust_dialog::print_notices(&settings.context_files.warnings())?;
    let sessions = Sessions::of_chat(&chat.session).await?;
    let selected = selected(&chat.session, &sessions).await?;
    let request = match selected {
        Some(_) => None,
        None => Some(with_files(input::message(chat.message.as_deref()).await?, &chat.files)?),
    };
    let (tools, asked) = ChatTools::open_for_user(&settings, !chat.no_tools).await?;
    let checkpoints = sessions.checkpoints();
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
    let skills = skills(run.values)?;
    let builder = FileFlow::builder(file, session.bundle().clone());
    let flow = build(builder.with_system_prompt(settings.system.as_str()).with_skills(skills))?;
    let store = sessions.store();
    let owner = Actor::local();
    let saved = Checkpoints::create_in(&*store, checkpoints, &owner, session.id(), RUN).await;
    let saved = saved.map_err(|error| failure(&error))?;
    let started = match request {
        Some(request) => {
            let message = Message::user(request);
            let text = message.text().into_owned();
            session.add_message(message).await?;
            let title = title_of(&text, &run.file.display().to_string());
            store.rename(&owner.tenant, session.id(), Some(&title)).await?;
            flow.start(with_values(FlowRequest::new(text), run.values))
        }
        None => flow.resume(saved.clone()),
    };
    let started = with_answers(started.with_checkpoints(saved), run.values);
    let result = follow(started, front, &mut *one_shot.render).await;
    let ended = match result {
        Ok(result) => finish(run, &session, &result, front.output).await,
        Err(failure) => Err(failure),
    };
    let ended = one_shot.finish(ended, front.output).await;
    tools.servers.close().await;
    ended
}

fn with_values(mut request: FlowRequest, values: &FlowValues) -> FlowRequest {
    for (name, value) in &values.set {
        request = request.with_variable(name.as_str(), value.as_str());
    }
    request
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
async fn follow(run: FileFlowRun, front: &Front<'_>, render: &mut dyn Render) -> Result<FlowResult, Failure> {
    let token = CancellationToken::new();
    let _guard = front.interrupts.cancel(&token);
    let (send, mut events) = mpsc::unbounded_channel::<FlowEvent>();
    // A receiver that is gone has stopped because of an error.
    let run = run
        .with_token(token)
        .with_observer(move |event| drop(send.send(event.clone())));
    let mut run = std::pin::pin!(run.into_future());
    let (progress, mut ticks) = (Progress::new(), time::interval(TICK));
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
    session.add_message(Message::assistant(answer.as_str())).await?;
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
            run.file.display(),
            interrupt.id
        );
    }
    text
}
