//! A model of workers that share runs: every order of claims, renewals, writes, releases and deaths is searched, with answers that
//! are lost, writes that arrive late, and a clock that jumps in both directions.
//!
//! The rules are those of the stores, which a mutant replaces one by one. Each mutant must be found.

mod mutants;
mod rules;
mod search;
mod world;

use self::{
    mutants::MUTANTS,
    rules::RULES,
    search::{Found, search},
    world::{Bounds, World},
};

/// One session with two runs, and two sessions with one each.
const SESSIONS: [[u8; 2]; 2] = [[0, 0], [0, 1]];

/// Searches for a violation. Returns the number of states.
fn check(sessions: [u8; 2], usual: Bounds) -> usize {
    let bounds = match std::env::var_os("AGCORE_SOAK") {
        Some(_) => Bounds::WIDE,
        None => usual,
    };
    match search(World::new(sessions), &RULES, bounds) {
        Found::Nothing { states } => {
            assert!(states > 10_000, "the search is cut off");
            states
        }
        Found::Violation { reason, path } => panic!("{reason}: {path:#?}"),
    }
}

#[test]
fn no_two_holders_of_a_session_write_and_no_run_is_lost() {
    println!("{} states", check(SESSIONS[0], Bounds::ONE_SESSION));
}

#[test]
fn no_two_holders_of_a_run_write_and_no_run_is_lost() {
    println!("{} states", check(SESSIONS[1], Bounds::TWO_SESSIONS));
}

#[test]
fn each_mutant_of_a_guard_is_found() {
    for (name, rules) in MUTANTS {
        let found = SESSIONS
            .iter()
            .find_map(|sessions| match search(World::new(*sessions), rules, Bounds::WIDE) {
                Found::Violation { reason, path } => Some((reason, path.len())),
                Found::Nothing { .. } => None,
            });
        let (reason, steps) = found.unwrap_or_else(|| panic!("nothing finds the mutant that {name}"));
        println!("{name}: after {steps} steps, {reason}");
    }
}
