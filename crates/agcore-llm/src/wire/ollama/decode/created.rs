//! `created_at`: a moment by RFC 3339.

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Seconds since 1970.
pub(super) fn seconds(moment: &str) -> Option<u64> {
    let moment = OffsetDateTime::parse(moment, &Rfc3339).ok()?;
    moment.unix_timestamp().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_any_zone_and_fraction() {
        let check = |moment: &str, expected| assert_eq!(seconds(moment), expected, "{moment}");
        check("2024-01-01T00:00:00Z", Some(1_704_067_200));
        check("2024-01-01T01:00:00.123456789+01:00", Some(1_704_067_200));
        check("0001-01-01T00:00:00Z", None);
        check("today", None);
    }
}
