//! Names who takes a write through the gates, and what they may do beyond the level.

/// The party that takes a write through the gates.
///
/// Clients and unattended commands get exactly what the level gives. A decision of a person who
/// sees the change itself goes beyond it: it replaces the confirmation of every level but `off`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Authority {
    /// A client.
    #[default]
    Client,
    /// A tool that the operator calls from the command line, the way a client does.
    ToolCall,
    /// A command that asks nobody (`--yes`): nobody's decision.
    Unattended {
        /// True if a pause lets it go on, since it undoes what led to the pause.
        passes_pause: bool,
    },
    /// The operator's decision: it ends a dry run and passes a pause.
    Operator,
    /// A reviewer's decision on the review page of a server.
    Reviewer {
        /// True if it ends a dry run.
        ends_dry_run: bool,
    },
}

impl Authority {
    /// True if a person decides on each change, having seen it.
    pub const fn decides(self) -> bool {
        match self {
            Self::Operator | Self::Reviewer { .. } => true,
            Self::Client | Self::ToolCall | Self::Unattended { .. } => false,
        }
    }

    /// True if a dry run ends with this decision.
    pub const fn ends_dry_run(self) -> bool {
        matches!(self, Self::Operator | Self::Reviewer { ends_dry_run: true })
    }

    /// True if a pause of all writes does not stop it.
    pub const fn passes_pause(self) -> bool {
        matches!(
            self,
            Self::Operator | Self::Unattended { passes_pause: true }
        )
    }

    /// True if `WIKI_READ_ONLY` restricts it: it restricts what clients may do.
    pub const fn heeds_read_only(self) -> bool {
        match self {
            Self::Client | Self::ToolCall => true,
            Self::Unattended { .. } | Self::Operator | Self::Reviewer { .. } => false,
        }
    }

    /// True if nobody can be asked, so that a write for which a person must be asked is proposed.
    pub const fn asks_nobody(self) -> bool {
        match self {
            Self::ToolCall | Self::Unattended { .. } => true,
            Self::Client | Self::Operator | Self::Reviewer { .. } => false,
        }
    }

    /// True if old records are purged meanwhile. A command ends soon, and may be undoing the oldest
    /// write.
    pub const fn purges(self) -> bool {
        match self {
            Self::Client | Self::ToolCall => true,
            Self::Unattended { .. } | Self::Operator | Self::Reviewer { .. } => false,
        }
    }
}
