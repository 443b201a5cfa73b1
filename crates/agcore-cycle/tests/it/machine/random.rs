//! Random scripts of replies, truncations, faults, parallel tools, questions, handoffs, stops and crashes, compared with an
//! independent model of the machine. The invariants are checked at every step.

mod checker;
mod compaction;
mod counts;
mod event_order;
mod generate;
mod interruption;
mod invalid_outcomes;
mod model;
mod script;

use std::{
    ops::Range,
    panic::catch_unwind,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use self::{counts::Counts, script::Script};

/// The number of scripts in every test run.
const SCRIPTS: u64 = 6_000;
/// The number of scripts if `AGCORE_SOAK` is set.
const SOAK: u64 = 200_000;

#[test]
fn random_scripts_match_the_model() {
    if let Some(seed) = setting("AGCORE_SEED") {
        let seed = seed.parse().expect("AGCORE_SEED is a number");
        Script::new(seed).verbose().play();
        return;
    }
    let scripts = if setting("AGCORE_SOAK").is_some() {
        SOAK
    } else {
        SCRIPTS
    };
    let workers = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let failed = AtomicBool::new(false);
    let counts = thread::scope(|scope| {
        let share = |worker: u64| scripts * worker / workers..scripts * (worker + 1) / workers;
        let spawn = |worker| {
            scope.spawn({
                let failed = &failed;
                move || play_all(share(worker), failed)
            })
        };
        let workers: Vec<_> = (0..workers).map(spawn).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .fold(Counts::default(), Counts::merge)
    });
    println!("{scripts} scripts: {counts}");
    counts.assert_all_occurred();
}

/// Plays the scripts of these seeds until one fails in any thread.
fn play_all(seeds: Range<u64>, failed: &AtomicBool) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        if failed.load(Ordering::Relaxed) {
            break;
        }
        match catch_unwind(|| Script::new(seed).play()) {
            Ok(more) => counts = counts.merge(more),
            Err(_) => {
                failed.store(true, Ordering::Relaxed);
                panic!(
                    "the script of seed {seed} failed; set AGCORE_SEED={seed} to play only this script and print its outcomes"
                );
            }
        }
    }
    counts
}

fn setting(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the environment selects which and how many scripts run"
    )]
    std::env::var(name).ok()
}
