//! [`Model`]: what a tenant has used and holds, in tokens alone.

use std::collections::BTreeMap;

use agcore_session::{
    Timestamp,
    quota::{HELD_FOR, Quota, QuotaAmount, QuotaReport, QuotaResource, QuotaWindow},
};

use super::Ended;

/// Amounts in tokens; the others are in proportion.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Tokens and runs, with the beginning of the window, by user (or the empty text) and window.
    used: BTreeMap<(String, QuotaWindow), (Timestamp, u64, u64)>,
    /// By run.
    processes: BTreeMap<usize, Process>,
}

/// A process that works on a run.
#[derive(Debug, Default)]
struct Process {
    user: String,
    spent: u64,
    in_flight: u64,
    /// The amount that was counted when the amount in flight had expired, and was not reported since.
    presumed: u64,
    expires_at: Timestamp,
}

/// Returns the amount of calls that use a number of tokens.
pub(super) fn amount(tokens: u64) -> QuotaAmount {
    QuotaAmount::new()
        .with_model_calls(tokens)
        .with_tokens(tokens)
        .with_micros(2 * tokens)
}

impl Model {
    fn count(&mut self, users: &[&str], (tokens, runs): (u64, u64), now: Timestamp) {
        // Nothing is written for nothing, so that the window does not change.
        if (tokens, runs) == (0, 0) {
            return;
        }
        for user in users {
            for window in QuotaWindow::ALL {
                let used = self.used.entry((String::from(*user), window)).or_default();
                if window.start(now) > used.0 {
                    *used = (window.start(now), 0, 0);
                }
                used.1 += tokens;
                used.2 += runs;
            }
        }
    }

    pub(super) fn count_run(&mut self, user: &str, now: Timestamp) {
        self.count(&["", user], (0, 1), now);
    }

    /// Takes back the run that was counted just now.
    pub(super) fn uncount_run(&mut self, user: &str) {
        for ((subject, _), (_, _, runs)) in &mut self.used {
            if subject.is_empty() || subject == user {
                *runs -= 1;
            }
        }
    }

    /// Counts what has expired.
    pub(super) fn expire(&mut self, now: Timestamp) {
        let mut presumed = Vec::new();
        for process in self.processes.values_mut() {
            if process.in_flight > 0 && process.expires_at <= now {
                let held = std::mem::take(&mut process.in_flight);
                process.presumed += held;
                presumed.push((process.user.clone(), held));
            }
        }
        for (user, held) in presumed {
            self.count(&["", &user], (held, 0), now);
        }
    }

    pub(super) fn open(&mut self, run: usize, user: &str, now: Timestamp) {
        let process = Process {
            user: user.to_owned(),
            ..Process::default()
        };
        if let Some(before) = self.processes.insert(run, process) {
            self.count(&["", &before.user], (before.in_flight, 0), now);
        }
    }

    /// Ends a part of the calls in flight. Calls whose amounts have expired are lost, and have used a part of them.
    pub(super) fn report(&mut self, run: usize, (ended, used): Ended, now: Timestamp) -> QuotaReport {
        let process = self.processes.get_mut(&run).unwrap();
        let (ended, before) = match process.presumed {
            0 => (process.in_flight * ended / 4, process.in_flight),
            presumed => (presumed, presumed),
        };
        let more = ended * used / 4;
        let unknown = more.saturating_sub(process.presumed);
        process.presumed = process.presumed.saturating_sub(more);
        process.spent += more;
        process.in_flight = before - ended;
        process.expires_at = now.after(HELD_FOR);
        let report = QuotaReport::new(amount(process.spent)).with_in_flight(amount(process.in_flight));
        let user = process.user.clone();
        self.count(&["", &user], (unknown, 0), now);
        report
    }

    pub(super) fn hold(&mut self, run: usize, more: u64) {
        self.processes.get_mut(&run).unwrap().in_flight += more;
    }

    pub(super) fn close(&mut self, run: usize) {
        self.processes.remove(&run);
    }

    pub(super) fn erase(&mut self, user: &str, now: Timestamp) {
        let of_user = self.processes.values().filter(|process| process.user == user);
        let held = of_user.map(|process| process.in_flight).sum();
        self.processes.retain(|_, process| process.user != user);
        self.count(&[""], (held, 0), now);
        self.used.retain(|(subject, _), _| subject != user);
    }

    /// Returns the amounts that are used and held of a quota that applies to a user.
    pub(super) fn taken(&self, quota: &Quota, user: &str, now: Timestamp) -> (QuotaAmount, QuotaAmount) {
        let subject = quota.subject(user);
        let used = self.used.get(&(subject.to_owned(), quota.window));
        let used = used.filter(|(start, ..)| quota.window.start(now) <= *start);
        let used = used.map_or(QuotaAmount::new(), |(_, tokens, runs)| amount(*tokens).with_runs(*runs));
        let processes = self.processes.values();
        let holding = processes.filter(|process| subject.is_empty() || process.user == subject);
        (used, amount(holding.map(|process| process.in_flight).sum()))
    }

    /// Returns whether a number of tokens still fits a quota.
    pub(super) fn fits(&self, quota: &Quota, user: &str, more: u64, now: Timestamp) -> bool {
        let (used, held) = self.taken(quota, user, now);
        let fits = |resource: QuotaResource| {
            let taken = used.of(resource) + held.of(resource) + amount(more).of(resource);
            quota.limit(resource).is_none_or(|limit| taken <= limit)
        };
        QuotaResource::ALL.into_iter().all(fits)
    }
}
