//! Readers and a subject that the command line names, as `exec:COMMAND`.

use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};

use super::process::{DEADLINE, Process};
use super::protocol::Hello;
use super::{ReaderFailed, StreamReader, native, replay_js, slot_model, slot_upstream};

/// The names that nobody from outside can have.
const OURS: [&str; 4] = [native::NAME, replay_js::NAME, slot_model::NAME, slot_upstream::NAME];
/// The frames of PROTOCOL.md that a subject may answer.
const FRAMES: [&str; 5] = ["streams", "descriptors", "calls", "strict", "layouts"];
/// Those that a further reader is asked.
const STREAMS: [&str; 3] = ["streams", "descriptors", "calls"];
const READER: &str = "--reader";
const SUBJECT: &str = "--subject";

/// `lockstep run`, `repro`, `minimize` and `corpus` take these.
#[derive(clap::Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Readers {
    /// A further reader of streams, as exec:COMMAND, which speaks reference/PROTOCOL.md; may be given several times. Quotes and
    /// backslashes hold words together as in a shell, and nothing is expanded
    #[arg(long = "reader", value_name = "exec:COMMAND", value_parser = Outside::parse)]
    list: Vec<Outside>,
}

/// Who takes part from outside, each by a name that no other has.
#[derive(Default)]
pub struct Introduced {
    /// In the place of `wire` and `mslmap`.
    pub subject: Option<Outside>,
    /// The frame types that the subject answers.
    pub answers: Vec<String>,
    /// The further readers.
    pub readers: Vec<Outside>,
}

/// A reader, or a subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Outside {
    /// Its name in reports: the one of its hello, or `exec:COMMAND` where it said none.
    pub name: String,
    /// As it was given.
    given: String,
    /// The program and its arguments.
    words: Vec<String>,
}

impl TryFrom<String> for Outside {
    type Error = String;

    fn try_from(given: String) -> Result<Outside, String> {
        Outside::parse(&given)
    }
}

impl From<Outside> for String {
    fn from(outside: Outside) -> String {
        outside.given
    }
}

impl Readers {
    /// These, or where there are none those.
    pub fn or(self, those: Vec<Outside>) -> Readers {
        match self.list.is_empty() {
            true => Readers { list: those },
            false => self,
        }
    }

    /// Starts these and a subject once, to learn their names.
    ///
    /// # Errors
    ///
    /// One cannot be started, a reader's hello says that it answers nothing but what a reader is not asked, or the subject says no
    /// hello. A reader that starts and fails is a finding of the campaign's, so that it is none here.
    pub fn introduce(&self, subject: Option<&Outside>) -> anyhow::Result<Introduced> {
        let mut names = OURS.map(str::to_owned).to_vec();
        let mut introduced = Introduced::default();
        if let Some(subject) = subject {
            let hello = subject.hello(SUBJECT)??;
            // Others than those of PROTOCOL.md are passed over.
            let known = |frame: &String| FRAMES.contains(&frame.as_str());
            introduced.answers = hello.answers.into_iter().filter(known).collect();
            introduced.subject = Some(subject.called(hello.name, &mut names));
        }
        for reader in &self.list {
            let hello = reader.hello(READER)?;
            if let Ok(hello) = &hello {
                ensure!(
                    STREAMS.iter().any(|frame| hello.answers(frame)),
                    "{}: it answers {}, and a further reader is asked {} alone",
                    reader.option(),
                    hello.answers.join(", "),
                    STREAMS.join(", ")
                );
            }
            let name = hello.map_or_else(|_| reader.name.clone(), |hello| hello.name);
            introduced.readers.push(reader.called(name, &mut names));
        }
        Ok(introduced)
    }
}

impl Outside {
    /// Reads `exec:COMMAND`.
    pub fn parse(given: &str) -> Result<Outside, String> {
        let command = given
            .strip_prefix("exec:")
            .ok_or("a reader is given as exec:COMMAND, as in 'exec:python3 reference/examples/reader.py'")?;
        let words = split(command)?;
        match words.first() {
            Some(program) if !program.is_empty() => Ok(Outside {
                name: given.to_owned(),
                given: given.to_owned(),
                words,
            }),
            _ => Err("there is no command after exec:".into()),
        }
    }

    /// The reader.
    pub fn process(&self) -> Process {
        let words = self.words.clone();
        Process::new(&self.name, DEADLINE, move || {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).stderr(Stdio::piped());
            command
        })
    }

    /// The reader, for a campaign's cast.
    pub fn reader(&self) -> Box<dyn StreamReader> {
        Box::new(self.process())
    }

    /// The option that brings it as a further reader, as a shell takes it.
    pub fn option(&self) -> String {
        self.named(READER)
    }

    /// The option that brings it as the subject.
    pub fn subject_option(&self) -> String {
        self.named(SUBJECT)
    }

    fn named(&self, option: &str) -> String {
        format!("{option} '{}'", self.given.replace('\'', r"'\''"))
    }

    /// What it says of itself; or why it says nothing.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    fn hello(&self, option: &str) -> anyhow::Result<Result<Hello, ReaderFailed>> {
        let mut process = self.process();
        let start = || format!("{}: cannot start `{}`", self.named(option), self.words[0]);
        process.open().with_context(start)?;
        Ok(process.hello())
    }

    /// The same by the name that it says, or where that is taken by one that is made of it.
    fn called(&self, said: String, taken: &mut Vec<String>) -> Outside {
        let numbered = (2..).map(|number| format!("{said} ({number})"));
        let mut names = [said.clone(), format!("exec:{said}")].into_iter().chain(numbered);
        let name = names.find(|name| !taken.contains(name)).unwrap_or(said);
        taken.push(name.clone());
        Outside { name, ..self.clone() }
    }
}

/// Splits a command line into words as a shell does, on any platform: blanks part words; single and double quotes hold them together;
/// a backslash takes its meaning from a blank, a quote or a backslash that follows it, but not in single quotes, and stands for itself
/// before anything else, so that Windows's paths need no quotes.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None | Some('"'), '\\') => {
                let next = chars.next_if(|next| matches!(next, '\\' | '"' | '\'') || next.is_whitespace());
                word.get_or_insert_default().push(next.unwrap_or('\\'));
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    match quote {
        Some(open) => Err(format!("a {open} quote that nothing closes")),
        None => {
            words.extend(word);
            Ok(words)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_as_a_shell_splits_them() {
        let cases: [(&str, &[&str]); 9] = [
            ("", &[]),
            ("  a  b\tc ", &["a", "b", "c"]),
            ("a 'b c' \"d e\"", &["a", "b c", "d e"]),
            ("a'b'\"c\"d", &["abcd"]),
            ("'' \"\"", &["", ""]),
            (r#""a\"b" 'a"b' "a'b""#, &["a\"b", "a\"b", "a'b"]),
            (r"a\ b \\ \'", &["a b", "\\", "'"]),
            (r"'a\' C:\new\tools\go.exe x\", &["a\\", r"C:\new\tools\go.exe", "x\\"]),
            ("*.py $HOME ~ ; | >", &["*.py", "$HOME", "~", ";", "|", ">"]),
        ];
        for (line, words) in cases {
            assert_eq!(
                split(line).as_deref(),
                Ok(words.iter().map(ToString::to_string).collect::<Vec<_>>()).as_deref()
            );
        }
        assert_eq!(split("a 'b"), Err("a ' quote that nothing closes".into()));
        assert_eq!(split("a \"b'"), Err("a \" quote that nothing closes".into()));
    }

    #[test]
    fn each_has_a_name_of_its_own() {
        let outside = Outside::parse("exec:a").expect("a command");
        let mut taken = vec!["native".to_owned()];
        let names = ["port", "native", "port", "port"].map(|said| outside.called(said.into(), &mut taken).name);
        assert_eq!(names, ["port", "exec:native", "exec:port", "port (2)"]);
    }

    #[test]
    fn what_is_no_reader() {
        assert!(Outside::parse("python3 reader.py").is_err());
        assert!(Outside::parse("exec:").is_err());
        assert!(Outside::parse("exec: ''").is_err());
        assert!(Outside::parse("exec:a 'b").is_err());
    }
}
