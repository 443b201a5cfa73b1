//! Ids of calls as Mistral takes them: nine letters or digits.

use crate::wire::call_ids::CallIdForm;

/// Letters of a mapped id.
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many of them.
const LENGTH: usize = 9;

/// Nine letters or digits.
pub(super) const NINE_ALPHANUMERIC: CallIdForm = CallIdForm { fits, spell: spelled };

fn fits(id: &str) -> bool {
    id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn spelled(mut number: u64) -> String {
    let mut text = String::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        text.push(char::from(LETTERS[(number % 62) as usize]));
        number /= 62;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_what_fits() {
        for number in [0, 1, 61, 62, u64::MAX] {
            assert!(fits(&spelled(number)), "{}", spelled(number));
        }
        assert_ne!(spelled(1), spelled(2));
        assert!(!fits("call_abcd") && !fits("abcDEF12"));
    }
}
