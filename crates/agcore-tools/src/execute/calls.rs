//! [`Calls`]: the futures of the calls of a batch.

use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
};

use futures_util::{StreamExt, stream::FuturesUnordered};

/// The largest number of calls that are all polled when one of them is woken. That costs less than a waker for each, which
/// more calls have.
const FEW: usize = 8;

/// The futures of the calls of a batch that have not ended.
pub(super) enum Calls<F> {
    Few(Vec<Pin<Box<F>>>),
    Many(FuturesUnordered<F>),
}

impl<F: Future> Calls<F> {
    /// Polls the calls that may make progress, and passes the outputs of those that end to `on_end`.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, mut on_end: impl FnMut(F::Output)) {
        match self {
            Self::Few(calls) => calls.retain_mut(|call| match call.as_mut().poll(cx) {
                Poll::Ready(output) => {
                    on_end(output);
                    false
                }
                Poll::Pending => true,
            }),
            Self::Many(calls) => {
                while let Poll::Ready(Some(output)) = calls.poll_next_unpin(cx) {
                    on_end(output);
                }
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Few(calls) => calls.is_empty(),
            Self::Many(calls) => calls.is_empty(),
        }
    }
}

/// Wakes a call that is polled next by the task with this waker. Calls without a waker of their own are polled anyway, and the task
/// would be polled once more for nothing.
pub(super) fn wake_unless_polled(call: Waker, task: &Waker) {
    if !call.will_wake(task) {
        call.wake();
    }
}

impl<F: Future> FromIterator<F> for Calls<F> {
    fn from_iter<I: IntoIterator<Item = F>>(calls: I) -> Self {
        let calls = calls.into_iter();
        match calls.size_hint() {
            (_, Some(most)) if most <= FEW => Self::Few(calls.map(Box::pin).collect()),
            _ => Self::Many(calls.collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::Cell,
        future::{pending, poll_fn},
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        task::Wake,
    };

    use super::*;

    /// Polls calls, where every second one waits for the one after it, and returns them in the order in which they end.
    fn ended(count: usize) -> Vec<usize> {
        let wakers: Vec<Cell<Option<Waker>>> = (0..count).map(|_| Cell::default()).collect();
        let done = Cell::new(0);
        let call = |number: usize| {
            let (wakers, done) = (&wakers, &done);
            let mut polls = 0;
            poll_fn(move |cx| {
                polls += 1;
                if number.is_multiple_of(2) && polls == 1 {
                    wakers[number].set(Some(cx.waker().clone()));
                    return Poll::Pending;
                }
                if let Some(waker) = number.checked_sub(1).and_then(|before| wakers[before].take()) {
                    waker.wake();
                }
                done.set(done.get() + 1);
                Poll::Ready(number)
            })
        };
        let mut calls: Calls<_> = (0..count).map(call).collect();
        let (mut cx, mut ended) = (Context::from_waker(Waker::noop()), Vec::new());
        while !calls.is_empty() {
            let before = ended.len();
            calls.poll(&mut cx, |number| ended.push(number));
            assert!(ended.len() > before, "some call ends in each poll");
        }
        assert_eq!(done.get(), count);
        ended
    }

    #[test]
    fn few_and_many_calls_end_once_each() {
        for count in [0, 2, FEW, FEW + 2, 100] {
            let mut ended = ended(count);
            ended.sort_unstable();
            assert_eq!(ended, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn calls_that_wait_stay() {
        for count in [1, FEW, FEW + 1] {
            let mut calls: Calls<_> = (0..count).map(|_| pending::<()>()).collect();
            calls.poll(&mut Context::from_waker(Waker::noop()), |()| unreachable!());
            assert!(!calls.is_empty());
            assert_eq!(matches!(calls, Calls::Few(_)), count <= FEW);
        }
    }

    #[test]
    fn only_calls_with_a_waker_of_their_own_are_woken() {
        #[derive(Default)]
        struct Count(AtomicUsize);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let (task, call) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let waker = Waker::from(Arc::clone(&task));
        wake_unless_polled(waker.clone(), &waker);
        wake_unless_polled(Arc::clone(&call).into(), &waker);
        assert_eq!([task, call].map(|count| count.0.load(Ordering::SeqCst)), [0, 1]);
    }
}
