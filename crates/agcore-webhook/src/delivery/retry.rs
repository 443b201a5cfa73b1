//! The pauses between the attempts to deliver a message.

use std::time::Duration;

/// The pauses after failed attempts: 5 seconds, 5 and 30 minutes, then 2, 5, 10, 14, 20 and 24 hours, as
/// [Standard Webhooks](https://www.standardwebhooks.com/) recommends. They vary by a fifth, so that messages that failed together
/// are not sent again together.
pub const RETRIES: [Duration; 9] = [
    Duration::from_secs(5),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(2 * 3600),
    Duration::from_secs(5 * 3600),
    Duration::from_secs(10 * 3600),
    Duration::from_secs(14 * 3600),
    Duration::from_secs(20 * 3600),
    Duration::from_secs(24 * 3600),
];

/// The number of attempts after which a message is given up: one more than there are [`RETRIES`].
#[expect(clippy::cast_possible_truncation, reason = "the number is small")]
pub const MAX_ATTEMPTS: u32 = RETRIES.len() as u32 + 1;

/// The longest pause that a receiver can ask for.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Returns the pause after this many attempts, or `None` if that was the last one.
pub(super) fn wait(attempts: u32, retry_after: Option<Duration>, jitter: f64) -> Option<Duration> {
    let place = usize::try_from(attempts).ok()?.checked_sub(1)?;
    let pause = RETRIES.get(place)?.mul_f64(0.8 + 0.4 * jitter.clamp(0.0, 1.0));
    Some(retry_after.map_or(pause, |wanted| pause.max(wanted.min(LONGEST))))
}
