//! Parses the address of a database.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use url::Url;

use crate::page::percent_decoded_whole;

/// The schema that has our tables, if the address names none.
const SCHEMA: &str = "wikijs_gate";
/// The most bytes of a name in PostgreSQL.
const LONGEST_NAME: usize = 63;
const PORT: u16 = 5432;

/// A database and our schema in it, without a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseAddress {
    pub(super) place: ServerPlace,
    pub(super) user: String,
    pub(super) database: String,
    pub(super) schema: String,
    /// True if nothing is encrypted.
    pub(super) is_plain: bool,
    /// The file of the authorities that vouch for the server, in place of the system's.
    pub(super) authorities: Option<PathBuf>,
}

/// The server of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerPlace {
    /// By a name or an IP address, and a port.
    Host(String, u16),
    /// By a socket of this machine.
    Socket(PathBuf),
}

/// As operators know it: who, where and which schema.
impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@", self.user)?;
        match &self.place {
            ServerPlace::Host(host, port) => write!(f, "{host}:{port}")?,
            ServerPlace::Socket(path) => path.display().fmt(f)?,
        }
        write!(f, "/{} (schema {}", self.database, self.schema)?;
        f.write_str(if self.is_plain {
            ", not encrypted)"
        } else {
            ")"
        })
    }
}

impl DatabaseAddress {
    /// Parses `postgres://user@host:port/database`, and repeats none of it in a fault, which is a sentence's end.
    /// Parameters: `sslmode`, which is `verify-full` or, on this machine, `disable`; `sslrootcert`, the file of the
    /// authorities that vouch for the server; `schema`; `host`, the directory of a socket.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const FORM: &str =
            "must be local or have the form postgres://user@host/database, with a port or without";
        let url = Url::parse(text).map_err(|_| FORM)?;
        if !matches!(url.scheme(), "postgres" | "postgresql") || url.fragment().is_some() {
            return Err(FORM);
        }
        if url.password().is_some() || url.query().is_some_and(|asks| asks.contains("password")) {
            return Err(
                "holds a password, which others may read there; put it into a file of its own and name that as store_password_file, or set store_password_command",
            );
        }
        let decoded = |text: &str| {
            percent_decoded_whole(text).filter(|text| !text.is_empty() && !text.contains('\0'))
        };
        let mut host = url.host_str().and_then(decoded);
        let (mut schema, mut mode, mut authorities) = (SCHEMA.to_owned(), None, None);
        for (name, value) in url.query_pairs() {
            let value = value.into_owned();
            match &*name {
                "host" => host = Some(value),
                "schema" if is_plain_name(&value) => schema = value,
                "schema" => {
                    return Err(
                        "has a schema that is not of a-z, 0-9 and _, beginning with a letter but not with pg_",
                    );
                }
                "sslmode" => mode = Some(value),
                "sslrootcert" if value.starts_with('/') => authorities = Some(value.into()),
                "sslrootcert" => return Err("has an sslrootcert that is no path from the root on"),
                _ => {
                    return Err("has a parameter other than host, schema, sslmode and sslrootcert");
                }
            }
        }
        let host = host.ok_or(FORM)?;
        let port = url.port().unwrap_or(PORT);
        let place = if host.starts_with('/') {
            ServerPlace::Socket(PathBuf::from(host).join(format!(".s.PGSQL.{port}")))
        } else if host.contains(',') {
            return Err("names several hosts; name one that always leads to the primary");
        } else {
            // An IPv6 address stands in brackets.
            ServerPlace::Host(host.trim_matches(['[', ']']).to_owned(), port)
        };
        let is_plain = is_plain(&place, mode.as_deref())?;
        if is_plain && authorities.is_some() {
            return Err("has an sslrootcert, and nothing is encrypted; leave one of them out");
        }
        Ok(Self {
            user: decoded(url.username()).ok_or("must name a user")?,
            database: { url.path().strip_prefix('/') }
                .filter(|name| !name.contains('/'))
                .and_then(decoded)
                .ok_or("must name a database")?,
            is_plain,
            place,
            schema,
            authorities,
        })
    }
}

/// True if nothing is to be encrypted, which only a server on this machine may ask for.
fn is_plain(place: &ServerPlace, mode: Option<&str>) -> Result<bool, &'static str> {
    match (place, mode) {
        (ServerPlace::Socket(_), None | Some("disable")) => Ok(true),
        (ServerPlace::Socket(_), Some(_)) => Err("asks for encryption on a socket of this machine"),
        (ServerPlace::Host(host, _), Some("disable")) => {
            let address = host.parse::<IpAddr>();
            if host == "localhost" || address.is_ok_and(|it| it.to_canonical().is_loopback()) {
                Ok(true)
            } else {
                Err("has sslmode=disable, which only a database on this machine may have")
            }
        }
        (ServerPlace::Host(..), None | Some("verify-full")) => Ok(false),
        (ServerPlace::Host(..), Some(_)) => {
            Err("has an sslmode other than verify-full and disable")
        }
    }
}

/// True if a name means the same with quotes and without.
fn is_plain_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.starts_with("pg_")
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::{DatabaseAddress, ServerPlace};

    #[test]
    fn an_address_names_server_user_database_and_schema() {
        let address = DatabaseAddress::parse("postgres://us%40er@db.example.com/wi%20ki").unwrap();
        let host = ServerPlace::Host("db.example.com".to_owned(), 5432);
        assert_eq!((address.place, address.is_plain), (host, false));
        assert_eq!((&*address.user, &*address.database), ("us@er", "wi ki"));
        assert_eq!(address.schema, "wikijs_gate");
        assert_eq!(address.authorities, None);
        let address = DatabaseAddress::parse("postgres://u@h/d?sslrootcert=/etc/my%20ca.pem");
        let authorities = address.unwrap().authorities;
        assert_eq!(authorities, Some("/etc/my ca.pem".into()));
        let text = "postgresql://u@[::1]:6432/d?sslmode=disable&schema=gate_2";
        let address = DatabaseAddress::parse(text).unwrap();
        let host = ServerPlace::Host("::1".to_owned(), 6432);
        assert_eq!((address.place, address.is_plain), (host, true));
        assert_eq!(address.schema, "gate_2");
        let address =
            DatabaseAddress::parse("postgres://u@localhost/d?host=/run/postgresql").unwrap();
        let socket = ServerPlace::Socket("/run/postgresql/.s.PGSQL.5432".into());
        assert_eq!((address.place, address.is_plain), (socket.clone(), true));
        let address = DatabaseAddress::parse("postgres://u@%2Frun%2Fpostgresql/d").unwrap();
        assert_eq!((address.place, address.is_plain), (socket, true));
    }

    #[test]
    fn an_address_that_cannot_be_meant_is_refused() {
        for (text, fault) in [
            ("https://u@h/d", "must be local or"),
            ("postgres:u", "must be local or"),
            ("postgres:///d", "must be local or"),
            ("postgres://u@/d", "must be local or"),
            ("postgres://h/d", "a user"),
            ("postgres://u@h", "a database"),
            ("postgres://u@h/", "a database"),
            ("postgres://u:secret@h/d", "a password"),
            ("postgres://u@h/d?password=secret", "a password"),
            ("postgres://u@h/d?secret", "a parameter other"),
            ("postgres://u@h/d/secret", "a database"),
            ("postgres://u@h,i/d", "several hosts"),
            ("postgres://u@h/d?schema=A", "a schema"),
            ("postgres://u@h/d?schema=pg_gate", "a schema"),
            ("postgres://u@h/d?schema=a%22b", "a schema"),
            ("postgres://u@h/d?sslmode=prefer", "an sslmode"),
            ("postgres://u@h/d?sslmode=disable", "sslmode=disable"),
            ("postgres://u@10.0.0.1/d?sslmode=disable", "sslmode=disable"),
            (
                "postgres://u@localhost.example.com/d?sslmode=disable",
                "sslmode=disable",
            ),
            ("postgres://u@h/d?host=/run&sslmode=verify-full", "a socket"),
            (
                "postgres://u@h/d?sslrootcert=secret.pem",
                "from the root on",
            ),
            ("postgres://u@h/d?sslrootcert=system", "from the root on"),
            (
                "postgres://u@h/d?host=/run&sslrootcert=/secret",
                "encrypted",
            ),
        ] {
            let refused = DatabaseAddress::parse(text).unwrap_err();
            assert!(refused.contains(fault), "{text}: {refused}");
            assert!(!refused.contains("secret"));
        }
    }
}
