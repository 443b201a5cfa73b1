//! `agcore cost`: what the model calls of the kept sessions cost.

mod remarks;

use std::collections::BTreeMap;

use agcore::session::{CostEntry, CostTotals, Session};
use agcore_args::{CostArgs, CostGroup};
use agcore_terminal::{
    render::{columns, hanging_to, sanitized_line, truncated},
    table::{table, table_width},
};
use serde_json::{Map, Value, json};

use self::remarks::{Remarks, counted, current_prices};

use crate::{
    exit::Failure,
    sessions::{Sessions, current_folder, day},
    stdout::{print, print_list},
};

/// The widest title, in columns.
const MAX_TITLE: usize = 40;

/// Adds the costs of sessions.
///
/// # Errors
/// When the database cannot be read, or the output cannot be written.
pub(crate) async fn run(args: &CostArgs) -> Result<(), Failure> {
    let sessions = open(args).await?;
    let folder = args.here.then(|| current_folder().unwrap_or_default());
    let listed = sessions.of_tenant(&args.tenant, folder.as_deref()).await?;
    let mut report = Report::default();
    let store = sessions.store();
    for (session, short_id) in listed.iter().zip(sessions.short_ids(&listed).await?) {
        let entries = CostEntry::of_session(&*store, session).await?;
        for entry in entries.iter().filter(|entry| is_wanted(entry, args)) {
            report.add(Row::of(args.by, session, &short_id, entry), entry);
        }
    }
    match args.json {
        true => print(&format!("{:#}\n", report.json(args.by))),
        false => {
            print(&report.text(args.by, table_width()))?;
            print_list(&report.remarks.text(current_prices(args).as_ref()))
        }
    }
}

#[cfg(feature = "sqlite")]
async fn open(args: &CostArgs) -> Result<Sessions, Failure> {
    match &args.file {
        Some(file) => Sessions::open_file(file).await,
        None => Sessions::of_server().await,
    }
}

#[cfg(not(feature = "sqlite"))]
async fn open(_: &CostArgs) -> Result<Sessions, Failure> {
    Sessions::of_server().await
}

fn is_wanted(entry: &CostEntry, args: &CostArgs) -> bool {
    let day = day(entry.at);
    args.since.as_ref().is_none_or(|since| day >= *since) && args.until.as_ref().is_none_or(|until| day <= *until)
}

/// The calls that a row adds. Rows are sorted by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    Session {
        /// Sessions that were used last come last.
        changed: i64,
        id: String,
        short_id: String,
        title: String,
    },
    Model {
        model: String,
        provider: String,
    },
    Day(String),
    User {
        user: String,
        line: String,
    },
    Key {
        key: String,
        provider: String,
    },
}

impl Row {
    fn of(group: CostGroup, session: &Session, short_id: &str, entry: &CostEntry) -> Self {
        let provider = entry.provider.to_string();
        match group {
            CostGroup::Session => Self::Session {
                changed: session.updated_at.as_millis(),
                id: session.id.clone(),
                short_id: short_id.to_owned(),
                title: session.title.clone().unwrap_or_default(),
            },
            CostGroup::Model => Self::Model {
                model: entry.model.to_string(),
                provider,
            },
            CostGroup::Day => Self::Day(day(entry.at)),
            CostGroup::User => Self::User {
                user: session.owner.user.to_string(),
                line: session.owner.line.as_deref().unwrap_or_default().to_owned(),
            },
            CostGroup::Key => Self::Key {
                key: entry.key.as_deref().unwrap_or_default().to_owned(),
                provider,
            },
        }
    }

    /// Returns the two cells that name the row.
    fn cells(&self) -> [String; 2] {
        let known = |text: &str| match text {
            "" => "(unknown)".to_owned(),
            text => sanitized_line(text),
        };
        match self {
            Self::Session { short_id, title, .. } => [sanitized_line(short_id), truncated(title, MAX_TITLE)],
            Self::Model { model, provider } => [known(model), sanitized_line(provider)],
            Self::Day(day) => [day.clone(), String::new()],
            Self::User { user, line } => [known(user), sanitized_line(line)],
            Self::Key { key, provider } => [
                if key.is_empty() {
                    "(no name)".to_owned()
                } else {
                    sanitized_line(key)
                },
                sanitized_line(provider),
            ],
        }
    }

    fn members(&self) -> Map<String, Value> {
        let members = match self {
            Self::Session { id, title, .. } => json!({"session": id, "title": title}),
            Self::Model { model, provider } => json!({"model": model, "provider": provider}),
            Self::Day(day) => json!({"day": day}),
            Self::User { user, line } => json!({"user": user, "line": line}),
            Self::Key { key, provider } => json!({"key": key, "provider": provider}),
        };
        match members {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}

#[derive(Default)]
struct Report {
    rows: BTreeMap<Row, CostTotals>,
    total: CostTotals,
    remarks: Remarks,
}

impl Report {
    fn add(&mut self, row: Row, entry: &CostEntry) {
        self.rows.entry(row).or_default().add(entry);
        self.total.add(entry);
        self.remarks.add(entry);
    }

    /// Formats the rows as a table. In a window that is narrower than the table, each row has lines of its own.
    fn text(&self, group: CostGroup, width: usize) -> String {
        if self.total.calls == 0 {
            return "There are no model calls.\n".to_owned();
        }
        let [name, detail] = match group {
            CostGroup::Session => ["session", "title"],
            CostGroup::Model => ["model", "provider"],
            CostGroup::Day => ["day", ""],
            CostGroup::User => ["user", "line"],
            CostGroup::Key => ["key", "provider"],
        };
        let mut lines = vec![[name, detail, "calls", "tokens in", "tokens out", "cost"].map(str::to_owned)];
        lines.extend(self.rows.iter().map(|(row, totals)| line(row.cells(), totals)));
        lines.push(line(["total".to_owned(), String::new()], &self.total));
        let whole = table(&lines);
        match whole.lines().all(|line| columns(line) <= width) {
            true => whole,
            false => lines.iter().skip(1).map(|line| narrow(line, width)).collect(),
        }
    }

    fn json(&self, group: CostGroup) -> Value {
        let rows = self.rows.iter().map(|(row, totals)| {
            let mut members = row.members();
            members.extend(members_of(totals));
            Value::Object(members)
        });
        let rows: Vec<Value> = rows.collect();
        let by = match group {
            CostGroup::Session => "session",
            CostGroup::Model => "model",
            CostGroup::Day => "day",
            CostGroup::User => "user",
            CostGroup::Key => "key",
        };
        json!({"by": by, "rows": rows, "total": members_of(&self.total)})
    }
}

fn line([name, detail]: [String; 2], totals: &CostTotals) -> [String; 6] {
    let costs: Vec<String> = totals
        .costs()
        .map(|(currency, amount)| format!("{amount} {currency}"))
        .collect();
    let cost = match (costs.join(" + "), totals.unpriced_calls) {
        (known, 0) => known,
        (known, _) if known.is_empty() => "unknown".to_owned(),
        (known, unpriced) => format!("{known} and {} of unknown cost", counted(unpriced)),
    };
    [
        name,
        detail,
        totals.calls.to_string(),
        totals.input_tokens.to_string(),
        totals.output_tokens.to_string(),
        cost,
    ]
}

/// Formats a row on several lines.
fn narrow([name, detail, calls, tokens_in, tokens_out, cost]: &[String; 6], width: usize) -> String {
    let calls = if calls == "1" {
        "1 call"
    } else {
        &format!("{calls} calls")
    };
    let head = truncated(format!("{name}  {detail}").trim_end(), width);
    let totals = format!("{calls}, {tokens_in} tokens in, {tokens_out} out\ncost: {cost}");
    format!("{head}\n{}\n", hanging_to("  ", &totals, width))
}

fn members_of(totals: &CostTotals) -> Map<String, Value> {
    let costs: Map<String, Value> = totals
        .costs()
        .map(|(currency, amount)| (currency.to_owned(), amount.into()))
        .collect();
    let counters = [
        ("calls", totals.calls),
        ("unpriced_calls", totals.unpriced_calls),
        ("incomplete_calls", totals.incomplete_calls),
        ("input_tokens", totals.input_tokens),
        ("output_tokens", totals.output_tokens),
        ("cached_tokens", totals.cached_tokens),
        ("latency_ms", totals.latency_ms),
    ];
    let members = counters
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count.into()));
    members.chain([("costs".to_owned(), Value::Object(costs))]).collect()
}

#[cfg(test)]
mod tests {
    use agcore::{
        chat::Money,
        session::{MessageRole, NewMessage, Timestamp},
    };

    use super::*;

    #[test]
    fn narrow_windows_show_each_row_on_lines_of_its_own() {
        let mut report = Report::default();
        let message = NewMessage::new("m", MessageRole::Assistant, "Hello").with_cost(Money::from_micros(1_250, "USD"));
        for entry in CostEntry::of(&message.store(1, Timestamp::default())) {
            let row = Row::Model {
                model: "qwen3-max".to_owned(),
                provider: "qwen".to_owned(),
            };
            report.add(row, &entry);
        }
        assert_eq!(
            report.text(CostGroup::Model, 80),
            "model      provider  calls  tokens in  tokens out  cost\n\
             qwen3-max  qwen      1      0          0           0.001250 USD\n\
             total                1      0          0           0.001250 USD\n"
        );
        assert_eq!(
            report.text(CostGroup::Model, 24),
            "qwen3-max  qwen\n  1 call, 0 tokens in, 0\n  out\n  cost: 0.001250 USD\n\
             total\n  1 call, 0 tokens in, 0\n  out\n  cost: 0.001250 USD\n"
        );
        assert_eq!(
            Report::default().text(CostGroup::Day, 20),
            "There are no model calls.\n"
        );
    }
}
