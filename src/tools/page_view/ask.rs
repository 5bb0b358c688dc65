//! The arguments that say how to read a page.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::audit::DraftName;
use crate::error::Result;
use crate::page::PartSelector;
use crate::tools::input::{MISSING_ID, invalid_argument, refuse};

/// The most pages that are read at once.
pub(in crate::tools) const MAX_AT_ONCE: usize = 20;
/// The default number of bytes of a text in an answer.
const USUAL_BYTES: usize = 16 * 1024;
/// The most bytes of a text in an answer.
const MOST_BYTES: usize = 64 * 1024;

// The wanted view of a page. (A doc comment would be sent to clients.)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) enum PageViewKind {
    #[default]
    Content,
    Outline,
    Metadata,
    Rendered,
    Text,
}

/// Lines of a page, both included, as answers have them: `12-40`, or one, `12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(in crate::tools) struct LineRange {
    from: u32,
    to: u32,
}

impl TryFrom<String> for LineRange {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let number = |text: &str| text.trim().parse().ok().filter(|number| *number > 0);
        let (from, to) = text.split_once('-').unwrap_or((&text, &text));
        let lines = number(from)
            .zip(number(to))
            .map(|(from, to)| Self { from, to });
        lines.ok_or("must be the first and the last line, from 1, such as 12-40")
    }
}

/// Options for reading a page.
#[derive(Debug, Clone)]
pub(in crate::tools) struct PageReadOptions {
    pub(in crate::tools) view: PageViewKind,
    pub(in crate::tools) section: Option<PartSelector>,
    pub(in crate::tools) lines: Option<LineRange>,
    pub(in crate::tools) is_numbered: bool,
    /// In bytes; in an outline, in headings.
    pub(in crate::tools) offset: u32,
    pub(in crate::tools) max_bytes: Option<u32>,
    pub(in crate::tools) version: Option<i64>,
    /// The draft to apply before showing the page.
    pub(in crate::tools) draft: Option<DraftName>,
}

impl PageReadOptions {
    /// The same, if the arguments are compatible.
    pub(in crate::tools) fn checked(self) -> Result<Self> {
        if self.draft.is_some() && self.version.is_some() {
            return refuse("draft", "cannot go with version");
        }
        let fault = match self.lines {
            Some(lines) if lines.from > lines.to => "must not end before they begin",
            Some(_) if self.section.is_some() => "cannot go with section",
            Some(_) if self.view == PageViewKind::Outline => "cannot go with an outline",
            Some(_) if self.view == PageViewKind::Metadata => "cannot go with metadata",
            None if self.section.is_some() && self.view == PageViewKind::Metadata => {
                return refuse("section", "cannot go with metadata");
            }
            _ => return Ok(self),
        };
        refuse("lines", fault)
    }

    /// Refuses arguments that conflict with a section in the page's name.
    pub(super) fn check_beside_section(&self) -> Result<()> {
        const FAULT: &str = "cannot go with the section after the # of the page's name";
        match (&self.section, self.lines) {
            (Some(_), _) => refuse("section", FAULT),
            (None, Some(_)) => refuse("lines", FAULT),
            (None, None) => Ok(()),
        }
    }

    /// True if all of a page's current text is requested.
    pub(super) const fn is_whole(&self) -> bool {
        self.is_all() && self.version.is_none()
    }

    const fn is_all(&self) -> bool {
        self.section.is_none() && self.lines.is_none() && self.offset == 0 && !self.is_numbered
    }

    /// True if all of a page's fields are shown, not only its names. `is_part` if the page's name
    /// already contains a section.
    pub(super) const fn tells_fields(&self, is_part: bool) -> bool {
        match self.view {
            PageViewKind::Metadata => true,
            PageViewKind::Content => self.is_all() && !is_part,
            PageViewKind::Outline | PageViewKind::Rendered | PageViewKind::Text => false,
        }
    }

    /// The most bytes of the answer.
    pub(super) fn most(&self) -> usize {
        let is_full = self.section.as_ref().is_some_and(|section| section.is_full);
        let usual = if is_full { MOST_BYTES } else { USUAL_BYTES };
        self.max_bytes.map_or(usual, number)
    }

    pub(super) fn offset(&self) -> usize {
        number(self.offset)
    }

    /// The first and the last line, from 1.
    pub(super) fn lines(&self) -> Option<(usize, usize)> {
        self.lines
            .map(|lines| (number(lines.from), number(lines.to)))
    }
}

fn number(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The arguments of a tool that reads pages: its own, then those that say how to read.
macro_rules! page_input {
    ($($own:tt)*) => {
        /// Its arguments.
        #[derive(Debug, serde::Deserialize, schemars::JsonSchema, garde::Validate)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        pub(super) struct Input {
            $($own)*
            #[garde(skip)]
            view: Option<super::page_view::PageViewKind>,
            #[garde(custom(super::input::rule::optional(super::input::rule::part)))]
            section: Option<String>,
            /// 12-40.
            #[garde(skip)]
            #[schemars(with = "Option<String>")]
            lines: Option<super::page_view::LineRange>,
            #[garde(skip)]
            line_numbers: Option<bool>,
            /// The answer's nextOffset.
            #[garde(skip)]
            offset: Option<u32>,
            /// Default 16384.
            #[garde(range(min = 1, max = 65_536))]
            max_bytes: Option<u32>,
            /// A versionId.
            #[garde(range(min = 1, max = 2_147_483_647))]
            version: Option<i64>,
            /// The page as this draft makes it.
            #[garde(custom(super::input::rule::optional(super::input::rule::draft)))]
            draft: Option<String>,
        }

        impl Input {
            fn ask(&self) -> Result<super::page_view::PageReadOptions, crate::error::Failure> {
                super::page_view::PageReadOptions {
                    view: self.view.unwrap_or_default(),
                    section: super::page_view::part(self.section.as_deref())?,
                    lines: self.lines,
                    is_numbered: self.line_numbers.unwrap_or_default(),
                    offset: self.offset.unwrap_or_default(),
                    max_bytes: self.max_bytes,
                    version: self.version,
                    draft: self.draft.as_deref().map(super::input::draft).transpose()?,
                }
                .checked()
            }
        }
    };
}
pub(in crate::tools) use page_input;

/// Reads the selector of a part.
pub(in crate::tools) fn part(section: Option<&str>) -> Result<Option<PartSelector>> {
    let part = section.map(PartSelector::parse).transpose();
    part.map_err(|fault| invalid_argument("section", fault.to_string()))
}

/// The one item given, or the several.
///
/// # Errors
/// `INVALID_INPUT` if neither is given, or both are.
pub(in crate::tools) fn one_or_several<T>(
    names: [&str; 2],
    one: Option<T>,
    several: Option<Vec<T>>,
) -> Result<(Vec<T>, bool)> {
    let [name, plural] = names;
    match (one, several) {
        (Some(one), None) => Ok((vec![one], false)),
        (None, Some(several)) => Ok((several, true)),
        (None, None) if name == "id" => refuse(name, MISSING_ID),
        (None, None) => refuse(name, "is required"),
        (Some(_), Some(_)) => refuse(plural, format!("cannot go with {name}")),
    }
}
