//! What a step said of its failures, to be shown once more at the end: a whole run is thousands of lines.

/// The lines that tell of failures.
#[derive(Debug, Default)]
pub struct Failures {
    lines: Vec<String>,
    /// How the section ends that is heard now.
    until: Option<End>,
    /// Lines of the part of it that is heard now.
    part: usize,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Empty,
    Begins(&'static str),
}

/// Lines shown of one failure, whose message may hold the whole output of a program.
const EACH: usize = 40;
/// Lines kept in all.
const MOST: usize = 2000;

impl Failures {
    /// Keeps the line, which has no line break, if it is of a section.
    pub fn hear(&mut self, line: &str) {
        self.until = self.until.or_else(|| begun(line));
        let Some(end) = self.until else { return };
        if line.starts_with("---- ") || line.contains(" => ") || line.trim_end() == "failures:" {
            self.part = 0;
        }
        self.part += 1;
        if self.part <= EACH + 1 && self.lines.len() < MOST {
            let cut = self.part > EACH;
            self.lines.push(if cut { "…".to_owned() } else { line.to_owned() });
        }
        let over = match end {
            End::Empty => line.is_empty(),
            End::Begins(with) => line.starts_with(with),
        };
        if over {
            (self.until, self.part) = (None, 0);
        }
    }

    /// What is shown; empty where nothing told of a failure.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

/// The section that begins with the line: libtest's, `deno test`'s, or an error of cargo's or rustc's.
fn begun(line: &str) -> Option<End> {
    match line.trim_end() {
        "failures:" => Some(End::Begins("test result: FAILED")),
        " ERRORS" => Some(End::Begins("FAILED | ")),
        line if line.starts_with("error: ") || line.starts_with("error[") => Some(End::Empty),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(output: &str) -> String {
        let mut failures = Failures::default();
        output.lines().for_each(|line| failures.hear(line));
        failures.lines().join("\n")
    }

    #[test]
    fn what_libtest_says_of_failures_is_kept() {
        let output = "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nleft: 1\n\nfailures:\n    b\n\n\
                      test result: FAILED. 1 passed; 1 failed\n\nrunning 1 test\ntest c ... ok\n";
        let due =
            "failures:\n\n---- b stdout ----\nleft: 1\n\nfailures:\n    b\n\ntest result: FAILED. 1 passed; 1 failed";
        assert_eq!(kept(output), due);
    }

    #[test]
    fn what_deno_says_of_failures_is_kept() {
        let output = "b ... FAILED (1ms)\n\n ERRORS \n\nb => ./t.js:1:6\nerror: Error: no\n\n FAILURES \n\nb => ./t.js:1:6\n\n\
                      FAILED | 0 passed | 1 failed (2ms)\n\nok\n";
        let due = " ERRORS \n\nb => ./t.js:1:6\nerror: Error: no\n\n FAILURES \n\nb => ./t.js:1:6\n\nFAILED | 0 passed | 1 failed (2ms)";
        assert_eq!(kept(output), due);
    }

    #[test]
    fn errors_of_cargo_and_of_rustc_are_kept() {
        let output = "   Compiling a v0.1.0\nerror[E0463]: can't find crate for `b`\n --> a.rs:1:5\n\nwarning: c\n\
                      error: 1 target failed:\n    `-p a --doc`\n";
        let due = "error[E0463]: can't find crate for `b`\n --> a.rs:1:5\n\nerror: 1 target failed:\n    `-p a --doc`";
        assert_eq!(kept(output), due);
    }

    #[test]
    fn a_long_message_is_cut_and_what_follows_is_kept() {
        assert_eq!(kept("test a ... ok\n\ntest result: ok. 1 passed\n"), "");
        let long = "a\n".repeat(300);
        let output =
            format!("failures:\n---- b stdout ----\n{long}---- c stdout ----\n{long}failures:\n    b\n    c\n");
        let kept = kept(&output);
        assert_eq!(kept.lines().count(), 1 + 2 * 41 + 3);
        assert!(kept.ends_with("a\n…\nfailures:\n    b\n    c"), "{kept}");
    }
}
