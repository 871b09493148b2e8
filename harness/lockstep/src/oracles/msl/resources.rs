//! Properties 1 and 2: every resource in use is an argument at its slot, nothing else is, and no slot is taken twice.

use std::collections::{BTreeMap, HashSet};

use mslmap::StageLayout;
use naga::back::msl::{BindSamplerTarget, BindTarget, VertexBufferMapping};
use naga::valid::GlobalUse;
use naga::{AddressSpace, GlobalVariable, ResourceBinding, TypeInner};

use super::{EntryCheck, LACKING, OTHER_KIND, PAST_LIMITS, WIDER_ACCESS};
use crate::msl::arguments::{Access, Argument, Table};
use crate::pipeline::Resolved;

/// A resource that the entry point uses, and where the layout puts it.
pub(super) struct Resource<'a> {
    /// None for immediates.
    pub binding: Option<ResourceBinding>,
    pub global: &'a GlobalVariable,
    pub usage: GlobalUse,
    /// Its slots, or why it has none.
    pub place: Result<Place, &'static str>,
}

/// The slots of a resource.
pub(super) struct Place {
    /// Up to three textures and a buffer.
    slots: Vec<(Table, u32)>,
    mutable: bool,
}

impl Resource<'_> {
    /// Its place in the WGSL, for a person.
    pub fn at(&self) -> String {
        self.binding.map_or_else(|| "the immediates".to_owned(), place_name)
    }

    fn name(&self) -> &str {
        self.global.name.as_deref().unwrap_or_default()
    }
}

/// The resources that an entry point uses. Immediates without a slot are not among them: naga refuses the entry point for those.
pub(super) fn resources<'a>(resolved: &'a Resolved<'_>, layout: &StageLayout) -> Vec<Resource<'a>> {
    let used = resolved.used().filter_map(|(_, global, usage)| {
        let place = match global.binding {
            Some(binding) => bound_place(resolved, layout, global, binding),
            None if global.space == AddressSpace::Immediate => Ok(Place {
                slots: vec![(Table::Buffer, layout.immediates_slot?.into())],
                mutable: false,
            }),
            None => return None,
        };
        Some(Resource {
            binding: global.binding,
            global,
            usage,
            place,
        })
    });
    used.collect()
}

fn bound_place(
    resolved: &Resolved<'_>,
    layout: &StageLayout,
    global: &GlobalVariable,
    binding: ResourceBinding,
) -> Result<Place, &'static str> {
    let target = layout.resources.get(&binding).ok_or(LACKING)?;
    let slots = slots(&resolved.module.types[global.ty].inner, target);
    let mutable = target.mutable;
    if slots.is_empty() {
        Err(OTHER_KIND)
    } else {
        Ok(Place { slots, mutable })
    }
}

/// The slots of a target in the tables that a type takes; none when the target has none there. An external texture's are its three
/// planes and its parameters.
fn slots(ty: &TypeInner, target: &BindTarget) -> Vec<(Table, u32)> {
    let at = |table| move |slot: u8| (table, u32::from(slot));
    match ty {
        TypeInner::Image {
            class: naga::ImageClass::External,
            ..
        } => target.external_texture.as_ref().map_or_else(Vec::new, |external| {
            let planes = external.planes.map(at(Table::Texture));
            planes.into_iter().chain([at(Table::Buffer)(external.params)]).collect()
        }),
        TypeInner::Image { .. } => target.texture.map(at(Table::Texture)).into_iter().collect(),
        TypeInner::Sampler { .. } => match target.sampler {
            Some(BindSamplerTarget::Resource(slot)) => vec![at(Table::Sampler)(slot)],
            _ => Vec::new(),
        },
        _ => target.buffer.map(at(Table::Buffer)).into_iter().collect(),
    }
}

impl EntryCheck<'_> {
    /// Property 1, over the arguments but for `_buffer_sizes`.
    pub fn bound(&mut self, resources: &[Resource<'_>], pulled: &[VertexBufferMapping], arguments: &[&Argument]) {
        let mut expected = HashSet::new();
        for resource in resources {
            let Ok(place) = &resource.place else {
                continue;
            };
            for &(table, index) in &place.slots {
                expected.insert((table, index));
                let found = arguments
                    .iter()
                    .find(|argument| (argument.table, argument.index) == (table, index));
                match found {
                    Some(argument) => self.fits(resource, place, argument),
                    None => {
                        let (at, name, table) = (resource.at(), resource.name(), table.name());
                        self.problem(1, format!("{at} `{name}` has no argument at {table} {index}"));
                    }
                }
            }
        }
        for buffer in pulled {
            expected.insert((Table::Buffer, buffer.id));
            let is_buffer = |argument: &&&Argument| is_vertex_buffer(argument) && argument.index == buffer.id;
            match arguments.iter().find(is_buffer) {
                Some(argument) if argument.access != Access::ReadOnly => {
                    self.problem(1, format!("the vertex buffer at buffer {} may be written", buffer.id));
                }
                Some(_) => {}
                None => self.problem(1, format!("the vertex buffer has no argument at buffer {}", buffer.id)),
            }
        }
        for argument in arguments {
            if !expected.contains(&(argument.table, argument.index)) {
                let at = format!("{} {}", argument.table.name(), argument.index);
                self.problem(
                    1,
                    format!("`{}` at {at} is no resource that the entry point uses", argument.name),
                );
            }
        }
    }

    /// Whether the argument at a resource's slot is the resource, with no more access than it may have.
    fn fits(&mut self, resource: &Resource<'_>, place: &Place, argument: &Argument) {
        let at = || format!("{} {}", argument.table.name(), argument.index);
        let name = resource.name();
        if !is_named_after(&argument.name, name) && !is_vertex_buffer(argument) {
            let (of, at, other) = (resource.at(), at(), &argument.name);
            self.problem(1, format!("{of} `{name}` should be at {at}, where `{other}` is"));
        }
        // Of an array the argument's access is that to the buffer of handles, which says nothing about the elements.
        if argument.argument_buffer {
            return;
        }
        if argument.access == Access::ReadOnly && resource.usage.contains(GlobalUse::WRITE) {
            self.problem(1, format!("`{}` at {} is written, but read-only", argument.name, at()));
        }
        if argument.access != Access::ReadOnly && !place.mutable {
            if declares_write(resource.global, argument) {
                self.checked.refuse(WIDER_ACCESS);
            } else {
                let (name, access) = (&argument.name, argument.access);
                self.problem(1, format!("`{name}` at {} is {access:?}, but the layout is not", at()));
            }
        }
    }

    /// Property 2. A layout that reaches into the slots of the vertex buffers is past Metal's limits.
    pub fn unique(&mut self, arguments: &[Argument]) {
        let mut seen: BTreeMap<(Table, u32), &Argument> = BTreeMap::new();
        for argument in arguments {
            if let Some(other) = seen.insert((argument.table, argument.index), argument) {
                if is_vertex_buffer(argument) != is_vertex_buffer(other) {
                    self.checked.refuse(PAST_LIMITS);
                } else {
                    let at = format!("{} {}", argument.table.name(), argument.index);
                    self.problem(2, format!("`{}` and `{}` are both at {at}", other.name, argument.name));
                }
            }
            if argument.index >= argument.table.limit() {
                self.checked.refuse(PAST_LIMITS);
            }
        }
    }
}

/// Whether an argument is a vertex buffer, by the form that naga gives its type: `const device vb_30_type*`.
fn is_vertex_buffer(argument: &Argument) -> bool {
    argument.ty.starts_with("const device vb_")
}

pub(super) fn place_name(binding: ResourceBinding) -> String {
    format!("group {} binding {}", binding.group, binding.binding)
}

/// Whether a name in MSL can be naga's for a name in WGSL: the same, with an underscore after a digit or a keyword, or with a
/// number after an underscore. A name that naga spells otherwise (non-ASCII letters, two underscores) can be any.
fn is_named_after(msl: &str, wgsl: &str) -> bool {
    let base = wgsl.trim_end_matches('_');
    let is_plain =
        !base.is_empty() && base.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !base.contains("__");
    !is_plain
        || msl
            .strip_prefix(base)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// Whether the shader declares a resource as writable.
fn declares_write(global: &GlobalVariable, argument: &Argument) -> bool {
    match global.space {
        AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE),
        // Of handles, storage textures alone have an access; the argument's type says it as the declaration does.
        AddressSpace::Handle => argument.table == Table::Texture && !argument.ty.contains("access::sample"),
        _ => false,
    }
}
