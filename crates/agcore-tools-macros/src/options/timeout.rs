//! The option `timeout`.

use syn::{Error, Expr, ExprLit, Lit, Result, parse::ParseStream, parse_quote};

const FORM: &str = "write the timeout with its unit, such as \"500ms\", \"5s\", \"2m\" or \"1h\", or as an expression of the type \
                    `Duration`; without the option, the timeout of the agent's tool settings applies, by default 60 s";

/// Parses a text such as `"5s"`, or an expression of the type `Duration`.
pub(super) fn parse(input: ParseStream<'_>) -> Result<Expr> {
    let value: Expr = input.parse()?;
    match &value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) => match milliseconds(&text.value()) {
            Some(0) => Err(Error::new_spanned(
                value,
                "the timeout is zero, so that no call would succeed",
            )),
            Some(milliseconds) => Ok(parse_quote!(::core::time::Duration::from_millis(#milliseconds))),
            None => Err(Error::new_spanned(value, FORM)),
        },
        Expr::Lit(_) => Err(Error::new_spanned(value, FORM)),
        _ => Ok(value),
    }
}

/// Reads a number with a unit.
fn milliseconds(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim_start() {
        "ms" => 1,
        "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_with_units() {
        for (text, expected) in [
            ("500ms", Some(500)),
            ("5s", Some(5000)),
            ("5 s", Some(5000)),
            ("2m", Some(120_000)),
            ("2min", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("5", None),
            ("s", None),
            ("", None),
            ("1.5s", None),
            ("-1s", None),
            ("5 days", None),
            ("99999999999999999999s", None),
            ("18446744073709551615h", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }
}
