//! The declarations of an MSL text: as much of C++ as naga writes at the top of a file.

use super::tokens::Token;

/// Why a text was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ReadError {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong there.
    pub what: String,
}

impl ReadError {
    pub(super) fn at(token: Option<&Token<'_>>, what: impl Into<String>) -> ReadError {
        ReadError {
            line: token.map_or(0, |token| token.line),
            what: what.into(),
        }
    }
}

/// One declaration.
#[derive(Clone, Debug)]
pub(super) enum Item<'t, 'a> {
    /// A struct: its name and what stands between its braces.
    Struct(&'a str, &'t [Token<'a>]),
    /// A constant of the `constant` address space, by name.
    Constant(&'a str),
    /// A function with a body.
    Function(Function<'t, 'a>),
}

impl<'a> Item<'_, 'a> {
    /// The name of a constant.
    pub fn constant(&self) -> Option<&'a str> {
        match *self {
            Item::Constant(name) => Some(name),
            _ => None,
        }
    }
}

/// A function with a body.
#[derive(Clone, Debug)]
pub(super) struct Function<'t, 'a> {
    /// Its name.
    pub name: &'a str,
    /// What stands before the name: attributes, specifiers and the result's type.
    pub head: &'t [Token<'a>],
    /// What stands between the parentheses, split at the commas.
    pub parameters: Vec<&'t [Token<'a>]>,
    /// What stands between the braces.
    pub body: &'t [Token<'a>],
}

/// The declarations of a text, in order. Declarations that hold neither a struct, a constant nor a function's body are left
/// out.
///
/// # Errors
///
/// A bracket without its other half, and a body that belongs to neither a struct nor a function.
pub(super) fn items<'t, 'a>(tokens: &'t [Token<'a>]) -> Result<Vec<Item<'t, 'a>>, ReadError> {
    let mut found = Vec::new();
    let mut rest = tokens;
    while !rest.is_empty() {
        let end = head_end(rest)?;
        let (head, after) = rest.split_at(end);
        if after[0].text == ";" {
            found.extend(constant(head).map(Item::Constant));
            rest = &after[1..];
        } else {
            let close = closing(after)?;
            found.push(body_of(head, &after[1..close], &after[0])?);
            rest = &after[close + 1..];
        }
    }
    Ok(found)
}

/// The place of the `;` or of the body's `{` that ends the head of the first declaration. Braces after a `=` are a value.
fn head_end(tokens: &[Token<'_>]) -> Result<usize, ReadError> {
    let mut at = 0;
    let mut has_value = false;
    while let Some(token) = tokens.get(at) {
        match token.text {
            ";" => return Ok(at),
            "{" if !has_value => return Ok(at),
            "(" | "[" | "{" => at += closing(&tokens[at..])?,
            ")" | "]" | "}" => {
                return Err(ReadError::at(Some(token), format!("`{}` closes nothing", token.text)));
            }
            text => has_value |= text == "=",
        }
        at += 1;
    }
    Err(ReadError::at(tokens.last(), "the text ends inside a declaration"))
}

/// The place of the bracket that closes the one at the start.
pub(super) fn closing(tokens: &[Token<'_>]) -> Result<usize, ReadError> {
    match tokens.first() {
        Some(first) if first.closes_after > 0 && (first.closes_after as usize) < tokens.len() => {
            Ok(first.closes_after as usize)
        }
        _ => Err(why_unclosed(tokens)),
    }
}

/// Why the bracket at the start has no other half.
fn why_unclosed(tokens: &[Token<'_>]) -> ReadError {
    let mut open = Vec::new();
    for token in tokens {
        match token.text {
            "(" => open.push(")"),
            "[" => open.push("]"),
            "{" => open.push("}"),
            ")" | "]" | "}" => match open.pop() {
                Some(wanted) if wanted == token.text => {}
                _ => return ReadError::at(Some(token), format!("`{}` closes no such bracket", token.text)),
            },
            _ => {}
        }
    }
    let what = format!("`{}` is never closed", tokens.first().map_or("", |token| token.text));
    ReadError::at(tokens.first(), what)
}

/// The name that a declaration without a body gives to a constant.
fn constant<'a>(head: &[Token<'a>]) -> Option<&'a str> {
    let declared = head.split(|token| token.text == "=").next()?;
    let is_constant = declared.first()?.text == "constant";
    declared
        .last()
        .filter(|token| is_constant && token.is_word())
        .map(|token| token.text)
}

fn body_of<'t, 'a>(head: &'t [Token<'a>], body: &'t [Token<'a>], brace: &Token<'a>) -> Result<Item<'t, 'a>, ReadError> {
    if let [.., keyword, name] = head
        && keyword.text == "struct"
    {
        return Ok(Item::Struct(name.text, body));
    }
    let unknown = || ReadError::at(Some(brace), "this body belongs to neither a struct nor a function");
    let open = top_level(head).position(|(_, token)| token.text == "(");
    let open = open
        .and_then(|nth| top_level(head).nth(nth))
        .map(|(at, _)| at)
        .ok_or_else(unknown)?;
    let name = head[..open]
        .last()
        .filter(|token| token.is_word())
        .ok_or_else(unknown)?;
    let close = open + closing(&head[open..])?;
    let parameters = split_parameters(&head[open + 1..close]);
    Ok(Item::Function(Function {
        name: name.text,
        head: &head[..open - 1],
        parameters,
        body,
    }))
}

/// The tokens that stand in no bracket, with their places; opening brackets are among them.
pub(super) fn top_level<'t, 'a>(tokens: &'t [Token<'a>]) -> impl Iterator<Item = (usize, &'t Token<'a>)> {
    let mut depth = 0_u32;
    tokens.iter().enumerate().filter(move |(_, token)| {
        let before = depth;
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                return false;
            }
            _ => {}
        }
        before == 0
    })
}

/// Splits a parameter list at the commas that stand in no bracket and in no template list.
fn split_parameters<'t, 'a>(list: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut parameters = Vec::new();
    let (mut start, mut angles, mut in_value) = (0, 0_u32, false);
    for (at, token) in top_level(list) {
        match token.text {
            "=" => in_value = true,
            "<" if !in_value => angles += 1,
            ">" if !in_value => angles = angles.saturating_sub(1),
            "," if angles == 0 => {
                parameters.push(&list[start..at]);
                (start, in_value) = (at + 1, false);
            }
            _ => {}
        }
    }
    if start < list.len() {
        parameters.push(&list[start..]);
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn names(text: &str) -> Result<Vec<String>, ReadError> {
        let tokens = tokens(text);
        let items = items(&tokens)?;
        let name = |item: &Item<'_, '_>| match item {
            Item::Struct(name, _) => format!("struct {name}"),
            Item::Constant(name) => format!("constant {name}"),
            Item::Function(function) => format!("{}/{}", function.name, function.parameters.len()),
        };
        Ok(items.iter().map(name).collect())
    }

    #[test]
    fn declarations_of_each_sort() {
        let text = "using metal::uint; template <typename T>\nstruct Wrapper { T inner; };\n\
                    struct A { int x[3]; }; typedef float type_1[1];\n\
                    constant A a = A { 1, 2 }; constant uint K = 3u;\n\
                    [[max_total_threads_per_threadgroup(64)]] kernel void main_(\n  uint3 id [[thread_position_in_grid]]\n\
                    , metal::texture2d<float, metal::access::read> t [[texture(0)]]) { if (x) { y(); } }\nvoid f() {}";
        let expected = [
            "struct Wrapper",
            "struct A",
            "constant a",
            "constant K",
            "main_/2",
            "f/0",
        ];
        assert_eq!(names(text).unwrap(), expected);
    }

    #[test]
    fn errors_say_the_line_and_the_bracket() {
        let message = |text| names(text).unwrap_err().to_string();
        assert_eq!(message("\nvoid f() {"), "line 2: `{` is never closed");
        assert_eq!(message("void f(]"), "line 1: `]` closes no such bracket");
        assert_eq!(message(")"), "line 1: `)` closes nothing");
        assert_eq!(message("int x"), "line 1: the text ends inside a declaration");
        assert_eq!(
            message("enum x { a }"),
            "line 1: this body belongs to neither a struct nor a function"
        );
    }
}
