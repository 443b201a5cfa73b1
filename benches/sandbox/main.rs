//! Compares the start of a command in a sandbox with a bare one: from the first rule to the end of `/bin/true`.
//!
//! `cargo xtask bench sandbox` runs everything. See `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::{
    env,
    error::Error,
    fs,
    process::{self, Command},
    time::{Duration, Instant},
};

use agcore_sandbox::{Limits, Mode, Network, Policy, Sandbox, Support};

/// The number of starts of each kind.
const ROUNDS: usize = 300;

/// The processor time that a sandbox may cost.
const LIMIT: Duration = Duration::from_millis(5);

fn main() {
    if let Err(error) = run() {
        println!("failed: {error}");
        process::exit(1);
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let support = Support::of_system();
    if let Some(reason) = &support.missing {
        println!("skipped: {reason}");
        return Ok(());
    }
    // A process of usual size: the memory of a larger one takes longer to copy.
    let memory = vec![1_u8; 100 << 20];
    let folder = tempfile::tempdir()?;
    let sandbox = |mode, network| {
        let home = env::home_dir().unwrap_or_default();
        let limits = Limits {
            processes: Some(1024),
            memory: None,
        };
        let policy = Policy::new(mode)
            .with_write(folder.path())
            .with_hidden(home.join(".ssh"))
            .with_network(network)
            .with_limits(limits);
        Sandbox::new(policy)
    };
    let kinds = [
        ("bare", None),
        ("workspace", Some(sandbox(Mode::Workspace, Network::Off)?)),
        ("workspace, with network", Some(sandbox(Mode::Workspace, Network::On)?)),
        ("strict", Some(sandbox(Mode::Strict, Network::Off)?)),
    ];
    println!("{}", Support::of_system().parts());
    let (mut bare, mut worst) = (Duration::ZERO, Duration::ZERO);
    for (name, sandbox) in &kinds {
        let (mut times, before) = (Vec::with_capacity(ROUNDS), processor_time()?);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let mut command = match sandbox {
                Some(sandbox) => sandbox.command("/bin/true")?,
                None => Command::new("/bin/true"),
            };
            command.current_dir(folder.path()).status()?;
            times.push(start.elapsed());
        }
        times.sort();
        let used = (processor_time()? - before) / ROUNDS as u32;
        if sandbox.is_none() {
            bare = used;
        }
        worst = worst.max(used.saturating_sub(bare));
        println!(
            "{name:<24} processor {used:>8.2?}; time: shortest {:>8.2?}, median {:>8.2?}",
            times[0],
            times[ROUNDS / 2]
        );
    }
    drop(memory);
    match worst <= LIMIT {
        true => Ok(()),
        false => Err(format!("a start costs {worst:.2?} more than a bare one; the limit is {LIMIT:?}").into()),
    }
}

/// Returns the processor time of this process and of those that it has waited for, which other load does not change.
fn processor_time() -> Result<Duration, Box<dyn Error>> {
    const PER_TICK: Duration = Duration::from_millis(10);
    let text = fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = text.rsplit_once(')').ok_or("/proc/self/stat has another form")?;
    let times = fields.split_whitespace().skip(11).take(4);
    let ticks: u32 = times.map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(PER_TICK * ticks)
}
