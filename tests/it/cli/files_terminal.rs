//! `files push` at a terminal: a yes there is a person's decision.
//!
//! Needs util-linux's `script`; skipped where there is none.

use crate::cli::files::{Work, all, tree};
use crate::cli::terminal;
use crate::prelude::*;

/// Has a person answer a command's questions, with no pager: all of a long change stays on the
/// screen.
async fn answered(
    work: &Work,
    arguments: &[&str],
    answers: &[(&'static str, &'static str)],
) -> Option<(i32, String)> {
    let mut settings = work.variables();
    settings.push(("PAGER", String::new()));
    terminal::answered(settings, arguments, answers).await
}

/// Thirty edits, five renames, two deletes.
fn worked_on(work: &Work) {
    for page in 0..30 {
        let file = format!("en/docs/p{page}.md");
        work.edit(&file, "Line two", "The second line");
    }
    for page in 30..35 {
        let file = format!("p{page}.md");
        work.rename(&format!("en/docs/{file}"), &format!("en/guides/{file}"));
    }
    for page in 35..37 {
        work.remove(&format!("en/docs/p{page}.md"));
    }
}

#[tokio::test]
async fn a_yes_at_the_terminal_decides_what_yes_for_machines_leaves_to_people() {
    let texts: Vec<(String, String)> = (0..40)
        .map(|page| {
            let text = format!("# Page {page}\n\nLine two of {page}.\n");
            (format!("docs/p{page}"), text)
        })
        .collect();
    let mut pages: Vec<(&str, &str)> = texts
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    pages.push(("docs/index", "[Thirty](/docs/p30) and [one](/docs/p1).\n"));
    let work = Work::pulled(wiki_of(&pages).await).await;
    let (wiki_before, tree_before) = (all(&work.wiki), tree(work.dir.path()));
    worked_on(&work);
    let edited = tree(work.dir.path());

    // A rule leaves two deletes to people.
    work.run("push", &["--delete", "--yes"]).await.exits(3);
    assert!(mutations(&work.wiki).is_empty());

    let dir = work.dir.path().to_str().unwrap();
    let push = ["files", "push", dir, "--delete", "-m", "as agreed"];
    let Some((code, told)) = answered(&work, &push, &[("Push it? [y/N]", "n\n")]).await else {
        return;
    };
    assert_eq!(code, 3, "{told}");
    assert!(mutations(&work.wiki).is_empty());
    assert_eq!(tree(work.dir.path()), edited);

    let (code, told) = answered(&work, &push, &[("Push it? [y/N]", "y\n")])
        .await
        .unwrap();
    assert_eq!(code, 0, "{told}");
    let shown = told.split("Push it?").next().unwrap();
    for said in [
        "as agreed",
        "+The second line of 29.",
        "move en:docs/p34",
        "delete en:docs/p36",
    ] {
        assert!(shown.contains(said), "{said}: {told}");
    }
    let mut wanted = wiki_before.clone();
    let place = |path: String| ("en".to_owned(), path);
    for page in 0..30 {
        let row = wanted.get_mut(&place(format!("docs/p{page}"))).unwrap();
        row.content = format!("# Page {page}\n\nThe second line of {page}.\n");
    }
    for page in 30..35 {
        let mut row = wanted.remove(&place(format!("docs/p{page}"))).unwrap();
        row.path = format!("guides/p{page}");
        wanted.insert(place(row.path.clone()), row);
    }
    for page in 35..37 {
        wanted.remove(&place(format!("docs/p{page}"))).unwrap();
    }
    wanted
        .get_mut(&place("docs/index".to_owned()))
        .unwrap()
        .content = "[Thirty](/guides/p30) and [one](/docs/p1).\n".to_owned();
    assert_eq!(all(&work.wiki), wanted, "{told}");
    work.is_as_in_the_wiki().await;

    let undo = ["undo", "last"];
    let (code, told) = answered(&work, &undo, &[("Take it back? [y/N]", "y\n")])
        .await
        .unwrap();
    assert_eq!(code, 0, "{told}");
    assert_eq!(all(&work.wiki), wiki_before, "{told}");
    work.good("pull", &[]).await;
    assert_eq!(tree(work.dir.path()), tree_before);
}

#[tokio::test]
async fn a_long_push_shows_a_bar_that_is_gone_at_the_end() {
    let work =
        Work::pulled(wiki_of(&[("docs/a", "a\n"), ("docs/b", "b\n"), ("docs/c", "c\n")]).await)
            .await;
    for file in ["en/docs/a.md", "en/docs/b.md", "en/docs/c.md"] {
        work.edit(file, "tags:", "tags: new");
    }
    // Nothing is shown in the first second.
    work.wiki.set_write_delay(Duration::from_millis(1_100));
    let dir = work.dir.path().to_str().unwrap();
    let waits = [
        ("Push it? [y/N]", "y\n"),
        ("of 3 changes applied", ""),
        ("pushed: 3 changes", ""),
    ];
    let Some((code, told)) = answered(&work, &["files", "push", dir], &waits).await else {
        return;
    };
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("] 1 of 3 changes applied"), "{told}");
    // The line of the bar is cleared before the answer.
    let bar = told.rfind("changes applied").unwrap();
    let cleared = told.get(bar..).unwrap().find("\u{1b}[K").unwrap();
    assert!(
        bar + cleared < told.find("applied: update").unwrap(),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_long_push_at_a_terminal_that_takes_no_codes_shows_none() {
    let work = Work::pulled(wiki_of(&[("docs/a", "a\n"), ("docs/b", "b\n")]).await).await;
    for file in ["en/docs/a.md", "en/docs/b.md"] {
        work.edit(file, "tags:", "tags: new");
    }
    work.wiki.set_write_delay(Duration::from_millis(1_100));
    let dir = work.dir.path().to_str().unwrap();
    let mut settings = work.variables();
    settings.push(("TERM", "dumb".to_owned()));
    let answers = [("Push it? [y/N]", "y\n")];
    let Some((code, told)) = terminal::answered(settings, &["files", "push", dir], &answers).await
    else {
        return;
    };
    assert_eq!(code, 0, "{told}");
    says(&told, "pushed: 2 changes");
    lacks(&told, "\u{1b}");
}
