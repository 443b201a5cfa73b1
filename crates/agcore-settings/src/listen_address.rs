//! Parses the address that a server listens on.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::{
    Deserialize, Deserializer,
    de::{self, Unexpected},
};

/// A description of such addresses, for errors.
const EXPECTED: &str = "an IP address and a port, such as 127.0.0.1:8737, [::1]:8737 or localhost:8737";

/// Parses `IP:PORT` or `localhost:PORT`. `localhost` is 127.0.0.1, without a question to a name server: whether other machines can
/// reach the address must be known before it is used.
///
/// # Errors
/// When the text is anything else, such as another host name.
pub fn parse(text: &str) -> Result<SocketAddr, String> {
    let local = text
        .split_once(':')
        .filter(|(host, _)| host.eq_ignore_ascii_case("localhost"));
    let address = match local {
        Some((_, port)) => {
            let port = port.parse().ok();
            port.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
        }
        None => text.parse().ok(),
    };
    address.ok_or_else(|| format!("expected {EXPECTED}"))
}

/// Deserializes an address in a settings file. The error does not quote the text.
///
/// # Errors
/// Those of [`parse`].
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let refused = |_| de::Error::invalid_value(Unexpected::Other("another text"), &EXPECTED);
    parse(&text).map(Some).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_ip_addresses_and_this_machine() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                parse(text).map(|address| address.to_string()).as_deref(),
                Ok(expected),
                "{text}"
            );
        };
        check("127.0.0.1:8737", "127.0.0.1:8737");
        check("0.0.0.0:0", "0.0.0.0:0");
        check("[::1]:80", "[::1]:80");
        check("localhost:18090", "127.0.0.1:18090");
        check("LocalHost:1", "127.0.0.1:1");
        for wrong in [
            "",
            "localhost",
            "8737",
            ":8737",
            "localhost:",
            "localhost:70000",
            "::1:80x",
            "example.org:80",
        ] {
            let error = parse(wrong).unwrap_err();
            assert!(
                error.contains("127.0.0.1:8737") && error.contains("localhost:8737"),
                "{wrong}: {error}"
            );
        }
    }
}
