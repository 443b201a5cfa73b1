//! Arguments of `schedules`.

use std::path::PathBuf;

use agcore::chat::Money;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum SchedulesCommand {
    /// Create a schedule
    #[command(after_help = ADD_HELP)]
    Add(Box<AddScheduleArgs>),
    /// List schedules
    List(ListSchedulesArgs),
    /// Show a schedule, and what has become of its last times
    Show(ShowScheduleArgs),
    /// Start no runs until the schedule is resumed
    Pause(ScheduleArgs),
    /// Start runs again, from the next time on
    Resume(ScheduleArgs),
    /// Start one run now, besides the times of the schedule
    Run(ScheduleArgs),
    /// Delete a schedule; runs that it has started are not affected
    Delete(ScheduleArgs),
}

const ADD_HELP: &str = "\
`agcore serve` and `agcore worker` start the runs; one of them must be running. Each run has a thread of its own, unless --thread \
names one.

A run ends with an error before it uses more than --model-calls, --tokens or --money allow. Money needs prices of the models in the \
currency of the amount (--catalog of the server, or [prices] in agcore.toml): calls of models without a price are refused.

When clocks are changed, a time of day that does not exist is replaced by the end of the gap, and one that exists twice is the earlier \
one. The id of the new schedule is printed.

Examples:
  agcore schedules add --cron '0 9 * * 1-5' --zone Europe/Berlin --message 'What is new?'
  agcore schedules add --every 2h --message 'Check the queue.' --thread queue --overlap queue
  agcore schedules add --every 1h --message 'Any new errors?' --model-calls 20 --money '0.50 USD'
  agcore schedules add --at 2026-12-24T18:00:00Z --message 'Wish everybody a merry Christmas.'";

/// Arguments of `schedules add`.
#[derive(Debug, Parser)]
#[command(group = ArgGroup::new("timing").required(true).args(["cron", "every", "at"]))]
#[command(group = ArgGroup::new("job").required(true).args(["message", "input"]))]
pub struct AddScheduleArgs {
    /// Times as a cron expression: minute, hour, day of the month, month, day of the week
    #[arg(long, value_name = "EXPRESSION")]
    pub cron: Option<String>,
    /// Time zone of --cron, such as Europe/Berlin; by default UTC
    #[arg(long, value_name = "ZONE", requires = "cron")]
    pub zone: Option<String>,
    /// Interval, such as 90s, 15m, 2h or 1d; at least a minute
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub every: Option<u64>,
    /// A single time, such as 2026-12-24T18:00:00Z
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Message to the agent or the flow
    #[arg(long, value_name = "TEXT")]
    pub message: Option<String>,
    /// Input of the runs as JSON: the body of POST /api/v1/agent/runs/{thread}, from a file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "thread", "model_calls", "tokens", "money"])]
    pub input: Option<PathBuf>,
    /// Agent or flow of the server; by default its first agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Thread of all runs; by default, each has a thread of its own
    #[arg(long, value_name = "ID")]
    pub thread: Option<String>,
    #[command(flatten)]
    pub budget: RunBudgetArgs,
    /// Title, for people
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// ID of the schedule; by default a new one
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Handling of times at which no server was running: skip, once, or the largest number of runs to make up for
    #[arg(long, value_name = "POLICY", default_value = "once", value_parser = catch_up)]
    pub catch_up: CatchUpPolicy,
    /// Handling of times at which the run before is not over
    #[arg(long, value_enum, value_name = "POLICY", default_value = "skip")]
    pub overlap: OverlapPolicy,
    /// Start no runs until the schedule is resumed
    #[arg(long)]
    pub paused: bool,
    #[command(flatten)]
    pub owner: OwnerArgs,
}

/// The most that each run may use.
#[derive(Debug, Clone, Args)]
pub struct RunBudgetArgs {
    /// Most calls of models of each run, with its sub-agents
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub model_calls: Option<u64>,
    /// Most input and output tokens of each run, with its sub-agents
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub tokens: Option<u64>,
    /// Highest cost of each run, with its sub-agents, such as '0.50 USD'
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    pub money: Option<Money>,
}

/// The policy for missed times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchUpPolicy {
    Skip,
    Once,
    All(u32),
}

/// The policy for times at which the run before is not over.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OverlapPolicy {
    Skip,
    Queue,
    Interrupt,
}

/// The user for whom runs are started.
#[derive(Debug, Clone, Args)]
pub struct OwnerArgs {
    /// User to whom the schedule belongs
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub user: String,
    /// Tenant of the user
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
}

/// Arguments of `schedules list`.
#[derive(Debug, Parser)]
pub struct ListSchedulesArgs {
    /// Only schedules of this user
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Tenant whose schedules are listed
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `schedules show`.
#[derive(Debug, Parser)]
pub struct ShowScheduleArgs {
    #[command(flatten)]
    pub schedule: ScheduleArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of the commands for one schedule.
#[derive(Debug, Parser)]
pub struct ScheduleArgs {
    /// ID of the schedule, as `agcore schedules list` shows it
    pub id: String,
    /// Tenant of the schedule
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub tenant: String,
}

/// Parses a time such as `90s`, `15m`, `2h` or `1d`. Returns seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let unit = text.chars().next_back().and_then(|unit| match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(3600),
        'd' => Some(24 * 3600),
        _ => None,
    });
    let number = text
        .get(..text.len().saturating_sub(1))
        .unwrap_or_default()
        .parse::<u64>();
    match (unit, number) {
        (Some(unit), Ok(number)) => number.checked_mul(unit).ok_or_else(|| "it is too long".to_owned()),
        _ => Err("expected a number and a unit, such as 90s, 15m, 2h or 1d".to_owned()),
    }
}

fn amount(text: &str) -> Result<Money, String> {
    match text.parse::<Money>() {
        Ok(money) if money.micros > 0 => Ok(money),
        _ => Err("expected an amount above 0 with its currency, such as '0.50 USD'".to_owned()),
    }
}

fn catch_up(text: &str) -> Result<CatchUpPolicy, String> {
    match text {
        "skip" => Ok(CatchUpPolicy::Skip),
        "once" => Ok(CatchUpPolicy::Once),
        number => match number.parse() {
            Ok(number @ 1..=100) => Ok(CatchUpPolicy::All(number)),
            _ => Err("expected `skip`, `once`, or a number from 1 to 100".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_a_unit() {
        for (text, expected) in [("90s", 90), ("15m", 900), ("2h", 7200), ("1d", 86_400)] {
            assert_eq!(seconds(text), Ok(expected));
        }
        for text in [
            "",
            "h",
            "90",
            "1.5h",
            "-1h",
            "1小",
            "99999999999999999999d",
            "999999999999999999d",
        ] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(catch_up("5"), Ok(CatchUpPolicy::All(5)));
        assert!(catch_up("0").is_err() && catch_up("all").is_err());
    }
}
