//! [`RetentionConfig`]: the table `[serve.retention]` of the settings.

use std::time::Duration;

use agcore::session::Retention;
use agcore_server::FileRetention;
use agcore_settings::RetentionTable;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The time between two removals of old rows without a setting.
const PAUSE: Duration = Duration::from_secs(60 * 60);

/// The rules for the time that the server keeps data, and the pause between two removals.
#[derive(Debug)]
pub(super) struct RetentionConfig {
    pub(super) rules: Retention,
    pub(super) files: FileRetention,
    pub(super) pause: Duration,
}

impl RetentionConfig {
    /// Reads a table. Errors are added to `problems`.
    pub(super) fn new(table: &RetentionTable, problems: &mut Vec<String>) -> Self {
        let days = [
            ("sessions_days", table.sessions_days),
            ("runs_days", table.runs_days),
            ("events_days", table.events_days),
            ("audit_days", table.audit_days),
            ("files_days", table.files_days),
        ];
        let counts = [
            ("sessions_per_user", table.sessions_per_user),
            ("pause_minutes", table.pause_minutes),
        ];
        let days = days.map(|(name, days)| (name, days.map(u64::from)));
        for (name, number) in days.into_iter().chain(counts) {
            if number == Some(0) {
                problems.push(format!(
                    "`{name}` of [serve.retention] is 0; set at least 1, or remove it to keep everything"
                ));
            }
        }
        Self {
            rules: rules(table),
            files: file_rules(table),
            pause: table
                .pause_minutes
                .map_or(PAUSE, |minutes| Duration::from_secs(minutes.saturating_mul(60))),
        }
    }
}

fn file_rules(table: &RetentionTable) -> FileRetention {
    let mut rules = FileRetention::new();
    rules.age = table.files_days.map(|days| DAY * days);
    rules.per_user = table.files_per_user;
    rules
}

fn rules(table: &RetentionTable) -> Retention {
    let age = |days: Option<u32>| days.map(|days| DAY * days);
    let mut rules = Retention::new();
    rules.sessions = age(table.sessions_days);
    rules.sessions_per_user = table.sessions_per_user;
    rules.runs = age(table.runs_days);
    rules.runs_per_session = table.runs_per_session;
    rules.events = age(table.events_days);
    rules.audit = age(table.audit_days);
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_becomes_rules() {
        let table = RetentionTable {
            sessions_days: Some(365),
            runs_per_session: Some(0),
            files_days: Some(90),
            files_per_user: Some(5),
            pause_minutes: Some(5),
            ..RetentionTable::default()
        };
        let mut problems = Vec::new();
        let config = RetentionConfig::new(&table, &mut problems);
        assert_eq!(
            config.rules,
            Retention::new().with_sessions(365 * DAY).with_runs_per_session(0)
        );
        assert_eq!(config.files, FileRetention::new().with_age(90 * DAY).with_per_user(5));
        assert_eq!((config.pause, problems.len()), (Duration::from_secs(300), 0));
        let config = RetentionConfig::new(&RetentionTable::default(), &mut problems);
        assert!(config.rules.is_empty() && config.pause == PAUSE && problems.is_empty());
    }

    #[test]
    fn rules_that_keep_nothing_are_refused() {
        let table = RetentionTable {
            sessions_days: Some(0),
            sessions_per_user: Some(0),
            pause_minutes: Some(0),
            ..RetentionTable::default()
        };
        let mut problems = Vec::new();
        RetentionConfig::new(&table, &mut problems);
        assert_eq!(problems.len(), 3);
        assert!(
            problems[0].contains("`sessions_days` of [serve.retention] is 0"),
            "{problems:?}"
        );
    }
}
