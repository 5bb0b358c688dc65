//! Fields of the wiki's API that hold secrets, and those that show pages.
//!
//! A custom query never reads a secret, whatever the key may. What is listed here is denied by
//! the type that the field belongs to, so that no alias hides it. The words catch
//! what other versions of the wiki call differently.

/// A type, and its fields that are denied; all of them where it names none.
const DENIED: &[(&str, &[&str])] = &[
    // API keys and ways to sign in.
    (
        "AuthenticationQuery",
        &["apiKeys", "strategies", "activeStrategies"],
    ),
    ("AuthenticationApiKey", &[]),
    ("AuthenticationCreateApiKeyResponse", &[]),
    ("AuthenticationStrategy", &[]),
    ("AuthenticationActiveStrategy", &[]),
    ("AuthenticationLoginResponse", &[]),
    ("AuthenticationRegisterResponse", &[]),
    ("UserTokenResponse", &[]),
    // Mail and storage: passwords, keys, addresses with tokens in them and in their errors.
    ("MailQuery", &[]),
    ("MailConfig", &[]),
    ("StorageQuery", &[]),
    ("StorageTarget", &[]),
    ("StorageStatus", &[]),
    // The configuration of modules.
    ("AnalyticsProvider", &["config", "props"]),
    ("CommentProvider", &["config"]),
    ("Logger", &["config"]),
    ("Renderer", &["config"]),
    ("SearchEngine", &["config"]),
    ("KeyValuePair", &[]),
    // Certificates, and what is between the wiki and its makers.
    (
        "SystemInfo",
        &[
            "sslDomain",
            "sslExpirationDate",
            "sslProvider",
            "sslStatus",
            "sslSubscriberEmail",
            "telemetryClientId",
        ],
    ),
    (
        "SiteConfig",
        &[
            "authJwtAudience",
            "authJwtExpiration",
            "authJwtRenewablePeriod",
        ],
    ),
];

/// Words in the name of any field, in small letters.
const WORDS: [&str; 10] = [
    "password",
    "secret",
    "token",
    "jwt",
    "privatekey",
    "apikey",
    "credential",
    "keyshort",
    "qrimage",
    "accesskey",
];
/// Whole names of any field, in small letters.
const NAMES: [&str; 2] = ["pass", "passphrase"];

/// True if a field holds secrets: by its type and name, or by the type that it leads to.
pub(super) fn is_secret(parent: &str, field: &str, leads_to: &str) -> bool {
    let of_type = |name: &str| DENIED.iter().find(|(denied, _)| *denied == name);
    let is_denied =
        of_type(parent).is_some_and(|(_, fields)| fields.is_empty() || fields.contains(&field));
    let leads_there = of_type(leads_to).is_some_and(|(_, fields)| fields.is_empty());
    let name = field.to_ascii_lowercase();
    let is_named = WORDS.iter().any(|word| name.contains(word)) || NAMES.contains(&name.as_str());
    is_denied || leads_there || is_named
}

/// Root fields of queries that show nothing of pages, comments or assets.
const APART: [&str; 11] = [
    "analytics",
    "authentication",
    "contribute",
    "groups",
    "localization",
    "logging",
    "rendering",
    "search",
    "site",
    "system",
    "theming",
];
/// The same for users: they have groups, and these have rules of pages.
const USERS: &str = "users";
/// Words in the names of types that show something of pages.
const OF_PAGES: [&str; 5] = ["Page", "Comment", "Asset", "Navigation", "Tag"];

/// Words in the names of fields that show something of pages, in small letters.
const COUNTED: [&str; 4] = ["page", "comment", "asset", "tags"];

/// True if a field shows something of pages, comments or assets. A field counts unless it is known
/// to show none of them.
pub(super) fn touches_pages(is_root: bool, field: &str, parent: &str, leads_to: &str) -> bool {
    let is_apart = APART.contains(&field) || field == USERS || field == "__typename";
    let name = field.to_ascii_lowercase();
    // Such as how many there are.
    let is_named = COUNTED.iter().any(|word| name.contains(word));
    (is_root && !is_apart)
        || is_named
        || OF_PAGES
            .iter()
            .any(|word| parent.contains(word) || leads_to.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{is_secret, touches_pages};

    #[test]
    fn what_holds_secrets_is_denied_by_type_and_field() {
        for (parent, field, leads_to) in [
            ("AuthenticationQuery", "apiKeys", "AuthenticationApiKey"),
            (
                "AuthenticationQuery",
                "strategies",
                "AuthenticationStrategy",
            ),
            (
                "AuthenticationQuery",
                "activeStrategies",
                "AuthenticationActiveStrategy",
            ),
            ("Query", "mail", "MailQuery"),
            ("MailQuery", "config", "MailConfig"),
            ("MailConfig", "host", "String"),
            ("Query", "storage", "StorageQuery"),
            ("StorageQuery", "targets", "StorageTarget"),
            ("StorageStatus", "message", "String"),
            ("SearchEngine", "config", "KeyValuePair"),
            ("Renderer", "config", "KeyValuePair"),
            ("AnalyticsProvider", "config", "KeyValuePair"),
            ("Logger", "config", "KeyValuePair"),
            ("CommentProvider", "config", "KeyValuePair"),
            ("Anything", "settings", "KeyValuePair"),
            ("SystemInfo", "sslSubscriberEmail", "String"),
            ("SystemInfo", "telemetryClientId", "String"),
            ("Module", "apiKey", "String"),
            ("Module", "AWS_SECRET", "String"),
            ("Module", "pass", "String"),
            ("User", "tfaSecret", "String"),
            ("User", "passwordHash", "String"),
        ] {
            assert!(is_secret(parent, field, leads_to), "{parent}.{field}");
        }
        for (parent, field, leads_to) in [
            ("Query", "authentication", "AuthenticationQuery"),
            ("AuthenticationQuery", "apiState", "Boolean"),
            ("Query", "users", "UserQuery"),
            ("User", "email", "String"),
            ("User", "tfaIsActive", "Boolean"),
            ("SystemInfo", "currentVersion", "String"),
            ("SystemInfo", "pagesTotal", "Int"),
            ("SearchEngine", "key", "String"),
            ("NavigationQuery", "config", "NavigationConfig"),
            ("ThemingQuery", "config", "ThemingConfig"),
            ("SiteConfig", "title", "String"),
            ("Translation", "key", "String"),
        ] {
            assert!(!is_secret(parent, field, leads_to), "{parent}.{field}");
        }
    }

    #[test]
    fn what_shows_pages_is_known_and_what_is_unknown_counts() {
        for (is_root, field, parent, leads_to) in [
            (true, "pages", "Query", "PageQuery"),
            (true, "comments", "Query", "CommentQuery"),
            (true, "assets", "Query", "AssetQuery"),
            (true, "navigation", "Query", "NavigationQuery"),
            (true, "somethingNew", "Query", "NewQuery"),
            (false, "pageRules", "Group", "PageRule"),
            (false, "path", "PageRule", "String"),
            (false, "pagesTotal", "SystemInfo", "Int"),
            (false, "tagsTotal", "SystemInfo", "Int"),
        ] {
            assert!(touches_pages(is_root, field, parent, leads_to), "{field}");
        }
        for (is_root, field, parent, leads_to) in [
            (true, "users", "Query", "UserQuery"),
            (true, "system", "Query", "SystemQuery"),
            (true, "__typename", "Query", "String"),
            (false, "list", "UserQuery", "UserMinimal"),
            (false, "groups", "User", "Group"),
        ] {
            assert!(!touches_pages(is_root, field, parent, leads_to), "{field}");
        }
    }
}
