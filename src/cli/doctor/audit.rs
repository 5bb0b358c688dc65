//! Checks that writes can be recorded and that the record is intact.

#[cfg(feature = "postgres")]
use std::io::ErrorKind;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, accessat};

use super::super::print::{self, counted};
use super::finding::DoctorFinding;
use crate::audit::{AnchorSettings, AnchorsTo, AuditLog, Health, StoreHome};
use crate::error::sentence;
#[cfg(feature = "postgres")]
use crate::store::{StoreError, blocking};
use crate::words::separated;

/// Less free space than this is little, in megabytes.
const LITTLE: u64 = 100;
/// The bytes of a row that a database must take.
#[cfg(feature = "postgres")]
const PROBE: usize = 4096;
const MEGABYTE: u64 = 1 << 20;

pub(super) async fn found(
    store: &StoreHome,
    wiki: &str,
    anchors: Option<&AnchorSettings>,
) -> Vec<DoctorFinding> {
    let log = AuditLog::new(store.clone(), wiki);
    let found = match log.upkeep.health().await {
        Ok(health) => {
            let mut found = findings(&health, store);
            found.extend(anchors.map(|anchors| anchored(&log, anchors)));
            found
        }
        Err(error) => vec![DoctorFinding::wrong(
            format!("{store}: {error}"),
            sentence(error.hint()).as_str(),
        )],
    };
    #[cfg(feature = "postgres")]
    let found = [found, of_database(store).await]
        .into_iter()
        .flatten()
        .collect();
    found
}

/// A database that takes nothing, whose role may not do all that we do, or that may lose what it synced.
#[cfg(feature = "postgres")]
async fn of_database(store: &StoreHome) -> Vec<DoctorFinding> {
    let home = store.clone();
    let asked = move || match home.database() {
        Some(database) => {
            let (is_read_only, missing) = (database.is_read_only()?, database.missing_rights()?);
            let may_write = !is_read_only && missing.is_empty();
            let probed = may_write.then(|| home.shared().probe(PROBE));
            let refused = probed.and_then(Result::err);
            Ok((is_read_only, missing, refused, database.failover_risk()?))
        }
        None => Ok((false, Vec::new(), None, None)),
    };
    let (is_read_only, missing, refused, risk) = match blocking::<_, StoreError, _>(asked).await {
        Ok(asked) => asked,
        Err(error) => {
            return vec![DoctorFinding::wrong(
                format!("WIKI_STORE cannot be used: {error}"),
                "The program's log says what the database answered.",
            )];
        }
    };
    let read_only = is_read_only.then(|| {
        DoctorFinding::wrong(
            "the database of WIKI_STORE takes no changes: no write would happen",
            "Name the primary in WIKI_STORE, or turn default_transaction_read_only off.",
        )
    });
    let lacking = (!missing.is_empty()).then(|| {
        DoctorFinding::wrong(
            format!(
                "the role of WIKI_STORE lacks rights: {}",
                missing.join(", ")
            ),
            "Let the owner of the tables GRANT them.",
        )
    });
    // What it lacks as a whole was found before.
    let refused = refused.filter(|error| !matches!(error, StoreError::NotReady(_)));
    let refused = refused.map(|error| {
        DoctorFinding::wrong(
            format!("the database of WIKI_STORE takes no row: {error}; no write would happen"),
            if error == StoreError::Io(ErrorKind::StorageFull) {
                "Make room on the disk of the database."
            } else {
                "The program's log says what the database answered."
            },
        )
    });
    let risk = risk.map(|risk| {
        DoctorFinding::warning(
            format!("the database of WIKI_STORE {risk}"),
            "What a failover without one loses stands in docs/replicas.md.",
        )
    });
    let found = [read_only, lacking, refused, risk];
    found.into_iter().flatten().collect()
}

fn findings(health: &Health, store: &StoreHome) -> Vec<DoctorFinding> {
    let directory = if store.is_remote() {
        store.to_string()
    } else {
        health.directory.display().to_string()
    };
    let mut found = Vec::new();
    if health.files.is_read_only {
        found.push(DoctorFinding::wrong(
            format!("the file system of {directory} is mounted read-only: no write would happen"),
            "Mount it for writing, or name another directory in WIKI_AUDIT_DIR. What is on record can be read and copied as it is.",
        ));
    } else if !health.files.is_writable {
        found.push(DoctorFinding::wrong(
            format!("{directory} cannot be written: no write would happen"),
            "Give this user the directory, or name another in WIKI_AUDIT_DIR.",
        ));
    }
    if let Some(first) = health.files.closed.first() {
        found.push(closed(health, first));
    }
    if !health.files.writable_by_others.is_empty() {
        let shown = health.files.writable_by_others.iter();
        let shown = separated(shown.map(|dir| dir.display()), " ");
        found.push(DoctorFinding::wrong(
            format!("others than the owner may write {shown}: they can take the log away, and no server starts"),
            format!("Run: chmod go-w {shown}").as_str(),
        ));
    } else if health.files.exposed > 0 {
        found.push(DoctorFinding::warning(
            format!(
                "others than their owner may use {} of {directory}",
                counted(
                    health.files.exposed,
                    "file or directory",
                    "files or directories"
                )
            ),
            format!("Run: chmod -R go= {directory}").as_str(),
        ));
    }
    let free = health.files.free.map(|bytes| bytes / MEGABYTE);
    if let Some(free) = free.filter(|free| *free < LITTLE) {
        found.push(DoctorFinding::warning(
            format!("{directory} has {free} MB of free space"),
            "Make room: without it no write happens.",
        ));
    }
    for (run, broken) in &health.broken {
        found.push(DoctorFinding::wrong(
            format!("the chain of {run} does not hold, {broken}"),
            "Find out who changed the log; a backup of the file shows what it said.",
        ));
    }
    if health.open > 0 {
        found.push(DoctorFinding::warning(
            format!(
                "no outcome is on record of {}",
                counted(health.open, "attempt", "attempts")
            ),
            "Start the server: it settles them before it writes.",
        ));
    }
    if found.is_empty() {
        found.push(DoctorFinding::good(if health.exists {
            let runs = counted(health.runs, "run", "runs");
            format!("{directory} holds {runs}, and each chain of records holds")
        } else {
            format!("{directory} is not there yet and can be made")
        }));
    }
    found
}

/// Checks that heads are anchored where the settings say.
fn anchored(log: &AuditLog, anchors: &AnchorSettings) -> DoctorFinding {
    let place = match &anchors.to {
        AnchorsTo::File(file) => {
            if let Some(why) = unfit(file) {
                return DoctorFinding::wrong(
                    format!("heads cannot be anchored in {}: {why}", print::path(file)),
                    "Correct audit_anchors, or the rights of its file.",
                );
            }
            print::path(file)
        }
        AnchorsTo::Command(command) => {
            let program = command.argv.first().map_or("", String::as_str);
            format!("the command {}", print::harmless(program))
        }
    };
    if let Some(fault) = log.anchoring.fault_left() {
        return DoctorFinding::warning(
            print::harmless(&fault.to_string()),
            "Until that is mended, nothing outside the log holds what is put on record.",
        );
    }
    let key = anchors.key.as_ref();
    let signed = key.map_or_else(
        || "not signed".to_owned(),
        |key| format!("signed by {}", key.public().id()),
    );
    DoctorFinding::good(format!("heads are anchored in {place}, {signed}"))
}

/// The reason why a file cannot take anchors, if there is one; the file is not opened.
fn unfit(file: &Path) -> Option<&'static str> {
    let may = |path: &Path| accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    match file.symlink_metadata() {
        Ok(found) if found.is_symlink() => Some("it is a link"),
        Ok(found) if !found.is_file() => Some("it is not a file"),
        Ok(_) if may(file) => None,
        Ok(_) => Some("this user may not write it"),
        Err(_) => {
            let parent = file.parent().filter(|dir| !dir.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new("."));
            (!may(parent)).then_some("it is not there, and this user cannot make it")
        }
    }
}

/// The finding for files that the owner of the log, who runs its server, cannot open.
fn closed(health: &Health, first: &Path) -> DoctorFinding {
    let more = match health.files.closed.len() {
        0 | 1 => String::new(),
        count => format!(", nor {} more", count - 1),
    };
    let (user, group) = health.files.owner.unwrap_or_default();
    let directory = health.directory.display();
    DoctorFinding::wrong(
        format!(
            "the owner of the log (uid {user}) cannot open {}{more}: its server cannot work",
            first.display()
        ),
        format!("Run as root: chown -R {user}:{group} {directory} && chmod -R u+rwX {directory}")
            .as_str(),
    )
}
