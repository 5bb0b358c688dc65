use proptest::prelude::*;

use super::{SectionCandidate, SectionFault};
use crate::page::{Outline, PartKind, PartSelector, Selector};

const PAGE: &str = "---\ntitle: x\n---\nIntro\n\n# Install\n\nAll\n\n## Linux\nA\n## Mac/Win\nB\n\n# Use\n## Linux\nC\n### On/Off\nD\n";

fn selector(text: &str) -> Selector {
    let part = PartSelector::parse(text).expect(text);
    part.section().expect(text).clone()
}

fn found<'a>(text: &'a str, name: &str) -> Result<&'a str, SectionFault> {
    Outline::new(text)
        .find(&selector(name))
        .map(|section| text.get(section.range).unwrap())
}

#[test]
fn parts_are_named_by_index_text_or_path() {
    for (name, part) in [
        ("section[0]", "---\ntitle: x\n---\nIntro\n\n"),
        (
            "section[1]",
            "# Install\n\nAll\n\n## Linux\nA\n## Mac/Win\nB\n\n",
        ),
        ("section[2]", "# Use\n## Linux\nC\n### On/Off\nD\n"),
        ("heading:h1[1]", "# Use\n## Linux\nC\n### On/Off\nD\n"),
        ("heading:h2[0]", "## Linux\nA\n"),
        ("heading:h2[2]", "## Linux\nC\n### On/Off\nD\n"),
        ("Use", "# Use\n## Linux\nC\n### On/Off\nD\n"),
        ("Install/Linux", "## Linux\nA\n"),
        ("Install / Linux", "## Linux\nA\n"),
        ("Mac/Win", "## Mac/Win\nB\n\n"),
        ("Install/Mac/Win", "## Mac/Win\nB\n\n"),
        ("Linux/On/Off", "### On/Off\nD\n"),
        ("Use/Linux/On/Off", "### On/Off\nD\n"),
        ("use", "# Use\n## Linux\nC\n### On/Off\nD\n"),
        ("INSTALL/linux", "## Linux\nA\n"),
        ("linux/on/OFF", "### On/Off\nD\n"),
    ] {
        assert_eq!(found(PAGE, name), Ok(part), "{name}");
    }
    for name in [
        "section[3]",
        "heading:h2[3]",
        "heading:h6[0]",
        "Win",
        "Use/On/Off",
        "x/Use",
        "/Use",
        "Use/",
        "Intro",
        "title",
    ] {
        assert_eq!(found(PAGE, name), Err(SectionFault::NotFound), "{name}");
    }
}

#[test]
fn several_are_never_guessed() {
    let candidate = |selector: &str, line| SectionCandidate {
        selector: selector.to_owned(),
        level: 2,
        text: "Linux".to_owned(),
        line,
    };
    assert_eq!(
        found(PAGE, "Linux"),
        Err(SectionFault::Ambiguous {
            candidates: vec![
                candidate("heading:h2[0]", 10),
                candidate("heading:h2[2]", 16)
            ],
        })
    );
}

#[test]
fn lower_headings_before_the_first_highest_begin_parts_of_their_own() {
    let text = "### a\n## b\n### c\n# d\n## e\n# f\n";
    let parts: Vec<_> = (0..7)
        .map(|n| found(text, &format!("section[{n}]")))
        .collect();
    let expected = [
        Err(SectionFault::NotFound),
        Ok("### a\n"),
        Ok("## b\n"),
        Ok("### c\n"),
        Ok("# d\n## e\n"),
        Ok("# f\n"),
        Err(SectionFault::NotFound),
    ];
    assert_eq!(parts, expected);
}

#[test]
fn white_space_alone_before_the_first_heading_is_no_part() {
    assert_eq!(
        found("\n \n# a\n", "section[0]"),
        Err(SectionFault::NotFound)
    );
    assert_eq!(found("", "section[0]"), Err(SectionFault::NotFound));
    assert_eq!(found("no heading", "section[0]"), Ok("no heading"));
}

/// Pages of blocks, some of them closed badly or not apart.
pub(in crate::page) fn page() -> impl Strategy<Value = String> {
    let block = prop::sample::select(vec![
        "# a",
        "## b",
        "### c",
        "## a {.tabset}",
        "# a/b",
        "x\n===",
        "y\n---",
        "text",
        "- item",
        "```\n# no\n```",
        "```",
        "    # no",
        "<!--\n# no\n-->",
        "<!--",
        "> q\n{.is-info}",
        "---",
        "---\nt: u\n---",
        "",
        " ",
        "\u{a0}",
    ]);
    let end = prop::sample::select(vec!["\n", "\n\n", "\r\n", "\r\n\r\n", "\n \n", "\n"]);
    let last = prop::sample::select(vec!["", "# d", "end"]);
    (prop::collection::vec((block, end), 0..7), last).prop_map(|(blocks, last)| {
        let blocks = blocks
            .into_iter()
            .map(|(block, end)| format!("{block}{end}"));
        blocks.collect::<String>() + last
    })
}

/// Selectors of all parts of a page.
pub(in crate::page) fn selectors(text: &str) -> Vec<Selector> {
    let count = Outline::new(text).headings.len();
    let sections = (0..=count).map(|index| Selector::Nth(PartKind::Sections, index));
    let headings = (1..=6).flat_map(|level| {
        (0..count).map(move |index| Selector::Nth(PartKind::Headings(level), index))
    });
    sections
        .chain(headings)
        .filter(|selector| Outline::new(text).find(selector).is_ok())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn the_parts_make_up_the_page(text in page()) {
        let outline = Outline::new(&text);
        let mut end = outline.headings.first().map_or(text.len(), |heading| heading.lines.start);
        if let Ok(lead) = outline.find(&Selector::Nth(PartKind::Sections, 0)) {
            prop_assert_eq!(lead.range, 0..end);
        } else {
            prop_assert!(text.get(..end).unwrap().trim().is_empty());
        }
        for index in 1.. {
            let Ok(part) = outline.find(&Selector::Nth(PartKind::Sections, index)) else { break };
            prop_assert_eq!(part.range.start, end);
            prop_assert!(outline.headings.iter().any(|h| h.lines.start == end && h.lines.end == part.body));
            end = part.range.end;
        }
        prop_assert_eq!(end, text.len());
    }

    #[test]
    fn a_heading_is_found_by_its_selector_and_its_text(text in page()) {
        let outline = Outline::new(&text);
        for heading in &outline.headings {
            let named = outline.find(&Selector::Named(heading.text.clone()));
            let name = &heading.text;
            let same = outline.of_name(name, |text| std::borrow::Cow::Borrowed(text));
            match named {
                Ok(section) => {
                    prop_assert_eq!(same.len(), 1);
                    prop_assert_eq!(section.range, heading.section.clone());
                }
                Err(SectionFault::Ambiguous { candidates }) => {
                    prop_assert_eq!(candidates.len(), same.len());
                    for (candidate, heading) in candidates.iter().zip(same) {
                        let section = outline.find(&selector(&candidate.selector)).unwrap();
                        prop_assert_eq!(section.range, heading.section.clone());
                    }
                }
                Err(SectionFault::NotFound) => prop_assert!(false, "{:?}", heading.text),
            }
        }
    }
}
