//! A layout answer in the canonical bytes of `reference/PROTOCOL.md`, both ways.

use std::io;

use mslmap::{Counts, EntrySlots, Kind};
use naga::ResourceBinding;
use naga::back::msl::{BindExternalTextureTarget, BindSamplerTarget, BindTarget};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};

use crate::answer::AnswerWriter;
use crate::case::Stage;
use crate::layouts::{
    EntryOptions, GroupSlots, LayoutAnswer, OptionFacts, Refusal, ShaderFacts, StageSlots, SystemFacts,
};
use crate::protocol::{Payload, nonsense};

/// The argument tables, by their numbers from 0.
const TABLES: [Kind; 4] = [Kind::None, Kind::Buffer, Kind::Texture, Kind::Sampler];

/// The policies of bounds checks, by their numbers from 0.
const POLICIES: [BoundsCheckPolicy; 3] = [
    BoundsCheckPolicy::Restrict,
    BoundsCheckPolicy::ReadZeroSkipWrite,
    BoundsCheckPolicy::Unchecked,
];

impl LayoutAnswer {
    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let mut to = AnswerWriter::default();
        for stage in &self.stages {
            match stage {
                Ok(slots) => {
                    to.word(0);
                    to.stage(slots);
                }
                Err(refused) => {
                    to.word(1);
                    to.refusal(*refused);
                }
            }
        }
        for groups in &self.group_slots {
            to.option(groups.as_ref(), |to, groups| to.list(groups, AnswerWriter::group));
        }
        to.option(self.dynamic_offsets.as_ref(), |to, groups| {
            to.list(groups, |to, offsets| to.list(offsets, |to, offset| to.place(*offset)));
        });
        to.system(self.system);
        to.option(self.options, AnswerWriter::options);
        to.option(self.shader.as_ref(), AnswerWriter::shader);
        to.finish()
    }

    /// Takes an answer apart.
    ///
    /// # Errors
    ///
    /// `InvalidData` for bytes that are none.
    pub fn parse(bytes: &[u8]) -> io::Result<LayoutAnswer> {
        let mut from = Payload::new(bytes);
        let answer = LayoutAnswer {
            stages: five(|| match from.flag()? {
                false => Ok(Ok(from.stage()?)),
                true => Ok(Err(from.refusal()?)),
            })?,
            group_slots: five(|| from.option(|from| from.list(Payload::group)))?,
            dynamic_offsets: from.option(|from| from.list(|from| from.list(Payload::place)))?,
            system: from.system()?,
            options: from.option(Payload::options)?,
            shader: from.option(Payload::shader)?,
        };
        from.end().map(|()| answer)
    }
}

fn five<T>(mut one: impl FnMut() -> io::Result<T>) -> io::Result<[T; Stage::ALL.len()]> {
    Ok([one()?, one()?, one()?, one()?, one()?])
}

impl AnswerWriter {
    fn flag(&mut self, flag: bool) {
        self.word(flag.into());
    }

    fn option<T>(&mut self, value: Option<T>, one: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            one(self, value);
        }
    }

    fn list<'a, T: 'a>(
        &mut self,
        list: impl IntoIterator<Item = &'a T, IntoIter: ExactSizeIterator>,
        one: impl Fn(&mut Self, &'a T),
    ) {
        let list = list.into_iter();
        self.word(list.len() as u32);
        list.for_each(|item| one(self, item));
    }

    /// A slot or an index that may be none: 0, or one more.
    fn place(&mut self, place: Option<u32>) {
        self.word(place.map_or(0, |place| place.saturating_add(1)));
    }

    fn slot(&mut self, slot: Option<u8>) {
        self.place(slot.map(u32::from));
    }

    fn counts(&mut self, counts: Counts) {
        for table in &TABLES[1..] {
            self.word(counts.in_table(*table).unwrap_or(u32::MAX));
        }
    }

    fn binding(&mut self, at: ResourceBinding) {
        self.word(at.group);
        self.word(at.binding);
    }

    fn stage(&mut self, stage: &StageSlots) {
        self.word(stage.slots.len() as u32);
        for (&at, target) in &stage.slots {
            self.binding(at);
            self.target(target);
        }
        self.list(&stage.bases, |to, base| to.option(*base, Self::counts));
        self.slot(stage.sizes_slot);
        self.slot(stage.immediates_slot);
        self.word(stage.array_lengths.len() as u32);
        for (&at, &length) in &stage.array_lengths {
            self.binding(at);
            self.word(length);
        }
    }

    fn target(&mut self, target: &BindTarget) {
        self.slot(target.buffer);
        self.slot(target.texture);
        self.slot(match target.sampler {
            Some(BindSamplerTarget::Resource(slot)) => Some(slot),
            _ => None,
        });
        self.option(target.external_texture.as_ref(), |to, external| {
            external.planes.iter().for_each(|&plane| to.word(plane.into()));
            to.word(external.params.into());
        });
        self.flag(target.mutable);
    }

    fn refusal(&mut self, refused: Refusal) {
        let (number, [table, group, binding]) = match refused {
            Refusal::Stage => (1, [0; 3]),
            Refusal::TooManyGroups => (2, [0; 3]),
            Refusal::Duplicate(group, binding) => (3, [0, group, binding]),
            Refusal::BindingArray(group, binding) => (4, [0, group, binding]),
            Refusal::ExternalTexture(group, binding) => (5, [0, group, binding]),
            Refusal::Slot(table, group, binding) => (6, [table as u32, group, binding]),
            Refusal::SizesSlot => (7, [0; 3]),
            Refusal::OutOfMemory => (8, [0; 3]),
            Refusal::Panic => (9, [0; 3]),
        };
        for word in [number, table, group, binding] {
            self.word(word);
        }
    }

    fn group(&mut self, (entries, counts): &GroupSlots) {
        self.list(entries, |to, slots| {
            to.place(slots.buffer);
            to.place(slots.texture);
            to.place(slots.sampler);
        });
        self.counts(*counts);
    }

    fn system(&mut self, system: SystemFacts) {
        let (major, minor) = system.language_version;
        self.word(major.into());
        self.word(minor.into());
        self.word(system.compile_language_version as u32);
        self.word((system.compile_language_version >> 32) as u32);
        self.flag(system.preserve_invariance);
    }

    fn options(&mut self, options: OptionFacts) {
        let BoundsCheckPolicies {
            index,
            buffer,
            image_load,
            binding_array,
        } = options.bounds_checks;
        for policy in [index, buffer, image_load, binding_array] {
            let number = POLICIES.iter().position(|known| *known == policy);
            self.word(number.unwrap_or(POLICIES.len()) as u32);
        }
        self.flag(options.fake_missing_bindings);
        self.flag(options.zero_initialize_workgroup_memory);
        self.flag(options.force_loop_bounding);
        self.word(options.entry_points as u32);
    }

    fn shader(&mut self, shader: &ShaderFacts) {
        self.list(&shader.order, |to, group| to.words(group));
        self.option(shader.ray_generation, Self::refusal);
        self.option(shader.runtime_arrays.as_ref(), |to, bindings| {
            to.list(bindings, |to, at| to.binding(*at));
        });
        for options in &shader.options {
            self.option(options.as_ref(), |to, options| {
                to.stage(&options.stage);
                to.flag(options.vertex_pulling);
                to.flag(options.selects);
                to.options(options.facts);
            });
        }
    }
}

impl Payload<'_> {
    fn flag(&mut self) -> io::Result<bool> {
        match self.word()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(nonsense(format!("{other} where 0 or 1 is due"))),
        }
    }

    fn option<T>(&mut self, one: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<Option<T>> {
        match self.flag()? {
            true => one(self).map(Some),
            false => Ok(None),
        }
    }

    fn place(&mut self) -> io::Result<Option<u32>> {
        Ok(self.word()?.checked_sub(1))
    }

    fn byte(&mut self) -> io::Result<u8> {
        let word = self.word()?;
        u8::try_from(word).map_err(|_| nonsense(format!("{word} where a byte is due")))
    }

    fn slot(&mut self) -> io::Result<Option<u8>> {
        match self.place()? {
            Some(slot) => u8::try_from(slot)
                .map(Some)
                .map_err(|_| nonsense(format!("slot {slot}"))),
            None => Ok(None),
        }
    }

    fn counts(&mut self) -> io::Result<Counts> {
        Ok(Counts {
            buffers: self.word()?,
            textures: self.word()?,
            samplers: self.word()?,
        })
    }

    fn binding(&mut self) -> io::Result<ResourceBinding> {
        Ok(ResourceBinding {
            group: self.word()?,
            binding: self.word()?,
        })
    }

    fn stage(&mut self) -> io::Result<StageSlots> {
        let slots = self.list(|from| Ok((from.binding()?, from.target()?)))?;
        Ok(StageSlots {
            slots: slots.into_iter().collect(),
            bases: self.list(|from| from.option(Self::counts))?,
            sizes_slot: self.slot()?,
            immediates_slot: self.slot()?,
            array_lengths: self
                .list(|from| Ok((from.binding()?, from.word()?)))?
                .into_iter()
                .collect(),
        })
    }

    fn target(&mut self) -> io::Result<BindTarget> {
        Ok(BindTarget {
            buffer: self.slot()?,
            texture: self.slot()?,
            sampler: self.slot()?.map(BindSamplerTarget::Resource),
            external_texture: self.option(|from| {
                Ok(BindExternalTextureTarget {
                    planes: [from.byte()?, from.byte()?, from.byte()?],
                    params: from.byte()?,
                })
            })?,
            mutable: self.flag()?,
        })
    }

    fn refusal(&mut self) -> io::Result<Refusal> {
        let (number, table, group, binding) = (self.word()?, self.word()?, self.word()?, self.word()?);
        Ok(match number {
            1 => Refusal::Stage,
            2 => Refusal::TooManyGroups,
            3 => Refusal::Duplicate(group, binding),
            4 => Refusal::BindingArray(group, binding),
            5 => Refusal::ExternalTexture(group, binding),
            6 => {
                let known = TABLES.get(table as usize);
                let table = known.ok_or_else(|| nonsense(format!("no table {table}")))?;
                Refusal::Slot(*table, group, binding)
            }
            7 => Refusal::SizesSlot,
            8 => Refusal::OutOfMemory,
            9 => Refusal::Panic,
            other => return Err(nonsense(format!("no refusal {other}"))),
        })
    }

    fn group(&mut self) -> io::Result<GroupSlots> {
        let entries = self.list(|from| {
            Ok(EntrySlots {
                buffer: from.place()?,
                texture: from.place()?,
                sampler: from.place()?,
            })
        })?;
        Ok((entries, self.counts()?))
    }

    fn system(&mut self) -> io::Result<SystemFacts> {
        Ok(SystemFacts {
            language_version: (self.byte()?, self.byte()?),
            compile_language_version: u64::from(self.word()?) | u64::from(self.word()?) << 32,
            preserve_invariance: self.flag()?,
        })
    }

    fn policy(&mut self) -> io::Result<BoundsCheckPolicy> {
        let word = self.word()?;
        let known = POLICIES.get(word as usize);
        known.copied().ok_or_else(|| nonsense(format!("no policy {word}")))
    }

    fn options(&mut self) -> io::Result<OptionFacts> {
        Ok(OptionFacts {
            bounds_checks: BoundsCheckPolicies {
                index: self.policy()?,
                buffer: self.policy()?,
                image_load: self.policy()?,
                binding_array: self.policy()?,
            },
            fake_missing_bindings: self.flag()?,
            zero_initialize_workgroup_memory: self.flag()?,
            force_loop_bounding: self.flag()?,
            entry_points: self.word()? as usize,
        })
    }

    fn shader(&mut self) -> io::Result<ShaderFacts> {
        Ok(ShaderFacts {
            order: self.list(|from| from.list(Self::word))?,
            ray_generation: self.option(Self::refusal)?,
            runtime_arrays: self.option(|from| from.list(Self::binding))?,
            options: five(|| {
                self.option(|from| {
                    Ok(EntryOptions {
                        stage: from.stage()?,
                        vertex_pulling: from.flag()?,
                        selects: from.flag()?,
                        facts: from.options()?,
                    })
                })
            })?,
        })
    }
}
