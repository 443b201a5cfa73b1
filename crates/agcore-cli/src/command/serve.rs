//! `agcore serve`: serves an agent over HTTP.

mod tokens;

use std::{
    io::{self, Write as _},
    sync::Arc,
};

use agcore::{
    AgentBuilder, ToolRegistry,
    agent::{AgentConfig, RuntimeBundle},
    tools::SuspendingApprover,
};
use agcore_server::{BusyPolicy, Server, ServerBuilder, ServerError, TrustedProxy};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::chat::{ChatTools, agent};
use crate::{
    args::{Busy, ServeArgs, ServeCommand},
    exit::Failure,
    interrupt::Interrupts,
    policy::Policy,
    process::print,
    render::Color,
    sample_tools::NotesFile,
    sessions::Sessions,
    settings::Settings,
    trust_dialog,
};

/// The name of the agent that is served.
const AGENT: &str = "assistant";

/// Serves until Ctrl-C or SIGTERM.
///
/// # Errors
/// When the settings are invalid, or the address or the database cannot be used.
pub(crate) async fn run(args: &ServeArgs, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    if let Some(ServeCommand::Tokens { command }) = &args.command {
        return tokens::run(command).await;
    }
    let settings = trust_dialog::settings(&args.settings, true, interrupts, color).await?;
    trust_dialog::print_notices(&settings.context_files.warnings())?;
    let has_credentials = args.require_token || !args.proxies.is_empty();
    if !has_credentials && !args.listen.ip().is_loopback() {
        return Err(Failure::usage(format!(
            "other machines can reach {}, so clients must prove who they are\n\
             Use --require-token or --trusted-proxy, or listen on 127.0.0.1.",
            args.listen
        )));
    }
    let sessions = Sessions::open().await?;
    let offers_tools = !args.no_tools && (args.tools || !has_credentials);
    let tools = ChatTools::open(&settings.tools, offers_tools).await?;
    let result = serve(args, &settings, &sessions, &tools, offers_tools, interrupts).await;
    tools.servers.close().await;
    result
}

async fn serve(
    args: &ServeArgs,
    settings: &Settings,
    sessions: &Sessions,
    tools: &ChatTools,
    offers_tools: bool,
    interrupts: &Interrupts,
) -> Result<(), Failure> {
    let bundle = bundle(settings, tools, offers_tools)?;
    let server = server(args, bundle, settings, sessions)?;
    if args.check {
        return print("The settings and the database can be used.\n");
    }
    let listening = TcpListener::bind(args.listen).await;
    let listener = listening.map_err(|error| Failure::usage(format!("cannot listen on {}: {error}", args.listen)))?;
    let address = listener.local_addr().unwrap_or(args.listen);
    // Before the address is known: the program may be stopped as soon as it is.
    let stop = CancellationToken::new();
    let _meaning = interrupts.cancel(&stop);
    writeln!(
        io::stderr(),
        "Serving agents at http://{address}; /docs describes the routes"
    )
    .map_err(|error| Failure::output(&error))?;
    server.serve(listener, stop).await.map_err(failure)
}

/// Returns the parts of the agent, with the provider, the tools and the rules of a chat.
fn bundle(settings: &Settings, tools: &ChatTools, offers_tools: bool) -> Result<RuntimeBundle, Failure> {
    let policy = Policy::new(&tools.registry, &settings.tools)?;
    let offered = if offers_tools {
        tools.registry.clone()
    } else {
        ToolRegistry::new()
    };
    let provider = settings.provider.build();
    let builder = AgentBuilder::new()
        .with_provider(provider.map_err(|error| settings.setup_failure(error))?)
        .with_config(AgentConfig::new().with_trace_content(settings.trace_content))
        .with_tools(offered)
        .with_policy(policy.with_approver(Some(Arc::new(SuspendingApprover))))
        .with_state(NotesFile::default())
        .with_state(settings.tools.folder()?)
        .with_state(settings.tools.allowed_urls());
    Ok(builder.build()?)
}

fn server(
    args: &ServeArgs,
    bundle: RuntimeBundle,
    settings: &Settings,
    sessions: &Sessions,
) -> Result<Server, Failure> {
    let busy = match args.busy {
        Busy::Refuse => BusyPolicy::Refuse,
        Busy::Queue => BusyPolicy::Queue,
        Busy::Interrupt => BusyPolicy::Interrupt,
    };
    let mut builder = Server::builder()
        .agent(AGENT, bundle, agent(settings))
        .store(sessions.store())
        .busy(busy);
    if !args.proxies.is_empty() {
        builder = builder.authenticator(Arc::new(TrustedProxy::new(args.proxies.iter().copied())));
    }
    if args.require_token {
        builder = builder.authenticator(Arc::new(tokens::store_of(sessions)));
    }
    let builder = args.origins.iter().fold(builder, ServerBuilder::origin);
    builder.build().map_err(failure)
}

fn failure(error: ServerError) -> Failure {
    Failure::task(agcore::chat::text::error_chain(&error))
}
