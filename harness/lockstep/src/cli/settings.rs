//! `lockstep.toml`: what `lockstep run` takes where its command line says nothing, and of it the readers wherever `--reader` is taken.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;
use serde::{Deserialize, Deserializer, de};

use super::run::{duration, workers};
use crate::input::{self, plainly};
use crate::readers::outside::Outside;
use crate::setup;

/// The file at the repository's root that is read without `--config`.
const NAME: &str = "lockstep.toml";
/// The longest file that is read.
const MAX_FILE: u64 = 1 << 20;

/// The file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The table `[run]`.
    pub run: Run,
}

/// The options of `lockstep run` that do not change which cases a seed makes. Each is as on the command line.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// `time = "5m"`
    #[serde(deserialize_with = "time")]
    pub time: Option<Duration>,
    /// `workers = 4`
    #[serde(deserialize_with = "number_of_workers")]
    pub workers: Option<usize>,
    /// `gpu = ["wgpu:noop"]`
    pub gpu: Vec<String>,
    /// `require-gpu = true`
    #[serde(rename = "require-gpu")]
    pub require_gpu: bool,
    /// `reader = ["exec:python3 reader.py"]`
    #[serde(deserialize_with = "readers")]
    pub reader: Vec<Outside>,
    /// `out = "reports/out"`, from the file's folder.
    pub out: Option<PathBuf>,
    /// `quiet = true`
    pub quiet: bool,
}

impl Settings {
    /// Reads `file`, or without one `lockstep.toml` at the repository's root, which need not be there.
    ///
    /// # Errors
    ///
    /// It cannot be read, is no TOML, or says what these settings do not know. One line that names the file and the line in it.
    pub fn load(file: Option<&Path>) -> anyhow::Result<Settings> {
        if let Some(file) = file {
            return Settings::read(file);
        }
        let usual = setup::repository_root().map(|root| root.join(NAME));
        match usual {
            Ok(file) if file.exists() => Settings::read(&file),
            _ => Ok(Settings::default()),
        }
    }

    fn read(file: &Path) -> anyhow::Result<Settings> {
        let name = file.display();
        let text = input::text(file, MAX_FILE).map_err(|error| anyhow!("{name}: cannot read it: {error:#}"))?;
        let mut settings = Settings::parse(&text).map_err(|why| anyhow!("{name}:{why}"))?;
        let folder = file.parent().unwrap_or(Path::new(""));
        settings.run.out = settings.run.out.map(|out| folder.join(out));
        Ok(settings)
    }

    /// The settings that `text` holds; the error begins with the line and the key.
    fn parse(text: &str) -> Result<Settings, String> {
        let wrong = |key: &str, error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = 1 + text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count();
            format!(
                "{line}: {key}{}; the options are those of `cargo lockstep run --help`",
                plainly(error.message())
            )
        };
        let table = toml::Deserializer::parse(text).map_err(|error| wrong("", error))?;
        serde_path_to_error::deserialize(table).map_err(|error| {
            let key = format!("{}: ", error.path());
            wrong(&key, error.into_inner())
        })
    }
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    duration(&text).map(Some).map_err(de::Error::custom)
}

fn number_of_workers<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    let number = i64::deserialize(from)?;
    workers(&number.to_string()).map(Some).map_err(de::Error::custom)
}

fn readers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Outside>, D::Error> {
    let all = Vec::<String>::deserialize(from)?;
    all.iter()
        .map(|text| Outside::parse(text).map_err(de::Error::custom))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_on_the_command_line() {
        let text = "[run]\ntime = \"5m\"\nworkers = 3\ngpu = [\"wgpu:noop\"]\nrequire-gpu = true\n\
                    reader = [\"exec:cat x\"]\nout = \"o\"\nquiet = true\n";
        let run = Settings::parse(text).expect("settings").run;
        assert_eq!((run.time, run.workers), (Some(Duration::from_secs(300)), Some(3)));
        assert_eq!((run.gpu, run.out), (vec!["wgpu:noop".to_owned()], Some("o".into())));
        assert_eq!(run.reader, [Outside::parse("exec:cat x").expect("a reader")]);
        assert!(run.require_gpu && run.quiet);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = [
            (
                "[run]\ntiem = \"5m\"\n",
                "2: run.tiem: unknown field `tiem`, expected one of `time`, `workers`",
            ),
            ("\n\n[walk]\n", "3: walk: unknown field `walk`, expected `run`"),
            (
                "[run]\nquiet = false\ntime = \"5 years\"\n",
                "3: run.time: `5 years` is no span of time; give a number and ms, s, m or h, as in 90s",
            ),
            ("[run]\nworkers = 0\n", "2: run.workers: a number from 1 to 1024"),
            ("run = 5\n", "1: run: invalid type: integer `5`, expected an object"),
            (
                "[run]\nquiet = 1\n",
                "2: run.quiet: invalid type: integer `1`, expected a boolean",
            ),
            (
                "[run]\nreader = [\"python3\"]\n",
                "2: run.reader: a reader is given as exec:COMMAND",
            ),
            ("[run\n", "1: "),
        ];
        for (text, starts) in wrong {
            let error = Settings::parse(text).map(drop).expect_err(text);
            assert!(error.starts_with(starts), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
