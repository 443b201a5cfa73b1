//! Arguments of `quotas`.

use std::path::PathBuf;

use agcore::chat::Money;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum QuotasCommand {
    /// List the quotas of a tenant that are in the database
    List(ListQuotasArgs),
    /// Set a quota of a tenant
    #[command(after_help = SET_HELP)]
    Set(SetQuotaArgs),
    /// Show the quotas that apply to a user, and the amounts that are used
    Usage(QuotaUsageArgs),
    /// Delete a quota of a tenant
    Delete(DeleteQuotaArgs),
}

const SET_HELP: &str = "\
A quota limits what all users of a tenant use together, what each user uses, or what one user uses. It replaces the one for the same \
users and the same period, and that of [[serve.quotas]] in agcore.toml; the amount that is used stays. A quota of one user replaces that of \
each user. Servers and workers follow it with the next call of a model.

Quotas of money need prices of the models (--catalog, or [prices] in agcore.toml): calls of models without a price are refused.

Examples:
  agcore quotas set --tenant acme --per month --money '500 USD'
  agcore quotas set --tenant acme --each-user --per day --tokens 1000000 --runs 200
  agcore quotas set --tenant acme --user ann --per day --tokens 5000000";

/// Arguments of `quotas list`.
#[derive(Debug, Parser)]
pub struct ListQuotasArgs {
    /// Tenant whose quotas are listed
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `quotas set`.
#[derive(Debug, Parser)]
#[command(group = ArgGroup::new("limits").required(true).multiple(true).args(["runs", "model_calls", "tokens", "money"]))]
pub struct SetQuotaArgs {
    #[command(flatten)]
    pub quota: QuotaArgs,
    /// Most runs that are started
    #[arg(long, value_name = "NUMBER")]
    pub runs: Option<u64>,
    /// Most calls of models
    #[arg(long, value_name = "NUMBER")]
    pub model_calls: Option<u64>,
    /// Most input and output tokens
    #[arg(long, value_name = "NUMBER")]
    pub tokens: Option<u64>,
    /// Highest cost of models, such as '5.00 USD'
    #[arg(long, value_name = "AMOUNT")]
    pub money: Option<Money>,
    /// Settings with the [[serve.quotas]] of the server; replaces agcore.toml in the current directory
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The quota that is meant.
#[derive(Debug, Clone, Args)]
pub struct QuotaArgs {
    /// Period in which use counts, by the calendar in UTC
    #[arg(long, value_enum, value_name = "PERIOD")]
    pub per: WindowName,
    /// The use of each user counts, instead of that of all users together
    #[arg(long, conflicts_with = "user")]
    pub each_user: bool,
    /// The use of this user counts, instead of that of all users together
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Tenant of the quota
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
}

/// A period in which use counts.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WindowName {
    Minute,
    Hour,
    Day,
    Month,
}

/// Arguments of `quotas usage`.
#[derive(Debug, Parser)]
pub struct QuotaUsageArgs {
    /// User to whom the quotas apply
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub user: String,
    /// Tenant of the user
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    /// Settings with the [[serve.quotas]] of the server; replaces agcore.toml in the current directory
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `quotas delete`.
#[derive(Debug, Parser)]
pub struct DeleteQuotaArgs {
    #[command(flatten)]
    pub quota: QuotaArgs,
    /// Settings with the [[serve.quotas]] of the server; replaces agcore.toml in the current directory
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
