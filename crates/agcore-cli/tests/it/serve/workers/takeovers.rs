//! [`Takeovers`]: how long runs waited for another worker after theirs was killed or stopped.

use std::{collections::BTreeMap, fmt::Write as _, time::SystemTime};

use super::{place::Disturbance, worker::is_name_of};
use crate::postgres::Database;

/// The length of a lease, in milliseconds.
const LEASE: i64 = 1000;

/// Notes each claim of a run that another worker has held, by the clock of the database.
const NOTE: &str = "
CREATE TABLE public.takeovers (worker text, lease_until bigint, claimed bigint);
CREATE FUNCTION public.note_takeover() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.takeovers VALUES (OLD.worker, OLD.lease_until, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    RETURN NULL;
END
$$;
CREATE TRIGGER note_takeover AFTER UPDATE OF epoch ON agcore.runs FOR EACH ROW
    WHEN (OLD.holder IS NOT NULL AND NEW.epoch > OLD.epoch) EXECUTE FUNCTION public.note_takeover();";

/// Returns the time of the database.
const NOW: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// A renewal that was sent before its worker was hit can be carried out a little later.
const LATE: i64 = 100;

/// Measures takeovers in a database, by its clock.
pub(super) struct Takeovers<'a> {
    database: &'a Database,
    hits: Vec<Hit>,
    /// The times at which the database, or the way to it, was disturbed.
    outages: Vec<(Disturbance, i64, i64)>,
}

/// A worker that was killed or stopped.
struct Hit {
    kind: Disturbance,
    process: u32,
    at: i64,
}

/// A claim of a run that another worker has held.
struct Takeover {
    worker: String,
    lease_until: i64,
    claimed: i64,
}

impl<'a> Takeovers<'a> {
    /// Begins to note them. The tables must exist. Returns `None`, and says so, if the clock of the database is not that of the test.
    pub(super) fn begin(database: &'a Database) -> Option<Self> {
        database.query(NOTE);
        let before = now();
        let time = database.query(NOW).trim().parse().unwrap();
        if !(before..=now()).contains(&time) {
            println!("skipped: takeovers: the clock of the database is not that of the test");
            return None;
        }
        Some(Self {
            database,
            hits: Vec::new(),
            outages: Vec::new(),
        })
    }

    /// Notes that a process is killed or stopped now.
    pub(super) fn note(&mut self, kind: Disturbance, process: u32) {
        let at = now();
        self.hits.push(Hit { kind, process, at });
    }

    /// Notes that the database is disturbed meanwhile.
    pub(super) fn during<T>(&mut self, kind: Disturbance, disturb: impl FnOnce() -> T) -> T {
        let begin = now();
        let result = disturb();
        self.outages.push((kind, begin, now()));
        result
    }

    /// Returns a table of the times in milliseconds.
    pub(super) fn report(&self) -> String {
        let rows = self
            .database
            .query("SELECT worker, lease_until, claimed FROM public.takeovers");
        let mut found: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for takeover in rows.lines().map(Takeover::read) {
            let (name, time) = self.classify(&takeover);
            found.entry(name).or_default().push(time);
        }
        let mut report = format!(
            "takeovers with a lease of {LEASE} ms{:29}  count  median    p90    max",
            ""
        );
        for (name, times) in &mut found {
            times.sort_unstable();
            let at = |percent: usize| times[(times.len() - 1) * percent / 100];
            let (count, median, p90, max) = (times.len(), at(50), at(90), at(100));
            write!(report, "\n  {name:60}{count:7}{median:8}{p90:7}{max:7}").unwrap();
        }
        report
    }

    /// Returns the reason for a takeover, and its time from there on.
    fn classify(&self, takeover: &Takeover) -> (String, i64) {
        // Only what the worker held at that moment: its lease was renewed before.
        let hit = self.hits.iter().find(|hit| {
            is_name_of(&takeover.worker, hit.process)
                && (hit.at..=hit.at + LEASE + LATE).contains(&takeover.lease_until)
        });
        let since = hit.map_or(takeover.lease_until, |hit| hit.at);
        let is_between =
            |(_, begin, end): &&(Disturbance, i64, i64)| since - LEASE <= *end && *begin <= takeover.claimed;
        let outage = self.outages.iter().rfind(is_between);
        let name = match (hit, outage) {
            (Some(hit), None) => format!("since {:?}", hit.kind),
            (None, None) => "since the end of the lease".to_owned(),
            (_, Some((kind, ..))) => format!("since {kind:?}, or the end of the lease if that was later"),
        };
        let since = outage.map_or(since, |(.., end)| takeover.lease_until.max(*end));
        // It may be back before the test learns that.
        (name, (takeover.claimed - since).max(0))
    }
}

#[expect(clippy::disallowed_methods, reason = "compared with the clock of the database")]
fn now() -> i64 {
    let time = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(time.as_millis()).unwrap()
}

impl Takeover {
    fn read(row: &str) -> Self {
        let mut columns = row.split('|');
        let mut next = || columns.next().unwrap();
        Self {
            worker: next().to_owned(),
            lease_until: next().parse().unwrap(),
            claimed: next().parse().unwrap(),
        }
    }
}
