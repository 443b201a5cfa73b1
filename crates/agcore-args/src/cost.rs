//! Arguments of `cost`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

pub(super) const COST_HELP: &str = "\
Adds what the model calls of the kept sessions cost, as it was stored with each message: prices of the catalog at that time, or \
what the server reported. Amounts of different currencies are never added. Calls without a known price are counted, but not \
part of the sums. Neither is what a call has used whose answer broke off or whose process ended: such calls are counted as \
incomplete. Calls for summaries and of sub-agents are included. With AGCORE_STORE and without --file, the sessions are those \
of the server.

Calls to the servers of many vendors have the list prices that the program contains; `agcore models --listed` shows them, and \
`agcore catalog update` updates them. Write other prices, such as those of a contract, to catalog.toml next to your own \
agcore.toml; `agcore catalog check FILE` checks it. Later calls are then billed; earlier ones stay unknown. A catalog with one \
model, whose prices are for a million tokens:

  version = \"1\"

  [[vendors]]
  name = \"openai\"

  [[vendors.endpoints]]
  name = \"chat\"
  api = \"openai\"
  kinds = [\"text\"]

  [[vendors.keys]]
  name = \"mine\"
  secret = \"${OPENAI_API_KEY}\"
  users = [\"*\"]

  [[vendors.models]]
  name = \"MODEL\"
  kind = \"text\"
  default = true

  [[vendors.models.prices]]
  currency = \"USD\"
  tiers = [{ input = \"1.00\", output = \"2.00\" }]

Examples:
  agcore cost
  agcore cost --by model
  agcore cost --by day --since 2026-05-01
  agcore cost --by user --file /var/lib/bot/agcore.db --tenant acme
  agcore cost --json | jq '.total.costs'";

/// The calls that a row of a report adds.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CostGroup {
    Session,
    Model,
    Day,
    User,
    Key,
}

/// Arguments of `cost`.
#[derive(Debug, Parser)]
pub struct CostArgs {
    /// Calls that each row adds: those of a session, model, day (UTC), user or key
    #[arg(long, value_enum, value_name = "GROUP", default_value = "session")]
    pub by: CostGroup,
    /// Only calls since this day, as YYYY-MM-DD (UTC)
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub since: Option<String>,
    /// Only calls until this day, which is included
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub until: Option<String>,
    /// Only sessions of the current directory
    #[arg(long)]
    pub here: bool,
    /// Tenant whose sessions are added
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    /// SQLite file; by default agcore.db in the directory of the program's state
    #[cfg(feature = "sqlite")]
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Settings whose prices are known, such as the --config of a server; replaces agcore.toml in the current directory
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Catalog whose prices are known, such as that of a server; by default catalog.toml next to your own agcore.toml
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// Checks that a text is a day, so that days can be compared as texts.
fn day(text: &str) -> Result<String, String> {
    let numbers = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    let is_day = match parts.as_slice() {
        [year, month, day] => {
            let is_sized = (year.len(), month.len(), day.len()) == (4, 2, 2);
            is_sized
                && [year, month, day].iter().all(|part| numbers(part))
                && ("01"..="12").contains(month)
                && ("01"..="31").contains(day)
        }
        _ => false,
    };
    match is_day {
        true => Ok(text.to_owned()),
        false => Err("a day is written as YYYY-MM-DD, such as 2026-05-01".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use agcore::catalog::{Catalog, Format};

    use super::*;

    #[test]
    fn the_catalog_in_the_help_is_valid() {
        let (_, rest) = COST_HELP.split_once("million tokens:\n\n").unwrap();
        let (example, _) = rest.split_once("\n\nExamples:").unwrap();
        let catalog = Catalog::parse("catalog.toml", Format::Toml, example).unwrap();
        assert_eq!(catalog.prices().prices().len(), 1);
    }
}
