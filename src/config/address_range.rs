//! Ranges of network addresses, as settings name them.

use std::net::IpAddr;

/// A range of network addresses: one address, or all that begin like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    address: IpAddr,
    bits: u32,
}

impl AddressRange {
    /// Reads `10.0.0.1`, `10.0.0.0/8` or `fd00::/8`.
    ///
    /// # Errors
    /// One sentence about what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "must be an address or a range such as 10.0.0.0/8".to_owned();
        let text = text.trim();
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            Some(bits) => bits
                .parse()
                .ok()
                .filter(|bits| *bits <= most)
                .ok_or_else(wrong)?,
        };
        Ok(Self { address, bits })
    }

    /// True if an address is in the range.
    pub fn holds(&self, other: IpAddr) -> bool {
        let differing = match (self.address, other) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            _ => return false,
        };
        differing >= self.bits
    }
}
