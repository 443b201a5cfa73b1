//! `agcore webhooks`: URLs that a server notifies of runs.

use std::time::Duration;

use agcore::{
    chat::{Actor, Clock, SystemClock},
    llm::system_random,
    webhook::{
        Attempt, Delivery, DeliveryFilter, DeliveryState, EventKind, EventKinds, NewWebhook, SigningSecret, Timestamp,
        Webhook, WebhookChange, WebhookError, WebhookErrorKind, WebhookFilter, WebhookScope, WebhookStore,
    },
};
use agcore_args::{
    AddWebhookArgs, DeliveriesArgs, ListWebhooksArgs, ReplayMessageArgs, ShowWebhookArgs, StateName, WebhookArgs,
    WebhooksCommand,
};
use agcore_server::{HttpSender, WebhookSender as _};
use agcore_terminal::{
    render::{sanitized_line, truncated},
    table::table,
};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};

use crate::{
    exit::Failure,
    sessions::{Sessions, time},
    stdout::print,
    trust_dialog::print_notices,
};

/// The maximum width of a title in the list.
const WIDTH: usize = 60;

/// The number of webhooks that are read at once.
const PAGE: u64 = 500;

/// The time for which a secret that was replaced signs messages as well.
const OVERLAP: Duration = Duration::from_secs(24 * 3600);

/// Runs `agcore webhooks`.
///
/// # Errors
/// When the database cannot be used, or a webhook does not exist or is not acceptable.
pub(crate) async fn run(command: &WebhooksCommand) -> Result<(), Failure> {
    let sessions = Sessions::open().await?;
    let Some(webhooks) = sessions.webhooks() else {
        return Err(Failure::usage(
            "this build keeps no webhooks; build agcore-cli with the feature `sqlite`",
        ));
    };
    match command {
        WebhooksCommand::Add(args) => add(&*webhooks, args).await,
        WebhooksCommand::List(args) => list(&*webhooks, args).await,
        WebhooksCommand::Show(args) => show(&*webhooks, args).await,
        WebhooksCommand::Pause(args) => change(&*webhooks, args, WebhookChange::new().paused(), "Paused").await,
        WebhooksCommand::Resume(args) => change(&*webhooks, args, WebhookChange::new().resumed(), "Resumed").await,
        WebhooksCommand::Secret(args) => renew_secret(&*webhooks, args).await,
        WebhooksCommand::Test(args) => test(&*webhooks, args).await,
        WebhooksCommand::Deliveries(args) => deliveries(&*webhooks, args).await,
        WebhooksCommand::Replay(args) => replay(&*webhooks, args).await,
        WebhooksCommand::Delete(args) => {
            let webhook = find(&*webhooks, args).await?;
            let deleted = webhooks.delete_webhook(&args.tenant, &webhook.id).await;
            deleted.map_err(failure)?;
            print(&format!("Deleted {}\n", sanitized_line(&webhook.id)))
        }
    }
}

async fn add(webhooks: &dyn WebhookStore, args: &AddWebhookArgs) -> Result<(), Failure> {
    let id = args.id.clone().unwrap_or_else(new_id);
    let secret = new_secret()?;
    let mut new = NewWebhook::new(id, args.url.as_str(), secret.clone())
        .with_owner(Actor::new(args.owner.tenant.as_str(), args.owner.user.as_str()))
        .with_events(events(&args.events)?);
    if args.tenant_wide {
        new = new.with_scope(WebhookScope::Tenant);
    }
    new.title.clone_from(&args.title);
    new.is_paused = args.paused;
    let created = webhooks.create_webhook(new).await.map_err(failure)?;
    print(&format!("{}\n{}\n", sanitized_line(&created.id), secret.expose()))?;
    let mut notices = vec!["The second line is the secret for the receiver. It is not shown again.".to_owned()];
    // The settings of the server may be other ones than those of this directory.
    if let Err(reason) = HttpSender::new().check(&created.url) {
        notices.push(format!(
            "warning: {}\nA server sends nothing to this URL unless `webhook_hosts` of [serve] in its agcore.toml has the host.",
            sanitized_line(&reason)
        ));
    }
    print_notices(&notices)
}

fn events(names: &[String]) -> Result<EventKinds, Failure> {
    if names.is_empty() {
        return Ok(EventKinds::runs());
    }
    let kinds = names.iter().map(|name| EventKind::try_from(name.clone()));
    let kinds: Result<EventKinds, String> = kinds.collect();
    kinds.map_err(|error| Failure::usage(format!("--event: {}", sanitized_line(&error))))
}

async fn list(webhooks: &dyn WebhookStore, args: &ListWebhooksArgs) -> Result<(), Failure> {
    let mut filter = WebhookFilter::new(args.tenant.as_str()).with_limit(PAGE);
    filter.user = args.user.as_deref().map(Into::into);
    let mut all: Vec<Webhook> = Vec::new();
    loop {
        let page = webhooks.webhooks(&filter).await.map_err(failure)?;
        let is_last = (page.len() as u64) < PAGE;
        filter.after = page.last().map(|webhook| webhook.id.clone());
        all.extend(page);
        if is_last {
            break;
        }
    }
    if args.json {
        let all: Vec<_> = all.iter().map(shown).collect();
        return print(&format!("{:#}\n", json!({ "webhooks": all })));
    }
    if all.is_empty() {
        return print_notices(&[
            "There are no webhooks. `agcore webhooks add --help` shows how to create one.".to_owned(),
        ]);
    }
    print(&table(&all.iter().map(row).collect::<Vec<_>>()))
}

/// Returns a row of the list: id, state, URL, title.
fn row(webhook: &Webhook) -> [String; 4] {
    [
        sanitized_line(&webhook.id),
        state(webhook),
        truncated(&webhook.url, WIDTH),
        truncated(webhook.title.as_deref().unwrap_or_default(), WIDTH),
    ]
}

fn state(webhook: &Webhook) -> String {
    match webhook.paused {
        Some(reason) => format!("paused: {}", reason.as_str()),
        None => "active".to_owned(),
    }
}

/// Returns a webhook as JSON without its secrets.
fn shown(webhook: &Webhook) -> Value {
    let mut shown = json!(webhook);
    if let Some(members) = shown.as_object_mut() {
        members.remove("secret");
        members.remove("previous_secret");
    }
    if let Some(previous) = &webhook.previous_secret {
        shown["previous_secret_until"] = json!(previous.until);
    }
    shown
}

async fn show(webhooks: &dyn WebhookStore, args: &ShowWebhookArgs) -> Result<(), Failure> {
    let webhook = find(webhooks, &args.webhook).await?;
    if args.json {
        return print(&format!("{:#}\n", json!({ "webhook": shown(&webhook) })));
    }
    let events: Vec<_> = webhook.events.iter().map(EventKind::as_str).collect();
    let about = match webhook.scope {
        WebhookScope::Tenant => format!("all runs of the tenant {}", webhook.tenant()),
        _ => format!("the runs of {}", webhook.owner),
    };
    let mut rows = vec![
        ["webhook".to_owned(), sanitized_line(&webhook.id)],
        [
            "title".to_owned(),
            sanitized_line(webhook.title.as_deref().unwrap_or_default()),
        ],
        ["about".to_owned(), sanitized_line(&about)],
        ["url".to_owned(), sanitized_line(&webhook.url)],
        ["events".to_owned(), events.join(", ")],
        ["state".to_owned(), state(&webhook)],
        ["created".to_owned(), time(webhook.created_at)],
        ["changed".to_owned(), time(webhook.updated_at)],
    ];
    if let Some(previous) = &webhook.previous_secret {
        rows.push(["old secret".to_owned(), format!("valid until {}", time(previous.until))]);
    }
    print(&table(&rows))
}

async fn change(
    webhooks: &dyn WebhookStore,
    args: &WebhookArgs,
    change: WebhookChange,
    done: &str,
) -> Result<(), Failure> {
    let changed = changed(webhooks, args, change).await?;
    print(&format!("{done} {}\n", sanitized_line(&changed.id)))
}

async fn changed(webhooks: &dyn WebhookStore, args: &WebhookArgs, change: WebhookChange) -> Result<Webhook, Failure> {
    let webhook = find(webhooks, args).await?;
    let changed = webhooks.change_webhook(&args.tenant, &webhook.id, webhook.revision, change);
    changed.await.map_err(failure)
}

async fn renew_secret(webhooks: &dyn WebhookStore, args: &WebhookArgs) -> Result<(), Failure> {
    let secret = new_secret()?;
    let change = WebhookChange::new().with_secret(secret.clone(), OVERLAP);
    let changed = changed(webhooks, args, change).await?;
    print(&format!("{}\n", secret.expose()))?;
    let until = changed.previous_secret.map(|previous| time(previous.until));
    print_notices(&[format!(
        "Enter it at the receiver: it is not shown again. Messages are signed with the old secret as well until {}.",
        until.unwrap_or_default()
    )])
}

async fn test(webhooks: &dyn WebhookStore, args: &WebhookArgs) -> Result<(), Failure> {
    let webhook = find(webhooks, args).await?;
    let message = webhooks.test_webhook(&args.tenant, &webhook.id).await;
    announced(&message.map_err(failure)?, &webhook)
}

async fn replay(webhooks: &dyn WebhookStore, args: &ReplayMessageArgs) -> Result<(), Failure> {
    let webhook = find(webhooks, &args.webhook).await?;
    let message = webhooks.replay(webhook.tenant(), &webhook.id, &args.message).await;
    let message = message.map_err(|error| match error.kind() {
        WebhookErrorKind::NotFound => Failure::usage(format!(
            "there is no message `{}`\nRun `agcore webhooks deliveries {}` to see the messages.",
            sanitized_line(&args.message),
            sanitized_line(&webhook.id)
        )),
        _ => failure(error),
    })?;
    announced(&message, &webhook)
}

/// Prints the id of a message that is sent soon.
fn announced(message: &Delivery, webhook: &Webhook) -> Result<(), Failure> {
    print(&format!("{}\n", sanitized_line(&message.id)))?;
    let next = match webhook.paused {
        Some(_) => "The webhook is paused: the message is sent when it is resumed.",
        None => "A server sends it within a few seconds, if one is running.",
    };
    print_notices(&[next.to_owned()])
}

async fn deliveries(webhooks: &dyn WebhookStore, args: &DeliveriesArgs) -> Result<(), Failure> {
    let webhook = find(webhooks, &args.webhook).await?;
    let mut filter = DeliveryFilter::new().with_limit(args.limit);
    filter.state = args.state.map(|state| match state {
        StateName::Pending => DeliveryState::Pending,
        StateName::Delivered => DeliveryState::Delivered,
        StateName::Failed => DeliveryState::Failed,
    });
    let found = webhooks.deliveries(webhook.tenant(), &webhook.id, &filter);
    let found = found.await.map_err(failure)?;
    if args.json {
        return print(&format!("{:#}\n", json!({ "deliveries": found })));
    }
    if found.is_empty() {
        return print_notices(&["There are no messages.".to_owned()]);
    }
    print(&table(&found.iter().map(delivery_row).collect::<Vec<_>>()))
}

/// Returns a row of the list: id, time, event, state, last attempt, run.
fn delivery_row(delivery: &Delivery) -> [String; 6] {
    let state = match (delivery.state, delivery.next_at) {
        (DeliveryState::Pending, Some(at)) if delivery.attempts > 0 => format!("again at {}", time(at)),
        (state, _) => state.as_str().to_owned(),
    };
    let run = delivery.event.run.as_ref();
    let run = run.map(|run| format!("run {} of thread {}", run.run, run.thread));
    [
        sanitized_line(&delivery.id),
        time(delivery.event.at),
        delivery.event.kind.as_str().to_owned(),
        state,
        delivery.last.as_ref().map(attempt_text).unwrap_or_default(),
        sanitized_line(&run.unwrap_or_default()),
    ]
}

fn attempt_text(attempt: &Attempt) -> String {
    let status = attempt.status.map(|status| format!("status {status}"));
    match (status, &attempt.reason) {
        (Some(status), Some(reason)) => sanitized_line(&format!("{status}: {reason}")),
        (Some(status), None) => status,
        (None, reason) => sanitized_line(reason.as_deref().unwrap_or_default()),
    }
}

async fn find(webhooks: &dyn WebhookStore, args: &WebhookArgs) -> Result<Webhook, Failure> {
    let found = webhooks.webhook(&args.tenant, &args.id).await.map_err(failure)?;
    found.ok_or_else(|| {
        Failure::usage(format!(
            "there is no webhook `{}`\nRun `agcore webhooks list` to see all webhooks.",
            sanitized_line(&args.id)
        ))
    })
}

fn new_secret() -> Result<SigningSecret, Failure> {
    let mut key = [0; 32];
    let filled = SystemRandom::new().fill(&mut key);
    filled.map_err(|_| Failure::task("the system has no random numbers for a secret"))?;
    SigningSecret::new(key).map_err(failure)
}

fn new_id() -> String {
    let now: Timestamp = SystemClock::new().now().into();
    let digits: String = format!("{:.8}", system_random()()).chars().skip(2).collect();
    format!("webhook-{:x}-{digits}", now.as_millis())
}

fn failure(error: WebhookError) -> Failure {
    match error.kind() {
        WebhookErrorKind::InvalidInput | WebhookErrorKind::AlreadyExists => Failure::usage(error.to_string()),
        _ => Failure::task(error.to_string()),
    }
}
