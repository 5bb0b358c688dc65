//! Puts a client into words.

use crate::audit::Client;

/// A client as it names itself, with its version.
pub fn client_name(client: &Client) -> String {
    let named = [client.name.as_str(), client.version.as_str()].join(" ");
    match named.trim() {
        "" => "an unnamed client".to_owned(),
        named => named.to_owned(),
    }
}

/// The same with the identity that it was authenticated as.
pub(super) fn client(client: &Client) -> String {
    let named = client_name(client);
    match &client.subject {
        Some(subject) => format!("{named} as {subject}"),
        None => named,
    }
}
