//! Answers a single message.

pub(super) mod asking;
pub(super) mod answer_schema;
pub(super) mod suspended;

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
};

use agcore::{
    AgentSession, Message,
    chat::{Content, ContentPart},
    session::Session,
    tools::{Approver, AuditRecord, AuditSink, SuspendingApprover},
};
use agcore_args::ChatArgs;
use agcore_settings::{Settings, vendor::versioned_url};
use agcore_stream_json::{Init, McpServer};
use agcore_terminal::{
    interrupt::Interrupts,
    process::current_directory,
    render::{Color, Render, Terminal, Theme},
};
use agcore_workbench::{
    People, Surface, Workbench,
    mcp::Server,
    permission_mode::{PermissionMode, mode_approver},
    policy::Policy,
    program_tools::{Previews, ToolFolder},
};

use super::{
    last_model::continued,
    one_shot::{
        answer_schema::read_schema,
        asking::Asking,
        suspended::{continuation, end_open_turn, report_unfinished},
    },
    picker::selected,
    session::{ChatSessions, agent_of, model_of},
    turn_runner::Questions,
};

use crate::{
    approve::AskUser,
    denials::Denials,
    exit::{Failure, FailureKind},
    input::{self, attachments::with_files},
    open_question::AskForSteps,
    output::Output,
    prices::Prices,
    question_terminal::{QuestionTerminal, report_grants},
    server_question::{Completer, ServerQuestions},
    sessions::Sessions,
    stdout::print,
    trust_dialog,
    turn::{self, Input},
};

/// Runs one turn. The answer goes to standard output, everything else to standard error.
///
/// # Errors
/// When there is no message, the turn fails, or a call was denied because no one could be asked.
pub(super) async fn run(
    args: &ChatArgs,
    settings: &Settings,
    tools: &Workbench,
    asked: ServerQuestions,
    front: &Front<'_>,
) -> Result<(), Failure> {
    let schema = args.schema.as_deref().map(read_schema).transpose()?;
    let sessions = Sessions::of_chat(&args.session).await?.for_single_message();
    let selected = selected(&args.session, &sessions).await?;
    // Without a session to continue, a missing message is found before anything else.
    let message = match selected {
        Some(_) if args.message.is_none() => None,
        _ => Some(with_files(input::message(args.message.as_deref()).await?, &args.files)?),
    };
    let selected = selected.as_ref();
    let mut one_shot = OneShot::new(args, settings, tools, sessions, selected, (front, asked)).await?;
    if let Some(chat) = &tools.chat {
        chat.follow(&one_shot.session);
    }
    let turn_input = match message {
        Some(message) => {
            end_open_turn(&one_shot.session, args.session.fork_session).await?;
            Input::from(Message::user(with_news(message, tools, &one_shot.session)))
        }
        None => continuation(&one_shot.chats.sessions, &one_shot.session).await?,
    };
    one_shot.announce(args, tools, front.output)?;
    one_shot.chats.learn_window(&one_shot.session, &one_shot.model).await;
    let (session, render) = (&one_shot.session, &mut *one_shot.render);
    let result = match schema {
        None => turn::run(session, turn_input, front.interrupts, render).await.map(drop),
        Some(schema) => {
            let value = turn::run_typed(session, turn_input, schema, front.interrupts, render).await;
            value.and_then(|value| match front.output {
                Some(output) => {
                    output.value(value);
                    Ok(())
                }
                None => print(&format!("{value:#}\n")),
            })
        }
    };
    one_shot.finish(result, front.output).await
}

/// Adds what the model must learn about background commands of an earlier process.
fn with_news(message: Content, tools: &Workbench, session: &AgentSession) -> Content {
    match tools.chat.as_ref().and_then(|chat| chat.take_news(session)) {
        None => message,
        Some(news) => {
            let parts = [ContentPart::text(news)].into_iter().chain(message.into_parts());
            Content::Parts(parts.collect())
        }
    }
}

/// The means by which the program talks to its user.
pub(in crate::command) struct Front<'a> {
    pub(in crate::command) interrupts: &'a Interrupts,
    pub(in crate::command) color: Color,
    /// Machine-readable output, if it is wanted.
    pub(in crate::command) output: Option<&'a Output>,
}

/// A session for a single message or a task, and the renderer of its events.
pub(in crate::command) struct OneShot<'a> {
    pub(in crate::command) session: AgentSession,
    pub(in crate::command) render: Box<dyn Render>,
    /// Asks the user for the steps of a task, if someone can be asked.
    pub(in crate::command) answers: Option<AskForSteps>,
    chats: ChatSessions,
    settings: &'a Settings,
    /// The model that answers.
    model: String,
    mode: PermissionMode,
    policy: Policy,
    denials: Arc<Denials>,
}

impl<'a> OneShot<'a> {
    /// Creates a session from the settings, or opens the one that was selected. Without a terminal, the questions of MCP
    /// servers are declined.
    ///
    /// # Errors
    /// When the session cannot be created or opened.
    pub(in crate::command) async fn new(
        args: &ChatArgs,
        settings: &'a Settings,
        tools: &Workbench,
        sessions: Sessions,
        selected: Option<&Session>,
        (front, asked): (&Front<'_>, ServerQuestions),
    ) -> Result<Self, Failure> {
        let mode = args.permission_mode();
        let terminal = match args.session.suspend {
            true => None,
            false => QuestionTerminal::open(front.interrupts, front.color)?,
        };
        let folder = ToolFolder::of_settings(&settings.tools)?;
        let (ask_user, questions) = AskUser::new(Previews::new(&folder));
        let person = terminal.is_some().then(|| Arc::new(ask_user) as _);
        let denials = Arc::new(Denials::default());
        let policy = Policy::for_mode(&tools.registry, &settings.tools, mode)?;
        let people = People {
            policy: policy.with_approver(approver(args, person, front.output)),
            audit: Some(Audit::shared(&denials, front.output)),
            mode: mode.into(),
            folder: folder.clone(),
        };
        let chats = ChatSessions::new(args, settings, tools, sessions, Surface::Terminal(people))?;
        let agent = agent_of(args, settings, tools)?;
        let agent = continued(agent, (args, settings), &chats.sessions, selected).await?;
        let session = chats.start(selected, args.session.fork_session, &agent).await?;
        chats.name(&session, args).await?;
        let (mut render, mut answers) = (renderer(front, settings.theme, args, &folder), None);
        if let Some(terminal) = terminal {
            let (steps, asked_by_steps) = AskForSteps::new();
            answers = Some(steps);
            let tools = session.bundle().tools().snapshot();
            let questions = Questions {
                calls: questions,
                servers: asked,
            };
            let completer = Completer::of(&session);
            render = Box::new(Asking::new(
                render,
                terminal,
                (questions, asked_by_steps),
                tools,
                policy.clone(),
                completer,
            ));
        }
        Ok(Self {
            session,
            render,
            answers,
            chats,
            settings,
            model: model_of(&agent, settings),
            mode,
            policy,
            denials,
        })
    }

    /// Writes the settings of the session to machine-readable output.
    ///
    /// # Errors
    /// When the prices cannot be read, or the output is closed.
    pub(in crate::command) fn announce(
        &self,
        args: &ChatArgs,
        tools: &Workbench,
        output: Option<&Output>,
    ) -> Result<(), Failure> {
        let prices = Prices::read(
            args.catalog.as_deref(),
            self.settings.prices.as_ref(),
            &self.settings.provider,
        )?;
        let unpriced = prices
            .as_ref()
            .and_then(|prices| prices.unpriced(self.settings.provider.name(), &self.model));
        trust_dialog::print_notices(&unpriced.into_iter().collect::<Vec<_>>())?;
        let Some(output) = output else { return Ok(()) };
        let init = self.init(args, tools);
        let written = output.init(self.session.id(), init, prices);
        written.map_err(|error| Failure::output(&error))
    }

    /// Describes the session for programs.
    fn init(&self, args: &ChatArgs, tools: &Workbench) -> Init {
        let mcp_servers = tools.servers.all().iter().map(mcp_server).collect();
        let (tools, settings) = (self.session.bundle().tools().list(), self.settings);
        let mut init = Init::new(env!("CARGO_PKG_VERSION"), settings.provider.name(), &self.model);
        init.cwd = current_directory();
        init.tools = tools.iter().map(|tool| tool.name().to_string()).collect();
        init.mcp_servers = mcp_servers;
        args.permission_mode().as_str().clone_into(&mut init.permission_mode);
        init.trust = Some(settings.trust());
        init.context_files = settings.context_files.loaded().to_vec();
        init
    }

    /// Reports what was stored and denied, and returns how the run has ended.
    ///
    /// # Errors
    /// The failure of the run, or that a call was denied because no one could be asked.
    pub(in crate::command) async fn finish(
        self,
        result: Result<(), Failure>,
        output: Option<&Output>,
    ) -> Result<(), Failure> {
        let Self {
            session,
            render,
            chats,
            settings,
            mode,
            policy,
            denials,
            model: _,
            answers: _,
        } = self;
        // Ends the output, before anything is reported below it.
        drop(render);
        report_grants(&policy.grants().take_updates())?;
        let problems = chats
            .recording_problems()
            .into_iter()
            .chain(chats.hooks.take_problems());
        trust_dialog::print_problems(
            &problems
                .map(|problem| format!("warning: {problem}"))
                .collect::<Vec<_>>(),
        )?;
        chats.forget_if_empty(session.id()).await;
        // If no one reads the output any more, nothing more is written.
        if let (Err(failure), None, true) = (&result, output, chats.sessions.is_kept())
            && !failure.is_output_closed()
        {
            report_unfinished(&session, failure).await?;
        }
        verdict(result, &denials, mode)
            .map_err(|failure| failure.or_base_url(versioned_url(&settings.provider).as_deref()))
            .map_err(|failure| failure.or_limit(|stage| settings.limits.advice(stage)))
    }
}

/// Returns the approver of the calls. `person` asks the user; it is `None` if no one can be asked.
fn approver(args: &ChatArgs, person: Option<Arc<dyn Approver>>, output: Option<&Output>) -> Option<Arc<dyn Approver>> {
    let approver = match args.session.suspend {
        true => Some(Arc::new(SuspendingApprover) as _),
        false => mode_approver(args.permission_mode(), person),
    };
    match (approver, output) {
        (Some(approver), Some(output)) => Some(output.approver(approver)),
        (approver, _) => approver,
    }
}

/// Returns the result of the run: calls that were denied because no one could be asked are a failure, too.
fn verdict(result: Result<(), Failure>, denials: &Denials, mode: PermissionMode) -> Result<(), Failure> {
    match (result, denials.unasked(mode)) {
        (Ok(()), None) => Ok(()),
        (Ok(()), Some(denied)) => Err(denied),
        (Err(failure), Some(denied)) if denials.has_repeated() && failure.kind() == FailureKind::Task => {
            let message = format!("{denied}\nThe turn ended because the model repeated the call.");
            Err(Failure::new(FailureKind::Denied, message))
        }
        (Err(failure), _) => Err(failure),
    }
}

/// Passes decisions about calls to what reports them.
struct Audit {
    denials: Arc<Denials>,
    output: Option<Arc<dyn AuditSink>>,
}

impl Audit {
    fn shared(denials: &Arc<Denials>, output: Option<&Output>) -> Arc<dyn AuditSink> {
        Arc::new(Self {
            denials: Arc::clone(denials),
            output: output.map(Output::audit),
        })
    }
}

impl AuditSink for Audit {
    fn record(&self, record: &AuditRecord<'_>) {
        self.denials.record(record);
        if let Some(output) = &self.output {
            output.record(record);
        }
    }
}

fn mcp_server(server: &Server) -> McpServer {
    let status = if server.connection.is_ok() {
        "connected"
    } else {
        "failed"
    };
    McpServer::new(&server.settings.name, status)
}

/// Returns the renderer of the events. With a schema, the text of the model is not shown: it is JSON in one of several forms.
fn renderer(front: &Front<'_>, theme: Theme, args: &ChatArgs, folder: &ToolFolder) -> Box<dyn Render> {
    if let Some(output) = front.output {
        return Box::new(output.clone());
    }
    let progress = front.color.palette(&io::stderr()).with_theme(theme);
    let notes: Box<dyn Write + Send> = match args.quiet {
        true => Box::new(io::sink()),
        false => Box::new(io::stderr()),
    };
    let answer: Box<dyn Write + Send> = match args.schema {
        Some(_) => Box::new(io::sink()),
        None => Box::new(io::stdout()),
    };
    let mut terminal = Terminal::new(answer, notes, progress).with_notes_for(&io::stderr());
    if io::stderr().is_terminal() && !args.quiet {
        terminal = terminal.with_changes(Box::new(folder.unasked_changes()));
    }
    if args.schema.is_some() {
        return Box::new(terminal);
    }
    match io::stdout().is_terminal() {
        true => Box::new(terminal.with_markdown(front.color.palette(&io::stdout()).with_theme(theme))),
        // Programs get what the model wrote.
        false => Box::new(terminal.with_raw_answer()),
    }
}
