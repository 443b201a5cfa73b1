//! The format of call ids that Mistral accepts: nine letters or digits.

use crate::encode::call_ids::CallIdFormat;

/// The characters of a generated id.
const CHARACTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The length of an id.
const LENGTH: usize = 9;

/// Nine letters or digits.
pub(super) const NINE_ALPHANUMERIC: CallIdFormat = CallIdFormat { accepts, generate };

fn accepts(id: &str) -> bool {
    id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn generate(mut number: u64) -> String {
    let mut text = String::with_capacity(LENGTH);
    for _ in 0..LENGTH {
        text.push(char::from(CHARACTERS[(number % 62) as usize]));
        number /= 62;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generates_acceptable_ids() {
        for number in [0, 1, 61, 62, u64::MAX] {
            assert!(accepts(&generate(number)), "{}", generate(number));
        }
        assert_ne!(generate(1), generate(2));
        assert!(!accepts("call_abcd") && !accepts("abcDEF12"));
    }
}
