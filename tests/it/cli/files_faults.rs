//! A wiki as files when something is wrong: files that cannot be used, a full disk, a wiki that goes
//! away. Nothing half-written is left that the next command does not mend.

use crate::cli::files::{Work, all, tree};
use crate::prelude::*;

#[tokio::test]
async fn all_files_that_cannot_be_used_are_named_at_once() {
    let pages = ["a", "b", "c", "d", "e"].map(|name| (format!("docs/{name}"), "Text.\n"));
    let pages = vec_of(pages.iter().map(|(path, text)| (path.as_str(), *text)));
    let work = Work::pulled(wiki_of(&pages).await).await;
    let base = |path: &str| format!(".wikijs/pages/{}.json", id_of(&work.wiki, path));
    let bases = [base("docs/a"), base("docs/b")];
    for base in &bases {
        work.edit(base, "Text.", "Other.");
    }
    fs::write(work.dir.path().join("en/docs/c.md"), b"\xff\xfe").unwrap();
    work.edit("en/docs/d.md", "published: true", "published: perhaps");
    work.write(
        "en/docs/e.md",
        &format!("{}{}", work.read("en/docs/e.md"), "x".repeat(5_000_001)),
    );
    let before = tree(work.dir.path());

    for (command, more) in [("pull", &[][..]), ("status", &[]), ("diff", &[])] {
        let refused = work.run(command, more).await.exits(2);
        let [a, b] = &bases;
        let wanted = format!(
            "error: 3 files cannot be used:\n  {a} was edited or is damaged; restore it, or delete it and pull again\n  {b} was edited or is damaged; restore it, or delete it and pull again\n  en/docs/c.md: it is not UTF-8\n"
        );
        assert_eq!(refused.stderr, wanted);
    }
    let refused = work.run("push", &["--yes"]).await.exits(3);
    for said in [
        "nothing was pushed:",
        &format!("{} was edited or is damaged", bases[0]),
        &format!("{} was edited or is damaged", bases[1]),
        "en/docs/c.md: it is not UTF-8",
        "en/docs/d.md:4: published is true or false",
        "en/docs/e.md: it is larger than 5 MB, which Wiki.js does not take",
    ] {
        assert!(refused.stderr.contains(said), "{said}: {}", refused.told);
    }
    assert_eq!(tree(work.dir.path()), before);
    assert!(mutations(&work.wiki).is_empty());

    // As the message says: what is deleted is pulled again, and no edit is lost by that.
    for base in &bases {
        work.remove(base);
    }
    work.remove("en/docs/c.md");
    work.edit("en/docs/a.md", "Text.", "Edited text.");
    work.run("pull", &[]).await.exits(3);
    assert!(work.read("en/docs/a.md").contains("Edited text."));
    assert!(work.read("en/docs/b.md").ends_with("\nText.\n"));
}

#[tokio::test]
async fn a_page_whose_file_got_a_name_that_no_page_has_is_not_deleted() {
    let texts = ["a", "b", "c", "d", "e"];
    let texts = texts.map(|name| {
        (
            format!("docs/{name}"),
            format!("A first line, which is long and stays.\nThe lines of {name}, and more.\n"),
        )
    });
    let pages = vec_of(
        texts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let work = Work::pulled(wiki_of(&pages).await).await;
    let outside = TempDir::new().unwrap();
    let (a, b) = ("en/docs/a.md", "en/docs/b.md");
    fs::write(outside.path().join("a.md"), work.read(a)).unwrap();
    work.remove(a);
    std::os::unix::fs::symlink(outside.path().join("a.md"), work.dir.path().join(a)).unwrap();
    work.rename(b, "en/docs/be it.md");
    work.rename("en/docs/c.md", "en/docs/c.markdown");
    work.edit("en/docs/c.markdown", "and more", "and less");
    let d = work.read("en/docs/d.md");
    work.remove("en/docs/d.md");
    work.write("en/docs/d.md/index.v2", &d);
    work.remove("en/docs/e.md");
    let refused = work.run("push", &["--yes", "--delete"]).await.exits(3);
    let may_be = |name: &str, file: &str, why: &str| {
        format!(
            "  en/docs/{name}: it would be deleted, but en/docs/{file} may be its file, and {why}; rename or remove that file\n"
        )
    };
    let ending = "its ending is none of a page's files";
    let wanted = [
        may_be("a", "a.md", "it is a link or no plain file"),
        may_be("b", "be it.md", "no page's file has such a name"),
        may_be("c", "c.markdown", ending),
        may_be("d", "d.md/index.v2", ending),
    ];
    assert_eq!(
        refused.stderr,
        format!("error: nothing was pushed:\n{}", wanted.concat())
    );
    assert!(mutations(&work.wiki).is_empty());

    // What has nothing to do with a page that is deleted is named, and in nobody's way.
    for file in ["a.md", "be it.md", "c.markdown", "d.md/index.v2"] {
        work.remove(&format!("en/docs/{file}"));
    }
    work.write("en/docs/no page.md", "Other text that nobody pulled.\n");
    let pushed = work.good("push", &["--propose", "--delete"]).await;
    let named = "not pages, left alone:\n  en/docs/no page.md (no page's file has such a name)\n";
    says(&pushed.stdout, named);
    says(&pushed.stdout, "left for people to decide");
}

#[tokio::test]
async fn files_in_a_directory_that_is_no_locale_of_the_wiki_are_named() {
    let work = Work::pulled(wiki_of(&[("docs/a", "One line of a.\n")]).await).await;
    work.write("src/readme.md", "What the program does.\n");
    work.rename("en/docs/a.md", "ab-CD/docs/a.md");
    let refused = work.run("push", &["--yes"]).await.exits(3);
    let wanted = ["ab-CD/docs/a", "src/readme"].map(|name| {
        let (locale, _) = name.split_once('/').unwrap();
        format!(
            "  {name}: The wiki has no locale {locale}; it has: de, en. Move the file to where a page can be\n"
        )
    });
    assert_eq!(
        refused.stderr,
        format!("error: nothing was pushed:\n{}", wanted.concat())
    );
    assert!(mutations(&work.wiki).is_empty());
}

#[tokio::test]
async fn a_page_that_the_wiki_moves_out_of_the_folders_part_is_not_called_deleted() {
    let pages = [
        ("docs/a", "One line of a.\n"),
        ("docs/b", "One line of b.\n"),
    ];
    let work = Work::on(wiki_of(&pages).await);
    work.good("pull", &["--path", "docs"]).await;
    work.edit("en/docs/a.md", "One", "Another");
    for name in ["a", "b"] {
        let id = id_of(&work.wiki, &format!("docs/{name}"));
        let path = format!("old/{name}");
        work.wiki
            .with_store(|store| store.page_mut(id).unwrap().path = path);
    }
    let status = work.good("status", &[]).await;
    says(
        &status.stdout,
        "moved    en/docs/a -> en/old/a\n  moved    en/docs/b -> en/old/b",
    );
    let pulled = work.good("pull", &[]).await;
    says(
        &pulled.stdout,
        "en/docs/a: moved in the wiki to en/old/a, which this folder has not, and changed here; the file stays, as a new page\n",
    );
    assert!(!work.has("en/docs/b.md"));
}

#[tokio::test]
async fn a_page_converted_in_the_wiki_and_changed_here_is_a_conflict_of_two_files() {
    let work = Work::pulled(wiki_of(&[("docs/a", "One line of a.\n")]).await).await;
    work.edit("en/docs/a.md", "One", "Another");
    let id = id_of(&work.wiki, "docs/a");
    work.wiki.with_store(|store| {
        let page = store.page_mut(id).unwrap();
        "code".clone_into(&mut page.editor);
        "<p>One line of a.</p>".clone_into(&mut page.content);
        page.updated_at = "2031-01-01T00:00:00.000Z".to_owned();
    });
    let pulled = work.run("pull", &[]).await.exits(3);
    says(
        &pulled.stdout,
        "1 with conflicts, marked in the files:\n  en/docs/a\nen/docs/a: it has another editor in the wiki now, and your text is beside the wiki's: keep one of the two files\n",
    );
    let refused = work.run("push", &["--yes"]).await.exits(3);
    says(
        &refused.stderr,
        "en/docs/a.html:1: the page has a file with another ending, too",
    );
    work.remove("en/docs/a.md");
    work.is_as_in_the_wiki().await;
}

/// A push would remove it, and with it what somebody wrote.
#[tokio::test]
async fn fields_in_a_file_beside_a_source_that_has_them_are_named() {
    let work = Work::pulled(wiki_of(&[("docs/a", "Text.\n")]).await).await;
    for name in ["a", "new"] {
        work.write(&format!("en/docs/{name}.meta"), "title: Mine\n");
    }
    work.write("en/docs/new.md", "Made here.\n");
    let refused = work.run("push", &["--yes"]).await.exits(3);
    for name in ["a", "new"] {
        let said = format!("en/docs/{name}.meta:1: the page's fields stand before its content");
        assert!(refused.stderr.contains(&said), "{}", refused.told);
    }
    assert!(mutations(&work.wiki).is_empty());
}

#[tokio::test]
async fn a_directory_that_is_no_folder_is_named_so_by_every_command() {
    let work = Work::on(wiki_of(&[("docs/a", "Text.\n")]).await);
    for (command, more) in [("status", &[][..]), ("diff", &[]), ("push", &["--yes"])] {
        let refused = work.run(command, more).await.exits(2);
        says(&refused.stderr, "this is no folder of a wiki's files");
    }
    let missing = work.run_in(Path::new("/no/such"), "diff", &[]).await;
    missing
        .exits(2)
        .warns("/no/such cannot be read: it is not there");
    let file = work.run_in(Path::new("/dev/null"), "diff", &[]).await;
    file.exits(2).warns("/dev/null is no directory");
}

#[tokio::test]
async fn a_key_that_the_wiki_takes_for_a_guests_removes_no_files() {
    let mut work = Work::pulled(wiki_of(&[("docs/a", "A.\n"), ("docs/b", "B.\n")]).await).await;
    let good = work.key.clone();
    let id = id_of(&work.wiki, "docs/b");
    work.wiki.with_store(|store| store.remove(id));
    for key in [work.wiki.expired_key(), "e30.e30.x".to_owned()] {
        work.key = key;
        for command in ["pull", "status"] {
            let refused = work.run(command, &[]).await.exits(1);
            says(&refused.stderr, "KEY_REJECTED");
        }
        assert!(work.has("en/docs/b.md"));
    }
    work.key = good;
    work.good("pull", &[]).await;
    assert!(!work.has("en/docs/b.md"));
}

#[tokio::test]
async fn a_page_that_the_key_may_read_no_more_keeps_its_files_until_it_is_deleted() {
    let mut work = Work::pulled(wiki_of(&[("docs/a", "A.\n"), ("hr/b", "B.\n")]).await).await;
    let rights: &[&str] = &["read:pages", "read:source"];
    work.key = work.wiki.key_with_each(&[(rights, "docs")]);
    let pulled = work.good("pull", &[]).await;
    says(&pulled.stdout, "this key cannot read all of:\n  en:hr/b ");
    assert!(work.has("en/hr/b.md"));
    assert_eq!(work.status().await["unreadable"][0]["path"], "hr/b");
    let id = id_of(&work.wiki, "hr/b");
    work.wiki.with_store(|store| store.remove(id));
    work.good("pull", &[]).await;
    assert!(!work.has("en/hr/b.md"));
}

#[tokio::test]
async fn a_page_that_is_larger_than_a_push_may_be_does_not_stop_the_others() {
    let large = "A line of a page that is large.\n".repeat(170_000);
    let work = Work::pulled(wiki_of(&[("docs/a", "a\n"), ("docs/large", &large)]).await).await;
    work.edit("en/docs/a.md", "\n\na", "\n\nedited");
    work.good("push", &["--yes"]).await;
    let content = &all(&work.wiki)[&("en".to_owned(), "docs/a".to_owned())].content;
    assert_eq!(content, "edited\n");
    work.edit("en/docs/large.md", "A line", "One line");
    let refused = work.run("push", &["--yes"]).await;
    assert_eq!(
        refused.stderr,
        "error: nothing was pushed:\n  en/docs/large.md: it is larger than 5 MB, which Wiki.js does not take\n"
    );
}

#[tokio::test]
async fn a_page_renamed_and_edited_moves_and_one_that_could_be_another_does_not() {
    let lines = "The first line of it.\nThe second line of it.\nThe third.\n";
    let wiki = wiki_of(&[("docs/moved", lines), ("docs/deleted", lines)]).await;
    let work = Work::pulled(wiki).await;
    let id = id_of(&work.wiki, "docs/moved");
    work.edit("en/docs/moved.md", "The third.", "The last.");
    work.rename("en/docs/moved.md", "en/guides/moved.md");
    // Another title: made from a template, or from what was deleted.
    work.edit("en/docs/deleted.md", "The third.", "Another.");
    work.edit(
        "en/docs/deleted.md",
        "title: Page docs deleted",
        "title: New",
    );
    work.rename("en/docs/deleted.md", "en/guides/new.md");
    let status = work.good("status", &[]).await;
    assert!(
        status.stdout.ends_with(
            "changed here:\n  deleted  en/docs/deleted\n  moved    en/docs/moved -> en/guides/moved\n  new      en/guides/new\n3 ahead, 0 behind\n"
        ),
        "{}",
        status.told
    );
    work.good("push", &["--yes"]).await;
    let moved = work
        .wiki
        .with_store(|store| store.page(id).cloned())
        .unwrap();
    assert_eq!(moved.path, "guides/moved");
    assert!(moved.content.ends_with("The last.\n"));
    assert!(all(&work.wiki).contains_key(&("en".to_owned(), "docs/deleted".to_owned())));
}

#[tokio::test]
async fn what_was_applied_elsewhere_comes_back_without_a_conflict() {
    let wiki = wiki_of(&[
        ("docs/a", "One line of it.\n"),
        ("docs/b", "Another one, which moves.\n"),
        ("docs/links", "To [it](/en/docs/b).\n"),
        ("docs/d", "Moves, too, to [it](b) and [near](./a).\nA line that stays as it is, and is as long as the other.\n"),
    ])
    .await;
    let work = Work::pulled(wiki).await;
    // Links to what moves, in lines that were edited.
    work.edit("en/docs/links.md", "To ", "Leads to ");
    work.edit("en/docs/d.md", "Moves, too", "Moves as well");
    work.rename("en/docs/d.md", "en/guides/d.md");
    // Other spellings than the wiki gives back, a file without fields, a move.
    work.edit("en/docs/a.md", "tags:", "tags: x,y");
    work.write("en/docs/new.md", "Made without fields.\n");
    work.rename("en/docs/b.md", "en/docs/c.md");
    let answer = work.good("push", &["--propose", "--json"]).await.json();
    let id = answer["results"][0]["open"].as_str().unwrap();
    work.command(&["proposals", "apply", id, "--yes"])
        .await
        .good();
    let pulled = work.good("pull", &[]).await;
    lacks(&pulled.stdout, "moved here, and in the wiki");
    says(&work.read("en/docs/links.md"), "Leads to [it](/en/docs/c).");
    work.is_as_in_the_wiki().await;
    assert!(work.read("en/docs/new.md").starts_with("---\ntitle: new\n"));
}

#[tokio::test]
async fn tags_in_capitals_are_pushed_as_the_wiki_stores_them() {
    let work = Work::pulled(wiki_of(&[("docs/a", "One line of it.\n")]).await).await;
    work.edit("en/docs/a.md", "tags:", "tags: Foo, foo, Bar");
    work.good("push", &["--yes"]).await;
    work.is_as_in_the_wiki().await;
    assert!(work.read("en/docs/a.md").contains("\ntags: bar, foo\n"));
}

#[tokio::test]
async fn a_tag_that_is_renamed_for_all_pages_is_pulled_though_they_get_no_date() {
    let wiki = wiki_of(&[("docs/a", "One line of it.\n")]).await;
    let id = id_of(&wiki, "docs/a");
    let tag = |wiki: &DemoWiki, tag: &str| {
        wiki.with_store(|store| store.page_mut(id).unwrap().tags = vec![tag.to_owned()]);
    };
    tag(&wiki, "old");
    let work = Work::pulled(wiki).await;
    tag(&work.wiki, "new");
    work.edit("en/docs/a.md", "One line", "Another line");
    let refused = work.run("push", &["--yes"]).await.exits(3);
    says(
        &refused.stderr,
        "en/docs/a: was changed in the wiki, too; pull first",
    );
    work.good("pull", &[]).await;
    work.good("push", &["--yes"]).await;
    work.is_as_in_the_wiki().await;
    says(&work.read("en/docs/a.md"), "tags: new");
    assert_eq!(
        work.wiki
            .with_store(|store| store.page_mut(id).unwrap().tags.clone()),
        ["new"]
    );
}

#[tokio::test]
async fn tags_in_another_order_than_the_wikis_are_no_change() {
    let wiki = wiki_of(&[("docs/a", "One line of it.\n")]).await;
    let id = id_of(&wiki, "docs/a");
    let set = |wiki: &DemoWiki, tags: [&str; 2], day: u32| {
        wiki.with_store(|store| {
            let page = store.page_mut(id).unwrap();
            page.tags = tags.map(str::to_owned).into();
            page.updated_at = format!("2031-01-{day:02}T00:00:00.000Z");
        });
    };
    set(&wiki, ["a", "b"], 1);
    let work = Work::pulled(wiki).await;
    work.edit("en/docs/a.md", "tags: a, b", "tags: b, a");
    work.good("push", &["--yes"]).await;
    assert!(mutations(&work.wiki).is_empty());
    // Written again, as the wiki orders them.
    set(&work.wiki, ["a", "b"], 2);
    work.good("pull", &[]).await;
    work.is_as_in_the_wiki().await;
    assert!(work.read("en/docs/a.md").contains("\ntags: a, b\n"));

    // The wiki gives them in any order; Git sees no change.
    set(&work.wiki, ["b", "a"], 3);
    work.good("pull", &[]).await;
    work.is_as_in_the_wiki().await;
    assert!(work.read("en/docs/a.md").contains("\ntags: a, b\n"));
}

/// Pages of which some do not fit, in the order of their ids.
async fn some_large() -> Work {
    let large = "A line of a page that is large.\n".repeat(4_000);
    let pages = [
        ("docs/a", "a\n"),
        ("docs/b", &large),
        ("docs/c", "c\n"),
        ("docs/d", &large),
    ];
    Work::on(wiki_of(&pages).await)
}

/// The tree of a folder that is pulled in one go.
async fn pulled_anew(work: &Work) -> BTreeMap<String, Vec<u8>> {
    let other = TempDir::new().unwrap();
    work.run_in(other.path(), "pull", &[]).await.good();
    tree(other.path())
}

#[tokio::test]
async fn a_pull_that_may_not_write_a_file_names_it_and_the_next_one_goes_on() {
    let work = some_large().await;
    // As in `audit`: a limit on the size of a file, past which a write is cut short.
    let limited = "trap '' XFSZ; ulimit -f 64; exec \"$own\" files pull \"$1\"";
    for round in 0..2 {
        if round == 1 {
            for path in ["docs/a", "docs/b", "docs/c"] {
                let id = id_of(&work.wiki, path);
                work.wiki.with_store(|store| {
                    let page = store.page_mut(id).unwrap();
                    page.content.push_str("One more line.\n");
                    page.updated_at = "2031-01-01T00:00:00.000Z".to_owned();
                });
            }
        }
        let failed = work.in_shell("/bin/sh", limited).await;
        assert_eq!(failed.status.code(), Some(1), "{failed:?}");
        assert_eq!(
            String::from_utf8(failed.stderr).unwrap(),
            "error: en/docs/b.md: the system lets no file become this large; raise its limit and run the command again\n"
        );
        assert!(
            work.read("en/docs/a.md")
                .ends_with(["a\n", "a\nOne more line.\n"][round])
        );
        let pulled = work.good("pull", &[]).await;
        assert!(!pulled.stdout.contains("conflict"), "{}", pulled.told);
        assert_eq!(tree(work.dir.path()), pulled_anew(&work).await);
        work.is_as_in_the_wiki().await;
    }
}

/// Needs a file system of its own; skipped where this user may not make one.
#[tokio::test]
async fn a_disk_that_fills_at_any_point_of_a_pull_leaves_what_the_next_one_mends() {
    let work = some_large().await;
    let mount = "mount -t tmpfs -o size=1m none \"$1\"";
    let unshare = "unshare -rm /bin/sh";
    if !work.in_shell(unshare, mount).await.status.success() {
        return;
    }
    let wanted = pulled_anew(&work).await;
    let mut failed_at = 0;
    for pages in (2..160).step_by(8) {
        let lines = format!(
            "{mount}; mount -o remount,size={}k \"$1\"; \"$own\" files pull \"$1\"; echo \"ended: $?\"; mount -o remount,size=4m \"$1\"; \"$own\" files pull \"$1\" >&2 || exit 1; \"$own\" files status \"$1\"; cp -R \"$1\"/. \"$OUT\"",
            pages * 4
        );
        let out = TempDir::new().unwrap();
        let lines = lines.replace("$OUT", out.path().to_str().unwrap());
        let output = work.in_shell(unshare, &lines).await;
        let told = format!("{pages} pages: {output:?}");
        assert!(output.status.success(), "{told}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.ends_with("as in the wiki\n"), "{told}");
        assert_eq!(tree(out.path()), wanted, "{told}");
        if stdout.contains("ended: 0\n") {
            break;
        }
        failed_at += 1;
        assert!(stdout.contains("ended: 1\n"), "{told}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            stderr.contains(": the disk is full; make room and run the command again\n"),
            "{told}"
        );
    }
    assert!(failed_at > 5);
}

#[tokio::test]
async fn a_wiki_that_goes_away_in_the_middle_of_a_push_is_as_it_should_be_after_the_next_one() {
    // Each is a push of its own, which waits long for its wiki.
    tokio::join!(
        goes_away("for the third write"),
        goes_away("before every answer"),
        goes_away("for all after the first write"),
    );
}

/// Pushes to a wiki that goes away in the middle, in one of these ways, and again when it is back.
async fn goes_away(gone: &str) {
    let away = || Fault::new(Reach::Never, Reply::Reset);
    let wiki = wiki_of(&[
        ("docs/a", "One line of a.\n"),
        ("docs/b", "One line of b.\n"),
        ("docs/c", "One line of c, which moves.\n"),
        ("docs/d", "One line of d.\n"),
    ])
    .await;
    let faulty = FaultyWiki::before(&wiki).await;
    let work = Work::on(wiki)
        .with("WIKI_BASE_URL", &faulty.address())
        .with_rules("rules_off = [\"large-sets\"]\n");
    work.good("pull", &[]).await;
    let mut wanted = all(&work.wiki);
    let place = |path: &str| ("en".to_owned(), path.to_owned());
    for name in ["a", "b", "d"] {
        let path = format!("docs/{name}");
        work.edit(&format!("en/{path}.md"), "One line", "Another line");
        wanted.get_mut(&place(&path)).unwrap().content = format!("Another line of {name}.\n");
    }
    work.rename("en/docs/c.md", "en/guides/c.md");
    let mut moved = wanted.remove(&place("docs/c")).unwrap();
    "guides/c".clone_into(&mut moved.path);
    wanted.insert(place("guides/c"), moved);
    work.write("en/docs/e.md", "Made here without fields.\n");

    match gone {
        "for the third write" => faulty.on_mutations_after(2, away()),
        "before every answer" => {
            faulty.on_mutations_after(0, Fault::new(Reach::Before, Reply::Cut));
        }
        _ => {
            faulty.on_mutations_after(1, away());
            faulty.on_reads_after_mutation(away());
        }
    }
    let failed = work.run("push", &["--yes"]).await;
    assert_eq!(
        failed.code == 0,
        gone == "before every answer",
        "{gone}: {}",
        failed.told
    );

    faulty.recovers();
    let pulled = work.good("pull", &[]).await;
    for wrong in ["conflict", "moved here, and in the wiki"] {
        assert!(!pulled.stdout.contains(wrong), "{gone}: {}", pulled.told);
    }
    let pushed = work.good("push", &["--yes"]).await;
    let mut now = all(&work.wiki);
    let made = now.remove(&place("docs/e")).unwrap();
    assert_eq!(made.content, "Made here without fields.\n");
    assert_eq!(now, wanted, "{gone}: {}", pushed.told);
    work.is_as_in_the_wiki().await;
    let mut files = tree(work.dir.path());
    files.remove(".settings.toml").unwrap();
    assert_eq!(files, pulled_anew(&work).await);
}

#[tokio::test]
async fn what_is_saved_while_a_pull_reads_is_left_alone_and_merged_by_the_next() {
    let lines = "one\ntwo\nthree\nfour\nfive\n";
    let work = Work::pulled(wiki_of(&[("docs/a", lines), ("docs/gone", lines)]).await).await;
    let [a, gone] = ["docs/a", "docs/gone"].map(|path| id_of(&work.wiki, path));
    work.wiki.with_store(|store| {
        store.remove(gone);
        store.add(page("docs/new", "From the wiki.\n"));
        let page = store.page_mut(a).unwrap();
        page.content = lines.replace("five", "FIVE");
        page.updated_at = "2031-01-01T00:00:00.000Z".to_owned();
    });
    let dir = work.dir.path().join("en/docs");
    // Operation 0 lists the pages, 1 reads those that differ.
    work.wiki.before_operation(1, move |_| {
        for (name, old, new) in [("a.md", "one", "ONE"), ("gone.md", "two", "TWO")] {
            let text = fs::read_to_string(dir.join(name)).unwrap();
            fs::write(dir.join(name), text.replace(old, new)).unwrap();
        }
        fs::write(dir.join("new.md"), "Made here.\n").unwrap();
    });
    let pulled = work.good("pull", &[]).await;
    for name in ["a", "gone", "new"] {
        let said = format!("en/docs/{name}: edited while this pull read; pull again\n");
        assert!(pulled.stdout.contains(&said), "{}", pulled.told);
    }
    ends(&work.read("en/docs/a.md"), "ONE\ntwo\nthree\nfour\nfive\n");
    assert_eq!(work.read("en/docs/new.md"), "Made here.\n");

    work.run("pull", &[]).await.exits(3);
    ends(&work.read("en/docs/a.md"), "ONE\ntwo\nthree\nfour\nFIVE\n");
    assert!(work.read("en/docs/gone.md").contains("TWO"));
    let new = work.read("en/docs/new.md");
    says(&new, "Made here.\n");
    says(&new, "From the wiki.\n");
}

#[tokio::test]
async fn a_directory_where_a_file_has_to_be_keeps_one_page_away_and_no_other() {
    let work = Work::pulled(wiki_of(&[("docs/z", "z\n")]).await).await;
    for path in ["docs/a", "docs/b", "docs/c/d"] {
        work.wiki.with_page(page(path, "New.\n"));
    }
    let at = |name: &str| work.dir.path().join(name);
    fs::create_dir(at("en/docs/a.md")).unwrap();
    fs::write(at("en/docs/c"), "mine").unwrap();
    let pulled = work.good("pull", &[]).await;
    for name in ["a", "c/d"] {
        let said = format!("en/docs/{name}.md: a link, a file or a directory is in the way");
        says(&pulled.stdout, &said);
    }
    assert!(work.read("en/docs/b.md").ends_with("\nNew.\n"));
    fs::remove_dir(at("en/docs/a.md")).unwrap();
    fs::remove_file(at("en/docs/c")).unwrap();
    work.good("pull", &[]).await;
    work.is_as_in_the_wiki().await;
    assert!(work.has("en/docs/a.md") && work.has("en/docs/c/d.md"));
}

#[tokio::test]
async fn files_that_cannot_be_removed_keep_one_page_where_it_was_and_no_other() {
    let texts = [("docs/a", "of a\n"), ("docs/b", "of b\n")];
    let work = Work::pulled(wiki_of(&texts).await).await;
    let ids = ["docs/a", "docs/b"].map(|path| id_of(&work.wiki, path));
    let in_the_way = work.dir.path().join("en/docs/a.css");
    fs::create_dir(&in_the_way).unwrap();
    work.wiki.with_store(|store| {
        for (id, path) in ids.into_iter().zip(["docs/c", "docs/d"]) {
            path.clone_into(&mut store.page_mut(id).unwrap().path);
        }
    });
    let pulled = work.good("pull", &[]).await;
    says(
        &pulled.stdout,
        "en/docs/a.css: a link, a file or a directory is in the way",
    );
    says(
        &pulled.stdout,
        "this page was not brought: make room, then pull again",
    );
    says(&work.read("en/docs/d.md"), "of b");
    assert!(!work.has("en/docs/c.md"));
    fs::remove_dir(&in_the_way).unwrap();
    work.good("pull", &[]).await;
    says(&work.read("en/docs/c.md"), "of a");
    work.is_as_in_the_wiki().await;
}

#[tokio::test]
async fn a_page_whose_files_cannot_be_removed_keeps_an_edit_of_before_and_after_the_pull() {
    for is_edited_before in [true, false] {
        let wiki = wiki_of(&[]).await;
        let row = page("docs/a", "<p>of a</p>\n").but(|row| row.editor = "code".to_owned());
        let id = wiki.with_page(row);
        let work = Work::pulled(wiki).await;
        let edit = || work.edit("en/docs/a.html", "of a", "edited");
        if is_edited_before {
            edit();
        }
        let in_the_way = work.dir.path().join("en/docs/a.md");
        fs::create_dir(&in_the_way).unwrap();
        work.wiki
            .with_store(|store| "docs/b".clone_into(&mut store.page_mut(id).unwrap().path));
        let pulled = work.good("pull", &[]).await;
        says(&pulled.stdout, "this page was not brought: make room");
        // It is not twice in the folder.
        assert!(work.has("en/docs/a.html") && !work.has("en/docs/b.html"));
        if !is_edited_before {
            edit();
        }
        fs::remove_dir(&in_the_way).unwrap();
        work.good("pull", &[]).await;
        says(&work.read("en/docs/b.html"), "edited");
        assert!(!work.has("en/docs/a.html"));
    }
}

/// A pull that could not end is as good as one that was killed there.
#[tokio::test]
async fn a_page_that_left_its_place_and_is_back_there_is_not_taken_for_deleted_here() {
    let work = Work::pulled(wiki_of(&[("docs/old", "Text of the page.\n")]).await).await;
    let id = id_of(&work.wiki, "docs/old");
    let moves = |path: &str| {
        let path = path.to_owned();
        work.wiki
            .with_store(|store| store.page_mut(id).unwrap().path = path);
    };
    let in_the_way = work.dir.path().join("en/docs/new.md");
    fs::create_dir(&in_the_way).unwrap();
    moves("docs/new");
    work.run("pull", &[]).await;
    assert!(!work.has("en/docs/old.md"));
    moves("docs/old");
    assert_eq!(work.status().await["ahead"], json!([]));
    let refused = work.run("push", &["--delete", "--yes"]).await.exits(3);
    says(&refused.stderr, "was changed in the wiki, too; pull first");
    assert!(mutations(&work.wiki).is_empty());
    fs::remove_dir(&in_the_way).unwrap();
    work.good("pull", &[]).await;
    assert!(
        work.read("en/docs/old.md")
            .ends_with("\nText of the page.\n")
    );
    work.is_as_in_the_wiki().await;
    // What is deleted here later is deleted.
    work.remove("en/docs/old.md");
    work.good("push", &["--delete", "--yes"]).await;
    assert!(work.wiki.with_store(|store| store.page(id).is_none()));
}

/// Its base names the place at which a pull did not get to write it.
#[tokio::test]
async fn another_page_that_comes_where_one_did_not_get_is_not_taken_for_it() {
    let work = Work::pulled(wiki_of(&[("docs/old", "Text of the page.\n")]).await).await;
    let id = id_of(&work.wiki, "docs/old");
    let at = |name: &str| work.dir.path().join(name);
    for (path, in_the_way) in [
        ("docs/new", "en/docs/new.md"),
        ("docs/far", "en/docs/far.md"),
    ] {
        fs::create_dir(at(in_the_way)).unwrap();
        work.wiki
            .with_store(|store| path.clone_into(&mut store.page_mut(id).unwrap().path));
        work.run("pull", &[]).await;
        if path == "docs/new" {
            fs::remove_dir(at(in_the_way)).unwrap();
            work.wiki.with_page(page(path, "Text of another page.\n"));
        }
    }
    assert!(work.has("en/docs/new.md") && !work.has("en/docs/old.md"));
    assert_eq!(work.status().await["ahead"], json!([]));
    work.run("push", &["--delete", "--yes"]).await.exits(3);
    assert!(mutations(&work.wiki).is_empty());
    fs::remove_dir(at("en/docs/far.md")).unwrap();
    work.good("pull", &[]).await;
    assert!(
        work.read("en/docs/far.md")
            .ends_with("\nText of the page.\n")
    );
    work.is_as_in_the_wiki().await;
}

#[tokio::test]
async fn a_file_under_another_form_of_its_pages_name_is_as_in_the_wiki() {
    let work = Work::pulled(wiki_of(&[("docs/a", "A text of some length.\n")]).await).await;
    let at = |name: &str| work.dir.path().join(name);
    fs::rename(at("en/docs/a.md"), at("en/docs/%61.md")).unwrap();
    work.is_as_in_the_wiki().await;
    says(
        &work.good("push", &["--yes"]).await.stdout,
        "nothing to push",
    );
    work.good("pull", &[]).await;
    work.edit("en/docs/%61.md", "A text", "Another text");
    let ahead = work.status().await["ahead"].clone();
    assert_eq!(ahead, json!([{ "what": "changed", "page": "en/docs/%61" }]));
}

#[tokio::test]
async fn a_directory_that_is_refused_stays_as_it_was() {
    let work = Work::on(wiki_of(&[("docs/a", "Text.\n")]).await);
    let foreign = TempDir::new().unwrap();
    fs::write(foreign.path().join("thesis.md"), "mine").unwrap();
    for (command, more) in [("pull", &[][..]), ("push", &["--yes"]), ("status", &[])] {
        work.run_in(foreign.path(), command, more).await.exits(2);
        let there = fs::read_dir(foreign.path()).unwrap().count();
        assert_eq!(there, 1, "{command}");
    }
}

#[tokio::test]
async fn a_proposed_push_names_the_person_and_has_their_words() {
    let work = Work::pulled(wiki_of(&[("docs/a", "Text.\n")]).await).await;
    work.edit("en/docs/a.md", "Text.", "Another text.");
    work.good("push", &["--propose", "-m", "it is so now"])
        .await;
    let listed = work.command(&["proposals", "list"]).await.good();
    let told = work
        .command(&["proposals", "list", "--json"])
        .await
        .good()
        .json();
    let proposal = &told["proposals"][0];
    let actor = proposal["actor"].as_str().unwrap();
    begins(actor, "user:");
    let id = proposal["id"].as_str().unwrap();
    let shown = work.command(&["proposals", "show", id]).await.good();
    for text in [&listed.stdout, &shown.stdout] {
        says(text, &format!("{actor} (wikijs-gate "));
        says(text, "the operator's words: \"it is so now\"");
    }
}
