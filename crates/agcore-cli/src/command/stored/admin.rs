//! `agcore admin`: tenants, workers and dead letters of servers.

use std::io::Write as _;

use agcore::session::{
    DeadLetter, DeadLetterFilter, SessionError, SessionErrorKind, SessionStore, TenantRuns, TenantShare, Worker, id,
};
use agcore_args::{
    AdminCommand, AdminTenantsCommand, AdminTokenArgs, AdminWorkersCommand, DeadLetterArgs, DeadLettersCommand,
    ListDeadLettersArgs, ShareArgs, ShowWorkerArgs, WorkerIdArgs,
};
use agcore_server::{AdminTokens, Administrator, RestartError, restart_dead_letter};
use agcore_terminal::{render::sanitized_line, table::table};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};

use crate::{
    exit::Failure,
    sessions::{Sessions, time},
    stdout::print,
    trust_dialog::print_notices,
};

/// The number of entries that are read at once, and of processes and runs that are shown.
const PAGE: u64 = 500;

/// Runs `agcore admin`.
///
/// # Errors
/// When the database cannot be used, or what is named does not exist or is not acceptable.
pub(crate) async fn run(command: &AdminCommand) -> Result<(), Failure> {
    if let AdminCommand::Token(args) = command {
        return token(args);
    }
    let sessions = Sessions::open().await?;
    let store = &*sessions.store();
    match command {
        AdminCommand::Tenants { command } => tenants(store, command).await,
        AdminCommand::Workers { command } => workers(store, command).await,
        AdminCommand::DeadLetters { command } => dead_letters(store, command).await,
        AdminCommand::Token(args) => token(args),
    }
}

async fn tenants(store: &dyn SessionStore, command: &AdminTenantsCommand) -> Result<(), Failure> {
    match command {
        AdminTenantsCommand::List(args) => list_tenants(store, args.json).await,
        AdminTenantsCommand::Share(args) => share(store, args).await,
        AdminTenantsCommand::Unshare(args) => {
            let shown = sanitized_line(&args.tenant);
            match store.delete_share(&args.tenant).await.map_err(failure)? {
                true => print(&format!("Deleted the share of the tenant {shown}\n")),
                false => Err(Failure::usage(format!(
                    "the tenant {shown} has no share\nRun `agcore admin tenants list` to see all tenants."
                ))),
            }
        }
    }
}

async fn list_tenants(store: &dyn SessionStore, as_json: bool) -> Result<(), Failure> {
    let mut all: Vec<TenantRuns> = Vec::new();
    loop {
        let after = all.last().map(|tenant| tenant.tenant.to_string());
        let page = store.tenants(after.as_deref(), PAGE).await.map_err(failure)?;
        let is_last = (page.len() as u64) < PAGE;
        all.extend(page);
        if is_last {
            break;
        }
    }
    if as_json {
        let all: Vec<_> = all.iter().map(shown_tenant).collect();
        return print(&format!("{:#}\n", json!({ "tenants": all })));
    }
    let row = |tenant: &TenantRuns| {
        [
            sanitized_line(&tenant.tenant),
            format!("{} waiting", tenant.waiting),
            format!("{} running", tenant.held),
            format!("{} dead letters", tenant.dead),
            tenant.share.map(share_text).unwrap_or_default(),
        ]
    };
    print(&table(&all.iter().map(row).collect::<Vec<_>>()))
}

async fn share(store: &dyn SessionStore, args: &ShareArgs) -> Result<(), Failure> {
    let mut share = TenantShare::new(args.weight);
    share.ceiling = args.ceiling;
    let tenant = &args.tenant.tenant;
    store.set_share(tenant, share).await.map_err(failure)?;
    print(&format!(
        "Set the share of the tenant {}: {}\n",
        sanitized_line(tenant),
        share_text(share)
    ))
}

fn share_text(share: TenantShare) -> String {
    match share.ceiling {
        Some(ceiling) => format!("weight {}, at most {ceiling} runs", share.weight),
        None => format!("weight {}", share.weight),
    }
}

fn shown_tenant(tenant: &TenantRuns) -> Value {
    let mut shown = json!({
        "tenant": tenant.tenant,
        "waiting": tenant.waiting,
        "running": tenant.held,
        "dead_letters": tenant.dead,
    });
    if let Some(share) = tenant.share {
        shown["share"] = json!(share);
    }
    shown
}

async fn workers(store: &dyn SessionStore, command: &AdminWorkersCommand) -> Result<(), Failure> {
    match command {
        AdminWorkersCommand::List(args) => {
            let all = store.workers(PAGE).await.map_err(failure)?;
            if args.json {
                return print(&format!("{:#}\n", json!({ "workers": all })));
            }
            if all.is_empty() {
                return print_notices(&["No process executes runs of this database.".to_owned()]);
            }
            print(&table(&all.iter().map(row).collect::<Vec<_>>()))
        }
        AdminWorkersCommand::Show(args) => show_worker(store, args).await,
        AdminWorkersCommand::Drain(args) => drain(store, args, true).await,
        AdminWorkersCommand::Undrain(args) => drain(store, args, false).await,
    }
}

/// Returns a row of the list: id, name, state, runs, version, since.
fn row(worker: &Worker) -> [String; 6] {
    [
        sanitized_line(&worker.id),
        sanitized_line(&worker.name),
        state(worker).to_owned(),
        format!("{} of {} runs", worker.runs, worker.slots),
        sanitized_line(&worker.version),
        format!("since {}", time(worker.since)),
    ]
}

fn state(worker: &Worker) -> &'static str {
    match worker.drain_requested_at {
        None => "active",
        Some(_) if worker.is_draining && worker.runs == 0 => "drained",
        Some(_) => "draining",
    }
}

async fn show_worker(store: &dyn SessionStore, args: &ShowWorkerArgs) -> Result<(), Failure> {
    let id = &args.worker.id;
    let mut all = store.workers(PAGE).await.map_err(failure)?.into_iter();
    let worker = all.find(|worker| worker.id == *id).ok_or_else(|| unknown_worker(id))?;
    let held = store.held_runs(&id::prefix([id]), PAGE).await.map_err(failure)?;
    if args.json {
        let leases = held.iter().map(|held| {
            json!({
                "tenant": held.tenant, "thread": held.session, "run": held.run, "status": held.status,
                "holder": held.holder, "epoch": held.epoch, "attempts": held.attempts, "until": held.until,
            })
        });
        let leases: Vec<_> = leases.collect();
        return print(&format!("{:#}\n", json!({"worker": worker, "leases": leases})));
    }
    print(&table(&[row(&worker)]))?;
    let lease = |held: &agcore::session::HeldRun| {
        [
            sanitized_line(&held.tenant),
            sanitized_line(&held.session),
            sanitized_line(&held.run),
            held.status.to_string(),
            format!("attempt {}", held.attempts),
            format!("until {}", time(held.until)),
        ]
    };
    print(&table(&held.iter().map(lease).collect::<Vec<_>>()))
}

async fn drain(store: &dyn SessionStore, args: &WorkerIdArgs, drains: bool) -> Result<(), Failure> {
    let found = store.drain_worker(&args.id, drains).await.map_err(failure)?;
    let worker = found.ok_or_else(|| unknown_worker(&args.id))?;
    let (id, done) = (
        sanitized_line(&worker.id),
        if drains { "Draining" } else { "No longer draining" },
    );
    print(&format!("{done} {id}\n"))?;
    print_notices(&["The process learns this with its next report, within 15 s.".to_owned()])
}

fn unknown_worker(id: &str) -> Failure {
    Failure::usage(format!(
        "there is no process `{}`\nRun `agcore admin workers list` to see all processes.",
        sanitized_line(id)
    ))
}

async fn dead_letters(store: &dyn SessionStore, command: &DeadLettersCommand) -> Result<(), Failure> {
    match command {
        DeadLettersCommand::List(args) => list_dead_letters(store, args).await,
        DeadLettersCommand::Restart(args) => {
            let key = (&*args.tenant, &*args.thread, &*args.run);
            restart_dead_letter(store, key).await.map_err(|error| match error {
                RestartError::Store(error) => failure(error),
                refused => not_listed(args, &refused.to_string()),
            })?;
            print(&format!("Started {} again\n", sanitized_line(&args.run)))
        }
        DeadLettersCommand::Discard(args) => {
            let discarded = store.discard_dead_letter(&args.tenant, &args.thread, &args.run).await;
            discarded.map_err(|error| match error.kind() {
                SessionErrorKind::NotFound | SessionErrorKind::InvalidState => not_listed(args, error.message()),
                _ => failure(error),
            })?;
            print(&format!("Discarded {}\n", sanitized_line(&args.run)))
        }
    }
}

async fn list_dead_letters(store: &dyn SessionStore, args: &ListDeadLettersArgs) -> Result<(), Failure> {
    let mut filter = DeadLetterFilter::new(&*args.tenant).with_limit(PAGE);
    let mut all: Vec<DeadLetter> = Vec::new();
    loop {
        let page = store.dead_letter_page(&filter).await.map_err(failure)?;
        let is_last = (page.len() as u64) < PAGE;
        filter.after = page.last().map(DeadLetter::cursor);
        all.extend(page);
        if is_last {
            break;
        }
    }
    if args.json {
        return print(&format!("{:#}\n", json!({ "dead_letters": all })));
    }
    if all.is_empty() {
        let tenant = sanitized_line(&args.tenant);
        return print_notices(&[format!("The tenant {tenant} has no dead letters.")]);
    }
    let row = |letter: &DeadLetter| {
        [
            sanitized_line(&letter.session),
            sanitized_line(&letter.run),
            time(letter.at),
            format!("{} attempts", letter.attempts),
            sanitized_line(letter.worker.as_deref().unwrap_or_default()),
        ]
    };
    print(&table(&all.iter().map(row).collect::<Vec<_>>()))
}

fn not_listed(args: &DeadLetterArgs, reason: &str) -> Failure {
    Failure::usage(format!(
        "{}\nRun `agcore admin dead-letters list --tenant {}` to see the runs that can be started again.",
        sanitized_line(reason),
        sanitized_line(&args.tenant)
    ))
}

/// Makes a token, and prints the settings with its hash.
fn token(args: &AdminTokenArgs) -> Result<(), Failure> {
    let mut secret = [0; 32];
    let filled = SystemRandom::new().fill(&mut secret);
    filled.map_err(|_| Failure::task("the system has no random numbers for a token"))?;
    let token = AdminTokens::token(secret);
    let hash = AdminTokens::hash_of(&token);
    let checked = AdminTokens::new().with_hash(&hash, Administrator::new(&*args.name));
    checked.map_err(|error| Failure::usage(error.to_string()))?;
    // JSON texts are TOML texts.
    let mut settings = format!(
        "[[serve.admins]]\nname = {}\ntoken_sha256 = \"{hash}\"\n",
        json!(args.name)
    );
    if !args.tenants.is_empty() {
        settings += &format!("tenants = {}\n", json!(args.tenants));
    }
    print(&settings)?;
    // Not part of what is written to a file.
    writeln!(std::io::stderr(), "{token}").map_err(|error| Failure::output(&error))?;
    print_notices(&["This is the token. It is not shown again.".to_owned()])
}

fn failure(error: SessionError) -> Failure {
    match error.kind() {
        SessionErrorKind::InvalidInput => Failure::usage(error.to_string()),
        _ => Failure::from(error),
    }
}
