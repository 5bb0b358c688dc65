//! Reads the policy: permitted writes, their confirmation, and the tools offered.

use std::path::{PathBuf, absolute};
use std::sync::Arc;

use super::write_policy;
use super::{SETTINGS, SettingError, SettingsSource, storage, why_unread};
use crate::audit::Pauses;
use crate::gates::{Authority, ClientLimits, Policy};
use crate::notify::ReviewAddress;
use crate::page::{Prefix, ReadRule, ReadScope, Trash};
use crate::tools::{ToolSelection, Toolset};

/// The policy for writes and reads: the server's, narrowed by the site's own.
pub(super) fn policy(source: &SettingsSource<'_>) -> Result<Policy, SettingError> {
    if source.site.is_none() {
        return of_server(source);
    }
    let server = source.of_server();
    let policy = of_server(&server).map_err(|fault| server.placed(fault))?;
    narrowed(policy, source)
}

/// The policy of a site: none of its gates may be wider than the server's.
fn narrowed(policy: Policy, site: &SettingsSource<'_>) -> Result<Policy, SettingError> {
    let narrowing = ClientLimits {
        prefixes: allowed(site)?,
        reads: read_rule(site)?,
        ..ClientLimits::default()
    };
    let resolved = write_policy::resolved(site)?;
    let mut own = Policy {
        writes: resolved.writes,
        set_by: resolved.set_by,
        fallback_set_by: resolved.fallback_set_by,
        read_only: resolved.read_only,
        static_token: resolved.static_token,
        ..policy.narrowed_by(&narrowing)
    };
    let denied = site.prefixes("WIKI_DENIED_MUTATION_PATH_PREFIXES")?;
    own.denied.extend(denied.into_iter().flatten());
    own.trash = trash(site)?;
    own.uploads = uploads(site)?;
    own.review = policy.review.at(site.site.map(|site| site.name.clone()));
    Ok(own)
}

pub(super) fn of_server(source: &SettingsSource<'_>) -> Result<Policy, SettingError> {
    let tables = source.tables();
    let resolved = write_policy::resolved(source)?;
    Ok(Policy {
        writes: resolved.writes,
        set_by: resolved.set_by,
        fallback_set_by: resolved.fallback_set_by,
        read_only: resolved.read_only,
        static_token: resolved.static_token,
        authority: Authority::Client,
        allowed: allowed(source)?,
        denied: source
            .prefixes("WIKI_DENIED_MUTATION_PATH_PREFIXES")?
            .unwrap_or_default(),
        reads: reads(source)?,
        trash: trash(source)?,
        uploads: uploads(source)?,
        pauses: Pauses::new(storage::store(source)?),
        rules: Arc::new(tables.rules),
        checks: tables.checks.into(),
        review: review_address(source)?,
    })
}

/// The public address of the review page.
///
/// # Errors
/// If the setting is bad.
pub fn review_address(source: &SettingsSource<'_>) -> Result<ReviewAddress, SettingError> {
    let named = source.parsed("WIKI_REVIEW_URL", ReviewAddress::parse)?;
    Ok(named.unwrap_or_default())
}

pub(super) fn allowed(source: &SettingsSource<'_>) -> Result<Option<Vec<Prefix>>, SettingError> {
    source.prefixes("WIKI_ALLOWED_MUTATION_PATH_PREFIXES")
}

/// The pages that may be read.
pub(super) fn reads(source: &SettingsSource<'_>) -> Result<ReadScope, SettingError> {
    read_rule(source).map(|rule| ReadScope::new(&rule))
}

fn read_rule(source: &SettingsSource<'_>) -> Result<ReadRule, SettingError> {
    const TAGS: &str = "WIKI_DENIED_READ_TAGS";
    let denied = source.prefixes("WIKI_DENIED_READ_PATH_PREFIXES")?;
    let tags = source.filled(TAGS)?.map(|text| {
        let tags = text.split(',').map(|tag| tag.trim().to_owned());
        tags.collect::<Vec<String>>()
    });
    let tags = tags.unwrap_or_default();
    if tags.iter().any(String::is_empty) {
        return Err(SettingError::new(TAGS, "has an empty tag".to_owned()));
    }
    Ok(ReadRule::new(
        source.prefixes("WIKI_ALLOWED_READ_PATH_PREFIXES")?,
        denied.unwrap_or_default(),
        &tags,
    ))
}

fn trash(source: &SettingsSource<'_>) -> Result<Option<Trash>, SettingError> {
    source.parsed("WIKI_TRASH_PREFIX", Trash::parse)
}

fn uploads(source: &SettingsSource<'_>) -> Result<Option<PathBuf>, SettingError> {
    const NAME: &str = "WIKI_UPLOAD_DIR";
    let Some(dir) = source.path(NAME)? else {
        return Ok(None);
    };
    let wrong = |fault: String| Err(SettingError::new(NAME, fault));
    let real = match dir.canonicalize() {
        Ok(real) if real.is_dir() => real,
        Ok(_) => return wrong("is no directory".to_owned()),
        Err(error) => return wrong(format!("cannot be read: {}", why_unread(error.kind()))),
    };
    for secret in secret_places(source)? {
        let place = secret.canonicalize().or_else(|_| absolute(&secret));
        if place.is_ok_and(|place| place.starts_with(&real)) {
            let secret = secret.display();
            return wrong(format!(
                "holds {secret}, which nobody may upload; name a directory that holds nothing else"
            ));
        }
    }
    Ok(Some(dir))
}

/// Paths that must not be uploaded: records, keys, tokens, of whichever site, and the settings themselves.
fn secret_places(source: &SettingsSource<'_>) -> Result<Vec<PathBuf>, SettingError> {
    let mut places = vec![storage::audit_dir(source)?];
    let sites = source.file.into_iter().flat_map(|file| &file.sites);
    let of_sites = sites.map(|site| SettingsSource {
        site: Some(site),
        ..*source
    });
    for source in of_sites.chain([source.of_server()]) {
        for setting in SETTINGS.iter().filter(|setting| setting.names_a_secret()) {
            places.extend(source.path(setting.name)?);
        }
    }
    if let Some(file) = source.file {
        let oauth = file.tables.oauth.iter();
        let of_page = oauth.flat_map(|it| [&it.review_secret_file, &it.review_key_file]);
        places.extend(of_page.flatten().cloned());
        places.push(file.path.clone());
    }
    Ok(places)
}

const SETS: &str = "WIKI_TOOLSETS";
const TOOLS: &str = "WIKI_TOOLS";

/// The tools on offer: the server's, or the site's part of them.
pub(super) fn surface(source: &SettingsSource<'_>) -> Result<ToolSelection, SettingError> {
    let server = if source.site.is_some() {
        let server = source.of_server();
        Some(surface_of(&server, None).map_err(|fault| server.placed(fault))?)
    } else {
        None
    };
    let mut surface = surface_of(source, server)?;
    if source.tables().checks.is_empty() {
        surface.leave_out(Toolset::Checks);
    }
    Ok(surface)
}

/// The tools that a source names. With `server`, the source is a site: it may name only tools that
/// the server offers, and gets all of them if it names none.
pub(super) fn surface_of(
    source: &SettingsSource<'_>,
    server: Option<ToolSelection>,
) -> Result<ToolSelection, SettingError> {
    const EXCLUDE: &str = "WIKI_EXCLUDE_TOOLS";
    const READ_ONLY: &str = "WIKI_READ_ONLY";
    let tools = source.filled(TOOLS)?;
    let sets = match (&tools, &server) {
        (None, None) => source.or_default(SETS)?,
        _ => source.filled(SETS)?,
    };
    let names_any = tools.is_some() || sets.is_some();
    let named = if tools.is_some() { TOOLS } else { SETS };
    let mut surface = match sets {
        Some(sets) => {
            let sets = Toolset::parse_list(&sets);
            ToolSelection::new(&sets.map_err(|fault| SettingError::new(SETS, fault))?)
        }
        None if tools.is_some() => ToolSelection::default().of_single_tools(),
        None => ToolSelection::default(),
    };
    if let Some(tools) = tools {
        let added = surface.add(&tools);
        added.map_err(|fault| SettingError::new(TOOLS, fault))?;
    }
    if let Some(server) = server {
        if !names_any {
            surface = server;
        } else if let Some(missing) = surface.beyond(&server) {
            let fault = format!(
                "has {missing}, which the server does not offer; a site can only offer fewer tools"
            );
            return Err(SettingError::new(named, fault));
        } else {
            surface.narrow_customs(&server);
        }
    }
    let excluded = source.filled(EXCLUDE)?;
    if let Some(tools) = &excluded {
        let removed = surface.exclude(tools);
        removed.map_err(|fault| SettingError::new(EXCLUDE, fault))?;
    }
    if source.flag(READ_ONLY)? {
        surface.keep_reading();
    }
    if surface.is_empty() {
        let name = if excluded.is_some() {
            EXCLUDE
        } else {
            READ_ONLY
        };
        return Err(SettingError::new(
            name,
            "leaves no tool; leave it out or offer more tools",
        ));
    }
    Ok(surface)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use super::{SETTINGS, SettingsSource, uploads};
    use crate::config::SettingKind;
    use crate::config::file::File;
    use crate::config::tables::schemas;

    /// Settings that name files or directories of which nothing is secret.
    const OPEN: [&str; 5] = [
        "WIKI_UPLOAD_DIR",
        "WIKI_CUSTOM_TOOLS_DIR",
        "WIKI_CA_FILE",
        "WIKI_CLIENT_CERT_FILE",
        "WIKI_SERVE_CERT_FILE",
    ];

    /// True if a directory is taken for uploads under this file, which has more lines.
    fn is_taken(dir: &Path, lines: &str) -> bool {
        let text = format!("upload_dir = {dir:?}\n{lines}\n");
        let file = File::parse(Path::new("/c.toml"), &text);
        let file = file.unwrap_or_else(|faults| panic!("{lines}: {}", faults[0]));
        let get = |name: &str| (name == "HOME").then(|| OsString::from("/nowhere"));
        let source = SettingsSource {
            file: Some(&file),
            ..SettingsSource::new(&get)
        };
        uploads(&source).is_ok()
    }

    #[test]
    fn a_directory_with_what_a_setting_keeps_secret_is_none_for_uploads() {
        let dir = tempfile::tempdir().unwrap();
        let dir = &dir.path().canonicalize().unwrap();
        let secret = dir.join("secret");
        assert!(is_taken(dir, ""));
        let paths = SETTINGS.iter().filter(|it| it.kind == SettingKind::Path);
        for setting in paths.filter(|it| it.name != "WIKI_UPLOAD_DIR") {
            let line = format!("{} = {secret:?}", setting.file_name());
            let is_open = OPEN.contains(&setting.name);
            assert_eq!(is_taken(dir, &line), is_open, "{line}");
        }
        let of_site = format!("[sites.other]\napi_token_file = {secret:?}");
        assert!(!is_taken(dir, &of_site));
        let [.., (_, schema)] = schemas();
        let members = schema["properties"].as_object().unwrap().keys();
        for member in members.filter(|member| member.ends_with("_file")) {
            let lines = format!(
                "[oauth]\nissuer = \"https://id.example.com\"\naudiences = [\"x\"]\n\
                 review_client_id = \"page\"\n{member} = {secret:?}"
            );
            assert!(!is_taken(dir, &lines), "{lines}");
        }
    }
}
