//! Answers that are typed at a terminal which shows nothing by itself. What is typed or pasted
//! ahead of its question is shown with that question or, if it is a secret, never.

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcsetattr,
};

use super::print;

/// The prefix of a wiki's keys: they are JSON Web Tokens (W4).
const KEY: &str = "eyJ";

/// True if a text looks like a key of a wiki.
pub(super) fn is_like_key(text: &str) -> bool {
    text.starts_with(KEY)
}

/// A person who answers questions: at the terminal, or scripted in tests.
pub(super) trait Prompter {
    /// Asks for one line, trimmed, which is shown unless it is a secret; nothing if nobody answers
    /// any more.
    fn ask(&mut self, question: &str, is_secret: bool) -> Option<String>;
    /// Says that the answer was no good. What was typed ahead answers other questions than those
    /// that come.
    fn tell(&mut self, what: &str);
}

/// The terminal, while answers are asked for.
pub(super) struct Typing(Termios);

impl Typing {
    /// Begins; nothing if stdin is no terminal.
    pub(super) fn begin() -> Option<Self> {
        let before = tcgetattr(std::io::stdin()).ok()?;
        let mut modes = before.clone();
        // No key ends the program, which would leave the terminal so: Ctrl-C ends the answer.
        let by_itself = LocalModes::ECHO
            | LocalModes::ECHONL
            | LocalModes::ICANON
            | LocalModes::ISIG
            | LocalModes::IEXTEN;
        modes.local_modes.remove(by_itself);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(std::io::stdin(), OptionalActions::Now, &modes).ok()?;
        Some(Self(before))
    }
}

impl Prompter for Typing {
    /// Nothing comes of Ctrl-C and Ctrl-D either.
    fn ask(&mut self, question: &str, is_secret: bool) -> Option<String> {
        print::on_stdout(&format!("{question} "));
        let mut line = LineEditor::new(is_secret);
        let answer = loop {
            let mut byte = [0];
            match rustix::io::read(std::io::stdin(), &mut byte) {
                Err(rustix::io::Errno::INTR) => {}
                Err(_) | Ok(0) => break None,
                Ok(_) => match line.typed(byte[0]) {
                    Typed::On(shown) => print::on_stdout(&shown),
                    Typed::Given(answer) => break Some(answer),
                    Typed::Ended => break None,
                },
            }
        };
        print::on_stdout("\n");
        answer
    }

    fn tell(&mut self, what: &str) {
        print::line(&print::harmless(what));
        // What cannot be forgotten is asked about again.
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    }
}

impl Drop for Typing {
    fn drop(&mut self) {
        // There is nobody left to notify.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// The effect of a key press.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    /// The answer continues; this is to be written at the cursor.
    On(String),
    /// The answer.
    Given(String),
    /// There is none.
    Ended,
}

/// A line that is being typed.
struct LineEditor {
    is_secret: bool,
    /// The letters, each with the columns that it takes on the screen.
    letters: Vec<(char, usize)>,
    /// The bytes of a letter that is not whole yet.
    bytes: Vec<u8>,
    escape: Escape,
}

/// The position in the escape sequence of a cursor key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    Begun,
    Within,
}

impl LineEditor {
    const fn new(is_secret: bool) -> Self {
        Self {
            is_secret,
            letters: Vec::new(),
            bytes: Vec::new(),
            escape: Escape::None,
        }
    }

    fn typed(&mut self, byte: u8) -> Typed {
        const CTRL_C: u8 = 3;
        const CTRL_D: u8 = 4;
        const BACKSPACE: u8 = 8;
        const CTRL_U: u8 = 21;
        const ESCAPE: u8 = 27;
        const DELETE: u8 = 127;
        let on = |text: &str| Typed::On(text.to_owned());
        match (self.escape, byte) {
            (Escape::Begun, b'[' | b'O') => {
                self.escape = Escape::Within;
                return on("");
            }
            (Escape::Within, byte) if !(0x40..=0x7e).contains(&byte) => return on(""),
            (Escape::Begun | Escape::Within, _) => {
                self.escape = Escape::None;
                return on("");
            }
            (Escape::None, _) => {}
        }
        match byte {
            b'\n' | b'\r' => {
                let text: String = self.letters.iter().map(|(letter, _)| letter).collect();
                Typed::Given(text.trim().to_owned())
            }
            CTRL_C => Typed::Ended,
            CTRL_D if self.letters.is_empty() => Typed::Ended,
            BACKSPACE | DELETE => Typed::On(self.without_last()),
            CTRL_U => {
                let count = self.letters.len();
                Typed::On((0..count).map(|_| self.without_last()).collect())
            }
            ESCAPE => {
                self.escape = Escape::Begun;
                on("")
            }
            byte if byte.is_ascii_control() => on(""),
            byte => {
                self.bytes.push(byte);
                self.whole_letter()
            }
        }
    }

    /// The output that takes the last letter off the screen.
    fn without_last(&mut self) -> String {
        let columns = self.letters.pop().map_or(0, |(_, columns)| columns);
        "\u{8} \u{8}".repeat(columns)
    }

    fn whole_letter(&mut self) -> Typed {
        let letter = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text.chars().next(),
            // Not all of its bytes are there.
            Err(error) if error.error_len().is_none() => return Typed::On(String::new()),
            Err(_) => None,
        };
        self.bytes.clear();
        let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
        let before: String = self.letters.iter().map(|(letter, _)| letter).collect();
        let is_hidden = self.is_secret || is_like_key(&format!("{before}{letter}"));
        let shown = if is_hidden {
            String::new()
        } else {
            print::harmless(&letter.to_string())
        };
        self.letters.push((letter, print::columns(&shown)));
        Typed::On(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::{LineEditor, Typed};

    /// The output on the screen, and the answer.
    fn typed(text: &str, is_secret: bool) -> (String, Option<String>) {
        let mut line = LineEditor::new(is_secret);
        let mut screen = String::new();
        for byte in text.bytes() {
            match line.typed(byte) {
                Typed::On(shown) => screen.push_str(&shown),
                Typed::Given(answer) => return (screen, Some(answer)),
                Typed::Ended => return (screen, None),
            }
        }
        panic!("no end: {screen}");
    }

    #[test]
    fn what_is_typed_is_shown_and_a_secret_is_not() {
        let shown = |text: &str| (text.to_owned(), Some(text.to_owned()));
        assert_eq!(typed("https://w\n", false), shown("https://w"));
        assert_eq!(typed("文档\n", false), shown("文档"));
        let answer = Some("sesame".to_owned());
        assert_eq!(typed("sesame\n", true), (String::new(), answer));
    }

    #[test]
    fn a_key_that_is_pasted_at_another_question_is_not_shown() {
        let (screen, answer) = typed("eyJhbGciOi.eyJhcGki.sig\n", false);
        assert_eq!(screen, "ey");
        assert_eq!(answer.as_deref(), Some("eyJhbGciOi.eyJhcGki.sig"));
    }

    #[test]
    fn letters_are_taken_back_by_the_columns_that_they_take() {
        let back = "\u{8} \u{8}";
        let (screen, answer) = typed("a文\u{7f}b\u{15}c\n", false);
        assert_eq!(screen, format!("a文{back}{back}b{back}{back}c"));
        assert_eq!(answer.as_deref(), Some("c"));
        // Cursor keys type nothing, and nothing of them steers the terminal.
        let (screen, answer) = typed("a\u{1b}[D\u{1b}[3~\u{1b}OPb\n", false);
        assert_eq!((screen.as_str(), answer.as_deref()), ("ab", Some("ab")));
    }

    #[test]
    fn ctrl_c_and_ctrl_d_are_no_answer() {
        assert_eq!(typed("ab\u{3}", false).1, None);
        assert_eq!(typed("\u{4}", false).1, None);
    }
}
