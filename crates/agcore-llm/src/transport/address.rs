//! Guards against requests to addresses of this machine and of private networks, for programs that open URLs which others have
//! written.
//!
//! A name can have any address, and another one a moment later. So the address of a host is looked up once with `route`, and the
//! connection is opened to exactly the address that was checked, with `HttpOptions::with_address`.
//!
//! ```
//! use agcore_llm::transport::address::{is_private_name, is_public, literal};
//!
//! assert!(is_public("1.1.1.1".parse()?));
//! assert!(!is_public("169.254.169.254".parse()?) && !is_public("::ffff:127.0.0.1".parse()?));
//! assert_eq!(literal("[::1]"), Some("::1".parse()?));
//! assert!(is_private_name("printer.local") && !is_private_name("example.org"));
//! # Ok::<(), std::net::AddrParseError>(())
//! ```

#[cfg(feature = "_http")]
mod route;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[cfg(feature = "_http")]
pub use route::{Refusal, Route, route};

/// The ends of names that only a private network knows. Without the dot, they are such a name, too.
const PRIVATE_NAMES: [&str; 7] = [
    ".localhost",
    ".local",
    ".internal",
    ".lan",
    ".home.arpa",
    ".localdomain",
    ".svc",
];

/// Returns whether an address belongs to a server on the internet: not to this machine, a private network, a group, or a purpose
/// of the protocol. IPv4 addresses within IPv6 count as what they are.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Returns whether only a private network knows the name of a host, judging by its form: it has no dot, or an end such as `.local`.
pub fn is_private_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    !name.contains('.') || PRIVATE_NAMES.iter().any(|end| name.ends_with(end))
}

/// Returns the address that is the host of a URL, such as `10.0.0.1` or `[::1]`; `None` if the host is a name. The host must be the
/// one that a parser of URLs has returned: others write the same address in more ways.
pub fn literal(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_special = match address.octets() {
        [0 | 240..=255, ..] => true,
        // Shared by the customers of a provider, protocol assignments, benchmarks.
        [100, 64..=127, ..] | [192, 0, 0, _] | [198, 18..=19, ..] => true,
        _ => false,
    };
    !(is_special
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation())
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // IPv4 in IPv6: mapped, translated (NAT64) and 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0x2002, high, low, ..] => v4(high, low),
        // Documentation and Teredo.
        [0x2001, 0xdb8 | 0, ..] => false,
        // The addresses that are assigned to the internet.
        [0x2000..=0x3fff, ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_private_and_local_addresses() {
        for public in [
            "1.1.1.1",
            "93.184.216.34",
            "2606:4700::1",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }

    #[test]
    fn knows_names_of_private_networks() {
        for private in [
            "localhost",
            "LOCALHOST.",
            "intranet",
            "a.local",
            "db.prod.svc",
            "metadata.google.internal",
        ] {
            assert!(is_private_name(private), "{private}");
        }
        for public in ["example.org", "local.example", "example.org."] {
            assert!(!is_private_name(public), "{public}");
        }
    }
}
