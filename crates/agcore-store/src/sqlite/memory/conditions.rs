//! [`Conditions`]: the condition of a query, with its values.

use agcore_memory::{EvictionConfig, MemoryFilter, Timestamp, id};
use rusqlite::{Connection, params_from_iter, types::Value as Sql};
use serde_json::Value;

/// A condition. Values are never part of the text.
#[derive(Debug, Clone)]
pub(super) struct Conditions {
    sql: String,
    values: Vec<Sql>,
}

impl Conditions {
    fn new(sql: impl Into<String>, values: impl IntoIterator<Item = Sql>) -> Self {
        Self {
            sql: sql.into(),
            values: values.into_iter().collect(),
        }
    }

    /// Selects one item.
    pub(super) fn item(tenant: &str, id: &str) -> Self {
        Self::new("tenant = ? AND id = ?", [text(tenant), text(id)])
    }

    /// Selects the items of a tenant.
    pub(super) fn tenant(tenant: &str) -> Self {
        Self::new("tenant = ?", [text(tenant)])
    }

    /// Selects what a filter selects.
    pub(super) fn selecting(filter: &MemoryFilter) -> Self {
        let mut all = Self::tenant(&filter.tenant);
        if !filter.prefix.is_empty() {
            all = all.and(Self::prefix(&filter.prefix));
        }
        if let Some(owner) = &filter.owner {
            let line = owner.line.as_deref().map_or(Sql::Null, text);
            all = all.and(Self::new(
                "tenant = ? AND user = ? AND line IS ?",
                [text(&owner.tenant), text(&owner.user), line],
            ));
        }
        let times = [
            (filter.since, "created_at > ?"),
            (filter.until, "created_at < ?"),
            (filter.valid_at, "(valid_from IS NULL OR valid_from <= ?)"),
            (filter.valid_at, "(valid_until IS NULL OR valid_until > ?)"),
        ];
        for (time, sql) in times {
            if let Some(time) = time {
                all = all.and(Self::new(sql, [Sql::Integer(time.as_millis())]));
            }
        }
        for (name, value) in &filter.metadata {
            all = all.and(Self::metadata(name, value));
        }
        all
    }

    /// Selects the items that have expired.
    pub(super) fn expired(eviction: &EvictionConfig, now: Timestamp) -> Self {
        let rules = eviction.expiry_rules(now);
        if rules.iter().all(|(_, cutoff)| cutoff.is_none()) {
            return Self::new("FALSE", []);
        }
        let mut case = Self::new("CASE", []);
        for (prefix, cutoff) in rules {
            let Self { sql, values } = Self::prefix(prefix);
            case.values.extend(values);
            let then = if cutoff.is_some() { "updated_at <= ?" } else { "FALSE" };
            case.sql += &format!(" WHEN {sql} THEN {then}");
            case.values
                .extend(cutoff.map(|cutoff| Sql::Integer(cutoff.as_millis())));
        }
        case.sql += " ELSE FALSE END";
        case
    }

    /// Returns whether nothing is selected for certain.
    pub(super) fn is_never(&self) -> bool {
        self.sql == "FALSE"
    }

    /// Selects ids with a prefix, by range: no character is special.
    pub(super) fn prefix(prefix: &str) -> Self {
        match id::upper_bound(prefix) {
            Some(bound) => Self::new("id >= ? AND id < ?", [text(prefix), text(&bound)]),
            None => Self::new("id >= ?", [text(prefix)]),
        }
    }

    fn metadata(name: &str, value: &Value) -> Self {
        let entry = "EXISTS (SELECT 1 FROM json_each(metadata) WHERE key = ? AND ";
        match value {
            Value::String(value) => Self::new(
                format!("{entry}type = 'text' AND value = ?)"),
                [text(name), text(value)],
            ),
            Value::Bool(value) => Self::new(format!("{entry}type = '{value}')"), [text(name)]),
            value => {
                let number = value.as_i64().map_or(Sql::Null, Sql::Integer);
                Self::new(format!("{entry}type = 'integer' AND value = ?)"), [text(name), number])
            }
        }
    }

    /// Selects what both select.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.sql = format!("({}) AND ({})", self.sql, other.sql);
        self.values.extend(other.values);
        self
    }

    /// Selects what this selects and the other does not.
    pub(super) fn and_not(self, other: Self) -> Self {
        if other.is_never() {
            return self;
        }
        let sql = format!("NOT ({})", other.sql);
        self.and(Self { sql, ..other })
    }

    /// Returns the text, for a `WHERE`.
    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    /// Returns the values, in the order of their places.
    pub(super) fn values(&self) -> &[Sql] {
        &self.values
    }

    /// Counts the selected items.
    pub(super) fn count(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let sql = format!("SELECT count(*) FROM memory_items WHERE {}", self.sql);
        let count: i64 = connection.query_row(&sql, params_from_iter(&self.values), |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }
}

fn text(text: &str) -> Sql {
    Sql::Text(text.to_owned())
}
