//! Arguments of `admin`.

use clap::{Args, Parser, Subcommand};

#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// List tenants with the numbers of their runs, or set their shares in all workers
    #[command(arg_required_else_help = true)]
    Tenants {
        #[command(subcommand)]
        command: AdminTenantsCommand,
    },
    /// List the processes that execute runs, or have them claim no more
    #[command(arg_required_else_help = true)]
    Workers {
        #[command(subcommand)]
        command: AdminWorkersCommand,
    },
    /// List runs that have ended their workers, start them again, or discard them
    #[command(arg_required_else_help = true)]
    DeadLetters {
        #[command(subcommand)]
        command: DeadLettersCommand,
    },
    /// Make a token for an administrator of a server and print its settings; the token cannot be shown again
    #[command(after_help = TOKEN_HELP)]
    Token(AdminTokenArgs),
}

const TOKEN_HELP: &str = "\
The lines for agcore.toml go to standard output, the token to standard error. A server with such lines has the routes below \
/api/v1/admin.

Examples:
  agcore admin token --name ops >> agcore.toml
  agcore admin token --name support --tenant acme --tenant globex";

#[derive(Debug, Subcommand)]
pub enum AdminTenantsCommand {
    /// List the tenants
    List(ListTenantsArgs),
    /// Set the share of a tenant in all workers
    Share(ShareArgs),
    /// Delete the share of a tenant, so that it has the weight 1 and no ceiling
    Unshare(TenantArgs),
}

/// Arguments of `admin tenants list`.
#[derive(Debug, Parser)]
pub struct ListTenantsArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `admin tenants share`.
#[derive(Debug, Parser)]
pub struct ShareArgs {
    #[command(flatten)]
    pub tenant: TenantArgs,
    /// Weight from 1 to 1000: while several tenants wait, they have runs in this proportion
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub weight: u32,
    /// Most runs that workers have at a time; with 0, no worker takes a run of the tenant
    #[arg(long, value_name = "NUMBER")]
    pub ceiling: Option<u32>,
}

/// A tenant.
#[derive(Debug, Clone, Args)]
pub struct TenantArgs {
    /// Tenant
    pub tenant: String,
}

#[derive(Debug, Subcommand)]
pub enum AdminWorkersCommand {
    /// List the processes that report
    List(ListTenantsArgs),
    /// Show a process with the runs that it has
    Show(ShowWorkerArgs),
    /// Have a process claim no more runs; it leaves those that do not end in time to others
    Drain(WorkerIdArgs),
    /// Let a process claim runs again
    Undrain(WorkerIdArgs),
}

/// A process that executes runs.
#[derive(Debug, Clone, Args)]
pub struct WorkerIdArgs {
    /// ID of the process, as `agcore admin workers list` shows it
    pub id: String,
}

/// Arguments of `admin workers show`.
#[derive(Debug, Parser)]
pub struct ShowWorkerArgs {
    #[command(flatten)]
    pub worker: WorkerIdArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum DeadLettersCommand {
    /// List the runs of a tenant, the oldest first
    List(ListDeadLettersArgs),
    /// Start a run again where its workers have left it
    Restart(DeadLetterArgs),
    /// Take a run off the list; it stays failed
    Discard(DeadLetterArgs),
}

/// Arguments of `admin dead-letters list`.
#[derive(Debug, Parser)]
pub struct ListDeadLettersArgs {
    /// Tenant whose runs are listed
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A run that has ended its workers.
#[derive(Debug, Clone, Parser)]
pub struct DeadLetterArgs {
    /// Thread of the run
    pub thread: String,
    /// ID of the run
    pub run: String,
    /// Tenant of the run
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
}

/// Arguments of `admin token`.
#[derive(Debug, Parser)]
pub struct AdminTokenArgs {
    /// Name of the administrator, for the log of the server
    #[arg(long, value_name = "NAME")]
    pub name: String,
    /// Only tenant that the administrator looks after; can be repeated. Without it, all
    #[arg(long = "tenant", value_name = "NAME")]
    pub tenants: Vec<String>,
}
