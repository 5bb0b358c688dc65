//! A figure beside its budget.

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Seconds.
    Seconds,
    /// Percent.
    Percent,
    /// Milliseconds.
    Milliseconds,
    /// Megabytes of 1,000,000 bytes.
    Megabytes,
    /// Bytes.
    Bytes,
    /// Calls a second.
    PerSecond,
    /// How many of them there are.
    Pieces,
}

impl Unit {
    /// How it is written behind a number.
    pub(crate) const fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Percent => "%",
            Self::Milliseconds => "ms",
            Self::Megabytes => "MB",
            Self::Bytes => "bytes",
            Self::PerSecond => "/s",
            Self::Pieces => "pieces",
        }
    }

    /// A number of it, as exact as it is worth.
    pub(crate) fn number(self, value: f64) -> String {
        match self {
            Self::Milliseconds => format!("{value:.3}"),
            Self::Megabytes => format!("{value:.2}"),
            Self::Seconds | Self::Percent => format!("{value:.1}"),
            Self::Bytes | Self::PerSecond | Self::Pieces => format!("{value:.0}"),
        }
    }
}

/// What a figure may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Budget {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
    /// Not set yet: it is measured first.
    NotSet,
}

/// One measured figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// What was measured.
    pub(crate) what: &'static str,
    /// In which unit.
    pub(crate) unit: Unit,
    /// How much it was.
    pub(crate) measured: f64,
    /// How much it may be.
    pub(crate) budget: Budget,
    /// What the wiki itself took for the same in the same run, where that makes sense.
    pub(crate) wiki: Option<f64>,
}

impl Figure {
    /// What may be so much and no more.
    pub(crate) const fn at_most(what: &'static str, unit: Unit, measured: f64, most: f64) -> Self {
        Self {
            what,
            unit,
            measured,
            budget: Budget::AtMost(most),
            wiki: None,
        }
    }

    /// The same beside what the wiki itself took.
    pub(crate) const fn beside(self, wiki: f64) -> Self {
        Self {
            wiki: Some(wiki),
            ..self
        }
    }

    /// Whether the budget is kept.
    pub(crate) fn is_kept(&self) -> bool {
        match self.budget {
            Budget::AtMost(most) => self.measured <= most,
            Budget::AtLeast(least) => self.measured >= least,
            Budget::NotSet => true,
        }
    }

    /// The figure in proportion to that of the wiki itself.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.wiki.map(|wiki| self.measured / wiki)
    }
}
