//! Models a setting: its names, its kind, how it is shown.

use crate::words::words;

/// A setting, as it is read and as the documentation shows it.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its name in the environment.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: SettingKind,
    /// The relation of a site's value to the server's.
    pub(super) in_site: InSite,
    /// The part of a running server that a change affects.
    pub(super) touches: Touches,
    /// Its default, in words.
    pub default: &'static str,
    /// Its meaning, for people.
    pub meaning: &'static str,
}

words! {
    /// The relation of a site's value to the server's.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum InSite: word {
        /// A site sets its own and never inherits the server's: the wiki's address, and what gives
        /// access to it.
        Own = "own",
        /// A gate: the server's value holds, and a site can only make it narrower.
        Narrower = "narrower",
        /// The server's value holds unless the site sets its own.
        Inherited = "inherited",
        /// The value holds for the whole server; no site can set its own.
        Server = "-",
    }
}

/// The part of a running server that a changed setting affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touches {
    /// Only a restart applies it.
    Restart,
    /// Requests to the wiki.
    Wiki,
    /// The limits on writing, and how writes are confirmed.
    Gates,
    /// Both `Wiki` and `Gates`: a page that may not be read may not be written.
    Reads,
    /// The content index.
    Index,
    /// Nothing that outlives a call.
    Nothing,
}

/// The kind of a setting's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// A text.
    Text,
    /// A text that is never shown, and never a flag.
    Secret,
    /// A file or directory; in a settings file it is relative to that file's directory.
    Path,
    /// True or false.
    Flag,
    /// A whole number, from the first to the second.
    Number(u32, u32),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Texts, with commas between them.
    List,
    /// A program and its arguments; in a settings file only.
    Command,
    /// A file, or, in a settings file only, a program and its arguments.
    PathOrCommand,
}

impl Setting {
    /// Its name in a settings file.
    pub fn file_name(&self) -> String {
        self.name.trim_start_matches("WIKI_").to_lowercase()
    }

    /// Its name in texts about all layers.
    pub fn usual_name(&self) -> String {
        if self.is_in_environment() {
            self.name.to_owned()
        } else {
            self.file_name()
        }
    }

    /// Its flag on the command line, without the dashes; secrets have none.
    pub fn flag(&self) -> Option<String> {
        let has_none = matches!(self.kind, SettingKind::Secret | SettingKind::Command);
        (!has_none).then(|| self.file_name().replace('_', "-"))
    }

    /// True if a site may set it in its own table.
    #[cfg(test)]
    pub(crate) fn may_be_of_site(&self) -> bool {
        self.in_site != InSite::Server
    }

    /// True if the environment may set it: not what is set once, with the machine, and what is more
    /// than a text.
    pub(super) fn is_in_environment(&self) -> bool {
        let is_of_file = matches!(
            self.name,
            "WIKI_AUDIT_ANCHORS"
                | "WIKI_AUDIT_SIGNING_KEY"
                | "WIKI_STORE_PASSWORD_FILE"
                | "WIKI_EMBEDDINGS_KEY_FILE"
                | "WIKI_UPLOAD_DIR"
                | "WIKI_MIRROR_KEEP_DAYS"
                | "WIKI_MIRROR_KEEP_MB"
        );
        self.kind != SettingKind::Command && !is_of_file
    }

    /// True if nobody may upload what it names: all files and directories but those of which nothing is secret.
    pub(super) fn names_a_secret(&self) -> bool {
        let is_open = matches!(
            self.name,
            "WIKI_UPLOAD_DIR"
                | "WIKI_CUSTOM_TOOLS_DIR"
                | "WIKI_CA_FILE"
                | "WIKI_CLIENT_CERT_FILE"
                | "WIKI_SERVE_CERT_FILE"
        );
        self.kind == SettingKind::Path && !is_open
    }

    /// Its default, if that is a value rather than a description.
    pub fn default_value(&self) -> Option<&'static str> {
        let value = self.default.strip_prefix('`')?.strip_suffix('`')?;
        (!value.contains('`')).then_some(value)
    }
}
