//! Arguments of `webhooks`.

use clap::{Args, Parser, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum WebhooksCommand {
    /// Create a webhook and print its ID and its secret
    #[command(after_help = ADD_HELP)]
    Add(Box<AddWebhookArgs>),
    /// List webhooks
    List(ListWebhooksArgs),
    /// Show a webhook
    Show(ShowWebhookArgs),
    /// Send nothing until the webhook is resumed
    Pause(WebhookArgs),
    /// Send messages again, also those that wait
    Resume(WebhookArgs),
    /// Replace the secret and print the new one; the old one is valid for another day
    Secret(WebhookArgs),
    /// Send a message that is about no run
    Test(WebhookArgs),
    /// List the messages to a webhook, newest first
    Deliveries(DeliveriesArgs),
    /// Send a message again
    Replay(ReplayMessageArgs),
    /// Delete a webhook with its messages
    Delete(WebhookArgs),
}

const ADD_HELP: &str = "\
`agcore serve` and `agcore worker` send the messages; one of them must be running. They send to public addresses with https://, and to \
the hosts in `webhook_hosts` of [serve] in agcore.toml.

The receiver checks the signature of each message with the secret, which is shown only once.

Examples:
  agcore webhooks add https://example.com/hook
  agcore webhooks add https://example.com/hook --event run.failed --event run.interrupted
  agcore webhooks add https://example.com/hook --tenant acme --tenant-wide";

/// Arguments of `webhooks add`.
#[derive(Debug, Parser)]
pub struct AddWebhookArgs {
    /// URL to which messages are sent
    pub url: String,
    /// Event that is sent: run.completed, run.failed, run.cancelled or run.interrupted; repeat it for several, by default all
    #[arg(long = "event", value_name = "NAME")]
    pub events: Vec<String>,
    /// Title, for people
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// ID of the webhook; by default a new one
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Send nothing until the webhook is resumed
    #[arg(long)]
    pub paused: bool,
    /// Send the events of all users of the tenant; users do not see the webhook
    #[arg(long, conflicts_with = "user")]
    pub tenant_wide: bool,
    #[command(flatten)]
    pub owner: WebhookOwnerArgs,
}

/// The user whose runs a webhook is about.
#[derive(Debug, Clone, Args)]
pub struct WebhookOwnerArgs {
    /// User to whom the webhook belongs
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub user: String,
    /// Tenant of the user
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
}

/// Arguments of `webhooks list`.
#[derive(Debug, Parser)]
pub struct ListWebhooksArgs {
    /// Only webhooks of this user
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Tenant whose webhooks are listed
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `webhooks show`.
#[derive(Debug, Parser)]
pub struct ShowWebhookArgs {
    #[command(flatten)]
    pub webhook: WebhookArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `webhooks deliveries`.
#[derive(Debug, Parser)]
pub struct DeliveriesArgs {
    #[command(flatten)]
    pub webhook: WebhookArgs,
    /// Only messages in this state
    #[arg(long, value_enum, value_name = "STATE")]
    pub state: Option<StateName>,
    /// Most messages that are listed
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub limit: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The state of a message.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StateName {
    Pending,
    Delivered,
    Failed,
}

/// Arguments of `webhooks replay`.
#[derive(Debug, Parser)]
pub struct ReplayMessageArgs {
    #[command(flatten)]
    pub webhook: WebhookArgs,
    /// ID of the message, as `agcore webhooks deliveries` shows it
    pub message: String,
}

/// Arguments of the commands for one webhook.
#[derive(Debug, Parser)]
pub struct WebhookArgs {
    /// ID of the webhook, as `agcore webhooks list` shows it
    pub id: String,
    /// Tenant of the webhook
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
}
