//! [`Schedule`]: when each request may be sent, in the order of arrival. Pure: the time is passed in.

use std::{collections::VecDeque, time::Duration};

use super::limits::RateLimits;

/// The length of the window in which requests and tokens are counted.
pub const WINDOW: Duration = Duration::from_secs(60);

/// Determines when each request may be sent, in the order of arrival.
///
/// This is a sliding window, exact to the request: no 60 seconds, whenever they start, contain more requests than allowed.
/// The time of a request is known as soon as it arrives, so a call that would wait too long can fail at once. When tokens
/// are returned, all waiting requests move forward and keep their order. A clock that goes backwards is treated as stopped.
///
/// ```
/// use std::time::Duration;
/// use agcore_llm::layer::rate_limit::{RateLimits, Schedule};
///
/// let mut schedule = Schedule::new(&RateLimits::new().with_requests_per_minute(2));
/// let now = Duration::from_secs(5);
/// let times: Vec<u64> = (0..5).map(|_| schedule.reserve(now, 0).at.as_secs()).collect();
/// assert_eq!(times, [5, 5, 65, 65, 125]);
/// ```
#[derive(Debug)]
pub struct Schedule {
    requests: Option<usize>,
    tokens: Option<u64>,
    /// All requests that count at or after the latest time seen, sorted by number and also by time.
    entries: VecDeque<Entry>,
    /// The tokens of all entries.
    sum: u64,
    /// The latest time seen.
    now: Duration,
    next_number: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    at: Duration,
    tokens: u64,
}

/// A request's place in a [`Schedule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reservation {
    /// The number that identifies the request.
    pub number: u64,
    /// When the request may be sent.
    pub at: Duration,
}

impl Schedule {
    /// Creates an empty schedule.
    pub fn new(limits: &RateLimits) -> Self {
        let requests = limits.requests_per_minute;
        Self {
            requests: requests.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            tokens: limits.tokens_per_minute,
            entries: VecDeque::new(),
            sum: 0,
            now: Duration::ZERO,
            next_number: 0,
        }
    }

    /// Adds a request after all that arrived before it. A request of more tokens than the limit is sent when it is alone in
    /// the window.
    pub fn reserve(&mut self, now: Duration, tokens: u64) -> Reservation {
        self.update_time(now);
        let tokens = self.tokens.map_or(tokens, |limit| tokens.min(limit));
        let number = self.next_number;
        self.next_number += 1;
        let at = self.now;
        self.entries.push_back(Entry { number, at, tokens });
        self.sum = self.sum.saturating_add(tokens);
        self.plan(self.entries.len() - 1);
        let at = self.entries.back().map_or(at, |entry| entry.at);
        Reservation { number, at }
    }

    /// Returns how long a request has to wait from `now`, as currently planned.
    pub fn wait(&mut self, number: u64, now: Duration) -> Duration {
        self.update_time(now);
        let at = self.find(number).map(|index| self.entries[index].at);
        at.map_or(Duration::ZERO, |at| at.saturating_sub(self.now))
    }

    /// Records the tokens that a request has actually used. Returns whether the times of waiting requests may have changed.
    pub fn settle(&mut self, number: u64, tokens: u64, now: Duration) -> bool {
        self.update_time(now);
        let Some(index) = self.find(number) else {
            return false;
        };
        let before = std::mem::replace(&mut self.entries[index].tokens, tokens);
        self.sum = self.sum.saturating_sub(before).saturating_add(tokens);
        before != tokens && self.plan_waiting()
    }

    /// Removes a request that was not sent. Returns whether the times of waiting requests may have changed.
    pub fn release(&mut self, number: u64, now: Duration) -> bool {
        self.update_time(now);
        let Some(entry) = self.find(number).and_then(|index| self.entries.remove(index)) else {
            return false;
        };
        self.sum = self.sum.saturating_sub(entry.tokens);
        self.plan_waiting()
    }

    fn find(&self, number: u64) -> Option<usize> {
        self.entries.binary_search_by_key(&number, |entry| entry.number).ok()
    }

    /// Advances the time and removes entries that are older than the window.
    fn update_time(&mut self, now: Duration) {
        self.now = self.now.max(now);
        while let Some(entry) = self.entries.front().filter(|entry| expiry(entry) <= self.now) {
            self.sum = self.sum.saturating_sub(entry.tokens);
            self.entries.pop_front();
        }
    }

    /// Plans all waiting requests again. Returns whether there are any.
    fn plan_waiting(&mut self) -> bool {
        let first = self.entries.partition_point(|entry| entry.at <= self.now);
        self.plan(first);
        first < self.entries.len()
    }

    /// Plans the entries from index `first` on, each as early as the ones before it allow.
    fn plan(&mut self, first: usize) {
        let planned = self.entries.range(first..).map(|entry| entry.tokens);
        // The tokens of the entries from `oldest` up to, but not including, the one being planned.
        let mut sum = planned.fold(self.sum, u64::saturating_sub);
        let mut oldest = 0;
        for index in first..self.entries.len() {
            let tokens = self.entries[index].tokens;
            let before = index.checked_sub(1).map(|before| self.entries[before].at);
            let mut at = before.map_or(self.now, |before| before.max(self.now));
            if let Some(blocker) = self.requests.and_then(|limit| index.checked_sub(limit)) {
                at = at.max(expiry(&self.entries[blocker]));
            }
            while let Some(entry) = self.entries.get(oldest).filter(|_| oldest < index) {
                let fits = self.tokens.is_none_or(|limit| sum.saturating_add(tokens) <= limit);
                if fits && expiry(entry) > at {
                    break;
                }
                at = at.max(if fits { at } else { expiry(entry) });
                sum = sum.saturating_sub(entry.tokens);
                oldest += 1;
            }
            self.entries[index].at = at;
            sum = sum.saturating_add(tokens);
        }
    }
}

/// Returns when an entry leaves the window.
fn expiry(entry: &Entry) -> Duration {
    entry.at.saturating_add(WINDOW)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn token_schedule(limit: u64) -> Schedule {
        Schedule::new(&RateLimits::new().with_tokens_per_minute(limit))
    }

    #[test]
    fn requests_wait_for_the_window_to_move() {
        let mut schedule = Schedule::new(&RateLimits::new().with_requests_per_minute(2));
        let mut at = |now| schedule.reserve(seconds(now), 0).at.as_secs();
        assert_eq!([at(0), at(30), at(31), at(31), at(200)], [0, 30, 60, 90, 200]);
    }

    #[test]
    fn requests_wait_until_enough_tokens_have_left_the_window() {
        let mut schedule = token_schedule(100);
        let mut at = |now, tokens| schedule.reserve(seconds(now), tokens).at.as_secs();
        assert_eq!([at(0, 60), at(10, 30), at(20, 10)], [0, 10, 20]);
        assert_eq!([at(30, 5), at(30, 80), at(30, 1)], [60, 70, 70]);
        assert_eq!(at(30, u64::MAX), 130, "more than the limit is sent alone");
    }

    #[test]
    fn returned_tokens_move_all_requests_forward_in_order() {
        let mut schedule = token_schedule(100);
        let first = schedule.reserve(seconds(0), 100);
        let second = schedule.reserve(seconds(1), 50);
        let third = schedule.reserve(seconds(1), 50);
        assert_eq!((second.at, third.at), (seconds(60), seconds(60)));
        assert!(schedule.settle(first.number, 40, seconds(2)));
        assert_eq!(schedule.wait(second.number, seconds(2)), Duration::ZERO);
        assert_eq!(schedule.wait(third.number, seconds(2)), seconds(58));
        assert!(schedule.settle(second.number, 10, seconds(3)));
        assert_eq!(schedule.wait(third.number, seconds(3)), Duration::ZERO);
        assert!(!schedule.settle(99, 10, seconds(3)), "no request has this number");
    }

    #[test]
    fn using_more_tokens_than_reserved_delays_the_others() {
        let mut schedule = token_schedule(100);
        let first = schedule.reserve(seconds(0), 10);
        let second = schedule.reserve(seconds(1), 20);
        let third = schedule.reserve(seconds(1), 90);
        assert_eq!(third.at, seconds(61));
        assert!(schedule.settle(second.number, u64::MAX, seconds(2)));
        assert!(!schedule.settle(first.number, 10, seconds(2)), "nothing has changed");
        assert_eq!(schedule.wait(third.number, seconds(2)), seconds(59));
    }

    #[test]
    fn a_released_request_lets_the_next_one_move_forward() {
        let mut schedule = Schedule::new(&RateLimits::new().with_requests_per_minute(1));
        schedule.reserve(seconds(0), 0);
        let (second, third) = (schedule.reserve(seconds(0), 0), schedule.reserve(seconds(0), 0));
        assert_eq!(third.at, seconds(120));
        assert!(schedule.release(second.number, seconds(1)));
        assert_eq!(schedule.wait(third.number, seconds(1)), seconds(59));
        assert!(!schedule.release(second.number, seconds(1)));
    }

    #[test]
    fn a_clock_that_goes_backwards_is_treated_as_stopped() {
        let mut schedule = Schedule::new(&RateLimits::new().with_requests_per_minute(2));
        assert_eq!(schedule.reserve(seconds(100), 0).at, seconds(100));
        let reservation = schedule.reserve(seconds(5), 0);
        assert_eq!(schedule.wait(reservation.number, seconds(5)), Duration::ZERO);
        assert_eq!(schedule.reserve(seconds(5), 0).at, seconds(160));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Reserve(u64),
        Settle(usize, u64),
        Release(usize),
        Advance(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0..60_u64).prop_map(Step::Reserve),
            1 => (any::<usize>(), 0..40_u64).prop_map(|(at, tokens)| Step::Settle(at, tokens)),
            1 => any::<usize>().prop_map(Step::Release),
            2 => (0..70_u64).prop_map(Step::Advance),
        ];
        prop::collection::vec(step, 0..120)
    }

    /// A request that was sent: when, and with how many tokens, which settling only lowers in this test.
    #[derive(Debug)]
    struct Sent {
        number: u64,
        at: Duration,
        tokens: u64,
    }

    proptest! {
        #[test]
        fn no_window_exceeds_the_limits(steps in steps(), requests in 1_u32..5, tokens in 1_u64..100) {
            let limits = RateLimits::new().with_requests_per_minute(requests).with_tokens_per_minute(tokens);
            let mut schedule = Schedule::new(&limits);
            let mut now = Duration::ZERO;
            let (mut waiting, mut sent): (Vec<(u64, u64)>, Vec<Sent>) = Default::default();
            for step in steps {
                match step {
                    Step::Reserve(wanted) => {
                        let reservation = schedule.reserve(now, wanted);
                        waiting.push((reservation.number, wanted.min(tokens)));
                    }
                    Step::Settle(at, used) if !sent.is_empty() => {
                        let at = at % sent.len();
                        let used = used.min(sent[at].tokens);
                        sent[at].tokens = used;
                        schedule.settle(sent[at].number, used, now);
                    }
                    Step::Release(at) if !waiting.is_empty() => {
                        let (number, _) = waiting.remove(at % waiting.len());
                        schedule.release(number, now);
                    }
                    Step::Advance(by) => {
                        let until = now + seconds(by);
                        // Requests are sent at their planned time, as if woken by a timer.
                        while let Some(first) = waiting.first() {
                            let wait = schedule.wait(first.0, now);
                            if now + wait > until {
                                break;
                            }
                            now += wait;
                            let (number, tokens) = waiting.remove(0);
                            sent.push(Sent { number, at: now, tokens });
                        }
                        now = until;
                    }
                    _ => {}
                }
                while waiting.first().is_some_and(|first| schedule.wait(first.0, now).is_zero()) {
                    let (number, tokens) = waiting.remove(0);
                    sent.push(Sent { number, at: now, tokens });
                }
                let order: Vec<_> = sent.iter().map(|sent| sent.number).collect();
                prop_assert!(order.is_sorted(), "requests are sent in order of arrival: {order:?}");
            }
            for end in &sent {
                let window = sent.iter().filter(|sent| sent.at <= end.at && sent.at + WINDOW > end.at);
                let (count, sum) = window.fold((0, 0), |(count, sum), sent| (count + 1, sum + sent.tokens));
                prop_assert!(count <= requests, "{count} requests in the minute before {:?}", end.at);
                prop_assert!(sum <= tokens, "{sum} tokens in the minute before {:?}", end.at);
            }
        }
    }
}
