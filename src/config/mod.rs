//! Settings: from a file, the environment, the command line; later ones win. The only room that
//! reads the environment.
//!
//! A bad value stops the start with the setting's name, what is wrong and what is allowed. It
//! never falls back in silence, and a secret's value is never shown.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the settings file, and the files that settings name"
)]

mod address_range;
mod anchors;
mod changes;
mod collector;
mod connection;
mod custom;
mod defaults;
mod file;
mod file_trust;
mod init_file;
mod key_source;
mod layers;
mod network;
mod parse;
mod policy;
mod schema;
mod serve;
mod setting;
mod settings;
mod shown;
mod site_file;
mod sites;
mod storage;
mod stricter;
mod tables;
mod tls;
mod token_command;
mod write_policy;

pub use address_range::AddressRange;
pub use anchors::signing_key;
pub use changes::{SettingsDiff, Stamps};
pub use collector::CollectorSettings;
pub use connection::parse_base_url;
pub use custom::read_customs;
pub use defaults::{SETTINGS, table};
pub(crate) use file_trust::{FileStamp, stamp_of};
pub use file_trust::{read_secret, why_unread};
pub use init_file::InitFile;
pub use key_source::KeySource;
pub use layers::{
    CommandLineSettings, Layers, Pager, file_place, has_dumb_terminal, no_colour, pager,
    sets_no_less_options, was_given,
};
pub use parse::{Origin, SettingError, SettingsSource};
pub use policy::review_address;
pub use schema::schema;
pub use serve::{ServeSettings, address_of};
pub use setting::{Setting, SettingKind};
pub use settings::{
    AuditSettings, Indent, LogSettings, Settings, allowed_prefixes, audit_anchors, custom_tools,
    custom_tools_dir, log_settings, offered, store_home,
};
pub use shown::SettingView;
pub use site_file::{NewSite, remove_site};
pub use storage::store_at;
pub use tables::Tables;
pub use tls::ServerTls;
pub use write_policy::ResolvedPolicy;
