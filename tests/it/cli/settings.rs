//! Settings: layers and where values come from, the settings file, where the key comes from.

use crate::cli::files::Work;
use crate::prelude::*;

/// A key that must not show anywhere.
const PLANTED: &str = "e30.eyJhcGkiOjEsImV4cCI6MzI1MDM2ODAwMDB9.planted";

#[tokio::test]
async fn a_file_that_a_full_disk_cuts_short_is_not_in_the_way_of_the_next_try() {
    let work = Work::on(wiki_of(&[]).await);
    let lines = "mount -t tmpfs -o size=4k none \"$1\" || exit 9\n\
        cd \"$1\"; head -c 4096 /dev/zero > fill\n\
        echo e30.e30.x | WIKI_CONFIG=c.toml \"$own\" config init --untested --key-stdin --base-url https://w\n\
        echo $?; \"$own\" audit key new key; echo $?; ls";
    let ended = work.in_shell("unshare -rm /bin/sh", lines).await;
    if ended.status.code() == Some(9) || ended.stdout.is_empty() {
        return;
    }
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(told.matches("the disk is full").count(), 2, "{told}");
    assert_eq!(
        String::from_utf8(ended.stdout).unwrap(),
        "1\n1\nfill\n",
        "{told}"
    );
}

/// A user's home directory.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, with its directories.
    fn write(&self, name: &str, text: &str, mode: u32) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Writes the file that is read unless another is named.
    fn config(&self, text: &str) -> String {
        self.write(".config/wikijs-gate/config.toml", text, 0o600)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let home = self.0.path().to_str().unwrap();
        let command = Command::new(arguments).with("HOME", home).hide(home, "~");
        command.in_dir(self.0.path())
    }

    /// Every setting that is set, with its value and where that comes from.
    fn shown(&self, change: impl Fn(Command) -> Command, arguments: &[&str]) -> Vec<Value> {
        let arguments = [&["config", "show", "--json"], arguments].concat();
        let answer = change(self.command(&arguments)).run().good().json();
        let mut settings = answer["settings"].as_array().unwrap().clone();
        settings.retain(|setting| setting["from"] != "default");
        settings
    }

    /// Checks a settings file, at a path of its own.
    fn check(&self, text: &str) -> Ended {
        let file = self.write("checked.toml", text, 0o600);
        self.command(&["config", "check", "--config", &file]).run()
    }
}

/// A file that a server can be started with, and more.
fn good(more: &str) -> String {
    format!("base_url = \"https://wiki.example.com\"\napi_token = \"{PLANTED}\"\n{more}")
}

#[test]
fn later_layers_win_and_each_value_says_where_it_comes_from() {
    let home = Home::new();
    let file = home.config(&good(
        "index = \"off\"\nhttp_timeout_ms = 200\nhttp_max_retries = 1\n",
    ));
    let layered = |command: Command| {
        command
            .with("WIKI_HTTP_TIMEOUT_MS", "300")
            .with("WIKI_HTTP_MAX_RETRIES", "2")
    };
    let expected = [
        json!({ "name": "WIKI_BASE_URL", "value": "https://wiki.example.com", "from": "file", "file": file, "line": 1 }),
        json!({ "name": "WIKI_API_TOKEN", "value": "•••", "from": "file", "file": file, "line": 2 }),
        json!({ "name": "WIKI_HTTP_TIMEOUT_MS", "value": "300", "from": "environment" }),
        json!({ "name": "WIKI_HTTP_MAX_RETRIES", "value": "3", "from": "flag" }),
        json!({ "name": "WIKI_INDEX", "value": "off", "from": "file", "file": file, "line": 3 }),
    ];
    assert_eq!(home.shown(layered, &["--http-max-retries", "3"]), expected);
    // A flag counts wherever it stands.
    let before = home.command(&["--index", "disk", "config", "show"]).run();
    assert!(before.stdout.contains("disk"), "{}", before.told);
    assert!(before.stdout.contains("--index"), "{}", before.told);
}

#[test]
fn every_bad_value_of_a_server_over_http_is_named_at_once() {
    let home = Home::new();
    let ended = home.check(&good(
        "serve_address = \"x\"\nserve_rate = 0\nserve_clients = \"foo\"\nserve_allowed_hosts = \"a b\"\nindex = \"x\"\n",
    ));
    assert_eq!(ended.code, 2, "{}", ended.told);
    for name in ["address", "rate", "clients", "allowed_hosts"] {
        assert!(
            ended.stderr.contains(&format!("serve_{name}")),
            "{}",
            ended.told
        );
    }
}

/// The line of a setting in the table of `config show`, its words apart by one space.
fn line_of(ended: &Ended, name: &str) -> String {
    let line = ended
        .stdout
        .lines()
        .find(|line| line.starts_with(&format!("{name} ")));
    let words: Vec<&str> = line.expect(&ended.told).split_whitespace().collect();
    words.join(" ")
}

#[test]
fn a_setting_is_shown_as_required_only_where_nothing_else_stands_for_it() {
    const TOKEN: &str = "WIKI_API_TOKEN";
    let home = Home::new();
    let show = ["config", "show"];
    let nothing = home.command(&show).run();
    assert_eq!(line_of(&nothing, TOKEN), "WIKI_API_TOKEN required default");
    let expected = "WIKI_BASE_URL required default";
    assert_eq!(line_of(&nothing, "WIKI_BASE_URL"), expected);
    let key = home.write("key", PLANTED, 0o600);
    let of_file = home.command(&show).with("WIKI_API_TOKEN_FILE", &key).run();
    let expected = "WIKI_API_TOKEN none: WIKI_API_TOKEN_FILE gives the key default";
    assert_eq!(line_of(&of_file, TOKEN), expected);
    let by_flag = home
        .command(&["config", "show", "--api-token-file", &key])
        .run();
    let expected = "WIKI_API_TOKEN none: --api-token-file gives the key default";
    assert_eq!(line_of(&by_flag, TOKEN), expected);
    home.config("token_command = [\"pass\", \"wiki\"]\n");
    let expected = "WIKI_API_TOKEN none: token_command gives the key default";
    assert_eq!(line_of(&home.command(&show).run(), TOKEN), expected);
    // With sites alone, no wiki has to stand above them; a site without a key lacks one.
    let site = |name: &str| format!("[sites.{name}]\nbase_url = \"https://{name}.example.com\"\n");
    home.config(&format!(
        "{}api_token_file = \"key\"\n{}",
        site("a"),
        site("b")
    ));
    let above = home.command(&show).run();
    for name in ["WIKI_BASE_URL", TOKEN] {
        let line = line_of(&above, name);
        assert_eq!(line, format!("{name} none: each site has its own default"));
    }
    let of_site = |site: &str| {
        line_of(
            &home.command(&["--site", site, "config", "show"]).run(),
            TOKEN,
        )
    };
    let given = of_site("a");
    assert!(given.starts_with("WIKI_API_TOKEN none: "), "{given}");
    assert!(given.contains("api_token_file gives the key"), "{given}");
    assert_eq!(of_site("b"), "WIKI_API_TOKEN required default");
}

#[test]
fn a_bad_value_is_told_by_the_name_and_place_that_it_was_given() {
    let home = Home::new();
    home.config(&good("http_max_retries = 11\n"));
    let error = |command: Command| command.run().told.lines().nth(1).unwrap().to_owned();
    assert_eq!(
        error(home.command(&["index", "clear"])),
        "error: ~/.config/wikijs-gate/config.toml:3: http_max_retries must be a whole number from 0 to 10"
    );
    assert_eq!(
        error(
            home.command(&["index", "clear"])
                .with("WIKI_HTTP_MAX_RETRIES", "12")
        ),
        "error: WIKI_HTTP_MAX_RETRIES must be a whole number from 0 to 10"
    );
    assert_eq!(
        error(home.command(&["index", "clear", "--http-max-retries", "x"])),
        "error: --http-max-retries must be a whole number from 0 to 10"
    );
}

#[test]
fn a_database_whose_authorities_cannot_be_read_is_told_as_any_bad_value() {
    let home = Home::new();
    home.config(&good(
        "store = \"postgres://gate@localhost:1/wikis?sslrootcert=/nonexistent\"\n",
    ));
    for command in [&["config", "check"][..], &["proposals", "list"]] {
        let ended = home.command(command).run().exits(2);
        says(&ended.told, "has an sslrootcert that is not there");
    }
}

#[test]
fn a_file_is_read_where_it_is_named_or_in_the_users_configuration_and_nowhere_else() {
    let home = Home::new();
    for name in ["config.toml", "wikijs-gate/config.toml", "wikijs-gate.toml"] {
        home.write(name, "index = \"off\"\n", 0o600);
    }
    assert_eq!(home.shown(|command| command, &[]), Vec::<Value>::new());
    // A relative directory would be one of the directory that a client starts us in.
    let relative = |command: Command| command.with("XDG_CONFIG_HOME", ".");
    assert_eq!(home.shown(relative, &[]), Vec::<Value>::new());

    home.config("index = \"disk\"\n");
    let index = |change: &dyn Fn(Command) -> Command, arguments: &[&str]| {
        home.shown(change, arguments)[0]["value"].clone()
    };
    assert_eq!(index(&|command| command, &[]), "disk");
    let xdg = home.path("xdg");
    home.write("xdg/wikijs-gate/config.toml", "index = \"memory\"\n", 0o600);
    let in_xdg = |command: Command| command.with("XDG_CONFIG_HOME", xdg.to_str().unwrap());
    assert_eq!(index(&in_xdg, &[]), "memory");
    let named = |command: Command| in_xdg(command).with("WIKI_CONFIG", "config.toml");
    assert_eq!(index(&named, &[]), "off");
    home.write("other.toml", "index = \"disk\"\n", 0o600);
    assert_eq!(index(&named, &["--config", "other.toml"]), "disk");
    // Set, but to nothing, is no way to the usual file.
    let empty = home.command(&["config", "show"]).with("WIKI_CONFIG", "");
    assert_eq!(empty.run().code, 2);
    let missing = home
        .command(&["config", "show", "--config", "gone.toml"])
        .run();
    assert_eq!(missing.code, 2);
    assert_eq!(
        &*missing.stderr,
        "error: the settings file gone.toml cannot be read: it is not there; look at its name\n"
    );
}

#[test]
fn a_file_that_cannot_be_trusted_or_understood_stops_the_start() {
    let home = Home::new();
    for mode in [0o620, 0o602, 0o666] {
        let file = home.write("loose.toml", &good(""), mode);
        let ended = home.command(&["index", "clear", "--config", &file]).run();
        assert_eq!(ended.code, 2);
        assert_eq!(
            ended.told.lines().nth(1).unwrap(),
            "error: the settings file ~/loose.toml may be written by others than its owner; take that away with chmod go-w"
        );
    }
    for dir in ["/tmp", home.0.path().to_str().unwrap()] {
        let ended = home.command(&["config", "check", "--config", dir]).run();
        let told = "is a directory; name a file in it\n";
        assert!(ended.stderr.ends_with(told), "{}", ended.told);
    }
    let large = home.write("large.toml", &"#\n".repeat(1 << 19), 0o600);
    let ended = home.command(&["index", "clear", "--config", &large]).run();
    ends(&ended.stderr, "large.toml is too large\n");
    for [text, fault] in text_rows(
        r#"
        index = "off"¶indx = 1 => 2: "indx" is no setting; did you mean index?
        [pages]¶x = 1 => 1: "pages" is no setting
        ¶¶WIKI_INDEX = "off" => 3: "WIKI_INDEX" is no setting
        mutations_enabled = "true" => 1: mutations_enabled must be true or false, without quotes
        http_max_retries = 1.5 => 1: http_max_retries must be a whole number from 0 to 10, without quotes
        index = true => 1: index must be a text in quotes
        toolsets = ["pages,undo"] => 1: toolsets must be an array of texts without commas, or one text
        toolsets = [] => 1: toolsets is set but empty; give it a value or leave it out
        token_command = "pass wiki" => 1: token_command must be a program and its arguments, such as ["pass", "wiki"]
        token_command = [] => 1: token_command must be a program and its arguments, such as ["pass", "wiki"]
        index = "on" => 1: index must be memory, disk or off
        confirm = "me" => 1: confirm must be token, preview, person or review
        audit_keep_days = -1 => 1: audit_keep_days must be a whole number from 1 to 36500
    "#,
    ) {
        let ended = home.check(&text.replace('¶', "\n"));
        let line = format!("error: ~/checked.toml:{fault}");
        assert_eq!(ended.code, 2);
        assert!(
            ended.told.lines().any(|told| told == line),
            "{line}\n{}",
            ended.told
        );
    }
}

#[test]
fn no_fault_shows_a_secret() {
    let home = Home::new();
    for text in [
        format!("api_token = \"{PLANTED}"),
        format!("api_token = {PLANTED}"),
        format!("api_token = [\"{PLANTED}\"]"),
        format!("api_token = \"{PLANTED} x\""),
        good(&format!("api_token = \"{PLANTED}\"")),
        good(&format!("api_token_file = \"{PLANTED}\"")),
        good(&format!(
            "confirm = \"person\"\nmutation_confirm_token = \"{PLANTED}\""
        )),
    ] {
        let ended = home.check(&text);
        assert_eq!(ended.code, 2, "{}", ended.told);
        assert!(!ended.told.contains("planted"), "{}", ended.told);
    }
}

#[test]
fn a_key_that_others_may_read_is_warned_of() {
    let home = Home::new();
    let warned = |text: &str, mode| {
        let file = home.write("checked.toml", text, mode);
        let ended = home.command(&["config", "check", "--config", &file]).run();
        let ended = ended.good();
        ended.stdout.contains("warning:")
    };
    assert!(warned(&good(""), 0o644));
    assert!(!warned(&good(""), 0o600));
    home.write("key", PLANTED, 0o600);
    let without = "base_url = \"https://wiki.example.com\"\napi_token_file = \"key\"\n";
    assert!(!warned(without, 0o644));
}

#[test]
fn a_key_comes_from_one_place_of_the_latest_layer_that_names_any() {
    let home = Home::new();
    let base = "base_url = \"https://wiki.example.com\"\n";
    // What a file names lies beside it.
    home.write("key", &format!("{PLANTED}\n"), 0o600);
    home.write(
        "print-key",
        &format!("#!/bin/sh\necho hidden >&2\necho {PLANTED}\n"),
        0o700,
    );
    for key in [
        "api_token_file = \"key\"",
        "token_command = [\"./print-key\"]",
        "token_command = [\"printf\", \"%s\\n\", \"e30.e30.x\"]",
    ] {
        let file = home.write("checked.toml", &format!("{base}{key}"), 0o600);
        let elsewhere = TempDir::new().unwrap();
        let check = home.command(&["config", "check", "--config", &file]);
        let ended = check.in_dir(elsewhere.path()).run();
        assert_eq!((ended.code, &*ended.stderr), (0, ""), "{}", ended.told);
    }
    for [key, fault] in text_rows(
        r#"
        token_command = ["sh", "-c", "echo x >&2; exit 7"] => failed with exit code 7; run it by hand to see why: what it says on stderr may hold the key and is not shown
        token_command = ["nothing-of-this-name"] => cannot be run: its program is not there; look at its name
        token_command = ["true"] => must hold a key: letters, digits and signs without spaces
        token_command = ["true"]¶api_token = "x" => is set beside api_token; leave one of them out
    "#,
    ) {
        let ended = home.check(&format!("{base}{}", key.replace('¶', "\n")));
        assert_eq!(
            ended.stderr.replace(home.0.path().to_str().unwrap(), "~"),
            format!("error: ~/checked.toml:2: token_command {fault}\n")
        );
    }
    // A later layer wins over an earlier one, whatever it names; a command is not even run.
    let file = home.write(
        "checked.toml",
        &format!("{base}token_command = [\"false\"]"),
        0o600,
    );
    let check = || home.command(&["config", "check", "--config", &file]);
    assert_eq!(check().run().code, 2);
    assert_eq!(check().with("WIKI_API_TOKEN", PLANTED).run().code, 0);
    let both = check()
        .with("WIKI_API_TOKEN", PLANTED)
        .with("WIKI_API_TOKEN_FILE", "key");
    assert_eq!(
        both.run().stderr,
        "error: WIKI_API_TOKEN_FILE is set beside WIKI_API_TOKEN; leave one of them out\n"
    );
    // A command belongs in a file alone.
    let ended = home
        .command(&["config", "check", "--base-url", "https://wiki.example.com"])
        .with("WIKI_TOKEN_COMMAND", "echo");
    begins(&ended.run().stderr, "error: WIKI_API_TOKEN is missing");
}

#[test]
fn no_flag_takes_a_secret() {
    let home = Home::new();
    for flag in ["--api-token", "--mutation-confirm-token", "--token-command"] {
        let ended = home.command(&["config", "check", flag, "x"]).run();
        assert_eq!((ended.code, &*ended.stdout), (2, ""));
        begins(&ended.stderr, "error: unexpected argument");
    }
    // They are many: the top has them in its help, a subcommand takes them all the same.
    for short in [&["undo", "--help"][..], &["-h"]] {
        lacks(&home.command(short).run().stdout, "--base-url");
    }
    let long = home.command(&["--help"]).run().stdout;
    says(&long, "\nSettings:\n");
    says(&long, "--base-url <TEXT>");
}

#[test]
fn the_short_help_fits_on_a_screen() {
    let home = Home::new();
    let help = home.command(&["-h"]).run();
    golden("help", &help.told);
    assert!(help.stdout.lines().count() <= 42, "{}", help.stdout);
    for line in help.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // The long one has the same groups.
    let long = home.command(&["--help"]).run().stdout;
    let groups = |help: &str| {
        let help = help.split_once("\n\n").unwrap();
        let help = help.1.split_once("Options:").unwrap();
        help.0.to_owned()
    };
    assert_eq!(groups(&long), groups(&help.stdout));
}

#[test]
fn a_new_file_is_its_owners_alone_and_is_never_written_over_unasked() {
    let home = Home::new();
    let init = |more: &[&str]| {
        let arguments = [
            &[
                "config",
                "init",
                "--untested",
                "--base-url",
                "https://wiki.example.com",
            ],
            more,
        ];
        home.command(&arguments.concat()).stdin(PLANTED).run()
    };
    for (more, fault) in [
        (
            &[][..],
            "nobody can be asked here; pass --key-stdin or --api-token-file",
        ),
        (
            &["--key-stdin", "--http-max-retries", "11"],
            "http_max_retries must be a whole number from 0 to 10",
        ),
        (
            &["--api-token-file", "gone"],
            "api_token_file names a file that cannot be read: it is not there; look at its name",
        ),
        (
            &["--api-token-file", "gone", "--key-stdin"],
            "api_token_file is set beside api_token; leave one of them out",
        ),
    ] {
        let ended = init(more);
        assert_eq!(ended.code, 2);
        // The file is not written, so no line of it is named.
        assert_eq!(ended.stderr, format!("error: {fault}\n"));
    }
    assert!(!home.path(".config").exists());
    // A wiki that does not answer, or does not know the key, is not written down untested.
    let untried = [
        "config",
        "init",
        "--base-url",
        "http://127.0.0.1:9",
        "--key-stdin",
    ];
    let untried = home.command(&untried).stdin(PLANTED).run().exits(1);
    let expected = "error: nobody listens at 127.0.0.1, port 9; nothing was written. Start the wiki, or \
         correct WIKI_BASE_URL. --untested writes it all the same.\n";
    assert_eq!(untried.stderr, expected);
    assert!(!home.path(".config").exists());

    let written = init(&[
        "--key-stdin",
        "--toolsets",
        "pages,undo",
        "--mutations-enabled",
        "true",
    ]);
    assert_eq!(written.code, 0, "{}", written.told);
    assert!(!written.told.contains("planted"));
    let file = home.path(".config/wikijs-gate/config.toml");
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let text = fs::read_to_string(&file).unwrap();
    let set: Vec<_> = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .collect();
    let expected = [
        "base_url = \"https://wiki.example.com\"",
        &format!("api_token = \"{PLANTED}\""),
        "mutations_enabled = true",
        "toolsets = [\"pages\",\"undo\"]",
    ];
    assert_eq!(set, expected);
    assert_eq!(home.command(&["config", "check"]).run().code, 0);

    let again = init(&["--key-stdin"]);
    assert_eq!(again.code, 2);
    ends(&again.stderr, "is there; --force replaces it\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    // Without a key the old file stays as it was.
    let empty = ["config", "init", "--base-url", "https://wiki.example.com"];
    let empty = home.command(&[&empty[..], &["--key-stdin", "--force"]].concat());
    let told = "error: no key was given; nothing was written\n";
    assert_eq!(empty.run().stderr, told);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(init(&["--key-stdin", "--force", "--json"]).code, 0);
    lacks(&fs::read_to_string(&file).unwrap(), "\nmutations_enabled");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let dir = fs::read_dir(file.parent().unwrap()).unwrap();
    assert_eq!(dir.count(), 1);
}

#[test]
fn every_fault_is_named_at_once() {
    let home = Home::new();
    let ended = home.check("index = \"on\"\nbase_url = \"wiki\"\nhttp_max_retries = 11\n");
    assert_eq!(ended.code, 2);
    let program = home.command(&["config", "check", "--config", "checked.toml", "--json"]);
    let answer = program.run().json();
    let faults: Vec<_> = answer["faults"].as_array().unwrap().iter().collect();
    assert_eq!(faults.len(), 4, "{answer}");
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert_eq!(lines.len(), 4, "{}", ended.told);
    assert!(lines.iter().all(|line| line.starts_with("error: ")));
    // One that several settings meet is named once.
    let homeless = Command::new(&["config", "check"]).run();
    let told = homeless.stderr.matches("there is no home directory");
    assert_eq!(told.count(), 1, "{}", homeless.stderr);
    says(&homeless.stderr, "name a directory");
}

#[test]
fn what_would_stop_a_server_over_http_is_named() {
    let home = Home::new();
    let (garbage, loose) = (
        home.write("garbage", "nonsense\n", 0o600),
        home.write("loose", "", 0o666),
    );
    let tokens = |file: &str| format!("serve_tokens_file = \"{file}\"\n");
    let open = "serve_address = \"0.0.0.0:8799\"\n";
    for (more, fault) in [
        (tokens(&garbage), "line 1 of the tokens file is no client"),
        (
            tokens(&loose),
            "the tokens file may be written by others than its owner",
        ),
        (
            open.to_owned(),
            "an address that is not loopback needs named clients",
        ),
        (
            open.to_owned() + &tokens("none-yet"),
            "WIKI_SERVE_TOKENS_FILE names no client yet",
        ),
    ] {
        let ended = home.check(&good(&more));
        assert_eq!(ended.code, 2, "{}", ended.told);
        let told = format!("error: {fault}");
        assert!(ended.stderr.starts_with(&told), "{}", ended.told);
    }
    let fine = "serve_address = \"127.0.0.1:8799\"\n".to_owned() + &tokens("none-yet");
    assert_eq!(home.check(&good(&fine)).code, 0);
    let clients = |who: &str| format!("serve_clients = \"{who}\"\n");
    for (more, fault) in [
        (clients("named"), "is `named`: set WIKI_SERVE_TOKENS_FILE"),
        (
            clients("anyone") + &tokens("none-yet"),
            "is `anyone`, but WIKI_SERVE_TOKENS_FILE names who may call",
        ),
        (clients("all"), "must be named or anyone"),
    ] {
        let ended = home.check(&good(&more));
        assert_eq!(ended.code, 2, "{}", ended.told);
        says(&ended.stderr, fault);
    }
    for fine in [clients("named") + &tokens("none-yet"), clients("anyone")] {
        let ended = home.check(&good(&fine));
        assert_eq!(ended.code, 0, "{}", ended.told);
    }
}

#[test]
fn the_commands_of_settings_are_told_in_full() {
    let home = Home::new();
    let mut all = String::new();
    let mut tell = |command: Command| {
        all += &command.run().told;
        all.push('\n');
    };
    tell(
        home.command(&[
            "config",
            "init",
            "--base-url",
            "http://wiki.lan",
            "--key-stdin",
            "--untested",
        ])
        .stdin(PLANTED),
    );
    tell(home.command(&["config", "check"]));
    tell(home.command(&["config", "check", "--json"]));
    tell(
        home.command(&["config", "show", "--log", "off"])
            .with("WIKI_INDEX", "disk"),
    );
    tell(home.command(&[
        "config",
        "init",
        "--base-url",
        "http://wiki.lan",
        "--key-stdin",
    ]));
    home.config("base_url = \"wiki\"\nmutation_dry_run = false\naudit_keep_mb = 0\n");
    tell(home.command(&["config", "check"]));
    tell(home.command(&["config", "check", "--json"]));
    tell(home.command(&["serve"]));
    golden("settings", &all);
}

#[test]
fn a_shell_completes_what_the_help_names() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = Command::new(&["completions", shell]).run();
        assert_eq!((ended.code, &*ended.stderr), (0, ""));
        for word in ["completions", "undo", "mutations-enabled", "disk"] {
            assert!(ended.stdout.contains(word), "{shell} lacks {word}");
        }
    }
    assert_eq!(Command::new(&["completions", "cmd"]).run().code, 2);
}

#[test]
fn bash_completes_below_the_top_level_too() {
    let script = Command::new(&["completions", "bash"]).run().stdout;
    let lines: [(&[&str], &[&str]); 12] = [
        (&["prop"], &["proposals"]),
        (&["proposals", "sh"], &["show"]),
        (&["proposals", "list", "--st"], &["--state"]),
        (&["audit", "list", "--outc"], &["--outcome"]),
        (&["config", ""], &["check", "show", "init"]),
        (&["token", "new", "x", "--read"], &["--read-only"]),
        (&["completions", ""], &["bash", "zsh"]),
        (&["audit", "list", "--outcome", "part"], &["partly_applied"]),
        (&["audit", "list", "--tool", "wikijs_del"], &[DELETE]),
        (&["audit", "report", "--gate", "dr"], &["dry_run"]),
        (&["audit", "list", "--operation", ""], &["create", "move"]),
        (&["tool", "call", "wikijs_search"], &[SEARCH]),
    ];
    for (words, wanted) in lines {
        let last = words.last().unwrap();
        let before = words.iter().rev().nth(1).unwrap_or(&"wikijs-gate");
        let line: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let asked = format!(
            "{script}\nCOMP_WORDS=(wikijs-gate {})\nCOMP_CWORD={}\n\
             _wikijs__gate wikijs-gate '{last}' '{before}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
            line.join(" "),
            words.len()
        );
        let bash = std::process::Command::new("bash")
            .args(["--norc", "-c", &asked])
            .output();
        // Skipped where there is no bash.
        let Ok(bash) = bash else { return };
        let told = String::from_utf8(bash.stdout).unwrap();
        let replies: Vec<&str> = told.lines().collect();
        for word in wanted {
            assert!(replies.contains(word), "{words:?}: {told}{:?}", bash.stderr);
        }
    }
}

#[test]
fn an_empty_place_or_author_is_refused() {
    let elsewhere = TempDir::new().unwrap();
    for arguments in [
        &["bin", "restore", "--path", "docs", "--at", "1h", "--by", ""][..],
        &["store", "copy", "--to", ""],
    ] {
        let ended = Command::new(arguments).in_dir(elsewhere.path()).run();
        says(&ended.exits(2).stderr, "a value is required for");
    }
}

#[tokio::test]
async fn an_empty_name_of_the_settings_file_is_told_as_any_empty_value() {
    for command in [["config", "check"], ["audit", "list"]] {
        let command = Command::new(&command).with("WIKI_CONFIG", "");
        let refused = command.end().await.exits(2);
        says(&refused.stderr, "WIKI_CONFIG is set but empty");
    }
}
