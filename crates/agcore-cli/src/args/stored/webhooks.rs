//! Arguments of `webhooks`.

use clap::{Args, Parser, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum WebhooksCommand {
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
pub(crate) struct AddWebhookArgs {
    /// URL to which messages are sent
    pub(crate) url: String,
    /// Event that is sent: run.completed, run.failed, run.cancelled or run.interrupted; repeat it for several, by default all
    #[arg(long = "event", value_name = "NAME")]
    pub(crate) events: Vec<String>,
    /// Title, for people
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// ID of the webhook; by default a new one
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Send nothing until the webhook is resumed
    #[arg(long)]
    pub(crate) paused: bool,
    /// Send the events of all users of the tenant; users do not see the webhook
    #[arg(long, conflicts_with = "user")]
    pub(crate) tenant_wide: bool,
    #[command(flatten)]
    pub(crate) owner: WebhookOwnerArgs,
}

/// The user whose runs a webhook is about.
#[derive(Debug, Clone, Args)]
pub(crate) struct WebhookOwnerArgs {
    /// User to whom the webhook belongs
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub(crate) user: String,
    /// Tenant of the user
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub(crate) tenant: String,
}

/// Arguments of `webhooks list`.
#[derive(Debug, Parser)]
pub(crate) struct ListWebhooksArgs {
    /// Only webhooks of this user
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Tenant whose webhooks are listed
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub(crate) tenant: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `webhooks show`.
#[derive(Debug, Parser)]
pub(crate) struct ShowWebhookArgs {
    #[command(flatten)]
    pub(crate) webhook: WebhookArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `webhooks deliveries`.
#[derive(Debug, Parser)]
pub(crate) struct DeliveriesArgs {
    #[command(flatten)]
    pub(crate) webhook: WebhookArgs,
    /// Only messages in this state
    #[arg(long, value_enum, value_name = "STATE")]
    pub(crate) state: Option<StateName>,
    /// Most messages that are listed
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub(crate) limit: u64,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The state of a message.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateName {
    Pending,
    Delivered,
    Failed,
}

/// Arguments of `webhooks replay`.
#[derive(Debug, Parser)]
pub(crate) struct ReplayMessageArgs {
    #[command(flatten)]
    pub(crate) webhook: WebhookArgs,
    /// ID of the message, as `agcore webhooks deliveries` shows it
    pub(crate) message: String,
}

/// Arguments of the commands for one webhook.
#[derive(Debug, Parser)]
pub(crate) struct WebhookArgs {
    /// ID of the webhook, as `agcore webhooks list` shows it
    pub(crate) id: String,
    /// Tenant of the webhook
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub(crate) tenant: String,
}
