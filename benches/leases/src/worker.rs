//! [`Worker`]: a process that executes runs, with what it knows.

use std::fmt;

use agcore_session::Lease;

/// A time in milliseconds since the beginning.
pub(crate) type Time = u64;

/// The pause of a worker between two claims, and between two checks of its leases.
pub(crate) const POLL: Time = 250;

/// The longest pause between two claims that find nothing.
pub(crate) const IDLE: Time = 4 * POLL;

/// The length of leases.
pub(crate) const LEASE: Time = 15_000;

/// The part of a lease in which a worker does not work any more.
const MARGIN: Time = LEASE / 10;

/// The factor by which the clock of a slow worker is behind.
const SLOWNESS: Time = 4;

/// A worker at a place. A place has another worker when the first one was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WorkerId {
    pub(crate) place: u32,
    pub(crate) life: u32,
}

#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) id: WorkerId,
    pub(crate) is_alive: bool,
    /// The time at which it continues, if it was stopped.
    pub(crate) stopped_until: Time,
    /// Whether its clock runs slowly, so that it renews too late.
    pub(crate) is_slow: bool,
    /// How wrong its calendar is, in milliseconds. Only its own data has this time.
    pub(crate) calendar_error: i64,
    pub(crate) held: Vec<Held>,
    /// The claim whose answer was lost.
    pub(crate) open_claim: Option<u32>,
    /// Whether it waits for the answer to a claim.
    pub(crate) is_claiming: bool,
    /// Whether a slot became free meanwhile, so that it claims again at once.
    pub(crate) is_woken: bool,
    /// The number of the next claim that was planned. Earlier plans are void.
    pub(crate) round: u32,
    pub(crate) pause: Time,
    /// The time since which it has a free slot and has claimed regularly.
    pub(crate) free_since: Option<Time>,
    /// The time of its start, from which it checks its leases regularly.
    pub(crate) started: Time,
    pub(crate) renewed: Time,
    pub(crate) is_renewing: bool,
}

/// A run as its worker knows it.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) run: u32,
    pub(crate) lease: Lease,
    /// The time at which the worker stops by its own clock.
    pub(crate) until: Time,
    pub(crate) next: Next,
    pub(crate) done: u8,
    /// Whether the worker has checked the clock before it was stopped, so that the next write is sent in any case.
    pub(crate) is_sending: bool,
}

/// The next part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Read how far the run is.
    Read,
    Begin,
    /// Commit a step, or the end.
    Continue,
}

impl Worker {
    pub(crate) fn new(id: WorkerId, now: Time) -> Self {
        Self {
            id,
            is_alive: true,
            stopped_until: 0,
            is_slow: false,
            calendar_error: 0,
            held: Vec::new(),
            open_claim: None,
            is_claiming: false,
            is_woken: false,
            round: 0,
            pause: POLL,
            free_since: Some(now),
            started: now,
            renewed: now,
            is_renewing: false,
        }
    }

    /// Returns a duration of its clock as one of the real time.
    pub(crate) fn real(&self, time: Time) -> Time {
        match self.is_slow {
            true => time * SLOWNESS,
            false => time,
        }
    }

    /// Returns until when the worker uses a lease that it has asked for at this time.
    pub(crate) fn usable_until(&self, asked: Time) -> Time {
        asked + self.real(LEASE - MARGIN)
    }

    /// Returns the time of the next check of the leases that finds that they have to be renewed.
    pub(crate) fn next_renewal(&self, now: Time) -> Time {
        let check = self.real(POLL);
        let due = (self.renewed + self.real(LEASE / 3)).max(now + 1);
        self.started + (due - self.started).div_ceil(check) * check
    }

    /// Returns the time of the next check of the leases.
    pub(crate) fn next_check(&self, now: Time) -> Time {
        let check = self.real(POLL);
        self.started + ((now - self.started) / check + 1) * check
    }

    pub(crate) fn held(&mut self, run: u32, epoch: u64) -> Option<&mut Held> {
        let is_it = |held: &&mut Held| held.run == run && held.lease.epoch == epoch;
        self.held.iter_mut().find(is_it)
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker-{}-{}", self.place, self.life)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_are_renewed_every_third_of_their_length() {
        let mut worker = Worker::new(WorkerId { place: 0, life: 0 }, 100);
        assert_eq!(worker.next_renewal(100), 5_100);
        assert_eq!(worker.next_renewal(9_000), 9_100);
        assert_eq!(worker.next_check(5_100), 5_350);
        worker.is_slow = true;
        assert_eq!(worker.next_renewal(100), 20_100);
        assert_eq!(worker.usable_until(100), 54_100);
    }
}
