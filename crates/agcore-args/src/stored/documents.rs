//! Arguments of `store profiles` and `store catalog`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::super::flow::Uuid;

#[derive(Debug, Subcommand)]
pub enum ProfilesCommand {
    /// Store the profiles of a file in TOML or YAML, as a new version of each
    Put(PutProfilesArgs),
    /// List the users with a profile
    List(ListProfilesArgs),
    /// Print a profile as JSON
    Show(ProfileArgs),
    /// Delete a profile
    Delete(ProfileArgs),
}

#[derive(Debug, Subcommand)]
pub enum CatalogDocumentCommand {
    /// Store a catalog as the new version; a wrong one is refused, and the old one stays
    Put(PutArgs),
    /// Print the catalog
    Show(ShowCatalogArgs),
}

pub(crate) const PROFILES_HELP: &str = "\
With `profiles = true` in [serve], `agcore serve` describes users to agents by these profiles: the name of the user is the UUID of the \
profile. It reads them for each run. A file with a wrong profile is refused as a whole.

Examples:
  agcore store profiles put people.yaml --tenant acme
  agcore store profiles list --tenant acme --json";

pub(crate) const CATALOG_HELP: &str = "\
With `stored_catalog = true` in [serve], `agcore serve` uses this catalog for prices and models, and looks for a new version every \
`reload_seconds`. With AGCORE_STORE and without --file, the database is that of the server.

Examples:
  agcore catalog check models.toml
  agcore store catalog put models.toml";

/// A file that is stored.
#[derive(Debug, Parser)]
pub struct PutArgs {
    /// File to store
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// SQLite file; by default agcore.db in the directory of the program's state
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `store profiles put`.
#[derive(Debug, Parser)]
pub struct PutProfilesArgs {
    /// Tenant of the users
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    #[command(flatten)]
    pub document: PutArgs,
}

/// Arguments of `store profiles list`.
#[derive(Debug, Parser)]
pub struct ListProfilesArgs {
    /// Tenant of the users
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    /// SQLite file; by default agcore.db in the directory of the program's state
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// A profile.
#[derive(Debug, Parser)]
pub struct ProfileArgs {
    /// UUID of the user
    #[arg(value_name = "USER")]
    pub user: Uuid,
    /// Tenant of the user
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    /// SQLite file; by default agcore.db in the directory of the program's state
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `store catalog show`.
#[derive(Debug, Parser)]
pub struct ShowCatalogArgs {
    /// SQLite file; by default agcore.db in the directory of the program's state
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
