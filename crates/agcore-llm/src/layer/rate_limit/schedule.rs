//! [`Schedule`]: when each request may go, in the order in which they came. Pure: time is handed in.

use std::{collections::VecDeque, time::Duration};

use super::limits::RateLimits;

/// What the limits are counted over.
pub const WINDOW: Duration = Duration::from_secs(60);

/// When each request may go, in the order in which they came.
///
/// A sliding window, exact to the request: in no 60 seconds, wherever they begin, go more requests than allowed. A request
/// has its time from the moment it comes, so that who would wait too long knows at once; when others give back tokens, all
/// that wait move forward together and keep their order. A clock that goes back stands still here.
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
    /// By number and by time at once; all that count at or after the latest time seen.
    entries: VecDeque<Entry>,
    /// Tokens of all entries.
    sum: u64,
    /// The latest time seen.
    now: Duration,
    next: u64,
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
pub struct Turn {
    /// Its number, by which it is found.
    pub number: u64,
    /// When it may go.
    pub at: Duration,
}

impl Schedule {
    /// An empty schedule.
    pub fn new(limits: &RateLimits) -> Self {
        let requests = limits.requests_per_minute;
        Self {
            requests: requests.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            tokens: limits.tokens_per_minute,
            entries: VecDeque::new(),
            sum: 0,
            now: Duration::ZERO,
            next: 0,
        }
    }

    /// Gives a request its turn, after all that came before it. One of more tokens than the limit goes when it is alone.
    pub fn reserve(&mut self, now: Duration, tokens: u64) -> Turn {
        self.see(now);
        let tokens = self.tokens.map_or(tokens, |limit| tokens.min(limit));
        let number = self.next;
        self.next += 1;
        let at = self.now;
        self.entries.push_back(Entry { number, at, tokens });
        self.sum = self.sum.saturating_add(tokens);
        self.plan(self.entries.len() - 1);
        let at = self.entries.back().map_or(at, |entry| entry.at);
        Turn { number, at }
    }

    /// When a request may go, as it is planned now; how long that is from `now`.
    pub fn wait(&mut self, number: u64, now: Duration) -> Duration {
        self.see(now);
        let at = self.find(number).map(|at| self.entries[at].at);
        at.map_or(Duration::ZERO, |at| at.saturating_sub(self.now))
    }

    /// A request has used so many tokens. True when others that wait may now go at another time.
    pub fn settle(&mut self, number: u64, tokens: u64, now: Duration) -> bool {
        self.see(now);
        let Some(at) = self.find(number) else {
            return false;
        };
        let before = std::mem::replace(&mut self.entries[at].tokens, tokens);
        self.sum = self.sum.saturating_sub(before).saturating_add(tokens);
        before != tokens && self.replan()
    }

    /// A request does not go after all. True when others that wait may now go at another time.
    pub fn release(&mut self, number: u64, now: Duration) -> bool {
        self.see(now);
        let Some(entry) = self.find(number).and_then(|at| self.entries.remove(at)) else {
            return false;
        };
        self.sum = self.sum.saturating_sub(entry.tokens);
        self.replan()
    }

    fn find(&self, number: u64) -> Option<usize> {
        self.entries.binary_search_by_key(&number, |entry| entry.number).ok()
    }

    /// Time goes on; what is older than the window counts no more.
    fn see(&mut self, now: Duration) {
        self.now = self.now.max(now);
        while let Some(entry) = self.entries.front().filter(|entry| ends(entry) <= self.now) {
            self.sum = self.sum.saturating_sub(entry.tokens);
            self.entries.pop_front();
        }
    }

    /// Plans all that wait anew.
    fn replan(&mut self) -> bool {
        let first = self.entries.partition_point(|entry| entry.at <= self.now);
        self.plan(first);
        first < self.entries.len()
    }

    /// Plans the entries from `first` on, each as early as the ones before it allow.
    fn plan(&mut self, first: usize) {
        let planned = self.entries.range(first..).map(|entry| entry.tokens);
        // Tokens of the entries from `oldest` to the one that is planned, without it.
        let mut sum = planned.fold(self.sum, u64::saturating_sub);
        let mut oldest = 0;
        for place in first..self.entries.len() {
            let tokens = self.entries[place].tokens;
            let before = place.checked_sub(1).map(|before| self.entries[before].at);
            let mut at = before.map_or(self.now, |before| before.max(self.now));
            if let Some(blocker) = self.requests.and_then(|limit| place.checked_sub(limit)) {
                at = at.max(ends(&self.entries[blocker]));
            }
            while let Some(entry) = self.entries.get(oldest).filter(|_| oldest < place) {
                let fits = self.tokens.is_none_or(|limit| sum.saturating_add(tokens) <= limit);
                if fits && ends(entry) > at {
                    break;
                }
                at = at.max(if fits { at } else { ends(entry) });
                sum = sum.saturating_sub(entry.tokens);
                oldest += 1;
            }
            self.entries[place].at = at;
            sum = sum.saturating_add(tokens);
        }
    }
}

/// When an entry counts no more.
fn ends(entry: &Entry) -> Duration {
    entry.at.saturating_add(WINDOW)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn tokens(limit: u64) -> Schedule {
        Schedule::new(&RateLimits::new().with_tokens_per_minute(limit))
    }

    #[test]
    fn requests_wait_for_the_window_to_move_on() {
        let mut schedule = Schedule::new(&RateLimits::new().with_requests_per_minute(2));
        let mut at = |now| schedule.reserve(seconds(now), 0).at.as_secs();
        assert_eq!([at(0), at(30), at(31), at(31), at(200)], [0, 30, 60, 90, 200]);
    }

    #[test]
    fn tokens_wait_for_as_many_to_leave_as_they_need() {
        let mut schedule = tokens(100);
        let mut at = |now, tokens| schedule.reserve(seconds(now), tokens).at.as_secs();
        assert_eq!([at(0, 60), at(10, 30), at(20, 10)], [0, 10, 20]);
        assert_eq!([at(30, 5), at(30, 80), at(30, 1)], [60, 70, 70]);
        assert_eq!(at(30, u64::MAX), 130, "more than the limit goes alone");
    }

    #[test]
    fn tokens_given_back_move_all_forward_in_order() {
        let mut schedule = tokens(100);
        let first = schedule.reserve(seconds(0), 100);
        let second = schedule.reserve(seconds(1), 50);
        let third = schedule.reserve(seconds(1), 50);
        assert_eq!((second.at, third.at), (seconds(60), seconds(60)));
        assert!(schedule.settle(first.number, 40, seconds(2)));
        assert_eq!(schedule.wait(second.number, seconds(2)), Duration::ZERO);
        assert_eq!(schedule.wait(third.number, seconds(2)), seconds(58));
        assert!(schedule.settle(second.number, 10, seconds(3)));
        assert_eq!(schedule.wait(third.number, seconds(3)), Duration::ZERO);
        assert!(!schedule.settle(99, 10, seconds(3)), "nobody has this number");
    }

    #[test]
    fn more_tokens_than_reserved_push_the_others_back() {
        let mut schedule = tokens(100);
        let first = schedule.reserve(seconds(0), 10);
        let second = schedule.reserve(seconds(1), 20);
        let third = schedule.reserve(seconds(1), 90);
        assert_eq!(third.at, seconds(61));
        assert!(schedule.settle(second.number, u64::MAX, seconds(2)));
        assert!(!schedule.settle(first.number, 10, seconds(2)), "nothing has changed");
        assert_eq!(schedule.wait(third.number, seconds(2)), seconds(59));
    }

    #[test]
    fn one_that_gives_up_makes_room() {
        let mut schedule = Schedule::new(&RateLimits::new().with_requests_per_minute(1));
        schedule.reserve(seconds(0), 0);
        let (second, third) = (schedule.reserve(seconds(0), 0), schedule.reserve(seconds(0), 0));
        assert_eq!(third.at, seconds(120));
        assert!(schedule.release(second.number, seconds(1)));
        assert_eq!(schedule.wait(third.number, seconds(1)), seconds(59));
        assert!(!schedule.release(second.number, seconds(1)));
    }

    #[test]
    fn a_clock_that_goes_back_stands_still() {
        let mut schedule = Schedule::new(&RateLimits::new().with_requests_per_minute(2));
        assert_eq!(schedule.reserve(seconds(100), 0).at, seconds(100));
        let turn = schedule.reserve(seconds(5), 0);
        assert_eq!(schedule.wait(turn.number, seconds(5)), Duration::ZERO);
        assert_eq!(schedule.reserve(seconds(5), 0).at, seconds(160));
    }

    #[derive(Debug, Clone)]
    enum Move {
        Reserve(u64),
        Settle(usize, u64),
        Release(usize),
        Pass(u64),
    }

    fn moves() -> impl Strategy<Value = Vec<Move>> {
        let one = prop_oneof![
            4 => (0..60_u64).prop_map(Move::Reserve),
            1 => (any::<usize>(), 0..40_u64).prop_map(|(at, tokens)| Move::Settle(at, tokens)),
            1 => any::<usize>().prop_map(Move::Release),
            2 => (0..70_u64).prop_map(Move::Pass),
        ];
        prop::collection::vec(one, 0..120)
    }

    /// What is planned when a request goes: its time and its tokens then, which settling later only lowers here.
    #[derive(Debug)]
    struct Gone {
        number: u64,
        at: Duration,
        tokens: u64,
    }

    proptest! {
        #[test]
        fn no_window_holds_more_than_allowed(moves in moves(), requests in 1_u32..5, tokens in 1_u64..100) {
            let limits = RateLimits::new().with_requests_per_minute(requests).with_tokens_per_minute(tokens);
            let mut schedule = Schedule::new(&limits);
            let mut now = Duration::ZERO;
            let (mut waiting, mut gone): (Vec<(u64, u64)>, Vec<Gone>) = Default::default();
            for step in moves {
                match step {
                    Move::Reserve(wanted) => {
                        let turn = schedule.reserve(now, wanted);
                        waiting.push((turn.number, wanted.min(tokens)));
                    }
                    Move::Settle(at, used) if !gone.is_empty() => {
                        let at = at % gone.len();
                        let used = used.min(gone[at].tokens);
                        gone[at].tokens = used;
                        schedule.settle(gone[at].number, used, now);
                    }
                    Move::Release(at) if !waiting.is_empty() => {
                        let (number, _) = waiting.remove(at % waiting.len());
                        schedule.release(number, now);
                    }
                    Move::Pass(by) => {
                        let until = now + seconds(by);
                        // Those whose turn comes wake up at their time, as the clock would wake them.
                        while let Some(first) = waiting.first() {
                            let wait = schedule.wait(first.0, now);
                            if now + wait > until {
                                break;
                            }
                            now += wait;
                            let (number, tokens) = waiting.remove(0);
                            gone.push(Gone { number, at: now, tokens });
                        }
                        now = until;
                    }
                    _ => {}
                }
                while waiting.first().is_some_and(|first| schedule.wait(first.0, now).is_zero()) {
                    let (number, tokens) = waiting.remove(0);
                    gone.push(Gone { number, at: now, tokens });
                }
                let order: Vec<_> = gone.iter().map(|gone| gone.number).collect();
                prop_assert!(order.is_sorted(), "first come, first served: {order:?}");
            }
            for end in &gone {
                let window = gone.iter().filter(|gone| gone.at <= end.at && gone.at + WINDOW > end.at);
                let (count, sum) = window.fold((0, 0), |(count, sum), gone| (count + 1, sum + gone.tokens));
                prop_assert!(count <= requests, "{count} requests in the minute before {:?}", end.at);
                prop_assert!(sum <= tokens, "{sum} tokens in the minute before {:?}", end.at);
            }
        }
    }
}
