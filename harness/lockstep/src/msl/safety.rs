//! The accesses and loops of an MSL text that lack the guard which naga's `Restrict` policies and `force_loop_bounding` give
//! them (slots.md, section 4, property 6; for why a loop needs one, naga's `emit_force_bounded_loop_macro`).
//!
//! What counts as guarded is the form that naga 30.0.2 writes. A guard of another form is reported, and a guard of the right
//! form with a wrong limit is not: the limits are not looked at.

use std::collections::{BTreeSet, HashSet};

use super::items::{Function, Item, ReadError, closing, items, top_level};
use super::tokens::{Token, tokens};

/// What was found in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Safety {
    /// The `while` loops, naga's only form of WGSL's loops.
    pub loops: u64,
    /// The subscripts that are not constant.
    pub dynamic_subscripts: u64,
    /// The texture reads.
    pub image_loads: u64,
    /// Those of all three that have no guard.
    pub unguarded: Vec<Unguarded>,
}

/// An access or a loop without its guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unguarded {
    /// Its line in the text, from 1.
    pub line: u32,
    /// The function that it stands in.
    pub function: String,
    /// What it is, with the tokens.
    pub what: String,
}

/// Looks through every function of a text, but for naga's own helpers for external textures, whose guards have a form of
/// their own.
///
/// # Errors
///
/// As [`read`](super::arguments::read) has for brackets and declarations.
pub fn check(text: &str) -> Result<Safety, ReadError> {
    Ok(check_items(&items(&tokens(text))?))
}

/// The same of a text whose declarations are known.
pub(super) fn check_items(items: &[Item<'_, '_>]) -> Safety {
    let constants: HashSet<&str> = items.iter().filter_map(Item::constant).collect();
    let mut safety = Safety::default();
    for item in items {
        if let Item::Function(function) = item
            && !function.name.starts_with("nagaTexture")
        {
            let arrays = argument_buffers(function);
            Body {
                function,
                constants: &constants,
                arrays,
                counters: counters(function.body),
                safety: &mut safety,
            }
            .check();
        }
    }
    safety
}

/// The parameters that are argument buffers: the index into one is not restricted.
fn argument_buffers<'a>(function: &Function<'_, 'a>) -> BTreeSet<&'a str> {
    let is_array = |parameter: &&&[Token<'a>]| parameter.iter().any(|token| token.text == "NagaArgumentBufferWrapper");
    let name = |parameter: &&[Token<'a>]| {
        top_level(parameter)
            .take_while(|(_, token)| token.text != "[")
            .last()
            .map(|(_, token)| token.text)
    };
    function.parameters.iter().filter(is_array).filter_map(name).collect()
}

/// The counters of naga's `for` loops, over workgroup memory and mesh outputs, which run to the array's length.
fn counters<'a>(body: &[Token<'a>]) -> BTreeSet<&'a str> {
    let heads = body
        .windows(5)
        .filter(|five| five[0].text == "for" && five[1].text == "(" && five[4].text == "=");
    heads.map(|five| five[3].text).collect()
}

struct Body<'b, 't, 'a> {
    function: &'b Function<'t, 'a>,
    constants: &'b HashSet<&'b str>,
    arrays: BTreeSet<&'a str>,
    counters: BTreeSet<&'a str>,
    safety: &'b mut Safety,
}

impl Body<'_, '_, '_> {
    fn check(&mut self) {
        let body = self.function.body;
        for (at, token) in body.iter().enumerate() {
            match token.text {
                "while" => {
                    self.safety.loops += 1;
                    self.report(is_bounded(body, at), token, "loop", &body[at..]);
                }
                "[" if is_subscript(body, at) => self.subscript(at),
                "read" if at > 0 && body[at - 1].text == "." => {
                    self.safety.image_loads += 1;
                    self.report(is_restricted_load(&body[at + 1..]), token, "image load", &body[at..]);
                }
                _ => {}
            }
        }
    }

    fn subscript(&mut self, at: usize) {
        let body = self.function.body;
        let index = closing(&body[at..]).map_or(&body[at..], |close| &body[at + 1..at + close]);
        if index.iter().all(|token| self.is_constant(token)) {
            return;
        }
        self.safety.dynamic_subscripts += 1;
        let is_counter = matches!(index, [only] if self.counters.contains(only.text));
        let guarded = is_counter || self.is_array_access(at) || is_min(index, "unsigned") || is_pulled(body, at);
        self.report(guarded, &body[at], "index", index);
    }

    /// Whether a token of an index leaves the index constant.
    fn is_constant(&self, token: &Token<'_>) -> bool {
        !token.is_word() || self.constants.contains(token.text) || ["int", "uint", "unsigned"].contains(&token.text)
    }

    /// Whether the subscript at `at` chooses an element of a binding array, or that element's field of `_buffer_sizes`.
    fn is_array_access(&self, at: usize) -> bool {
        match &self.function.body[..at] {
            [.., sizes, dot, _] if sizes.text == "_buffer_sizes" && dot.text == "." => true,
            [.., dot, _] if dot.text == "." || dot.text == "->" => false,
            [.., base] => self.arrays.contains(base.text),
            [] => false,
        }
    }

    fn report(&mut self, guarded: bool, token: &Token<'_>, what: &str, tokens: &[Token<'_>]) {
        if !guarded {
            let text: Vec<&str> = tokens.iter().take(12).map(|token| token.text).collect();
            let what = format!("{what} without a guard: {}", text.join(" "));
            self.safety.unguarded.push(Unguarded {
                line: token.line,
                function: self.function.name.to_owned(),
                what,
            });
        }
    }
}

/// Whether the `[` at `at` takes a vertex out of a pulled buffer, right after the comparison of its index with the buffer's size:
/// `if (INDEX < (_buffer_sizes.buffer_sizeN / STRIDE)) { const vb_N_type vb_N_elem = vb_N_in[INDEX]`.
fn is_pulled(body: &[Token<'_>], at: usize) -> bool {
    let length = 18;
    let Some(texts) = at.checked_sub(length).and_then(|from| body.get(from..at + 3)) else {
        return false;
    };
    let texts: Vec<&str> = texts.iter().map(|token| token.text).collect();
    match texts[..] {
        [
            "if",
            "(",
            index,
            "<",
            "(",
            "_buffer_sizes",
            ".",
            size,
            "/",
            _,
            ")",
            ")",
            "{",
            "const",
            _,
            _,
            "=",
            buffer,
            "[",
            used,
            "]",
        ] => {
            let number = size.strip_prefix("buffer_size");
            let of_buffer = number.and_then(|number| buffer.strip_prefix("vb_")?.strip_prefix(number));
            used == index && of_buffer.is_some_and(|rest| rest.starts_with("_in"))
        }
        _ => false,
    }
}

/// Whether the `[` at `at` begins a subscript, not an attribute.
fn is_subscript(body: &[Token<'_>], at: usize) -> bool {
    let after_value = at.checked_sub(1).is_some_and(|before| {
        let before = &body[before];
        before.text == ")" || before.text == "]" || before.is_word()
    });
    after_value && body.get(at + 1).is_none_or(|next| next.text != "[")
}

/// Whether tokens are `metal::min(CAST(…), …)` and nothing more.
fn is_min(tokens: &[Token<'_>], cast: &str) -> bool {
    texts_begin(tokens, &["metal", "::", "min", "(", cast, "("])
        && closing(&tokens[3..]).is_ok_and(|close| close + 4 == tokens.len())
}

fn texts_begin(tokens: &[Token<'_>], texts: &[&str]) -> bool {
    tokens.len() >= texts.len() && tokens.iter().zip(texts).all(|(token, text)| token.text == *text)
}

/// Whether the arguments of a texture's `read`, which follow, are all restricted: the coordinates by the texture's size,
/// array and sample by theirs, the level in a variable of its own before.
fn is_restricted_load(tokens: &[Token<'_>]) -> bool {
    let Ok(close) = closing(tokens) else {
        return false;
    };
    let list = &tokens[1..close];
    let commas = top_level(list).filter(|(_, token)| token.text == ",").map(|(at, _)| at);
    let ends: Vec<usize> = commas.chain([list.len()]).collect();
    let starts = [0].into_iter().chain(ends.iter().map(|end| end + 1));
    starts.zip(&ends).enumerate().all(|(nth, (start, &end))| {
        let argument = list.get(start..end).unwrap_or_default();
        if nth == 0 {
            texts_begin(argument, &["metal", "::", "min", "("])
        } else {
            is_min(argument, "uint") || matches!(argument, [only] if only.text.starts_with("clamped_lod_e"))
        }
    })
}

/// Whether the `while` at `at` counts down from 2^64 - 1 in a variable that is set up just before it.
fn is_bounded(body: &[Token<'_>], at: usize) -> bool {
    let head = ["while", "(", "true", ")", "{", "if", "(", "metal", "::", "all", "("];
    let Some(bound) = body.get(at + head.len()).filter(|_| texts_begin(&body[at..], &head)) else {
        return false;
    };
    let bound = bound.text;
    let step = [
        bound, "==", "uint2", "(", "0u", ")", ")", ")", "{", "break", ";", "}", bound, "-", "=", "uint2", "(", bound,
        ".", "y", "==", "0u", ",", "1u", ")", ";",
    ];
    let start = ["uint2", bound, "=", "uint2", "(", "4294967295u", ")", ";"];
    // With a continuing block, the declaration of its flag stands between.
    let flag_length = ["bool", "loop_init", "=", "true", ";"].len();
    let begins_at = |back: usize| {
        at.checked_sub(back)
            .is_some_and(|from| texts_begin(&body[from..], &start))
    };
    texts_begin(&body[at + head.len()..], &step) && (begins_at(start.len()) || begins_at(start.len() + flag_length))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WGSL: &str = "
        const TWO = 2u;
        struct Row { first: u32, rest: array<vec4f>, }
        @group(0) @binding(0) var<storage, read_write> rows: Row;
        @group(0) @binding(1) var<uniform> fixed: array<mat4x4f, 8>;
        @group(0) @binding(2) var layers: texture_2d_array<f32>;
        @group(0) @binding(3) var samples: texture_multisampled_2d<f32>;
        @group(0) @binding(4) var line: texture_1d<f32>;
        var<workgroup> counts: array<atomic<u32>, 8>;
        var<private> local: array<vec4f, 3>;
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
            for (var n = 0u; n < i; n++) { rows.rest[n] += fixed[n][i]; }
            loop { if (atomicAdd(&counts[i], 1u) > rows.first) { break; } }
            while (rows.rest[0][i] > 0.0) { local[TWO][n_of(i)] = local[i].x; }
            let of_layers = textureLoad(layers, vec2(i), i, i);
            let of_samples = textureLoad(samples, vec2(i), i32(i));
            rows.rest[arrayLength(&rows.rest) - 1] = of_layers + of_samples + textureLoad(line, i, 0);
        }
        fn n_of(i: u32) -> u32 { return i % 3; }";

    fn msl(force_loop_bounding: bool, policy: naga::proc::BoundsCheckPolicy) -> String {
        let module = naga::front::wgsl::parse_str(WGSL).unwrap();
        let all = naga::valid::Capabilities::all();
        let info = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), all)
            .validate(&module)
            .unwrap();
        let options = naga::back::msl::Options {
            lang_version: (3, 1),
            bounds_check_policies: naga::proc::BoundsCheckPolicies {
                index: policy,
                buffer: policy,
                image_load: policy,
                binding_array: policy,
            },
            force_loop_bounding,
            ..Default::default()
        };
        naga::back::msl::write_string(&module, &info, &options, &Default::default())
            .unwrap()
            .0
    }

    #[test]
    fn what_naga_restricts_is_guarded() {
        let safety = check(&msl(true, naga::proc::BoundsCheckPolicy::Restrict)).unwrap();
        assert_eq!(safety.unguarded, []);
        assert_eq!((safety.loops, safety.image_loads), (3, 3));
        // rest[n], fixed[n][i], counts[i] twice (once set to zero), rest[0][i], local[TWO][n_of], local[i], rest[len - 1].
        assert!(safety.dynamic_subscripts >= 9, "{}", safety.dynamic_subscripts);
    }

    #[test]
    fn what_naga_leaves_alone_is_not() {
        let safety = check(&msl(false, naga::proc::BoundsCheckPolicy::Unchecked)).unwrap();
        let count = |what: &str| {
            safety
                .unguarded
                .iter()
                .filter(|found| found.what.starts_with(what))
                .count()
        };
        assert_eq!((count("loop"), count("image load")), (3, 3));
        assert!(count("index") >= 8, "{:?}", safety.unguarded);
    }

    #[test]
    fn forms_of_a_guard() {
        let unguarded = |body: &str| {
            let text =
                format!("constant uint K = 1u; void f(constant NagaArgumentBufferWrapper<T>* many) {{ {body} }}");
            check(&text)
                .unwrap()
                .unguarded
                .into_iter()
                .map(|found| found.what)
                .collect::<Vec<_>>()
        };
        let none: [String; 0] = [];
        assert_eq!(
            unguarded("a[0]; a[K + 1]; many[i].inner; _buffer_sizes.size0[unsigned(i)];"),
            none
        );
        assert_eq!(
            unguarded("a[metal::min(unsigned(i), 3u)][metal::min(unsigned(j), 3u)];"),
            none
        );
        assert_eq!(
            unguarded("for (int __i0 = 0; __i0 < 4; __i0++) { a.inner[__i0] = {}; }"),
            none
        );
        assert_eq!(unguarded("x.many[i];"), ["index without a guard: i"]);
        let pulled = "if (v_id < (_buffer_sizes.buffer_size30 / 20)) { const vb_30_type vb_30_elem = vb_30_in[v_id]; }";
        assert_eq!(unguarded(pulled), none);
        for (from, to) in [
            ("(v_id", "(i_id"),
            ("size30", "size29"),
            ("<", ">"),
            ("30_in[", "29_in["),
        ] {
            let found = unguarded(&pulled.replacen(from, to, 1));
            assert_eq!(found, ["index without a guard: v_id"], "{to}");
        }
        let sum = "a[metal::min(unsigned(i), 3u) + j];";
        assert_eq!(
            unguarded(sum),
            ["index without a guard: metal :: min ( unsigned ( i ) , 3u ) +"]
        );
        assert_eq!(unguarded("t.read(c);"), ["image load without a guard: read ( c ) ;"]);
        let level = "t.read(metal::min(c, s), l);";
        assert_eq!(
            unguarded(level),
            ["image load without a guard: read ( metal :: min ( c , s ) , l"]
        );
        assert_eq!(
            unguarded("t.read(metal::min(c, s), metal::min(uint(l), n), clamped_lod_e3);"),
            none
        );
        assert_eq!(
            unguarded("while(true) { }"),
            ["loop without a guard: while ( true ) { }"]
        );
    }
}
