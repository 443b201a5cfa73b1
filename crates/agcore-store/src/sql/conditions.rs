//! [`Conditions`]: the condition of a query, with its values.

use agcore_chat::{Actor, Timestamp, id};
use agcore_memory::{EvictionConfig, MemoryFilter};
use serde_json::Value as Json;

/// A condition on the rows of a table. Values are never part of the text; their places are question marks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Conditions {
    sql: String,
    values: Vec<Value>,
}

/// A value of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
}

impl Conditions {
    pub(crate) fn new(sql: impl Into<String>, values: impl IntoIterator<Item = Value>) -> Self {
        Self {
            sql: sql.into(),
            values: values.into_iter().collect(),
        }
    }

    /// Selects the rows of a tenant.
    pub(crate) fn tenant(tenant: &str) -> Self {
        Self::new("tenant = ?", [text(tenant)])
    }

    /// Selects the rows of a user, in all lines of business.
    pub(crate) fn of_user(user: &Actor) -> Self {
        Self::new("tenant = ? AND \"user\" = ?", [text(&user.tenant), text(&user.user)])
    }

    /// Selects the rows that come after the last one of a page.
    pub(crate) fn after(self, column: &str, last: Option<&str>) -> Self {
        match last {
            Some(last) => self.and(Self::new(format!("{column} > ?"), [text(last)])),
            None => self,
        }
    }

    /// Selects what a filter selects. Databases differ in how they look into the metadata, so the condition of an entry is an
    /// argument.
    pub(crate) fn selecting(filter: &MemoryFilter, metadata: impl Fn(&str, &Json) -> Self) -> Self {
        let mut all = Self::tenant(&filter.tenant);
        if !filter.prefix.is_empty() {
            all = all.and(Self::prefix(&filter.prefix));
        }
        if let Some(owner) = &filter.owner {
            all = all.and(Self::owner(owner));
        }
        let times = [
            (filter.since, "created_at > ?"),
            (filter.until, "created_at < ?"),
            (filter.valid_at, "(valid_from IS NULL OR valid_from <= ?)"),
            (filter.valid_at, "(valid_until IS NULL OR valid_until > ?)"),
        ];
        for (time, sql) in times {
            if let Some(time) = time {
                all = all.and(Self::new(sql, [Value::Integer(time.as_millis())]));
            }
        }
        for (name, value) in &filter.metadata {
            all = all.and(metadata(name, value));
        }
        all
    }

    /// Selects the items that have expired.
    pub(crate) fn expired(eviction: &EvictionConfig, now: Timestamp) -> Self {
        let rules = eviction.expiry_rules(now);
        if rules.iter().all(|(_, cutoff)| cutoff.is_none()) {
            return Self::new("FALSE", []);
        }
        let mut case = Self::new("CASE", []);
        for (prefix, cutoff) in rules {
            let Self { sql, values } = Self::prefix(prefix);
            case.values.extend(values);
            let then = match cutoff {
                Some(_) => "memory_items.updated_at <= ?",
                None => "FALSE",
            };
            case.sql += &format!(" WHEN {sql} THEN {then}");
            case.values
                .extend(cutoff.map(|cutoff| Value::Integer(cutoff.as_millis())));
        }
        case.sql += " ELSE FALSE END";
        case
    }

    /// Returns whether nothing is selected for certain.
    pub(crate) fn is_never(&self) -> bool {
        self.sql == "FALSE"
    }

    /// Selects ids with a prefix, by range: no character is special.
    pub(crate) fn prefix(prefix: &str) -> Self {
        // With the name of the table, because an upsert has the columns of two rows.
        match id::upper_bound(prefix) {
            Some(bound) => Self::new(
                "memory_items.id >= ? AND memory_items.id < ?",
                [text(prefix), text(&bound)],
            ),
            None => Self::new("memory_items.id >= ?", [text(prefix)]),
        }
    }

    /// Selects what both select.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.sql = format!("({}) AND ({})", self.sql, other.sql);
        self.values.extend(other.values);
        self
    }

    /// Selects what this selects and the other does not.
    pub(crate) fn and_not(self, other: Self) -> Self {
        if other.is_never() {
            return self;
        }
        let sql = format!("NOT ({})", other.sql);
        self.and(Self { sql, ..other })
    }

    /// Returns the text, for a `WHERE`.
    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    /// Returns the values, in the order of their places.
    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }
}

/// Returns a text as a value.
pub(super) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}
