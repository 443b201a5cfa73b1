//! Statements and rows of quotas.

use agcore_chat::{Money, Timestamp};
use agcore_session::quota::{AllowanceState, Counted, Quota, QuotaAmount, QuotaScope, QuotaWindow};

use crate::sql::row::SqlRow;

/// A row of [`reading`].
#[derive(Debug)]
pub(crate) enum Entry {
    Clock {
        now: Timestamp,
        /// A random text.
        random: String,
        /// When the first of the allowances expires, or has expired, that hold nothing.
        first_expiry: Option<Timestamp>,
    },
    Quota(Quota),
    /// Whose usage it is, in which window.
    Counted(String, QuotaWindow, Counted),
    /// An amount that allowances hold which are not among the entries.
    Held {
        is_of_user: bool,
        amount: QuotaAmount,
    },
    Allowance(String, Opened),
}

/// An allowance, with its user.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) user: String,
    pub(crate) state: AllowanceState,
}

/// The parts of statements in which the databases differ.
pub(crate) struct Dialect {
    /// The time in milliseconds.
    pub(crate) now: &'static str,
    /// A random text.
    pub(crate) random: &'static str,
    /// Returns the condition that a column is among the rows of a query.
    pub(crate) is_among: fn(&str, &str) -> String,
    /// Returns the amount that the allowances of a group hold, whose column this is.
    pub(crate) sum: fn(&str) -> String,
    /// The groups of allowances: those of the user and others. Without groups, each counts alone.
    pub(crate) groups: &'static str,
}

/// The columns that entries have together, with their types. A column of amounts has the limits of quotas as well.
const COLUMNS: [(&str, &str); 19] = [
    ("what", "text"),
    ("name", "text"),
    ("whose", "text"),
    ("window_name", "text"),
    ("currency", "text"),
    ("holder", "text"),
    ("at", "bigint"),
    ("runs", "bigint"),
    ("model_calls", "bigint"),
    ("tokens", "bigint"),
    ("micros", "bigint"),
    ("held_runs", "bigint"),
    ("held_model_calls", "bigint"),
    ("held_tokens", "bigint"),
    ("held_micros", "bigint"),
    ("presumed_runs", "bigint"),
    ("presumed_model_calls", "bigint"),
    ("presumed_tokens", "bigint"),
    ("presumed_micros", "bigint"),
];

/// The columns of an amount that is used or spent.
pub(crate) const USED: [&str; 4] = ["runs", "model_calls", "tokens", "micros"];

/// The columns of an amount that is held.
pub(crate) const HELD: [&str; 4] = ["held_runs", "held_model_calls", "held_tokens", "held_micros"];

const PRESUMED: [&str; 4] = [
    "presumed_runs",
    "presumed_model_calls",
    "presumed_tokens",
    "presumed_micros",
];

/// Returns a query for entries: the values of their columns, and where they come from.
fn select(values: &[(&str, &str)], from: &str) -> String {
    let value = |(name, kind): (&str, &str)| match values.iter().find(|(column, _)| *column == name) {
        Some((_, value)) => format!("{value} AS {name}"),
        None => format!("CAST(NULL AS {kind}) AS {name}"),
    };
    format!("SELECT {} {from}", COLUMNS.map(value).join(", "))
}

/// Returns a query for the quotas that meet a condition.
pub(crate) fn quotas(condition: &str) -> String {
    let mut values = vec![
        ("what", "'quota'"),
        ("name", "scope"),
        ("whose", "subject_user"),
        ("window_name", "window_name"),
        ("currency", "currency"),
    ];
    values.extend(USED.map(|column| (column, column)));
    select(&values, &format!("FROM quotas WHERE {condition}"))
}

/// Returns a query for the usage that meets a condition.
pub(crate) fn usage(condition: &str) -> String {
    let mut values = vec![
        ("what", "'counted'"),
        ("whose", "subject"),
        ("window_name", "window_name"),
        ("at", "start_at"),
    ];
    values.extend(USED.map(|column| (column, column)));
    select(&values, &format!("FROM quota_usage WHERE {condition}"))
}

/// Returns the query whether a quota applies to a user, or there is an allowance at a place. The values are the tenant, the user
/// and the place.
pub(crate) fn applying([tenant, user, place]: [&str; 3]) -> String {
    format!(
        "SELECT 1 FROM quotas WHERE tenant = {tenant} AND subject_user IN ('', {user}) \
         UNION ALL SELECT 1 FROM quota_allowances WHERE tenant = {tenant} AND place = {place} LIMIT 1"
    )
}

/// Returns the query for the entries of a user, and of the allowance at a place. The values are the tenant, the user and the place,
/// which may be null.
pub(crate) fn reading(dialect: &Dialect, [tenant, user, place]: [&str; 3]) -> String {
    let now = dialect.now;
    let is_other = format!("(place = {place}) IS NOT TRUE");
    let of_tenant = format!("FROM quota_allowances WHERE tenant = {tenant}");
    let expired = format!("holding = 1 AND expires_at <= (SELECT now FROM clock) AND {is_other}");
    // Read from the end of the index.
    let first_expiry = format!("(SELECT min(expires_at) {of_tenant} AND holding = 0)");
    let clock = [
        ("what", "'clock'"),
        ("name", dialect.random),
        ("at", "now"),
        ("runs", &*first_expiry),
    ];
    let mut allowance = vec![
        ("what", "'allowance'"),
        ("name", "place"),
        ("whose", "\"user\""),
        ("holder", "holder"),
        ("at", "expires_at"),
    ];
    let spent = USED.map(|column| format!("spent_{column}"));
    allowance.extend(USED.into_iter().zip(spent.iter().map(String::as_str)));
    allowance.extend(HELD.into_iter().chain(PRESUMED).map(|column| (column, column)));
    let whose = format!("CASE WHEN \"user\" = {user} THEN 'user' END");
    let sums = HELD.map(dialect.sum);
    let mut held = vec![("what", "'held'"), ("whose", &*whose)];
    held.extend(HELD.into_iter().zip(sums.iter().map(String::as_str)));
    let groups = dialect.groups;
    let still_held =
        format!("{of_tenant} AND holding = 1 AND expires_at > (SELECT now FROM clock) AND {is_other}{groups}");
    let subjects = format!("SELECT '' UNION ALL SELECT CAST({user} AS text) UNION ALL SELECT \"user\" FROM found");
    let is_concerned = (dialect.is_among)("subject", &subjects);
    format!(
        "WITH clock AS MATERIALIZED (SELECT {now} AS now), \
         found AS MATERIALIZED (\
             SELECT * {of_tenant} AND place = {place} UNION ALL SELECT * {of_tenant} AND {expired}\
         ) \
         {} UNION ALL {} UNION ALL {} UNION ALL {} UNION ALL {}",
        select(&clock, "FROM clock"),
        quotas(&format!("tenant = {tenant} AND subject_user IN ('', {user})")),
        usage(&format!("tenant = {tenant} AND {is_concerned}")),
        select(&allowance, "FROM found"),
        select(&held, &still_held),
    )
}

/// Reads an entry.
pub(crate) fn read_entry<R: SqlRow>(row: &R) -> Result<Entry, R::Error> {
    let what = row.text("what")?;
    Ok(match &*what {
        "clock" => Entry::Clock {
            now: row.time("at")?,
            random: row.text("name")?,
            first_expiry: row.optional_time("runs")?,
        },
        "quota" => Entry::Quota(read_quota(row)?),
        "counted" => {
            let (window, counted) = read_used(row)?;
            Entry::Counted(row.text("whose")?, window, counted)
        }
        "held" => Entry::Held {
            is_of_user: row.optional_text("whose")?.is_some(),
            amount: read_amount(row, HELD)?,
        },
        _ => {
            let state = AllowanceState {
                holder: row.text("holder")?,
                spent: read_amount(row, USED)?,
                held: read_amount(row, HELD)?,
                presumed: read_amount(row, PRESUMED)?,
                expires_at: row.time("at")?,
            };
            let user = row.text("whose")?;
            Entry::Allowance(row.text("name")?, Opened { user, state })
        }
    })
}

/// Reads a quota.
pub(crate) fn read_quota<R: SqlRow>(row: &R) -> Result<Quota, R::Error> {
    let user = row.text("whose")?;
    let scope = row.named("name", |name| QuotaScope::from_name(name, &user))?;
    let mut quota = Quota::new(scope, row.named("window_name", QuotaWindow::from_name)?);
    let limit = |column| Ok(row.optional_number(column)?.map(i64::unsigned_abs));
    quota.runs = limit("runs")?;
    quota.model_calls = limit("model_calls")?;
    quota.tokens = limit("tokens")?;
    let money = row.optional_number("micros")?.zip(row.optional_text("currency")?);
    quota.money = money.map(|(micros, currency)| Money::from_micros(micros, currency));
    Ok(quota)
}

/// Reads what was used within a window.
pub(crate) fn read_used<R: SqlRow>(row: &R) -> Result<(QuotaWindow, Counted), R::Error> {
    let counted = Counted {
        start: row.time("at")?,
        used: read_amount(row, USED)?,
    };
    Ok((row.named("window_name", QuotaWindow::from_name)?, counted))
}

/// Reads an amount from its columns.
pub(crate) fn read_amount<R: SqlRow>(
    row: &R,
    [runs, calls, tokens, micros]: [&str; 4],
) -> Result<QuotaAmount, R::Error> {
    Ok(QuotaAmount::new()
        .with_runs(row.count(runs)?)
        .with_model_calls(row.count(calls)?)
        .with_tokens(row.count(tokens)?)
        .with_micros(row.count(micros)?))
}

/// Returns an amount as the values of its columns. The numbers of databases have a sign; larger amounts count as their largest.
pub(crate) fn amounts(amount: &QuotaAmount) -> [i64; 4] {
    let values = [amount.runs, amount.model_calls, amount.tokens, amount.micros];
    values.map(|value| i64::try_from(value).unwrap_or(i64::MAX))
}
