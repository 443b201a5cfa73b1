//! Medians and quantiles.

/// Returns the value below which a part of the values lies; not a number if there are none.
pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let places = 0..=last;
    let place = places.rev().find(|place| *place as f64 <= part * last as f64);
    place.and_then(|place| sorted.get(place).copied()).unwrap_or(f64::NAN)
}

/// Returns the value in the middle.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Formats a number with about three significant digits.
pub fn short(number: f64) -> String {
    match number.abs() {
        _ if number.is_nan() => "–".to_owned(),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// Formats a median with the lowest and the highest value.
pub fn spread(values: &[f64]) -> String {
    let [low, middle, high] = [0.0, 0.5, 1.0].map(|part| short(quantile(values, part)));
    format!("{middle} ({low} to {high})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values() {
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!(
            [0.0, 0.5, 0.99, 1.0].map(|part| quantile(&values, part)),
            [1.0, 3.0, 4.0, 5.0]
        );
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [0.123, 12.34, 1234.5, f64::NAN].map(short),
            ["0.12", "12.3", "1234", "–"]
        );
        assert_eq!(spread(&[3.0, 1.0, 2.0]), "2.00 (1.00 to 3.00)");
    }
}
