//! [`CostReport`]: the costs of an actor in a time, by day, model and agent.

use std::collections::{BTreeMap, BTreeSet};

use agcore_chat::{Actor, Timestamp};
use agcore_session::{BilledMessage, CostTotals, SpendingFilter};

use crate::{
    problem::Problem,
    service::{AGENT, Service},
};

/// The number of messages that are read at once. Each page sorts all that follow it, so that small pages would cost more.
const PAGE: u64 = 25_000;

/// The largest number of messages that are read for a report.
const MAX_MESSAGES: usize = 100_000;

/// The longest time of a report, in milliseconds.
const MAX_TIME: i64 = 400 * DAY;

/// The time of a report, unless another one is asked for, in milliseconds.
const USUAL_TIME: i64 = 30 * DAY;

const DAY: i64 = 24 * 3600 * 1000;

/// The time of a report: from the beginning of a day to the end of another, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CostRange {
    pub(crate) since: Timestamp,
    /// Does not belong to the time itself.
    pub(crate) until: Timestamp,
}

/// The costs of an actor.
#[derive(Debug)]
pub(crate) struct CostReport {
    pub(crate) range: CostRange,
    pub(crate) total: CostTotals,
    /// By the days in UTC, such as `2026-11-30`.
    pub(crate) days: BTreeMap<String, CostTotals>,
    /// By provider and model; empty names if they were not recorded.
    pub(crate) models: BTreeMap<(String, String), ModelCosts>,
    /// By the agent or flow of the thread; `None` if it is not known any more.
    pub(crate) agents: BTreeMap<Option<String>, CostTotals>,
    /// Whether there are more messages than are read. The first ones are added up.
    pub(crate) is_cut: bool,
}

/// The costs of a model.
#[derive(Debug, Default)]
pub(crate) struct ModelCosts {
    pub(crate) totals: CostTotals,
    /// The versions of the prices.
    pub(crate) price_versions: BTreeSet<String>,
}

impl CostRange {
    /// Reads the first and the last day of a time, such as `2026-11-30`. The last one is today, if none is given, and the first one
    /// thirty days before it.
    ///
    /// # Errors
    /// `invalid_request` if a day has another form, or the time is empty or too long.
    pub(crate) fn read(first: Option<&str>, last: Option<&str>, now: Timestamp) -> Result<Self, Problem> {
        let today = Timestamp::from_millis(now.as_millis().div_euclid(DAY) * DAY);
        let given = |name: &str, day: Option<&str>| day.map(|day| begin_of(name, day)).transpose();
        let last = given("until", last)?.unwrap_or(today).as_millis();
        let first = given("since", first)?.map_or(last + DAY - USUAL_TIME, Timestamp::as_millis);
        let until = last + DAY;
        if first >= until {
            return Err(Problem::invalid("`since` is after `until`; exchange them"));
        }
        if until - first > MAX_TIME {
            let days = MAX_TIME / DAY;
            return Err(Problem::invalid(format!(
                "the time has more than {days} days; ask for a shorter one"
            )));
        }
        let [since, until] = [first, until].map(Timestamp::from_millis);
        Ok(Self { since, until })
    }

    /// Returns the first and the last day.
    pub(crate) fn days(self) -> (String, String) {
        let last = Timestamp::from_millis(self.until.as_millis() - 1);
        (day_of(self.since), day_of(last))
    }
}

impl Service {
    /// Returns what an actor has spent in a time, also in threads that were erased.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn own_costs(&self, actor: &Actor, range: CostRange) -> Result<CostReport, Problem> {
        let mut report = CostReport::new(range);
        let filter = SpendingFilter::owned_by(actor.clone(), range.since, range.until);
        let mut filter = filter.with_label(AGENT).with_limit(PAGE);
        let mut read = 0;
        loop {
            let page = self.listed_spending(&filter).await?;
            let Some(last) = page.last() else { return Ok(report) };
            if read >= MAX_MESSAGES {
                report.is_cut = true;
                return Ok(report);
            }
            read += page.len();
            filter.after = Some(last.place());
            page.iter().for_each(|message| report.add(message));
        }
    }
}

impl CostReport {
    fn new(range: CostRange) -> Self {
        Self {
            range,
            total: CostTotals::default(),
            days: BTreeMap::new(),
            models: BTreeMap::new(),
            agents: BTreeMap::new(),
            is_cut: false,
        }
    }

    fn add(&mut self, message: &BilledMessage) {
        let day = self.days.entry(day_of(message.created_at)).or_default();
        let agent = self.agents.entry(message.label.clone()).or_default();
        for call in &message.calls {
            for totals in [&mut self.total, &mut *day, &mut *agent] {
                totals.add(call);
            }
            let name = (call.provider.to_string(), call.model.to_string());
            let model = self.models.entry(name).or_default();
            model.totals.add(call);
            model
                .price_versions
                .extend(call.price_version.as_ref().map(ToString::to_string));
        }
    }
}

/// Returns the beginning of a day.
fn begin_of(name: &str, day: &str) -> Result<Timestamp, Problem> {
    let is_day = day.len() == 10 && day.is_ascii();
    let parsed = is_day.then(|| format!("{day}T00:00:00Z").parse().ok()).flatten();
    let wrong = || Problem::invalid(format!("`{name}` must be a day, such as 2026-11-30"));
    // Stores keep no earlier times, and no later ones.
    parsed
        .filter(|time: &Timestamp| (0..=253_370_764_800_000).contains(&time.as_millis()))
        .ok_or_else(wrong)
}

/// Returns the day of a time in UTC.
fn day_of(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: Option<&str>, last: Option<&str>, expected: Option<(&str, &str)>) {
        let now = "2026-11-30T12:30:00Z".parse().unwrap();
        let days = CostRange::read(first, last, now).ok().map(CostRange::days);
        let expected = expected.map(|(first, last)| (first.to_owned(), last.to_owned()));
        assert_eq!(days, expected, "{first:?} {last:?}");
    }

    #[test]
    fn days_are_read() {
        check(None, None, Some(("2026-11-01", "2026-11-30")));
        check(Some("2026-11-30"), None, Some(("2026-11-30", "2026-11-30")));
        check(
            Some("2025-12-01"),
            Some("2025-12-31"),
            Some(("2025-12-01", "2025-12-31")),
        );
        check(None, Some("2026-01-15"), Some(("2025-12-17", "2026-01-15")));
        check(Some("2026-12-01"), None, None);
        check(Some("2020-01-01"), None, None);
        for wrong in [
            "",
            "2026-11-3",
            "2026-02-30",
            "2026-11-30T",
            "30.11.2026",
            "éééée",
            "0000-01-01",
            "9999-12-31x",
        ] {
            check(Some(wrong), None, None);
            check(None, Some(wrong), None);
        }
    }
}
