//! Times, numbers and addresses as texts.

/// Returns a time in milliseconds since 1970 as a date and a time of day in UTC.
pub(crate) fn time(millis: i64) -> String {
    let (days, rest) = (millis.div_euclid(86_400_000), millis.rem_euclid(86_400_000) / 1000);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Returns the date that is this number of days after 1970-01-01.
fn date(days: i64) -> (i64, i64, i64) {
    // Years that begin in March, so that the leap day is the last one.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Returns a span of time in milliseconds with the units that matter. Those of wrong clocks are 0.
pub(crate) fn duration(millis: i64) -> String {
    let millis = millis.max(0);
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..60 => format!("{seconds}.{} s", millis % 1000 / 100),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// Returns a number with a narrow space between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a part of a path or of a query, in which every character that has a meaning is encoded.
///
/// ```
/// assert_eq!(agcore_console::encoded("a/b c?"), "a%2Fb%20c%3F");
/// ```
pub fn encoded(part: &str) -> String {
    let mut path = String::new();
    for byte in part.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => path.push(char::from(byte)),
            // A part of dots alone would be another place.
            b'.' if !part.bytes().all(|byte| byte == b'.') => path.push('.'),
            byte => {
                const HEX: [char; 16] = [
                    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
                ];
                path.extend(['%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        for (millis, expected) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (1_709_208_000_999, "2024-02-29 12:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
            (253_402_300_799_999, "9999-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(time(millis), expected);
        }
    }

    #[test]
    fn spans_have_the_units_that_matter() {
        for (millis, expected) in [
            (-5, "0 ms"),
            (0, "0 ms"),
            (999, "999 ms"),
            (1950, "1.9 s"),
            (61_000, "1 min 01 s"),
            (3_660_000, "1 h 01 min"),
            (90_000_000, "1 d 01 h"),
        ] {
            assert_eq!(duration(millis), expected);
        }
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn parts_of_paths_stay_parts() {
        for (part, expected) in [
            ("..", "%2E%2E"),
            ("a.b", "a.b"),
            ("é\"<", "%C3%A9%22%3C"),
            ("a/b?c#d%", "a%2Fb%3Fc%23d%25"),
        ] {
            assert_eq!(encoded(part), expected);
        }
    }
}
