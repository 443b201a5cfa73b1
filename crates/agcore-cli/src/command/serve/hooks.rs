//! `agcore serve hooks`: lists the hooks, and prints a request for one.

use std::{fs, path::Path};

use agcore::{
    chat::{Clock, SystemClock},
    webhook::{DeliveryPayload, DeliveryScheme},
};
use agcore_args::{HookRequestArgs, HooksCommand, ReportArgs};
use agcore_server::IncomingHook;
use agcore_settings::{Choices, IncomingHookEntry};
use agcore_terminal::{render::sanitized_line, table::table};
use serde_json::{Value, json};

use crate::{exit::Failure, hook_config::HookConfig, stdout::print, trust_dialog::print_notices};

/// The largest delivery that is read from a file, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// Runs `agcore serve hooks`.
///
/// # Errors
/// When the settings cannot be read, or a hook does not exist or has no secret.
pub(super) fn run(command: &HooksCommand) -> Result<(), Failure> {
    match command {
        HooksCommand::List(args) => list(args),
        HooksCommand::Curl(args) => curl(args),
    }
}

fn list(args: &ReportArgs) -> Result<(), Failure> {
    let choices = Choices::read(&args.settings)?;
    let mut problems = Vec::new();
    let config = HookConfig::new(choices.serve.as_ref(), &mut problems);
    let entries = choices.serve.iter().flat_map(|serve| &serve.value.hooks);
    let entries: Vec<&IncomingHookEntry> = entries.collect();
    let is_usable = |entry: &IncomingHookEntry| config.ids().any(|id| id == entry.id.value);
    if args.json {
        let hooks = entries.iter().map(|entry| shown(entry, is_usable(entry)));
        let report = json!({"hooks": hooks.collect::<Vec<_>>(), "problems": problems});
        return print(&format!("{report:#}\n"));
    }
    if entries.is_empty() {
        return print_notices(&["There are no hooks. [[serve.hooks]] in agcore.toml declares one.".to_owned()]);
    }
    print(&table(
        &entries
            .iter()
            .map(|entry| row(entry, is_usable(entry)))
            .collect::<Vec<_>>(),
    ))?;
    print_notices(
        &problems
            .iter()
            .map(|problem| format!("warning: {problem}"))
            .collect::<Vec<_>>(),
    )
}

/// Returns a row of the list: path, scheme, what works on the runs, owner, state.
fn row(entry: &IncomingHookEntry, is_usable: bool) -> [String; 5] {
    let (tenant, user) = owner(entry);
    [
        sanitized_line(&format!("/hooks/{}", entry.id.value)),
        entry.verify.as_str().to_owned(),
        sanitized_line(&entry.target()),
        sanitized_line(&format!("{tenant}/{user}")),
        if is_usable { "ready" } else { "not usable" }.to_owned(),
    ]
}

fn owner(entry: &IncomingHookEntry) -> (&str, &str) {
    (
        entry.tenant.as_deref().unwrap_or("local"),
        entry.user.as_deref().unwrap_or("local"),
    )
}

/// Returns a hook as JSON, with the names of its secrets.
fn shown(entry: &IncomingHookEntry, is_usable: bool) -> Value {
    let (tenant, user) = owner(entry);
    let names =
        |list: &[agcore_document::Placed<String>]| list.iter().map(|name| json!(name.value)).collect::<Vec<_>>();
    json!({
        "id": entry.id.value,
        "path": format!("/hooks/{}", entry.id.value),
        "verify": entry.verify.as_str(),
        "target": entry.target(),
        "tenant": tenant,
        "user": user,
        "events": entry.events,
        // A name of another form may be the secret.
        "secrets": if is_usable { names(&entry.secrets) } else { Vec::new() },
        "secretFiles": if is_usable { names(&entry.secret_files) } else { Vec::new() },
        "usable": is_usable,
    })
}

fn curl(args: &HookRequestArgs) -> Result<(), Failure> {
    let choices = Choices::read(&args.settings)?;
    let mut problems = Vec::new();
    let config = HookConfig::new(choices.serve.as_ref(), &mut problems);
    let Some((entry, hook)) = config.find(&args.id) else {
        let id = format!("the hook `{}`", args.id);
        let problem = problems.into_iter().find(|problem| problem.contains(&id));
        return Err(Failure::usage(problem.unwrap_or_else(|| {
            format!(
                "there is no hook `{}`\nRun `agcore serve hooks list` to see all hooks.",
                sanitized_line(&args.id)
            )
        })));
    };
    let body = read(&args.file)?;
    if let Err(error) = DeliveryPayload::parse("application/json", &body) {
        return Err(Failure::usage(format!("{}: {error}", args.file.display())));
    }
    let delivery = args
        .delivery
        .clone()
        .unwrap_or_else(|| format!("test-{:x}", now().as_millis()));
    print(&command_line(args, (entry, hook), &delivery, &body))?;
    let mut notices = Vec::new();
    if hook
        .check()
        .sign("", b"", now())
        .iter()
        .any(|(name, _)| name.to_ascii_lowercase().contains("timestamp"))
        || *hook.check().scheme() == DeliveryScheme::Stripe
    {
        notices.push("The signature is valid for five minutes.".to_owned());
    }
    print_notices(&notices)
}

fn now() -> agcore::webhook::Timestamp {
    SystemClock::new().now().into()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let problem = |reason: String| Failure::usage(format!("cannot read {}: {reason}", path.display()));
    let size = fs::metadata(path).map_err(|error| problem(error.to_string()))?.len();
    if size > MAX_FILE {
        return Err(problem(format!("it has more than {MAX_FILE} bytes")));
    }
    fs::read(path).map_err(|error| problem(error.to_string()))
}

/// Returns the command that sends a delivery. A secret that is sent itself is named, and not shown.
fn command_line(
    args: &HookRequestArgs,
    (entry, hook): (&IncomingHookEntry, &IncomingHook),
    delivery: &str,
    body: &[u8],
) -> String {
    let mut text = format!(
        "curl -sS -X POST {} \\\n  -H 'Content-Type: application/json'",
        quoted(&format!("{}/hooks/{}", args.url.trim_end_matches('/'), hook.id()))
    );
    let scheme = hook.check().scheme();
    let reference = match (entry.secrets.first(), entry.secret_files.first()) {
        (Some(name), _) => format!("${{{}}}", name.value),
        (None, Some(file)) => format!("$(cat {})", quoted(&file.value)),
        (None, None) => String::new(),
    };
    for (name, value) in hook.check().sign(delivery, body, now()) {
        let header = match scheme {
            DeliveryScheme::Bearer if name == "Authorization" => format!("\"{name}: Bearer {reference}\""),
            DeliveryScheme::Header(secret) if name == *secret => format!("\"{name}: {reference}\""),
            _ => quoted(&format!("{name}: {value}")),
        };
        text += &format!(" \\\n  -H {header}");
    }
    if let (Some(event), DeliveryScheme::GitHub) = (&args.event, scheme) {
        text += &format!(" \\\n  -H {}", quoted(&format!("X-GitHub-Event: {event}")));
    }
    text + &format!(
        " \\\n  --data-binary {}\n",
        quoted(&format!("@{}", args.file.display()))
    )
}

/// Returns a word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
