//! Random expressions: nothing panics or takes long, and both directions agree.

use std::time::{Duration, Instant};

use agcore_schedule::{Timestamp, Timing};
use fastrand::Rng;

const ZONES: &[&str] = &[
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Kolkata",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Antarctica/Troll",
];

/// Returns how often a test is repeated.
fn rounds(few: usize) -> usize {
    let soak = std::env::var("AGCORE_SOAK")
        .ok()
        .and_then(|soak| soak.parse::<usize>().ok());
    few * soak.unwrap_or(1).max(1)
}

/// Returns a field of an expression, which is usually acceptable.
fn field(random: &mut Rng, min: u32, max: u32) -> String {
    let number = |random: &mut Rng| random.u32(min..=max);
    match random.u8(0..10) {
        0..4 => "*".to_owned(),
        4..7 => number(random).to_string(),
        7 => format!("*/{}", random.u32(1..=max)),
        8 => {
            let (one, other) = (number(random), number(random));
            format!("{}-{}", one.min(other), one.max(other))
        }
        _ => format!("{},{}", number(random), number(random)),
    }
}

fn expression(random: &mut Rng) -> String {
    let bounds = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)];
    let fields = bounds.map(|(min, max)| field(random, min, max));
    fields.join(" ")
}

/// Returns a time from 1970 to 2070.
fn moment(random: &mut Rng) -> Timestamp {
    Timestamp::from_millis(random.i64(0..3_155_760_000_000))
}

#[test]
fn any_text_is_refused_or_has_occurrences() {
    const CHARACTERS: &[u8] = b"0123456789*/-,?LW#+ SUNJAMONDEC@\t~!\"\0";
    let mut random = Rng::with_seed(7);
    let start = Instant::now();
    let rounds = rounds(1000);
    for round in 0..rounds {
        let mut text = match round % 3 {
            0 => String::new(),
            _ => expression(&mut random),
        };
        for _ in 0..random.usize(0..6) {
            let place = random.usize(0..=text.len());
            text.insert(place, char::from(CHARACTERS[random.usize(0..CHARACTERS.len())]));
        }
        if round % 3 == 0 {
            let length = random.usize(0..40);
            text.extend((0..length).map(|_| char::from(CHARACTERS[random.usize(0..CHARACTERS.len())])));
        }
        let timing = Timing::cron_in(text, ZONES[random.usize(0..ZONES.len())]);
        let is_good = timing.check().is_ok();
        let found = timing.after(moment(&mut random));
        assert!(found.is_some() || !is_good, "{timing:?}");
        timing.recent(moment(&mut random), moment(&mut random), 3);
        for edge in [i64::MIN, -1, i64::MAX - 1, i64::MAX] {
            timing.after(Timestamp::from_millis(edge));
        }
    }
    let limit = Duration::from_millis(50) * u32::try_from(rounds).unwrap();
    assert!(start.elapsed() < limit, "{:?}", start.elapsed());
}

#[test]
fn both_directions_find_the_same() {
    let mut random = Rng::with_seed(11);
    for _ in 0..rounds(10) {
        let timing = Timing::cron_in(expression(&mut random), ZONES[random.usize(0..ZONES.len())]);
        if timing.check().is_err() {
            continue;
        }
        let mut times = Vec::new();
        let mut last = moment(&mut random);
        while times.len() < 1100 {
            let Some(next) = timing.after(last) else { break };
            assert!(next > last, "{timing:?}: {last} {next}");
            times.push(next);
            last = next;
        }
        if times.len() == 1100 {
            // With this number of them, the last ones are searched from the end.
            let recent = timing.recent(times[0], last, 50);
            assert_eq!(recent.times, times[1050..], "{timing:?}");
        }
    }
}
