//! Properties 5 and 7, and the overrides: whatever is refused is refused for a cause, and what has a cause is refused.

use std::collections::BTreeMap;

use mslmap::{LayoutError, StageLayout};
use naga::back::msl::{EntryPointError, Error};
use naga::back::pipeline_constants::PipelineConstantError;
use naga::{AddressSpace, ArraySize, Module, TypeInner};

use super::resources::{Resource, place_name};
use super::sizes::uses_runtime_array;
use super::version::Needs;
use super::{EntryCheck, UNSIZED_BUFFERS};
use crate::pipeline::{ResolveError, Resolved};

impl EntryCheck<'_> {
    /// Overrides are not resolved: rightly, when the message is true of the case.
    pub fn unresolved(&mut self, error: &ResolveError, module: &Module, overrides: &BTreeMap<String, f64>) {
        match error {
            ResolveError::Constant(error) if is_true(error, module, overrides) => {
                self.checked.refuse(format!("overrides: {}", variant(error)));
            }
            ResolveError::Constant(error) => self.problem(0, format!("overrides refused without cause: {error}")),
            ResolveError::Panic(panic) => self.problem(0, format!("naga panicked: {panic}")),
            ResolveError::NoEntryPoint => self.problem(0, "the entry point is gone once overrides are resolved"),
        }
    }

    /// naga refuses the module: rightly, when the version lacks what it names, or when MSL has no such thing at all.
    pub fn writer_error(&mut self, error: &Error, resolved: &Resolved<'_>, needs: &Needs, version: (u8, u8)) {
        match error {
            Error::GenericValidation(_) if has_unsized_buffers(resolved) => self.checked.refuse(UNSIZED_BUFFERS),
            Error::UnsupportedAttribute(_)
            | Error::UnsupportedFunction(_)
            | Error::UnsupportedWritableStorageBuffer
            | Error::UnsupportedWritableStorageTexture(_)
            | Error::UnsupportedRWStorageTexture
            | Error::UnsupportedArrayOf(_)
            | Error::UnsupportedRayTracing
            | Error::UnsupportedCooperativeMatrix
            | Error::UnsupportedMeshShader
            | Error::PerVertexNotSupported => match needs.may_refuse(version) {
                Some(((major, minor), what)) => self.checked.refuse(format!("needs MSL {major}.{minor}: {what}")),
                None => {
                    let (major, minor) = version;
                    self.problem(7, format!("refused though MSL {major}.{minor} has it: {error}"));
                }
            },
            Error::FeatureNotImplemented(_)
            | Error::UnsupportedBuiltIn(_)
            | Error::CapabilityNotSupported(_)
            | Error::UnsupportedArrayOfType(_)
            | Error::UnsupportedCompose(_)
            | Error::UnsupportedBinaryOp(_)
            | Error::UnsupportedCall(_)
            | Error::UnsupportedBitCast(_) => self.checked.refuse(format!("not in MSL: {}", variant(error))),
            Error::UnimplementedBindTarget(_) => self.problem(1, format!("the layout has no slot: {error}")),
            _ => self.problem(0, format!("naga's writer failed: {error}")),
        }
    }

    /// naga refuses the entry point: rightly, when the layout has no place for what it names.
    pub fn entry_point_error(
        &mut self,
        error: &EntryPointError,
        resolved: &Resolved<'_>,
        resources: &[Resource<'_>],
        layout: &StageLayout,
    ) {
        match error {
            EntryPointError::MissingBindTarget(named) => {
                let cause = resources.iter().find(|resource| resource.binding == Some(*named));
                match cause.and_then(|resource| resource.place.as_ref().err()) {
                    Some(reason) => self.checked.refuse(*reason),
                    None => self.problem(5, format!("{} refused though the layout has it", place_name(*named))),
                }
            }
            // naga reports this in place of the missing binding, when both are missing.
            EntryPointError::MissingSizesBuffer if layout.sizes_slot.is_none() && uses_runtime_array(resolved) => {
                self.checked.refuse("_buffer_sizes without a slot");
            }
            EntryPointError::MissingImmediateData if layout.immediates_slot.is_none() && uses_immediates(resolved) => {
                self.checked.refuse("immediates without a slot");
            }
            _ => self.problem(5, format!("refused without cause: {error}")),
        }
    }

    /// What naga wrote and should have refused.
    pub fn wrongly_accepted(&mut self, resources: &[Resource<'_>], needs: &Needs, version: (u8, u8), text: &str) {
        for resource in resources {
            if let Err(reason) = &resource.place {
                self.problem(5, format!("{} accepted, but it is {reason}", resource.at()));
            }
        }
        if let Some(((major, minor), what)) = needs.must_refuse(version, text) {
            let (asked, minor_asked) = version;
            self.problem(
                7,
                format!("{what} needs MSL {major}.{minor}, but naga writes it for {asked}.{minor_asked}"),
            );
        }
    }
}

/// Whether the module has a binding array of buffers whose length the shader leaves to the layout. naga writes functions that the entry
/// point does not reach too, where it is the only one.
fn has_unsized_buffers(resolved: &Resolved<'_>) -> bool {
    let mut globals = resolved.module.global_variables.iter();
    globals.any(|(_, global)| {
        let ty = &resolved.module.types[global.ty].inner;
        let size = match ty {
            TypeInner::BindingArray { size, .. } => *size,
            _ => return false,
        };
        size == ArraySize::Dynamic && global.space != AddressSpace::Handle
    })
}

fn uses_immediates(resolved: &Resolved<'_>) -> bool {
    let mut used = resolved.used();
    used.any(|(_, global, _)| global.space == AddressSpace::Immediate)
}

/// Whether what an error says of overrides holds for the module and the values given.
fn is_true(error: &PipelineConstantError, module: &Module, overrides: &BTreeMap<String, f64>) -> bool {
    use PipelineConstantError as Constant;
    let declared = |key: &str| {
        let mut all = module.overrides.iter().map(|(_, found)| found);
        all.find(|found| {
            found
                .id
                .map_or(found.name.as_deref() == Some(key), |id| key.parse() == Ok(id))
        })
    };
    match error {
        Constant::NotFound(key) => declared(key).is_none(),
        Constant::MissingValue(key) => {
            declared(key).is_some_and(|found| found.init.is_none()) && !overrides.contains_key(key)
        }
        Constant::SrcNeedsToBeFinite => overrides.values().any(|value| !value.is_finite()),
        Constant::DstRangeTooSmall => !overrides.is_empty(),
        _ => true,
    }
}

/// The reason under which an entry point is refused whose layout has no slots.
pub(super) fn layout_reason(error: &LayoutError) -> &'static str {
    match error {
        LayoutError::UnsupportedStage(_) => "unsupported stage",
        LayoutError::TooManyGroups { .. } => "too many groups",
        LayoutError::DuplicateBinding { .. } => "duplicate binding",
        LayoutError::BindingArray { .. } => "binding array",
        LayoutError::ExternalTexture { .. } => "external texture",
        LayoutError::SlotTooHigh { .. } => "slot over 255",
        LayoutError::SizesSlotTooHigh { .. } => "sizes slot over 255",
    }
}

/// The variant of an error, a reason short enough to count by.
fn variant(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    let word = text.split(|c: char| !c.is_ascii_alphanumeric()).next();
    word.unwrap_or_default().to_owned()
}
