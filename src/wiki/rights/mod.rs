//! Learns a key's standing and rights, and bounds what may be read with it.

pub(super) mod key;
pub(super) mod key_state;
pub(super) mod key_status;
pub(super) mod may_read;
pub(super) mod pages;
pub(super) mod readable_pages;
pub(super) mod site;
pub(super) mod unknown_keys;
