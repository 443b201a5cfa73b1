//! Ids that the caller does not choose.

use std::time::{Duration, SystemTime};

use agcore_llm::Random;

/// Returns a new UUID of version 7 (RFC 9562, section 5.7) in lower case: 48 bits of Unix time in milliseconds, then random
/// bits.
pub(super) fn uuid_v7(now: SystemTime, random: &Random) -> String {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX) & 0xffff_ffff_ffff;
    let (high, low) = (bits(random, 12), bits(random, 14));
    let node = bits(random, 48);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{node:012x}",
        millis >> 16,
        millis & 0xffff,
        0x7000 | high,
        0x8000 | low,
    )
}

/// Returns up to 52 random bits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the value is below 2^count, which an f64 represents exactly"
)]
fn bits(random: &Random, count: u32) -> u64 {
    let range = 1_u64 << count;
    ((random() * range as f64) as u64).min(range - 1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn contains_time_version_and_variant() {
        let at = |millis| SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
        let check = |millis, random: f64, expected: &str| {
            let random: Random = Arc::new(move || random);
            assert_eq!(uuid_v7(at(millis), &random), expected);
        };
        check(0x017f_22e2_79b0, 0.0, "017f22e2-79b0-7000-8000-000000000000");
        check(
            0x017f_22e2_79b0,
            0.999_999_999_999_999,
            "017f22e2-79b0-7fff-bfff-ffffffffffff",
        );
        check(0x017f_22e2_79b0, 1.0, "017f22e2-79b0-7fff-bfff-ffffffffffff");
    }
}
