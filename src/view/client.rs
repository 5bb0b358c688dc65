//! Puts a client into words.

use crate::audit::Client;

/// A client as it names itself, with its version.
pub(crate) fn client_name(client: &Client) -> String {
    let named = [client.name.as_str(), client.version.as_str()].join(" ");
    match named.trim() {
        "" => "an unnamed client".to_owned(),
        named => named.to_owned(),
    }
}
