//! `agcore serve`: serves an agent over HTTP.

mod admins;
mod failure;
mod config;
mod documents;
mod flows;
mod hooks;
mod jwt;
mod quotas;
mod retention;
mod sharing;
mod tokens;

use std::{
    io::{self, Write as _},
    net::SocketAddr,
    sync::Arc,
};

use agcore::{agent::RuntimeBundle, flow::FileFlowBuilder};
use agcore_args::{ServeArgs, ServeCommand};
use agcore_server::{JwtVerifier, Role, Server, ServerBuilder, ServerError, SharedCatalog, TrustedProxy};
use agcore_settings::Settings;
use agcore_terminal::{interrupt::Interrupts, render::Color};
use agcore_workbench::{Surface, Workbench};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "store")]
pub(super) use self::quotas::quota_defaults;
use self::{
    config::ServeConfig,
    failure::{failure, in_use},
};
use super::chat::agent;

use crate::{
    exit::{Failure, setup_failure},
    prices::Prices,
    sessions::Sessions,
    stdout::print,
    trust_dialog, workbench,
};

/// Serves until Ctrl-C or SIGTERM.
///
/// # Errors
/// When the settings are invalid, or the address or the database cannot be used.
pub(crate) async fn run(args: &ServeArgs, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    match &args.command {
        Some(ServeCommand::Tokens { command }) => return tokens::run(command).await,
        Some(ServeCommand::Hooks { command }) => return hooks::run(command),
        None => {}
    }
    let settings = trust_dialog::settings(&args.settings, true, interrupts, color).await?;
    trust_dialog::print_notices(&settings.context_files.warnings())?;
    let mut problems = Vec::new();
    let config = ServeConfig::new(args, settings.serve.as_ref(), &settings.tools.proxy, &mut problems);
    if args.check {
        if config.stored_catalog.is_none() {
            let read = read_prices(args, &settings);
            problems.extend(read.err().map(|failure| failure.to_string()));
        }
        return check(&config, &settings, problems).await;
    }
    refuse(problems)?;
    let sessions = Sessions::of_server().await?;
    let prices = match config.stored_catalog {
        Some(_) => Some(documents::prices(&sessions).await?),
        None => read_prices(args, &settings)?,
    };
    let tools = workbench::open(&settings.tools, config.offers_tools).await?;
    let catalog = prices.map(|prices| SharedCatalog::from(prices.catalog()));
    let result = serve(config, &settings, catalog.as_ref(), (&sessions, &tools), interrupts).await;
    tools.servers.close().await;
    result
}

/// Reads the prices, and reports a model of a vendor that has none.
fn read_prices(args: &ServeArgs, settings: &Settings) -> Result<Option<Prices>, Failure> {
    let provider = &settings.provider;
    let prices = Prices::read(args.catalog.as_deref(), settings.prices.as_ref(), provider)?;
    let unpriced = prices
        .as_ref()
        .and_then(|prices| prices.unpriced(provider.name(), &provider.model));
    trust_dialog::print_notices(&unpriced.into_iter().collect::<Vec<_>>())?;
    Ok(prices)
}

/// Tries everything that the server needs, and reports all problems.
async fn check(config: &ServeConfig, settings: &Settings, mut problems: Vec<String>) -> Result<(), Failure> {
    let tools = workbench::open(&settings.tools, config.offers_tools).await;
    let bundle = match &tools {
        Ok(tools) => bundle(settings, tools, config, None).map(|bundle| {
            let flows = flows::flows(settings, &bundle, config, &mut problems);
            config.hooks.check_targets(&flows, &mut problems);
        }),
        Err(_) => Ok(()),
    };
    let listening = TcpListener::bind(config.listen).await.map(drop);
    let listening = listening.map_err(|error| cannot_listen(config.listen, &error));
    let keys = match &config.jwt {
        Some(jwt) => jwt.load().await,
        None => Ok(()),
    };
    let found = [
        keys.err()
            .map(|error| format!("the tokens of [serve.jwt] cannot be checked: {error}")),
        tools.as_ref().err().map(ToString::to_string),
        bundle.err().map(|failure| failure.to_string()),
        listening.err().map(|failure| failure.to_string()),
        documents::check(config).await.err().map(|failure| failure.to_string()),
    ];
    problems.extend(found.into_iter().flatten());
    if let Ok(tools) = tools {
        tools.servers.close().await;
    }
    refuse(problems)?;
    print("The settings and the database can be used.\n")
}

/// # Errors
/// When there are problems: all of them.
fn refuse(mut problems: Vec<String>) -> Result<(), Failure> {
    match problems.len() {
        0 => Ok(()),
        1 => Err(Failure::usage(problems.remove(0))),
        count => {
            let list: String = problems.iter().map(|problem| format!("\n- {problem}")).collect();
            Err(Failure::usage(format!("there are {count} problems:{list}")))
        }
    }
}

async fn serve(
    mut config: ServeConfig,
    settings: &Settings,
    catalog: Option<&SharedCatalog>,
    (sessions, tools): (&Sessions, &Workbench),
    interrupts: &Interrupts,
) -> Result<(), Failure> {
    let bundle = bundle(settings, tools, &config, catalog)?;
    let mut problems = Vec::new();
    let flows = flows::flows(settings, &bundle, &config, &mut problems);
    config.hooks.check_targets(&flows, &mut problems);
    refuse(problems)?;
    if let Some(jwt) = &config.jwt {
        // Requests try again: the other service may only be away for now, which was logged.
        drop(jwt.load().await);
    }
    if let Some(sharing) = config.sharing.as_mut().filter(|sharing| sharing.role.works()) {
        // Renewals must not wait for what runs read and write.
        sharing.leases = Sessions::of_server_again().await?.map(|own| own.store() as _);
    }
    let (listen, probes, hands_over) = (config.listen, config.probes, config.hands_over);
    let has_console = config.has_console;
    let is_worker = config
        .sharing
        .as_ref()
        .is_some_and(|sharing| sharing.role == Role::Worker);
    let server = server(config, (bundle, flows), settings, catalog, sessions)?;
    // Before the address is known: the program may be stopped as soon as it is.
    let stop = CancellationToken::new();
    let _meaning = interrupts.cancel(&stop);
    if !take_database(&server, hands_over, &stop).await? {
        return Ok(());
    }
    if is_worker {
        return work(&server, probes, stop).await;
    }
    // After the other server: it may have the same address.
    let listening = TcpListener::bind(listen).await;
    let listener = listening.map_err(|error| cannot_listen(listen, &error))?;
    let address = listener.local_addr().unwrap_or(listen);
    announce(address, has_console)?;
    server.serve(listener, stop).await.map_err(failure)
}

/// Prints where the agents and the console are.
fn announce(address: SocketAddr, has_console: bool) -> Result<(), Failure> {
    // One line: all others may have to be JSON.
    let console = if has_console {
        ", /console shows runs and chats"
    } else {
        ""
    };
    let text = format!("Serving agents at http://{address}; /docs describes the routes{console}\n");
    io::stderr()
        .write_all(text.as_bytes())
        .map_err(|error| Failure::output(&error))
}

/// Executes runs, and answers those who supervise the worker if there is an address for that.
async fn work(server: &Server, probes: Option<SocketAddr>, stop: CancellationToken) -> Result<(), Failure> {
    let say = |text: &str| writeln!(io::stderr(), "{text}").map_err(|error| Failure::output(&error));
    let Some(listen) = probes else {
        say("Working on the runs of the database")?;
        return server.work(stop).await.map_err(failure);
    };
    let listening = TcpListener::bind(listen).await;
    let listener = listening.map_err(|error| cannot_listen(listen, &error))?;
    let address = listener.local_addr().unwrap_or(listen);
    say(&format!(
        "Working on the runs of the database; http://{address}/ready reports the state"
    ))?;
    server.work_and_report(listener, stop).await.map_err(failure)
}

/// Takes the database, or waits until another server has ended. Returns whether it was taken; it was not if the program is to end.
async fn take_database(server: &Server, hands_over: bool, stop: &CancellationToken) -> Result<bool, Failure> {
    if !hands_over {
        return server.take_store().await.map(|()| true).map_err(failure);
    }
    let say = |error: &ServerError| {
        // If standard error cannot be written, the server still waits.
        let _ = writeln!(io::stderr(), "Waiting: {}", in_use(error));
    };
    server.wait_for_store(stop, say).await.map_err(failure)
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot listen on {address}: {error}"))
}

/// Returns the parts of the agent, with the provider, the tools and the rules of a chat. Calls have the prices of the catalog,
/// which quotas of money need.
fn bundle(
    settings: &Settings,
    workbench: &Workbench,
    config: &ServeConfig,
    catalog: Option<&SharedCatalog>,
) -> Result<RuntimeBundle, Failure> {
    let surface = Surface::Serve {
        has_users: config.has_credentials,
    };
    let agent = workbench.agent(settings, surface)?;
    let agent = agent.with_price(catalog.map(SharedCatalog::prices));
    let provider = settings.provider.build();
    let provider = provider.map_err(|error| setup_failure(settings.report(), error))?;
    Ok(agent.builder(provider).build()?)
}

/// Adds the metrics of the agents to those of the server.
fn with_metrics(builder: ServerBuilder) -> ServerBuilder {
    match agcore_telemetry::installed_histograms() {
        Some(histograms) => builder.with_metrics(move || histograms.to_text()),
        None => builder,
    }
}

/// Returns the builder of a server without agents, with what every server has.
fn beginning(config: &ServeConfig, sessions: &Sessions) -> ServerBuilder {
    Server::builder()
        .with_store(sessions.store())
        .with_checkpoints(sessions.checkpoints())
        .with_limits(config.limits.clone())
        .with_retention(config.retention.rules)
        .with_prune_pause(config.retention.pause)
        .with_busy(config.busy)
        .with_doors(config.doors)
        .with_unfinished(config.unfinished)
}

fn server(
    config: ServeConfig,
    (bundle, flows): (RuntimeBundle, Vec<(String, FileFlowBuilder)>),
    settings: &Settings,
    catalog: Option<&SharedCatalog>,
    sessions: &Sessions,
) -> Result<Server, Failure> {
    let mut builder = beginning(&config, sessions).with_agent(flows::AGENT, bundle, agent(settings));
    if let Some(sharing) = config.sharing {
        builder = builder.with_sharing(sharing);
    }
    if let Some(schedules) = sessions.schedules() {
        builder = builder.with_schedules(schedules);
    }
    if let Some(webhooks) = sessions.webhooks() {
        builder = builder.with_webhooks(webhooks, Arc::new(config.webhooks));
    }
    if let Some(quotas) = sessions.quotas() {
        builder = builder.with_quotas(quotas, config.quotas);
    }
    builder = builder.with_billing_of_model(&settings.provider.model);
    builder = documents::served(builder, (config.stored_catalog, config.profiles), catalog, sessions);
    for (name, flow) in flows {
        builder = builder.with_flow(name, flow);
    }
    if let Some(files) = config.files {
        builder = builder.with_files(Arc::new(files));
        if let Some(store) = sessions.user_data() {
            builder = builder.with_file_retention(config.retention.files, store);
        }
    }
    if config.has_console {
        builder = builder.with_console();
    }
    if !config.proxies.is_empty() {
        builder = builder.with_authenticator(Arc::new(TrustedProxy::new(config.proxies)));
    }
    // Before the tokens of the program, which are of any form.
    if !config.admins.is_empty() {
        builder = builder.with_administrators(Arc::new(config.admins));
    }
    if let Some(jwt) = config.jwt {
        let jwt = Arc::new(jwt);
        if jwt.has_admins() {
            builder = builder.with_administrators(Arc::<JwtVerifier>::clone(&jwt));
        }
        builder = builder.with_authenticator(jwt);
    }
    if config.require_token {
        builder = builder.with_authenticator(Arc::new(tokens::store_of(sessions)));
    }
    builder = config.hooks.into_hooks().fold(builder, ServerBuilder::with_hook);
    let builder = config.origins.into_iter().fold(builder, ServerBuilder::with_origin);
    with_metrics(builder).build().map_err(failure)
}
