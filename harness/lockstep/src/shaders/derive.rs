//! The pipeline layout that WGSL needs: what WebGPU makes for `layout: "auto"`, and the vertex state that goes with it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use mslmap::Extension;
use naga::back::msl::{AttributeMapping, VertexBufferMapping, VertexBufferStepMode};
use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, ArraySize, Binding, GlobalVariable, Handle, ImageClass, ImageDimension, Module, ResourceBinding,
    ScalarKind, StorageAccess, TypeInner,
};
use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, StorageTextureAccess, TextureFormat,
    TextureSampleType, TextureViewDimension, VertexFormat,
};

use super::words;
use crate::case::Stage;
use crate::msl::arguments::FIRST_VERTEX_BUFFER;

/// What an entry point needs of its pipeline layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Needs {
    /// The resources that it reaches, by group and binding.
    pub resources: Vec<Resource>,
    /// The immediates that it reaches: the variable's name, and its bytes.
    pub immediates: Option<(String, u32)>,
}

/// A resource that an entry point reaches.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Where it is bound.
    pub at: ResourceBinding,
    /// The variable's name in WGSL.
    pub variable: String,
    /// The entry that WebGPU's default layout has for it, visible to the entry point's stage alone.
    pub entry: BindGroupLayoutEntry,
}

impl Needs {
    /// What an entry point of the module needs; `uses` is validation's information about it.
    ///
    /// # Errors
    ///
    /// It reaches a resource of a type that no bind group layout has.
    pub fn of(module: &Module, uses: &FunctionInfo, stage: Stage) -> Result<Needs, String> {
        let mut needs = Needs {
            resources: Vec::new(),
            immediates: None,
        };
        let reached = module
            .global_variables
            .iter()
            .filter(|(handle, _)| !uses[*handle].is_empty());
        for (handle, global) in reached {
            let variable = global.name.clone().unwrap_or_else(|| "unnamed".into());
            if global.space == AddressSpace::Immediate {
                let size = module.types[global.ty].inner.size(module.to_ctx());
                needs.immediates = Some((variable, size.next_multiple_of(4)));
            } else if let Some(at) = global.binding {
                let is_sampled = uses.sampling_set.iter().any(|pair| pair.image == handle);
                let entry = entry(module, global, at.binding, stage, is_sampled)
                    .ok_or_else(|| format!("`{variable}` is of a type that no bind group layout has"))?;
                needs.resources.push(Resource { at, variable, entry });
            }
        }
        needs.resources.sort_by_key(|resource| resource.at);
        Ok(needs)
    }

    fn immediate_size(&self) -> u32 {
        self.immediates.as_ref().map_or(0, |(_, size)| *size)
    }
}

/// A pipeline layout: bind group layout entries by place, and the bytes of the immediates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineLayout {
    entries: BTreeMap<ResourceBinding, BindGroupLayoutEntry>,
    immediate_size: u32,
}

impl PipelineLayout {
    /// The layout of one entry point by itself.
    pub fn of(needs: &Needs) -> PipelineLayout {
        let entries = needs.resources.iter().map(|resource| (resource.at, resource.entry));
        PipelineLayout {
            entries: entries.collect(),
            immediate_size: needs.immediate_size(),
        }
    }

    /// Adds what an entry point needs, as WebGPU's default pipeline layout does: of two entries at one place the visibilities are
    /// united, and a float texture is filterable when it is for one of them.
    ///
    /// # Errors
    ///
    /// Two entries at one place are of different types otherwise; then nothing is added. The error names the first.
    pub fn join(&mut self, needs: &Needs) -> Result<(), String> {
        let mut joined = Vec::new();
        for resource in &needs.resources {
            let mut entry = resource.entry;
            if let Some(here) = self.entries.get(&resource.at) {
                entry.ty = united(here.ty, entry.ty)
                    .filter(|_| here.count == entry.count)
                    .ok_or_else(|| {
                        let ResourceBinding { group, binding } = resource.at;
                        let [here, there] = [here, &resource.entry].map(words::with_article);
                        format!("group {group} binding {binding} is {there} here, and {here} before")
                    })?;
                entry.visibility |= here.visibility;
            }
            joined.push((resource.at, entry));
        }
        self.entries.extend(joined);
        self.immediate_size = self.immediate_size.max(needs.immediate_size());
        Ok(())
    }

    /// The bind group layouts; a group without an entry is empty.
    pub fn groups(&self) -> Vec<Vec<BindGroupLayoutEntry>> {
        // Capped, so that a group number of four billion makes no list of that length; nine are refused already.
        let count = self.entries.keys().map(|at| at.group.min(1000) + 1).max();
        let mut groups = vec![Vec::new(); count.unwrap_or(0) as usize];
        for (at, entry) in &self.entries {
            if let Some(group) = groups.get_mut(at.group as usize) {
                group.push(*entry);
            }
        }
        groups
    }

    /// What it has beside bind groups; wgpu-hal always pulls vertices.
    pub fn extension(&self) -> Extension {
        Extension {
            immediate_size: self.immediate_size,
            vertex_pulling: true,
        }
    }
}

/// The type that serves two entry points at one place.
fn united(one: BindingType, other: BindingType) -> Option<BindingType> {
    let filterable = |ty| match ty {
        BindingType::Texture {
            sample_type: TextureSampleType::Float { .. },
            view_dimension,
            multisampled,
        } => BindingType::Texture {
            sample_type: TextureSampleType::Float { filterable: true },
            view_dimension,
            multisampled,
        },
        ty => ty,
    };
    match one == other {
        true => Some(one),
        false => Some(filterable(one)).filter(|ty| *ty == filterable(other)),
    }
}

fn entry(
    module: &Module,
    global: &GlobalVariable,
    binding: u32,
    stage: Stage,
    is_sampled: bool,
) -> Option<BindGroupLayoutEntry> {
    let (ty, count) = match module.types[global.ty].inner {
        // An array without a length takes it from the layout; one stands for any.
        TypeInner::BindingArray { base, size } => match size {
            ArraySize::Constant(count) => (base, Some(count)),
            _ => (base, Some(NonZeroU32::MIN)),
        },
        _ => (global.ty, None),
    };
    Some(BindGroupLayoutEntry {
        binding,
        visibility: stage.visibility(),
        ty: binding_type(module, global, ty, is_sampled)?,
        count,
    })
}

/// The layout's type of a variable of a type, which is an array's element for a binding array. A float texture is filterable in
/// WebGPU's default layout only when it is used with a sampler.
fn binding_type(
    module: &Module,
    global: &GlobalVariable,
    ty: Handle<naga::Type>,
    is_sampled: bool,
) -> Option<BindingType> {
    let buffer = |ty| BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    match (global.space, &module.types[ty].inner) {
        (AddressSpace::Uniform, _) => Some(buffer(BufferBindingType::Uniform)),
        (AddressSpace::Storage { access }, _) => Some(buffer(BufferBindingType::Storage {
            read_only: !access.contains(StorageAccess::STORE),
        })),
        (_, TypeInner::Sampler { comparison }) => Some(BindingType::Sampler(if *comparison {
            SamplerBindingType::Comparison
        } else {
            SamplerBindingType::Filtering
        })),
        (_, &TypeInner::AccelerationStructure { vertex_return }) => {
            Some(BindingType::AccelerationStructure { vertex_return })
        }
        (_, TypeInner::Image { dim, arrayed, class }) => image_type(view_dimension(*dim, *arrayed), *class, is_sampled),
        _ => None,
    }
}

fn image_type(view_dimension: TextureViewDimension, class: ImageClass, is_sampled: bool) -> Option<BindingType> {
    let texture = |sample_type, multisampled| BindingType::Texture {
        sample_type,
        view_dimension,
        multisampled,
    };
    Some(match class {
        ImageClass::Sampled { kind, multi } => {
            let sample_type = match kind {
                ScalarKind::Sint => TextureSampleType::Sint,
                ScalarKind::Uint => TextureSampleType::Uint,
                _ => TextureSampleType::Float {
                    filterable: is_sampled && !multi,
                },
            };
            texture(sample_type, multi)
        }
        ImageClass::Depth { multi } => texture(TextureSampleType::Depth, multi),
        ImageClass::Storage { format, access } => BindingType::StorageTexture {
            access: storage_access(access),
            format: texture_format(format)?,
            view_dimension,
        },
        ImageClass::External => BindingType::ExternalTexture,
    })
}

fn view_dimension(dim: ImageDimension, arrayed: bool) -> TextureViewDimension {
    match (dim, arrayed) {
        (ImageDimension::D1, _) => TextureViewDimension::D1,
        (ImageDimension::D2, false) => TextureViewDimension::D2,
        (ImageDimension::D2, true) => TextureViewDimension::D2Array,
        (ImageDimension::D3, _) => TextureViewDimension::D3,
        (ImageDimension::Cube, false) => TextureViewDimension::Cube,
        (ImageDimension::Cube, true) => TextureViewDimension::CubeArray,
    }
}

fn storage_access(access: StorageAccess) -> StorageTextureAccess {
    if access.contains(StorageAccess::ATOMIC) {
        StorageTextureAccess::Atomic
    } else if access.contains(StorageAccess::LOAD | StorageAccess::STORE) {
        StorageTextureAccess::ReadWrite
    } else if access.contains(StorageAccess::STORE) {
        StorageTextureAccess::WriteOnly
    } else {
        StorageTextureAccess::ReadOnly
    }
}

/// wgpu's format for naga's: the variants of both have WebGPU's names, and wgpu's reads that name.
fn texture_format(format: naga::StorageFormat) -> Option<TextureFormat> {
    serde_json::from_value(format!("{format:?}").to_lowercase().into()).ok()
}

/// One vertex buffer that holds every `@location` input of a vertex entry point, tightly packed and stepped by vertex, at
/// [`FIRST_VERTEX_BUFFER`]: WGSL does not say how a program spreads its inputs over buffers. None when there is no input, or one
/// that no vertex format gives.
pub fn vertex_buffer(module: &Module, entry: &naga::EntryPoint) -> Option<VertexBufferMapping> {
    let mut buffer = VertexBufferMapping {
        id: FIRST_VERTEX_BUFFER,
        stride: 0,
        step_mode: VertexBufferStepMode::ByVertex,
        attributes: Vec::new(),
    };
    for argument in &entry.function.arguments {
        let members = match &module.types[argument.ty].inner {
            TypeInner::Struct { members, .. } => members.iter().map(|member| (&member.binding, member.ty)).collect(),
            _ => vec![(&argument.binding, argument.ty)],
        };
        for (binding, ty) in members {
            let Some(Binding::Location { location, .. }) = binding else {
                continue;
            };
            let format = vertex_format(&module.types[ty].inner)?;
            buffer.attributes.push(AttributeMapping {
                shader_location: *location,
                offset: buffer.stride,
                format,
            });
            buffer.stride += (format.size() as u32).next_multiple_of(4);
        }
    }
    (!buffer.attributes.is_empty()).then_some(buffer)
}

/// The vertex format whose values are of a type; of three halves the one of four.
fn vertex_format(ty: &TypeInner) -> Option<VertexFormat> {
    use VertexFormat as Format;
    let (components, scalar) = match *ty {
        TypeInner::Scalar(scalar) => (1, scalar),
        TypeInner::Vector { size, scalar } => (size as usize, scalar),
        _ => return None,
    };
    let formats = match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 4) => [Format::Float32, Format::Float32x2, Format::Float32x3, Format::Float32x4],
        (ScalarKind::Float, 2) => [Format::Float16, Format::Float16x2, Format::Float16x4, Format::Float16x4],
        (ScalarKind::Sint, 4) => [Format::Sint32, Format::Sint32x2, Format::Sint32x3, Format::Sint32x4],
        (ScalarKind::Uint, 4) => [Format::Uint32, Format::Uint32x2, Format::Uint32x3, Format::Uint32x4],
        _ => return None,
    };
    Some(formats[components - 1])
}
