//! Simulates workers that share runs: 1 000 workers and 1 000 000 runs unless the arguments set other numbers.
//!
//! `cargo bench -p agcore-benches-leases -- --workers 100 --runs 20000` simulates fewer. See `benches/README.md`.

fn main() {
    agcore_benches_leases::program::main();
}
