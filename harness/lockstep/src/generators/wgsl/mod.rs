//! Layout cases with a shader, out of bytes.
//!
//! The layout comes first, and the shader's variables are declared from its entries, so that the two fit; a fault then spoils
//! the layout under a variable that an entry point reaches. What shaders are made of stands in tables of WGSL text, in which
//! `$` and a letter marks what is filled in (see `fill`).

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use arbitrary::{Result, Unstructured};
use naga::valid::Capabilities;
use wgpu_types::{BindGroupLayoutEntry, BindingType, SamplerBindingType, ShaderStages};

use super::Made;
use super::layout::{Group, arrange, chance, shuffle, system};
use crate::case::{LayoutCase, Shader, Stage};

mod faults;
mod resources;
mod tables;
#[cfg(test)]
mod tests;

use resources::{access, address_space, element, fill, prefix, resource, shapes, storage_access, type_name, writable};
use tables::*;

/// The faults that [`shader_case`] puts in: the layout lacks what an entry point reaches, holds it in another table, or hides it
/// from that entry point's stage; it has no immediates, but an entry point reaches some.
pub const FAULTS: [&str; 4] = ["missing-binding", "other-kind", "invisible", "no-immediates"];

/// What naga's validator must be told to allow for the shaders made here.
pub const CAPABILITIES: Capabilities = Capabilities::CUBE_ARRAY_TEXTURES
    .union(Capabilities::IMMEDIATES)
    .union(Capabilities::TEXTURE_EXTERNAL)
    .union(Capabilities::MESH_SHADER)
    .union(Capabilities::TEXTURE_AND_SAMPLER_BINDING_ARRAY)
    .union(Capabilities::STORAGE_TEXTURE_BINDING_ARRAY)
    .union(Capabilities::STORAGE_BUFFER_BINDING_ARRAY)
    .union(Capabilities::TEXTURE_AND_SAMPLER_BINDING_ARRAY_NON_UNIFORM_INDEXING)
    .union(Capabilities::STORAGE_TEXTURE_BINDING_ARRAY_NON_UNIFORM_INDEXING)
    .union(Capabilities::STORAGE_BUFFER_BINDING_ARRAY_NON_UNIFORM_INDEXING)
    .union(Capabilities::MULTISAMPLED_SHADING)
    .union(Capabilities::PRIMITIVE_INDEX)
    .union(Capabilities::RAY_QUERY)
    .union(Capabilities::TEXTURE_ATOMIC);

/// A layout, a shader for it and a system, and the faults that were put in. Names in the WGSL mean nothing. On a system that is
/// too old for a feature a case without fault is refused too.
pub fn shader_case(u: &mut Unstructured<'_>) -> Result<Made<LayoutCase>> {
    let system = system(u, 200)?;
    let mut source = Source {
        has_meshes: chance(u, 20)?,
        ..Source::default()
    };
    let groups = source.groups(u)?;
    let immediate_size = source.immediates(u)?;
    source.overrides(u)?;
    source.locals(u)?;
    source.helpers(u)?;
    source.entry_points(u)?;
    let mut case = LayoutCase {
        groups,
        immediate_size,
        vertex_pulling: chance(u, 128)?,
        system,
        shader: None,
    };
    let faults = faults::faults(u, &source, &mut case)?;
    let overrides = source.constants.clone();
    case.shader = Some(Shader {
        wgsl: source.text(u)?,
        overrides,
    });
    Ok(Made { case, faults })
}

/// A variable of the module.
struct Variable {
    name: String,
    declaration: String,
    kind: Kind,
    /// The stages whose functions may use it.
    stages: ShaderStages,
    /// Its group and binding.
    at: Option<(usize, u32)>,
    /// Another variable at the same group and binding, declared before it; no entry point may reach both.
    twin: Option<usize>,
    /// The layout's count, for a binding array.
    count: Option<NonZeroU32>,
}

impl Variable {
    /// What stands for it in a statement: of an array, an element.
    fn place(&self) -> String {
        match self.count {
            Some(count) => format!("{}[$i % {count}u]", self.name),
            None => self.name.clone(),
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    /// In one of the spaces.
    Memory {
        shape: &'static Shape,
        space: u8,
    },
    Handle(BindingType),
}

struct Override {
    name: String,
    /// How a `u32` is got from it.
    read: &'static str,
    /// Whether it is a small positive `u32`.
    is_size: bool,
}

/// A function, and what it reaches: a bit for each variable.
struct Function {
    name: String,
    stages: ShaderStages,
    reaches: u64,
    /// Whether it must be called in uniform control flow.
    uniform: bool,
}

/// The module while it is made.
#[derive(Default)]
struct Source {
    /// Whether there may be task and mesh stages.
    has_meshes: bool,
    variables: Vec<Variable>,
    overrides: Vec<Override>,
    constants: BTreeMap<String, f64>,
    helpers: Vec<Function>,
    entry_points: Vec<(Stage, u64)>,
    enables: Vec<&'static str>,
    structs: Vec<&'static str>,
    /// The declarations of overrides, and the functions.
    override_texts: Vec<String>,
    function_texts: Vec<String>,
}

/// Something that a body makes use of, by its index in the module.
#[derive(Clone, Copy)]
enum Use {
    Variable(usize),
    Helper(usize),
    Override(usize),
    Barrier,
    LocalArray,
}

/// A statement, what it reaches, and whether it must stand in uniform control flow.
struct Statement {
    text: String,
    reaches: u64,
    uniform: bool,
    /// A function of its own that it calls, numbered by `$f`.
    function: Option<String>,
}

impl Statement {
    fn new(text: String, reaches: u64) -> Statement {
        Statement {
            text,
            reaches,
            uniform: false,
            function: None,
        }
    }
}

/// The statements of a function, and what holds for them all.
#[derive(Default)]
struct Body {
    lines: String,
    reaches: u64,
    uniform: bool,
    /// Functions for this one alone.
    functions: Vec<String>,
    counters: u32,
}

impl Body {
    /// Adds a form with the statement in it.
    fn put(&mut self, form: &str, statement: &str) {
        self.counters += 1;
        for line in form.lines() {
            match line.strip_suffix("$b") {
                Some(indent) => statement.lines().for_each(|line| self.line(indent, line)),
                None => self.line("", line),
            }
        }
    }

    fn line(&mut self, indent: &str, line: &str) {
        for part in ["    ", indent, line, "\n"] {
            self.lines.push_str(part);
        }
    }
}

/// Adds what the module wants once.
fn want(wanted: &mut Vec<&'static str>, text: &'static str) {
    if !wanted.contains(&text) {
        wanted.push(text);
    }
}

impl Source {
    /// The layout, and the variables for most of its entries.
    fn groups(&mut self, u: &mut Unstructured<'_>) -> Result<Vec<Group>> {
        let mut groups = Vec::new();
        for group in 0..u.int_in_range(1..=4)? {
            let len = match u.arbitrary::<u8>()? {
                0..24 => {
                    groups.push(None);
                    continue;
                }
                24..40 => 0,
                byte => 1 + usize::from(byte) % 6,
            };
            let with_arrays = chance(u, 40)?;
            let (first, step) = *u.choose(&[(0, 1), (0, 1), (0, 1), (3, 1), (0, 7), (995, 1)])?;
            let mut entries = Vec::new();
            for index in 0..len {
                let binding = (first + step * index as u32).min(994 + index as u32);
                entries.push(self.entry(u, group, binding, with_arrays)?);
            }
            arrange(u, &mut entries)?;
            groups.push(Some(entries));
        }
        Ok(groups)
    }

    /// One entry, and mostly the variable for it.
    fn entry(
        &mut self,
        u: &mut Unstructured<'_>,
        group: usize,
        binding: u32,
        with_arrays: bool,
    ) -> Result<BindGroupLayoutEntry> {
        let (mut ty, mut kind) = resource(u)?;
        let mut count = None;
        if with_arrays {
            let array = element(u, ty, kind)?;
            if array.is_some() && chance(u, 128)? {
                count = NonZeroU32::new(u.int_in_range(1..=5)?);
            }
            // Buffers in a group with arrays are plain, also those that are no array.
            (ty, kind) = array.unwrap_or((ty, kind));
        }
        let mut visibility = *u.choose(&VISIBILITIES)?;
        if self.has_meshes && visibility.contains(COMPUTE) {
            visibility |= MESH_STAGES;
        }
        if writable(&ty) {
            visibility.remove(VERTEX);
        }
        if !chance(u, 24)? {
            let at = Some((group, binding));
            let twin = Some(self.variables.len());
            self.declare(u, kind, visibility, at, count)?;
            if let Kind::Memory { shape, space } = kind
                && count.is_none()
                && chance(u, 12)?
            {
                // The entry's least size, which was made for the first, must do.
                let mut shapes = shapes(space);
                shapes.retain(|other| other.size <= shape.size);
                let kind = Kind::Memory {
                    shape: *u.choose(&shapes)?,
                    space,
                };
                self.declare(u, kind, visibility, at, None)?.twin = twin;
            }
        }
        Ok(BindGroupLayoutEntry {
            binding,
            visibility,
            ty,
            count,
        })
    }

    /// The immediates' size, and mostly a variable for them.
    fn immediates(&mut self, u: &mut Unstructured<'_>) -> Result<u32> {
        if !chance(u, 56)? {
            return Ok(0);
        }
        let shape = *u.choose(&shapes(IMMEDIATE))?;
        if !chance(u, 48)? {
            let kind = Kind::Memory {
                shape,
                space: IMMEDIATE,
            };
            self.declare(u, kind, ANY_STAGE | MESH_STAGES, None, None)?;
        }
        Ok(shape.size as u32)
    }

    /// Adds a variable.
    fn declare(
        &mut self,
        u: &mut Unstructured<'_>,
        kind: Kind,
        stages: ShaderStages,
        at: Option<(usize, u32)>,
        count: Option<NonZeroU32>,
    ) -> Result<&mut Variable> {
        let name = self.name(u, &kind)?;
        if let Kind::Memory { shape, .. } = kind {
            shape.structs.iter().for_each(|text| want(&mut self.structs, text));
        }
        if matches!(kind, Kind::Handle(BindingType::AccelerationStructure { .. })) {
            want(&mut self.enables, "wgpu_ray_query");
        }
        let place = at.map(|(group, binding)| format!("@group({group}) @binding({binding}) "));
        let (place, space, mut ty) = (place.unwrap_or_default(), address_space(&kind), type_name(&kind));
        if let Some(count) = count {
            want(&mut self.enables, "wgpu_binding_array");
            // naga cannot write an array of buffers without a length.
            let seldom = if matches!(kind, Kind::Memory { .. }) { 8 } else { 64 };
            ty = if chance(u, seldom)? {
                format!("binding_array<{ty}>")
            } else {
                format!("binding_array<{ty}, {count}>")
            };
        }
        let size = self.size().map(|constant| constant.name.as_str());
        let declaration = fill(&format!("{place}var{space} {name}: {ty};"), |_| size);
        self.variables.push(Variable {
            name,
            declaration,
            kind,
            stages,
            at,
            twin: None,
            count,
        });
        Ok(self.variables.last_mut().expect("it was pushed"))
    }

    /// A name for the next variable.
    fn name(&self, u: &mut Unstructured<'_>, kind: &Kind) -> Result<String> {
        let index = self.variables.len();
        Ok(match METAL_WORDS.get(index) {
            Some(word) if chance(u, 12)? => word.to_string(),
            _ => format!("{}{index}", prefix(kind)),
        })
    }

    /// The first override that can be a size.
    fn size(&self) -> Option<&Override> {
        self.overrides.iter().find(|constant| constant.is_size)
    }

    /// Up to four overrides, and constants for those that need one and for part of the others.
    fn overrides(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        for index in 0..u.int_in_range(0..=4u8)? {
            let name = format!("{}{index}", *u.choose(&["size", "option", "half"])?);
            let base = self.size().filter(|base| base.name.ends_with('0'));
            let (ty, default, read, byte) = match (u.arbitrary::<u8>()? % 8, base) {
                (0..4, _) => ("u32", "4u".to_string(), "$v", u.int_in_range(1..=8u8)?),
                (4, _) => ("f32", "0.5".to_string(), "u32($v * 8.0)", u.arbitrary()?),
                (5, _) => ("i32", "-3i".to_string(), "u32($v + 300i)", u.arbitrary()?),
                (6, Some(base)) => ("u32", format!("{} * 2u", base.name), "$v * 3u", 6),
                _ => (
                    "bool",
                    "true".to_string(),
                    "select(1u, 2u, $v)",
                    u.int_in_range(0..=1u8)?,
                ),
            };
            let value = if ty == "f32" {
                f64::from(byte) / 4.0
            } else {
                f64::from(byte)
            };
            let (required, given, with_id) = (chance(u, 48)?, chance(u, 128)?, chance(u, 96)?);
            let id = 7 * u32::from(index) + 1;
            if required || given {
                self.constants
                    .insert(if with_id { id.to_string() } else { name.clone() }, value);
            }
            let attribute = if with_id { format!("@id({id}) ") } else { String::new() };
            let default = if required {
                String::new()
            } else {
                format!(" = {default}")
            };
            self.override_texts
                .push(format!("{attribute}override {name}: {ty}{default};"));
            self.overrides.push(Override {
                name,
                read,
                is_size: ty == "u32",
            });
        }
        Ok(())
    }

    /// Workgroup and private variables.
    fn locals(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        for _ in 0..*u.choose(&[0, 0, 1, 2])? {
            let spaces = [(WORKGROUP, COMPUTE), (WORKGROUP, COMPUTE), (PRIVATE, ANY_STAGE)];
            let (space, mut stages) = *u.choose(&spaces)?;
            if self.has_meshes {
                stages |= MESH_STAGES;
            }
            let sized = space == WORKGROUP && self.size().is_some() && chance(u, 128)?;
            let shape = if sized {
                &OVERRIDE_SIZED
            } else {
                *u.choose(&shapes(space))?
            };
            self.declare(u, Kind::Memory { shape, space }, stages, None, None)?;
        }
        Ok(())
    }

    /// Functions that reach variables and call earlier ones.
    fn helpers(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        for index in 0..*u.choose(&[0, 1, 1, 2, 2, 3])? {
            let mut stages = *u.choose(&HELPER_STAGES)?;
            if self.has_meshes && stages == ANY_STAGE {
                stages |= MESH_STAGES;
            }
            let name = format!("helper{index}");
            let Body {
                lines,
                reaches,
                uniform,
                functions,
                ..
            } = self.body(u, stages)?;
            self.function_texts.extend(functions);
            self.function_texts.push(format!(
                "fn {name}(i: u32) -> u32 {{\n    var acc = i;\n{lines}    return acc;\n}}"
            ));
            self.helpers.push(Function {
                name,
                stages,
                reaches,
                uniform,
            });
        }
        Ok(())
    }

    fn entry_points(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let varyings = chance(u, 100)?;
        let last_stage = if self.has_meshes { 4 } else { 2 };
        for index in 0..u.int_in_range(1..=7)? {
            let stage = Stage::ALL[u.int_in_range(0..=last_stage)?];
            let name = match index {
                0 if chance(u, 32)? => "main".to_string(),
                _ => format!("{}_{index}", stage.name()),
            };
            let mut body = self.body(u, stage.visibility())?;
            self.put_twins(u, stage.visibility(), &mut body)?;
            self.function_texts.append(&mut body.functions);
            let text = match stage {
                Stage::Vertex => self.vertex(u, &name, &body.lines, varyings)?,
                Stage::Fragment => self.fragment(u, &name, &body.lines, varyings)?,
                Stage::Compute => self.compute(u, &name, &body.lines)?,
                Stage::Task => self.mesh_stage(TASK, &name, &body.lines),
                Stage::Mesh => self.mesh_stage(MESH, &name, &body.lines),
            };
            self.function_texts.push(text);
            self.entry_points.push((stage, body.reaches));
        }
        Ok(())
    }

    /// The text of a task or mesh entry point.
    fn mesh_stage(&mut self, text: &str, name: &str, lines: &str) -> String {
        want(&mut self.enables, "wgpu_mesh_shader");
        want(&mut self.structs, MESH_STRUCTS);
        want(&mut self.structs, MESH_VARIABLES);
        fill(text, |key| match key {
            'm' => Some(name),
            'b' => Some(lines),
            _ => None,
        })
    }

    fn vertex(&mut self, u: &mut Unstructured<'_>, name: &str, lines: &str, varyings: bool) -> Result<String> {
        let (arguments, start) = *u.choose(&VERTEX_OPENINGS)?;
        if arguments.contains("Attributes") {
            want(&mut self.structs, ATTRIBUTES);
        }
        let (result, value) = if varyings {
            want(&mut self.structs, VARYINGS);
            ("Varyings", "Varyings(vec4<f32>(f32(acc)), acc)")
        } else if chance(u, 32)? {
            ("@invariant @builtin(position) vec4<f32>", "vec4<f32>(f32(acc))")
        } else {
            ("@builtin(position) vec4<f32>", "vec4<f32>(f32(acc))")
        };
        Ok(format!(
            "@vertex\nfn {name}({arguments}) -> {result} {{\n    {start}\n{lines}    return {value};\n}}"
        ))
    }

    fn fragment(&mut self, u: &mut Unstructured<'_>, name: &str, lines: &str, varyings: bool) -> Result<String> {
        let (arguments, start) = if varyings && !chance(u, 64)? {
            want(&mut self.structs, VARYINGS);
            (
                "inputs: Varyings",
                "let i = inputs.value;\n    var acc = u32(inputs.position.x);",
            )
        } else {
            let opening = if chance(u, 16)? { 2 } else { u.int_in_range(0..=1)? };
            FRAGMENT_OPENINGS[opening]
        };
        if arguments.contains("primitive_index") {
            want(&mut self.enables, "primitive_index");
        }
        let discard = if chance(u, 32)? {
            "    if (acc == 77u) {\n        discard;\n    }\n"
        } else {
            ""
        };
        let (result, value) = if chance(u, 24)? {
            ("", "")
        } else {
            (" -> @location(0) vec4<f32>", " vec4<f32>(f32(acc))")
        };
        Ok(format!(
            "@fragment\nfn {name}({arguments}){result} {{\n    {start}\n{lines}{discard}    return{value};\n}}"
        ))
    }

    fn compute(&mut self, u: &mut Unstructured<'_>, name: &str, lines: &str) -> Result<String> {
        let (arguments, start) = *u.choose(&COMPUTE_OPENINGS)?;
        // An override is at most 16, so that no workgroup has more invocations than 256.
        let mut size = vec!["4", "2", "1"];
        size.truncate(u.int_in_range(1..=3)?);
        let sizes: Vec<_> = self.overrides.iter().filter(|constant| constant.is_size).collect();
        if !sizes.is_empty() && chance(u, 160)? {
            let place = u.choose_index(size.len())?;
            size[place] = &u.choose(&sizes)?.name;
        }
        let size = size.join(", ");
        Ok(format!(
            "@compute @workgroup_size({size})\nfn {name}({arguments}) {{\n    {start}\n{lines}}}"
        ))
    }

    /// The statements of a function for the given stages.
    fn body(&self, u: &mut Unstructured<'_>, stages: ShaderStages) -> Result<Body> {
        let mut body = Body::default();
        let density = *u.choose(&[96, 64, 64, 192])?;
        let mut uses = Vec::new();
        for (index, variable) in self.variables.iter().enumerate() {
            let usable = variable.stages.contains(stages) && variable.twin.is_none();
            if usable && chance(u, density)? {
                uses.push(Use::Variable(index));
            }
        }
        for (index, helper) in self.helpers.iter().enumerate() {
            if helper.stages.contains(stages) && chance(u, 96)? {
                uses.push(Use::Helper(index));
            }
        }
        for index in 0..self.overrides.len() {
            if chance(u, 64)? {
                uses.push(Use::Override(index));
            }
        }
        if stages == COMPUTE && chance(u, 48)? {
            uses.push(Use::Barrier);
        }
        if chance(u, 24)? {
            uses.push(Use::LocalArray);
        }
        shuffle(u, &mut uses)?;
        for one in uses {
            self.put(u, stages, one, &mut body)?;
        }
        Ok(body)
    }

    /// Adds uses of variables that share their binding with one that the entry point does not reach.
    fn put_twins(&self, u: &mut Unstructured<'_>, stages: ShaderStages, body: &mut Body) -> Result<()> {
        for (index, variable) in self.variables.iter().enumerate() {
            let Some(twin) = variable.twin else { continue };
            if variable.stages.contains(stages) && body.reaches >> twin & 1 == 0 {
                self.put(u, stages, Use::Variable(index), body)?;
            }
        }
        Ok(())
    }

    /// Adds one statement to a body, inside a branch or a loop where it may be.
    fn put(&self, u: &mut Unstructured<'_>, stages: ShaderStages, one: Use, body: &mut Body) -> Result<()> {
        let Some(statement) = self.statement(u, stages, one)? else {
            return Ok(());
        };
        let form = if statement.uniform || chance(u, 112)? {
            &FORMS[0]
        } else {
            u.choose(&FORMS)?
        };
        let sizes = self.overrides.iter().filter(|constant| constant.is_size);
        let mut indices: Vec<String> = INDICES.map(str::to_string).into();
        indices.extend(sizes.map(|constant| format!("i + {}", constant.name)));
        indices.extend(
            form.index
                .map(|index| vec![index.to_string(); indices.len()])
                .unwrap_or_default(),
        );
        let (index, other) = (u.choose(&indices)?, u.choose(&indices)?);
        let text = fill(&statement.text, |key| match key {
            'i' => Some(index),
            'j' | 'x' => Some(other),
            _ => None,
        });
        let number = body.counters.to_string();
        let function = (self.function_texts.len() + body.functions.len()).to_string();
        let numbered = |text: &str| {
            fill(text, |key| match key {
                'n' => Some(number.as_str()),
                'f' => Some(function.as_str()),
                _ => None,
            })
        };
        body.functions.extend(statement.function.as_deref().map(numbered));
        body.put(&numbered(form.text), &numbered(&text));
        body.reaches |= statement.reaches;
        body.uniform |= statement.uniform;
        Ok(())
    }

    /// A statement that makes use of something, if it can be used alone.
    fn statement(&self, u: &mut Unstructured<'_>, stages: ShaderStages, one: Use) -> Result<Option<Statement>> {
        Ok(Some(match one {
            Use::Variable(index) => return self.use_variable(u, stages, index),
            Use::Helper(index) => {
                let Function {
                    name, reaches, uniform, ..
                } = &self.helpers[index];
                let call = Statement::new(format!("acc += {name}($i);"), *reaches);
                Statement {
                    uniform: *uniform,
                    ..call
                }
            }
            Use::Override(index) => {
                let Override { name, read, .. } = &self.overrides[index];
                Statement::new(format!("acc += {};", fill(read, |_| Some(name))), 0)
            }
            Use::LocalArray => Statement::new(LOCAL_ARRAY.to_string(), 0),
            Use::Barrier => {
                let text = *u.choose(&["workgroupBarrier();", "storageBarrier();"])?;
                Statement {
                    uniform: true,
                    ..Statement::new(text.to_string(), 0)
                }
            }
        }))
    }

    fn use_variable(&self, u: &mut Unstructured<'_>, stages: ShaderStages, index: usize) -> Result<Option<Statement>> {
        let variable = &self.variables[index];
        let text = match variable.kind {
            Kind::Memory { shape, space } => access(u, shape, space)?,
            Kind::Handle(BindingType::Texture {
                sample_type,
                view_dimension,
                multisampled,
            }) => {
                let dimension = dimension(view_dimension);
                let look = Look {
                    sample_type,
                    multisampled,
                    dimension,
                };
                return self.read(u, stages, index, &look).map(Some);
            }
            Kind::Handle(BindingType::StorageTexture {
                access,
                format,
                view_dimension,
            }) => storage_access(u, access, texel(format), dimension(view_dimension))?,
            Kind::Handle(BindingType::AccelerationStructure { .. }) => RAY_QUERY.to_string(),
            Kind::Handle(BindingType::ExternalTexture) => return self.read_external(u, stages, index).map(Some),
            // A sampler is used with a texture.
            Kind::Handle(_) => return Ok(None),
        };
        let place = variable.place();
        let text = fill(&text, |key| (key == 'v').then_some(place.as_str()));
        Ok(Some(Statement::new(text, 1 << index)))
    }

    /// A statement that reads an external texture, with a filtering sampler where one is at hand.
    fn read_external(&self, u: &mut Unstructured<'_>, stages: ShaderStages, index: usize) -> Result<Statement> {
        let is_filtering = |kind| matches!(kind, Kind::Handle(BindingType::Sampler(SamplerBindingType::Filtering)));
        let mut variables = self.variables.iter();
        let sampler = variables.position(|variable| is_filtering(variable.kind) && variable.stages.contains(stages));
        let text = match sampler {
            Some(_) => *u.choose(&EXTERNAL_READS)?,
            None => *u.choose(&EXTERNAL_READS[..2])?,
        };
        let (place, sampling) = (
            self.variables[index].place(),
            sampler.map(|at| self.variables[at].place()),
        );
        let sampled = sampler.filter(|_| text.contains("$s")).map_or(0, |at| 1 << at);
        let text = fill(text, |key| match key {
            'v' => Some(place.as_str()),
            's' => sampling.as_deref(),
            _ => None,
        });
        Ok(Statement::new(text, 1 << index | sampled))
    }

    /// A statement that reads a sampled texture in one of the ways that its type, the stages and the samplers at hand allow:
    /// at times in a function that is given the handles.
    fn read(&self, u: &mut Unstructured<'_>, stages: ShaderStages, texture: usize, look: &Look) -> Result<Statement> {
        let possible = |read: &&Read| {
            let sampled = read.sampler == Sampling::No || !self.samplers(stages, read, look).is_empty();
            (read.fits)(look) && sampled && (!read.implicit || stages == FRAGMENT)
        };
        let mut reads: Vec<_> = READS.iter().filter(possible).collect();
        // Samplers would be rare if they had to win against every query.
        if reads.iter().any(|read| read.sampler != Sampling::No) && chance(u, 160)? {
            reads.retain(|read| read.sampler != Sampling::No);
        }
        if reads.iter().any(|read| read.implicit) && chance(u, 96)? {
            reads.retain(|read| read.implicit);
        }
        let read = *u.choose(&reads)?;
        let mut handles = vec![texture];
        if read.sampler != Sampling::No {
            handles.push(*u.choose(&self.samplers(stages, read, look))?);
        }
        let reaches = handles.iter().map(|index| 1 << index).sum();
        let handles: Vec<&Variable> = handles.iter().map(|&index| &self.variables[index]).collect();
        let mut statement = Statement {
            uniform: read.implicit,
            ..Statement::new(String::new(), reaches)
        };
        // naga has no arguments that are elements of an array.
        if handles.iter().all(|handle| handle.count.is_none()) && chance(u, 24)? {
            let zipped = handles.iter().zip(["t", "s"]);
            let parameters: String = zipped
                .map(|(handle, name)| format!("{name}: {}, ", type_name(&handle.kind)))
                .collect();
            let arguments: String = handles.iter().map(|handle| format!("{}, ", handle.name)).collect();
            let number = fill(&look.number(read, &["t", "s"]), |key| match key {
                'i' => Some("i"),
                'j' => Some("j"),
                _ => None,
            });
            statement.text = format!("acc += read$f({arguments}$i, $j);");
            statement.function = Some(format!(
                "fn read$f({parameters}i: u32, j: u32) -> u32 {{\n    return {number};\n}}"
            ));
        } else {
            let places: Vec<String> = handles.iter().map(|handle| handle.place()).collect();
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            statement.text = format!("acc += {};", look.number(read, &places));
        }
        Ok(statement)
    }

    /// The samplers for a read that functions for the given stages may use.
    fn samplers(&self, stages: ShaderStages, read: &Read, look: &Look) -> Vec<usize> {
        let fits = |variable: &Variable| match variable.kind {
            Kind::Handle(BindingType::Sampler(ty)) => look.takes(read, ty) && variable.stages.contains(stages),
            _ => false,
        };
        let variables = self.variables.iter().enumerate();
        variables
            .filter(|(_, variable)| fits(variable))
            .map(|(index, _)| index)
            .collect()
    }

    /// The whole text: in the usual order, with the variables in any, or at times all of it in any order.
    fn text(mut self, u: &mut Unstructured<'_>) -> Result<String> {
        let mut globals: Vec<String> = self
            .variables
            .into_iter()
            .map(|variable| variable.declaration)
            .collect();
        shuffle(u, &mut globals)?;
        let mut items = self.override_texts;
        items.push(globals.join("\n"));
        items.append(&mut self.function_texts);
        if chance(u, 48)? {
            let globals = items
                .iter()
                .position(|item| item.starts_with("@group"))
                .map(|at| items.remove(at));
            items.extend(globals.iter().flat_map(|text| text.lines()).map(str::to_string));
            shuffle(u, &mut items)?;
        }
        let enables = self.enables.iter().map(|name| format!("enable {name};"));
        let structs = self.structs.iter().map(|text| text.to_string());
        let texts: Vec<String> = enables
            .chain(structs)
            .chain(items)
            .filter(|text| !text.is_empty())
            .collect();
        Ok(texts.join("\n\n") + "\n")
    }
}
