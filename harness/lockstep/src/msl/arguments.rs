//! The arguments of each entry point of an MSL text, as Metal's reflection names them: name, table, index, access, active.
//!
//! Apple's documentation of `MTLArgument` says what is an argument: a parameter that has a resource bound to it, not one with
//! `[[stage_in]]` or a built-in; threadgroup memory is left out too. It says of `active` that an argument without it can be
//! left unbound; here it is whether the name stands in the function's body, so a resource that is only handed to a
//! function that ignores it counts as active, where a compiler may know better. The body of naga's mesh and object functions
//! hands everything on.

use super::items::{Function, Item, ReadError, items, top_level};
use super::tokens::{Token, tokens};

/// What an MSL text declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reflection {
    /// The version in naga's first line, `// language: metalMAJOR.MINOR`.
    pub language: Option<(u8, u8)>,
    /// The entry points, in the order of the text.
    pub entry_points: Vec<EntryPoint>,
    /// The fields of the struct `_mslBufferSizes`, in order; none when there is no such struct.
    pub buffer_sizes: Option<Vec<SizeField>>,
}

/// A `vertex`, `fragment`, `kernel`, `object` or `mesh` function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Its name in MSL.
    pub name: String,
    /// What sort of function it is.
    pub function: FunctionType,
    /// Its arguments, in the order of the parameters.
    pub arguments: Vec<Argument>,
}

/// The sort of an entry point (`MTLFunction.functionType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionType {
    /// `vertex`.
    Vertex,
    /// `fragment`.
    Fragment,
    /// `kernel`.
    Kernel,
    /// `[[object]]`, WebGPU's task stage.
    Object,
    /// `[[mesh]]`.
    Mesh,
}

/// The buffer slot of a pipeline's first vertex buffer; others follow downwards. wgpu-hal counts them from the last of Metal's 31
/// (slots.md, section 2).
pub const FIRST_VERTEX_BUFFER: u32 = 30;

/// An argument table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// `[[buffer(n)]]`.
    Buffer,
    /// `[[texture(n)]]`.
    Texture,
    /// `[[sampler(n)]]`.
    Sampler,
}

impl Table {
    /// Its name, which is that of its attribute too.
    pub fn name(self) -> &'static str {
        match self {
            Table::Buffer => "buffer",
            Table::Texture => "texture",
            Table::Sampler => "sampler",
        }
    }

    /// How many arguments of it Metal has for one function (slots.md, section 2).
    pub fn limit(self) -> u32 {
        match self {
            Table::Buffer => 31,
            Table::Texture => 128,
            Table::Sampler => 16,
        }
    }

    fn of_attribute(word: &str) -> Option<Table> {
        [Table::Buffer, Table::Texture, Table::Sampler]
            .into_iter()
            .find(|table| table.name() == word)
    }
}

/// What the function may do with an argument (`MTLArgument.access`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read, or sample.
    ReadOnly,
    /// Both.
    ReadWrite,
    /// Write.
    WriteOnly,
}

/// A parameter with a resource bound to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The parameter's name.
    pub name: String,
    /// Its type, as it is written.
    pub ty: String,
    /// The table of its attribute.
    pub table: Table,
    /// The place in the table.
    pub index: u32,
    /// By address space and `const`, or by a texture's `access` parameter.
    pub access: Access,
    /// Whether the name stands in the function's body.
    pub active: bool,
    /// Whether it is an array of resources in one buffer (naga's `NagaArgumentBufferWrapper`); the access is then that to
    /// the buffer of handles, not that to the resources.
    pub argument_buffer: bool,
}

/// A field of `_mslBufferSizes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeField {
    /// Its name, `size` and a number in naga's text.
    pub name: String,
    /// The length of an array field, for a binding array; none for a single `uint`.
    pub count: Option<u32>,
}

/// Reads a text.
///
/// # Errors
///
/// A text whose brackets or declarations are not those of MSL; an entry point's resource without an index, or with the index
/// of another table; an index that is no number; `_mslBufferSizes` with something else than `uint` fields.
pub fn read(text: &str) -> Result<Reflection, ReadError> {
    read_items(text, &items(&tokens(text))?)
}

/// The same of a text whose declarations are known.
pub(super) fn read_items(text: &str, items: &[Item<'_, '_>]) -> Result<Reflection, ReadError> {
    let mut reflection = Reflection {
        language: language(text),
        ..Reflection::default()
    };
    for item in items {
        match item {
            Item::Struct("_mslBufferSizes", body) => reflection.buffer_sizes = Some(size_fields(body)?),
            Item::Function(function) => reflection.entry_points.extend(entry_point(text, function)?),
            Item::Struct(..) | Item::Constant(_) => {}
        }
    }
    Ok(reflection)
}

fn language(text: &str) -> Option<(u8, u8)> {
    let (major, minor) = text
        .lines()
        .next()?
        .strip_prefix("// language: metal")?
        .split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn size_fields(body: &[Token<'_>]) -> Result<Vec<SizeField>, ReadError> {
    let fields = body.split_inclusive(|token| token.text == ";");
    fields
        .map(|field| {
            let texts: Vec<&str> = field.iter().map(|token| token.text).collect();
            let count = match texts[..] {
                ["uint", _, ";"] => Some(None),
                ["uint", _, "[", count, "]", ";"] => count.parse().ok().map(Some),
                _ => None,
            };
            let count = count.ok_or_else(|| {
                ReadError::at(
                    field.first(),
                    format!("`{}` is no field of _mslBufferSizes", texts.join(" ")),
                )
            })?;
            Ok(SizeField {
                name: texts[1].to_owned(),
                count,
            })
        })
        .collect()
}

/// Reads a function; none when it is no entry point.
fn entry_point(text: &str, function: &Function<'_, '_>) -> Result<Option<EntryPoint>, ReadError> {
    let Some(sort) = function_type(function.head) else {
        return Ok(None);
    };
    let arguments = function
        .parameters
        .iter()
        .map(|parameter| argument(text, parameter, function.body));
    let arguments = arguments.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    Ok(Some(EntryPoint {
        name: function.name.to_owned(),
        function: sort,
        arguments,
    }))
}

/// The sort that stands as an attribute, or as a specifier after the attributes.
fn function_type(head: &[Token<'_>]) -> Option<FunctionType> {
    if let Some((word, _)) = attributes(head).find(|(word, _)| matches!(word.text, "object" | "mesh")) {
        return Some(if word.text == "mesh" {
            FunctionType::Mesh
        } else {
            FunctionType::Object
        });
    }
    let specifier = top_level(head).find(|(_, token)| token.is_word())?.1;
    match specifier.text {
        "vertex" => Some(FunctionType::Vertex),
        "fragment" => Some(FunctionType::Fragment),
        "kernel" => Some(FunctionType::Kernel),
        _ => None,
    }
}

/// The first word of each `[[…]]`, and what follows the word.
fn attributes<'t, 'a>(tokens: &'t [Token<'a>]) -> impl Iterator<Item = (&'t Token<'a>, &'t [Token<'a>])> {
    (0..tokens.len()).filter_map(|at| match &tokens[at..] {
        [first, second, word, rest @ ..] if first.text == "[" && second.text == "[" => Some((word, rest)),
        _ => None,
    })
}

/// Reads a parameter of an entry point; none when it has no resource bound to it.
fn argument(text: &str, parameter: &[Token<'_>], body: &[Token<'_>]) -> Result<Option<Argument>, ReadError> {
    let declarator_end = top_level(parameter)
        .find(|(_, token)| matches!(token.text, "[" | "="))
        .map(|(at, _)| at);
    let declarator = &parameter[..declarator_end.unwrap_or(parameter.len())];
    let Some((name, ty)) = declarator
        .split_last()
        .filter(|(name, ty)| name.is_word() && !ty.is_empty())
    else {
        return Err(ReadError::at(
            parameter.first(),
            "a parameter without a type and a name",
        ));
    };
    let wanted = resource(ty);
    let slot = attributes(parameter).find_map(|(word, rest)| Some((Table::of_attribute(word.text)?, rest)));
    let unfit = |what: String| Err(ReadError::at(Some(name), what));
    let ((wanted, access), (table, rest)) = match (wanted, slot) {
        (Some(wanted), Some(slot)) => (wanted, slot),
        (None, None) => return Ok(None),
        (Some(_), None) => return unfit(format!("resource `{}` has no index", name.text)),
        (None, Some(_)) => {
            return unfit(format!("`{}` has an index but is no resource", name.text));
        }
    };
    if wanted != table {
        return unfit(format!(
            "`{}` is a {}, but has the index of a {}",
            name.text,
            wanted.name(),
            table.name()
        ));
    }
    Ok(Some(Argument {
        name: name.text.to_owned(),
        ty: source(text, ty),
        table,
        index: index(rest).ok_or_else(|| ReadError::at(Some(name), format!("`{}` has no index", name.text)))?,
        access,
        active: mentions(body, name.text),
        argument_buffer: ty.iter().any(|token| token.text == "NagaArgumentBufferWrapper"),
    }))
}

/// The number of `(n)]]`.
fn index(rest: &[Token<'_>]) -> Option<u32> {
    match rest {
        [open, number, close, end, ..] if open.text == "(" && close.text == ")" && end.text == "]" => {
            number.text.parse().ok()
        }
        _ => None,
    }
}

/// The table and access of a resource's type; none for another type.
fn resource(ty: &[Token<'_>]) -> Option<(Table, Access)> {
    let outside = outside_templates(ty);
    let has = |word: &str| outside.contains(&word);
    if has("threadgroup") || has("object_data") {
        None
    } else if has("constant") {
        Some((Table::Buffer, Access::ReadOnly))
    } else if has("device") {
        Some((
            Table::Buffer,
            if has("const") {
                Access::ReadOnly
            } else {
                Access::ReadWrite
            },
        ))
    } else if has("instance_acceleration_structure") {
        Some((Table::Buffer, Access::ReadOnly))
    } else if has("sampler") {
        Some((Table::Sampler, Access::ReadOnly))
    } else if outside
        .iter()
        .any(|word| word.starts_with("texture") || word.starts_with("depth"))
        && has("metal")
    {
        Some((Table::Texture, texture_access(ty)))
    } else {
        None
    }
}

/// The words of a type that stand in no template list.
fn outside_templates<'a>(ty: &[Token<'a>]) -> Vec<&'a str> {
    let mut depth = 0_u32;
    let mut words = Vec::new();
    for token in ty {
        match token.text {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            word if depth == 0 => words.push(word),
            _ => {}
        }
    }
    words
}

/// The `metal::access::…` of a texture's type; without one, Metal's default, `sample`.
fn texture_access(ty: &[Token<'_>]) -> Access {
    let named = ty
        .windows(3)
        .find(|three| three[0].text == "access" && three[1].text == "::");
    match named.map(|three| three[2].text) {
        Some("read_write") => Access::ReadWrite,
        Some("write") => Access::WriteOnly,
        _ => Access::ReadOnly,
    }
}

/// Whether a body names something that is no member.
fn mentions(body: &[Token<'_>], name: &str) -> bool {
    let is_member = |at: usize| at > 0 && matches!(body[at - 1].text, "." | "->");
    body.iter()
        .enumerate()
        .any(|(at, token)| token.text == name && !is_member(at))
}

/// The text that some tokens span.
fn source(text: &str, tokens: &[Token<'_>]) -> String {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return String::new();
    };
    text[first.at..last.at + last.text.len()].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(name: &str, ty: &str, table: Table, index: u32, access: Access, active: bool) -> Argument {
        let argument_buffer = ty.contains("NagaArgumentBufferWrapper");
        Argument {
            name: name.into(),
            ty: ty.into(),
            table,
            index,
            access,
            active,
            argument_buffer,
        }
    }

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    /// Translates the only entry point of a shader with the slots given.
    fn translate(wgsl: &str, targets: &[((u32, u32), naga::back::msl::BindTarget)], sizes: Option<u8>) -> String {
        let module = naga::front::wgsl::parse_str(wgsl).unwrap();
        let all = naga::valid::Capabilities::all();
        let info = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), all)
            .validate(&module)
            .unwrap();
        let place = |&((group, binding), ref target): &(_, naga::back::msl::BindTarget)| {
            (naga::ResourceBinding { group, binding }, target.clone())
        };
        let resources = naga::back::msl::EntryPointResources {
            resources: targets.iter().map(place).collect(),
            sizes_buffer: sizes,
            ..Default::default()
        };
        let options = naga::back::msl::Options {
            lang_version: (3, 1),
            per_entry_point_map: [(module.entry_points[0].name.clone(), resources)].into(),
            ..mslmap::base_options()
        };
        naga::back::msl::write_string(&module, &info, &options, &Default::default())
            .unwrap()
            .0
    }

    fn buffer(slot: u8) -> naga::back::msl::BindTarget {
        naga::back::msl::BindTarget {
            buffer: Some(slot),
            ..Default::default()
        }
    }

    fn texture(slot: u8) -> naga::back::msl::BindTarget {
        naga::back::msl::BindTarget {
            texture: Some(slot),
            ..Default::default()
        }
    }

    fn sampler(slot: u8) -> naga::back::msl::BindTarget {
        let sampler = Some(naga::back::msl::BindSamplerTarget::Resource(slot));
        naga::back::msl::BindTarget {
            sampler,
            ..Default::default()
        }
    }

    #[test]
    fn a_fragment_shader_with_one_of_each() {
        let wgsl = "
            struct Camera { at: vec4f, }
            @group(0) @binding(0) var<uniform> camera: Camera;
            @group(0) @binding(1) var<uniform> tint: vec4f;
            @group(0) @binding(2) var image: texture_2d<f32>;
            @group(0) @binding(3) var linear: sampler;
            @group(1) @binding(0) var<storage> lights: array<f32>;
            @group(1) @binding(1) var<uniform> unused: vec4f;
            @fragment fn shade(@location(0) uv: vec2f, @builtin(position) at: vec4f) -> @location(0) vec4f {
                return camera.at * tint + textureSample(image, linear, uv) * lights[u32(at.x)];
            }";
        let slots = [
            ((0, 0), buffer(0)),
            ((0, 1), buffer(1)),
            ((0, 2), texture(0)),
            ((0, 3), sampler(0)),
            ((1, 0), buffer(2)),
        ];
        let read = read(&translate(wgsl, &slots, Some(3))).unwrap();
        assert_eq!(read.language, Some((3, 1)));
        assert_eq!(
            read.buffer_sizes,
            Some(vec![SizeField {
                name: "size4".into(),
                count: None
            }])
        );
        let expected = [
            argument("camera", "constant Camera&", Table::Buffer, 0, Access::ReadOnly, true),
            argument(
                "tint",
                "constant metal::float4&",
                Table::Buffer,
                1,
                Access::ReadOnly,
                true,
            ),
            argument(
                "image",
                "metal::texture2d<float, metal::access::sample>",
                Table::Texture,
                0,
                Access::ReadOnly,
                true,
            ),
            argument("linear", "metal::sampler", Table::Sampler, 0, Access::ReadOnly, true),
            argument(
                "lights",
                "device type_4 const&",
                Table::Buffer,
                2,
                Access::ReadOnly,
                true,
            ),
            argument(
                "_buffer_sizes",
                "constant _mslBufferSizes&",
                Table::Buffer,
                3,
                Access::ReadOnly,
                true,
            ),
        ];
        assert_eq!(read.entry_points.len(), 1);
        assert_eq!(read.entry_points[0].name, "shade");
        assert_eq!(read.entry_points[0].function, FunctionType::Fragment);
        assert_eq!(read.entry_points[0].arguments, expected);
    }

    #[test]
    fn a_kernel_that_writes_and_has_workgroup_memory() {
        let wgsl = "
            @group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @group(0) @binding(1) var written: texture_storage_2d<rgba8unorm, write>;
            @group(0) @binding(2) var both: texture_storage_2d<r32uint, read_write>;
            @group(0) @binding(3) var seen: texture_storage_2d<r32uint, read>;
            @group(0) @binding(4) var deep: texture_depth_multisampled_2d;
            var<workgroup> shared_: array<u32, 4>;
            @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
                shared_[i] = i;
                out[i] = shared_[0] + textureLoad(seen, vec2(0)).x + u32(textureLoad(deep, vec2(0), 0));
                textureStore(written, vec2(0), vec4(1));
                textureStore(both, vec2(0), textureLoad(both, vec2(1)));
            }";
        let slots = [
            ((0, 0), buffer(4)),
            ((0, 1), texture(9)),
            ((0, 2), texture(8)),
            ((0, 3), texture(7)),
            ((0, 4), texture(127)),
        ];
        let read = read(&translate(wgsl, &slots, Some(30))).unwrap();
        let entry = &read.entry_points[0];
        assert_eq!((entry.name.as_str(), entry.function), ("main_", FunctionType::Kernel));
        let rows: Vec<_> = entry
            .arguments
            .iter()
            .map(|found| (found.name.as_str(), found.table, found.index, found.access))
            .collect();
        let expected = [
            ("out", Table::Buffer, 4, Access::ReadWrite),
            ("written", Table::Texture, 9, Access::WriteOnly),
            ("both", Table::Texture, 8, Access::ReadWrite),
            ("seen", Table::Texture, 7, Access::ReadOnly),
            ("deep", Table::Texture, 127, Access::ReadOnly),
            ("_buffer_sizes", Table::Buffer, 30, Access::ReadOnly),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn arrays_are_argument_buffers() {
        let wgsl = "
            enable wgpu_binding_array;
            struct Row { first: u32, rest: array<u32>, }
            @group(0) @binding(0) var images: binding_array<texture_2d<f32>, 4>;
            @group(0) @binding(1) var<storage, read_write> rows: binding_array<Row, 3>;
            @compute @workgroup_size(1) fn main() {
                rows[1].rest[0] = u32(textureLoad(images[2], vec2(0), 0).x);
            }";
        let read = read(&translate(wgsl, &[((0, 0), buffer(0)), ((0, 1), buffer(1))], Some(2))).unwrap();
        assert_eq!(
            read.buffer_sizes,
            Some(vec![SizeField {
                name: "size1".into(),
                count: Some(3)
            }])
        );
        let images = "constant NagaArgumentBufferWrapper<metal::texture2d<float, metal::access::sample>>*";
        let rows = "device NagaArgumentBufferWrapper<device Row*>*";
        let expected = [
            argument("images", images, Table::Buffer, 0, Access::ReadOnly, true),
            argument("rows", rows, Table::Buffer, 1, Access::ReadWrite, true),
            argument(
                "_buffer_sizes",
                "constant _mslBufferSizes&",
                Table::Buffer,
                2,
                Access::ReadOnly,
                true,
            ),
        ];
        assert_eq!(read.entry_points[0].arguments, expected);
    }

    #[test]
    fn active_is_a_mention_that_is_no_member() {
        let text = "kernel void f(constant A& a [[buffer(0)]], constant A& b [[buffer(1)]]) { int c = a.b; p->b = 1; }";
        let read = read(text).unwrap();
        assert_eq!(read.language, None);
        assert_eq!(
            read.entry_points[0]
                .arguments
                .iter()
                .map(|found| found.active)
                .collect::<Vec<_>>(),
            [true, false]
        );
    }

    #[test]
    fn object_and_mesh_functions() {
        let text = "uint3 _t(object_data A& p, device B const& b) { return 0; }\n\
            [[object]] void t(metal::mesh_grid_properties grid, object_data A& p [[payload]], device B const& b [[buffer(5)]])\
            { _t(p, b); }\n\
            [[mesh]] void m(metal::mesh<V, P, 3, 1, metal::topology::triangle> out, metal::sampler s [[sampler(2)]]) {}";
        let read = read(text).unwrap();
        let sorts: Vec<_> = read
            .entry_points
            .iter()
            .map(|entry| (entry.name.as_str(), entry.function))
            .collect();
        assert_eq!(sorts, [("t", FunctionType::Object), ("m", FunctionType::Mesh)]);
        let of_object = [argument(
            "b",
            "device B const&",
            Table::Buffer,
            5,
            Access::ReadOnly,
            true,
        )];
        let of_mesh = [argument(
            "s",
            "metal::sampler",
            Table::Sampler,
            2,
            Access::ReadOnly,
            false,
        )];
        assert_eq!(read.entry_points[0].arguments, of_object);
        assert_eq!(read.entry_points[1].arguments, of_mesh);
    }

    #[test]
    fn errors_name_the_argument() {
        assert_eq!(
            error("kernel void f(constant A& a) {}"),
            "line 1: resource `a` has no index"
        );
        assert_eq!(
            error("kernel void f(constant A& a [[user(fake0)]]) {}"),
            "line 1: resource `a` has no index"
        );
        let other_table = error("kernel void f(\nmetal::sampler a [[texture(0)]]) {}");
        assert_eq!(other_table, "line 2: `a` is a sampler, but has the index of a texture");
        assert_eq!(
            error("kernel void f(A a [[buffer(0)]]) {}"),
            "line 1: `a` has an index but is no resource"
        );
        assert_eq!(
            error("kernel void f(constant A& a [[buffer(x)]]) {}"),
            "line 1: `a` has no index"
        );
        assert_eq!(
            error("kernel void f(3) {}"),
            "line 1: a parameter without a type and a name"
        );
        let sizes = error("struct _mslBufferSizes { float x; };");
        assert_eq!(sizes, "line 1: `float x ;` is no field of _mslBufferSizes");
    }

    #[test]
    fn no_text_panics() {
        let text = "// language: metal3.1\n[[mesh]] kernel void f(constant A<B>& a [[buffer(1)]] = {x}) { y[z] = 1e-3; }; struct _mslBufferSizes { uint a[2]; };é";
        let places: Vec<usize> = (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect();
        for (nth, &from) in places.iter().enumerate() {
            for &to in &places[nth..] {
                let _ = read(&text[from..to]);
            }
        }
    }
}
