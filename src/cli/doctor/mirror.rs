//! Checks the mirror of the wiki: its extent, and whether a server still looks at the wiki.

use time::OffsetDateTime;

use super::super::when::minute;
use super::finding::DoctorFinding;
use crate::audit::AuditLog;
use crate::mirror::{Mirror, MirrorSettings, MirrorTime};

/// The next look is late once the last one is older than so many times the interval between looks.
const LATE: u32 = 10;

pub(super) async fn found(log: &AuditLog, settings: MirrorSettings) -> DoctorFinding {
    let mirror = Mirror::new(log.mirror_store(), settings);
    let (extent, looked) = match mirror.extent().await {
        Ok(extent) => extent,
        Err(error) => return DoctorFinding::wrong(error.to_string(), error.hint()),
    };
    let todo = "A running server looks; where it cannot, its log says why.";
    let Some(looked) = looked.map(MirrorTime::instant) else {
        return DoctorFinding::warning("nobody has looked at the wiki yet", todo);
    };
    let seen = format!("{extent}; looked at last: {}", minute(looked));
    if OffsetDateTime::now_utc() - looked > settings.apart * LATE {
        DoctorFinding::warning(seen, todo)
    } else {
        DoctorFinding::good(seen)
    }
}
