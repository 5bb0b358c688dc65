//! Finds the address and scheme that a call came by: from the peer of the connection, or from a
//! trusted proxy's headers.

use std::net::IpAddr;

use axum::http::HeaderMap;

use crate::config::AddressRange;

/// The header in which proxies pass on where a request came from.
const FORWARDED: &str = "x-forwarded-for";
/// The header in which proxies say by which scheme a request came.
const SCHEME: &str = "x-forwarded-proto";

/// The address that a request came from: the rightmost hop that is not a trusted proxy. Hops
/// further to the left are the client's own claim.
pub(super) fn origin_of(peer: IpAddr, headers: &HeaderMap, trusted: &[AddressRange]) -> IpAddr {
    let mut origin = peer.to_canonical();
    let lines: Vec<_> = headers.get_all(FORWARDED).iter().collect();
    let hops = lines
        .iter()
        .rev()
        .flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
    for hop in hops {
        if !is_trusted(origin, trusted) {
            break;
        }
        let Ok(address) = hop.trim().parse::<IpAddr>() else {
            break;
        };
        origin = address.to_canonical();
    }
    origin
}

/// True if a trusted proxy says that the request came by TLS.
pub(super) fn is_forwarded_by_tls(
    peer: Option<IpAddr>,
    headers: &HeaderMap,
    trusted: &[AddressRange],
) -> bool {
    // Of several proxies, the last one wrote what stands last.
    let last = headers.get_all(SCHEME).iter().next_back();
    let scheme = last.and_then(|value| value.to_str().ok()?.rsplit(',').next());
    peer.is_some_and(|peer| is_trusted(peer.to_canonical(), trusted))
        && scheme.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

/// True if an address is a trusted proxy's.
pub(super) fn is_trusted(address: IpAddr, trusted: &[AddressRange]) -> bool {
    trusted.iter().any(|range| range.holds(address))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use axum::http::HeaderMap;

    use super::{FORWARDED, SCHEME, is_forwarded_by_tls, origin_of};
    use crate::config::AddressRange;

    fn origin(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED, line.parse().expect("a header"));
        }
        let trusted: Vec<AddressRange> = trusted
            .iter()
            .map(|text| AddressRange::parse(text).expect(text))
            .collect();
        let peer: IpAddr = peer.parse().expect(peer);
        origin_of(peer, &headers, &trusted).to_string()
    }

    #[test]
    fn a_forged_forwarded_address_is_not_believed() {
        assert_eq!(origin("192.0.2.7", &["1.1.1.1"], &[]), "192.0.2.7");
        assert_eq!(
            origin("192.0.2.7", &["1.1.1.1"], &["10.0.0.0/8"]),
            "192.0.2.7"
        );
        // The caller's own entries are left of the proxy's.
        assert_eq!(
            origin("10.0.0.1", &["1.1.1.1, 192.0.2.7"], &["10.0.0.0/8"]),
            "192.0.2.7"
        );
        assert_eq!(
            origin(
                "10.0.0.1",
                &["1.1.1.1", "192.0.2.7, 10.9.9.9"],
                &["10.0.0.0/8"]
            ),
            "192.0.2.7"
        );
    }

    #[test]
    fn what_is_no_address_ends_the_chain() {
        assert_eq!(
            origin("10.0.0.1", &["1.1.1.1, nonsense"], &["10.0.0.1"]),
            "10.0.0.1"
        );
        assert_eq!(origin("10.0.0.1", &[""], &["10.0.0.1"]), "10.0.0.1");
        assert_eq!(origin("10.0.0.1", &[], &["10.0.0.1"]), "10.0.0.1");
    }

    #[test]
    fn both_families_and_mapped_addresses_are_known() {
        assert_eq!(
            origin("fd00::1", &["2001:db8::7"], &["fd00::/8"]),
            "2001:db8::7"
        );
        assert_eq!(
            origin("::ffff:10.0.0.1", &["192.0.2.7"], &["10.0.0.0/8"]),
            "192.0.2.7"
        );
        for bad in ["", "10.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "host"] {
            assert!(AddressRange::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_says_that_a_request_came_by_tls() {
        let trusted = [AddressRange::parse("10.0.0.0/8").expect("a range")];
        for (peer, lines, expected) in [
            ("10.0.0.1", &["https"][..], true),
            ("::ffff:10.0.0.1", &["HTTPS"], true),
            ("10.0.0.1", &["http, https"], true),
            ("10.0.0.1", &["http", "https"], true),
            ("10.0.0.1", &["https, http"], false),
            ("10.0.0.1", &["http"], false),
            ("10.0.0.1", &[], false),
            ("192.0.2.7", &["https"], false),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(SCHEME, line.parse().expect("a header"));
            }
            let peer: IpAddr = peer.parse().expect(peer);
            let found = is_forwarded_by_tls(Some(peer), &headers, &trusted);
            assert_eq!(found, expected, "{peer} {lines:?}");
            assert!(!is_forwarded_by_tls(None, &headers, &trusted));
        }
    }
}
