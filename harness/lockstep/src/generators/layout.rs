//! Layout cases out of bytes.
//!
//! A third of the cases are of slots.md section 1 alone; the others have immediates, pulled vertices, binding arrays and external
//! textures too. An entry costs three bytes and a group two or three, since a campaign wants a hundred thousand layouts a second and a fuzzer
//! wants each of its bytes to count. Bytes that have run out read as zero, and zero picks what is smallest: no groups, no fault.

use std::num::{NonZeroU32, NonZeroU64};

use arbitrary::{Result, Unstructured};
use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, ShaderStages, StorageTextureAccess,
    TextureFormat, TextureSampleType, TextureViewDimension,
};

use super::Made;
use crate::case::{LayoutCase, Platform, Stage, System};
use crate::readers::layouts::is_extended;

/// A group of a layout: absent, or its entries.
pub type Group = Option<Vec<BindGroupLayoutEntry>>;

/// The faults that [`layout_case`] puts in, in the order in which it applies them. The two that fill a table come last, so that
/// no other fault takes a slot away again.
pub const FAULTS: [&str; 6] = [
    "binding-array",
    "external-texture",
    "duplicate-binding",
    "too-many-groups",
    "slot-over-255",
    "sizes-slot-over-255",
];

/// How often each is chosen of 16 times, by its place in [`FAULTS`]: seldom those that make a case of some 256 bindings.
const FAULT_WEIGHTS: [usize; 16] = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5];
/// The same for a case that goes past section 1, where an array or an external texture is no fault.
const EXTENDED_WEIGHTS: [usize; 16] = [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 5];

/// Bytes of immediates, where there are some: one word to the most that an adapter of wgpu's offers.
const IMMEDIATE_SIZES: [u32; 4] = [4, 16, 64, 4096];

/// What the fields of a binding type can hold, for [`binding_type`] to choose from.
const SAMPLERS: [SamplerBindingType; 3] = [
    SamplerBindingType::Filtering,
    SamplerBindingType::NonFiltering,
    SamplerBindingType::Comparison,
];
const SAMPLE_TYPES: [TextureSampleType; 5] = [
    TextureSampleType::Float { filterable: true },
    TextureSampleType::Float { filterable: false },
    TextureSampleType::Depth,
    TextureSampleType::Sint,
    TextureSampleType::Uint,
];
const DIMENSIONS: [TextureViewDimension; 6] = [
    TextureViewDimension::D2,
    TextureViewDimension::D1,
    TextureViewDimension::D2Array,
    TextureViewDimension::Cube,
    TextureViewDimension::CubeArray,
    TextureViewDimension::D3,
];
const ACCESSES: [StorageTextureAccess; 4] = [
    StorageTextureAccess::WriteOnly,
    StorageTextureAccess::ReadOnly,
    StorageTextureAccess::ReadWrite,
    StorageTextureAccess::Atomic,
];
const FORMATS: [TextureFormat; 8] = [
    TextureFormat::R32Uint,
    TextureFormat::R32Sint,
    TextureFormat::R32Float,
    TextureFormat::Rgba8Unorm,
    TextureFormat::Rgba16Float,
    TextureFormat::Rgba32Float,
    TextureFormat::Bgra8Unorm,
    TextureFormat::R64Uint,
];
const MIN_SIZES: [Option<NonZeroU64>; 4] = [None, NonZeroU64::new(4), NonZeroU64::new(256), Some(NonZeroU64::MAX)];

/// How many groups a layout has: mostly a few.
const GROUP_COUNTS: [usize; 16] = [0, 1, 2, 3, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 6, 8];

/// The platforms, and the versions from which slots.md section 3 gives each a newer language, newest first.
const PLATFORMS: [(Platform, &[(u32, u32)]); 4] = [
    (Platform::MacOs, MACOS),
    (Platform::Ios, IOS),
    (Platform::TvOs, IOS),
    (Platform::VisionOs, &[(26, 0), (2, 0), (1, 0)]),
];
const MACOS: &[(u32, u32)] = &[
    (26, 0),
    (15, 0),
    (14, 0),
    (13, 0),
    (12, 0),
    (11, 0),
    (10, 15),
    (10, 14),
    (10, 13),
    (10, 12),
    (10, 11),
];
const IOS: &[(u32, u32)] = &[
    (26, 0),
    (18, 0),
    (17, 0),
    (16, 0),
    (15, 0),
    (14, 0),
    (13, 0),
    (12, 0),
    (11, 0),
    (10, 0),
    (9, 0),
];

/// Versions that no system has, or that lie far from every boundary.
const ODD_VERSIONS: [(u32, u32); 8] = [
    (0, 0),
    (0, 26),
    (1, 99),
    (10, 0),
    (10, 99),
    (99, 9),
    (u32::MAX, u32::MAX),
    (26, u32::MAX),
];

/// A pipeline layout and a system, and the faults that were put in.
pub fn layout_case(u: &mut Unstructured<'_>) -> Result<Made<LayoutCase>> {
    let system = system(u, 0)?;
    let (immediate_size, vertex_pulling) = extension(u)?;
    let mut case = LayoutCase {
        groups: Vec::new(),
        immediate_size,
        vertex_pulling,
        system,
        shader: None,
    };
    let extended = is_extended(&case);
    let mut room = [TABLE_SIZES; Stage::ALL.len()];
    if immediate_size > 0 {
        room.iter_mut().for_each(|stage| stage[BUFFERS] -= 1);
    }
    for _ in 0..*u.choose(&GROUP_COUNTS)? {
        case.groups.push(group(u, extended, &mut room)?);
    }
    let faults = faults(u, &mut case)?;
    Ok(Made { case, faults })
}

/// What goes past section 1 of slots.md, in two thirds of the cases: the immediates' size, and vertex pulling.
fn extension(u: &mut Unstructured<'_>) -> Result<(u32, bool)> {
    let choice = u.arbitrary::<u8>()?;
    let immediates = || IMMEDIATE_SIZES[usize::from(choice) % IMMEDIATE_SIZES.len()];
    Ok(match choice {
        0..86 => (0, false),
        86..160 => (0, true),
        160..220 => (immediates(), true),
        220.. => (immediates(), false),
    })
}

/// True in about `n` of 256 cases, and never once the bytes have run out.
pub(super) fn chance(u: &mut Unstructured<'_>, n: u8) -> Result<bool> {
    Ok(u.arbitrary::<u8>()? > u8::MAX - n)
}

/// A system: at a boundary, next to one, or far from all. About `newest` of 256 are of the four newest rows, where every feature
/// that a shader can use is there.
pub(crate) fn system(u: &mut Unstructured<'_>, newest: u8) -> Result<System> {
    let (platform, rows) = *u.choose(&PLATFORMS)?;
    let rows = if chance(u, newest)? {
        &rows[..rows.len().min(4)]
    } else {
        rows
    };
    let (major, minor) = *u.choose(rows)?;
    let (major, minor) = match u.arbitrary::<u8>()? % 8 {
        0..=2 => (major, minor),
        3 => below(major, minor),
        4 => (major, minor + 1),
        5 => (major + 1, 0),
        6 => (major, minor + 9),
        _ if newest > 0 => (major + 100, 0),
        _ => *u.choose(&ODD_VERSIONS)?,
    };
    Ok(System { platform, major, minor })
}

/// The version before the given one, as far as a comparison can tell.
fn below(major: u32, minor: u32) -> (u32, u32) {
    match minor.checked_sub(1) {
        Some(minor) => (major, minor),
        None => (major - 1, 9),
    }
}

/// The argument tables, as indices into [`TABLE_SIZES`].
const BUFFERS: usize = 0;
const TEXTURES: usize = 1;
const SAMPLERS_TABLE: usize = 2;

/// How many bindings a stage's tables take: the buffers leave one slot for the sizes.
const TABLE_SIZES: [u16; 3] = [255, 256, 256];

/// What is left of each stage's tables.
type Room = [[u16; 3]; Stage::ALL.len()];

/// The table that a binding of this type lies in.
pub(super) fn table(ty: &BindingType) -> usize {
    match ty {
        BindingType::Buffer { .. } | BindingType::AccelerationStructure { .. } => BUFFERS,
        BindingType::Texture { .. } | BindingType::StorageTexture { .. } | BindingType::ExternalTexture => TEXTURES,
        BindingType::Sampler(_) => SAMPLERS_TABLE,
    }
}

/// The slots that an entry takes in each table, arrays and external textures as section 2 of slots.md has them.
fn slots(entry: &BindGroupLayoutEntry) -> [u16; 3] {
    let mut slots = [0; 3];
    match (entry.count, &entry.ty) {
        (Some(_), _) => slots[BUFFERS] = 1,
        (None, BindingType::ExternalTexture) => slots = [1, 3, 0],
        (None, ty) => slots[table(ty)] = 1,
    }
    slots
}

/// One group, absent, empty or with entries.
fn group(u: &mut Unstructured<'_>, extended: bool, room: &mut Room) -> Result<Group> {
    let len = match u.arbitrary::<u8>()? {
        0..32 => return Ok(None),
        32..56 => 0,
        56..240 => u.int_in_range(0..=6u16)?,
        240..255 => u.int_in_range(0..=24u16)?,
        255 if chance(u, 16)? => u.int_in_range(0..=1000u16)?,
        255 => u.int_in_range(0..=60u16)?,
    };
    let mut entries = Vec::with_capacity(len.into());
    for _ in 0..len {
        let mut entry = entry(u, extended)?;
        take_room(room, &mut entry);
        entries.push(entry);
    }
    number(u, &mut entries)?;
    arrange(u, &mut entries)?;
    Ok(Some(entries))
}

/// An entry of any kind, seen by any stages, out of three bytes; it still wants its number. Past section 1 of slots.md one in sixteen
/// is an external texture and two are arrays, one of them with a length of 1.
pub(crate) fn entry(u: &mut Unstructured<'_>, extended: bool) -> Result<BindGroupLayoutEntry> {
    let mut bytes = [0; 3];
    u.fill_buffer(&mut bytes)?;
    let [kind, detail, seen] = bytes;
    let (ty, count) = match kind >> 4 {
        1 if extended => (BindingType::ExternalTexture, None),
        2 if extended => (array_element(kind, detail, seen), NonZeroU32::MIN.into()),
        3 if extended => (
            array_element(kind, detail, seen),
            NonZeroU32::MIN.saturating_add(detail.into()).into(),
        ),
        _ => (binding_type(kind, detail.into(), usize::from(seen >> 5)), None),
    };
    Ok(BindGroupLayoutEntry {
        binding: 0,
        visibility: ShaderStages::from_bits_retain(u32::from(seen & 31)),
        ty,
        count,
    })
}

/// Any type, external textures too: upstream lays an array of them out as any other.
fn array_element(kind: u8, detail: u8, seen: u8) -> BindingType {
    match detail {
        255 => BindingType::ExternalTexture,
        _ => binding_type(kind, detail.into(), usize::from(seen >> 5)),
    }
}

/// The binding type that the numbers stand for; every one has some.
fn binding_type(kind: u8, detail: usize, more: usize) -> BindingType {
    match kind % 16 {
        0..3 => buffer(BufferBindingType::Uniform, detail),
        3..5 => buffer(BufferBindingType::Storage { read_only: false }, detail),
        5..7 => buffer(BufferBindingType::Storage { read_only: true }, detail),
        7..9 => BindingType::Sampler(SAMPLERS[detail % SAMPLERS.len()]),
        9..12 => BindingType::Texture {
            sample_type: SAMPLE_TYPES[detail % SAMPLE_TYPES.len()],
            view_dimension: DIMENSIONS[detail / SAMPLE_TYPES.len() % DIMENSIONS.len()],
            multisampled: more % 2 == 1,
        },
        12..15 => BindingType::StorageTexture {
            access: ACCESSES[detail % ACCESSES.len()],
            format: FORMATS[detail / ACCESSES.len() % FORMATS.len()],
            view_dimension: DIMENSIONS[more % DIMENSIONS.len()],
        },
        _ => BindingType::AccelerationStructure {
            vertex_return: detail % 2 == 1,
        },
    }
}

fn buffer(ty: BufferBindingType, detail: usize) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset: detail % 2 == 1,
        min_binding_size: MIN_SIZES[detail / 2 % MIN_SIZES.len()],
    }
}

/// Takes the entry's slots, and hides it from each stage whose table is full.
fn take_room(room: &mut Room, entry: &mut BindGroupLayoutEntry) {
    let taken = slots(entry);
    for (stage, room) in Stage::ALL.into_iter().zip(room) {
        if !entry.visibility.contains(stage.visibility()) {
            continue;
        }
        if room.iter().zip(&taken).all(|(left, taken)| left >= taken) {
            room.iter_mut().zip(&taken).for_each(|(left, taken)| *left -= taken);
        } else {
            entry.visibility.remove(stage.visibility());
        }
    }
}

/// Numbers the entries upwards: densely, with gaps, all over the range, or so that the last one is the greatest number.
pub(super) fn number(u: &mut Unstructured<'_>, entries: &mut [BindGroupLayoutEntry]) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let widest = u32::MAX / (256 * entries.len() as u32);
    let (scale, at_top) = match u.arbitrary::<u8>()? % 8 {
        0..3 => (0, false),
        3..5 => (1, false),
        5 => (widest, false),
        6 => (widest, true),
        _ => (0, true),
    };
    let mut next = 0;
    for entry in entries.iter_mut() {
        let gap = if scale > 0 { u.arbitrary::<u8>()? } else { 0 };
        entry.binding = next + u32::from(gap) * scale;
        // A gap of 255 and the step to the next number are at most 256 scales.
        next = entry.binding + 1;
    }
    if at_top {
        let shift = u32::MAX - (next - 1);
        entries.iter_mut().for_each(|entry| entry.binding += shift);
    }
    Ok(())
}

/// Brings entries into the order in which a caller lists them: sorted, reversed, rotated, or shuffled where they are few.
pub(super) fn arrange<T>(u: &mut Unstructured<'_>, entries: &mut [T]) -> Result<()> {
    if entries.len() < 2 {
        return Ok(());
    }
    match u.arbitrary::<u8>()? % 8 {
        0..2 => {}
        2 => entries.reverse(),
        3..8 if entries.len() <= 16 => shuffle(u, entries)?,
        _ => {
            let middle = u.choose_index(entries.len())?;
            entries.rotate_left(middle);
            entries[middle..].reverse();
        }
    }
    Ok(())
}

/// Any order, at a byte an item.
pub(super) fn shuffle<T>(u: &mut Unstructured<'_>, items: &mut [T]) -> Result<()> {
    for left in (2..=items.len()).rev() {
        let other = u.choose_index(left)?;
        items.swap(other, left - 1);
    }
    Ok(())
}

/// Puts in one or two faults in a quarter of the cases, and names them.
fn faults(u: &mut Unstructured<'_>, case: &mut LayoutCase) -> Result<Vec<&'static str>> {
    if !chance(u, 64)? {
        return Ok(Vec::new());
    }
    let weights: &[usize] = if is_extended(case) {
        &EXTENDED_WEIGHTS
    } else {
        &FAULT_WEIGHTS
    };
    let mut chosen = vec![*u.choose(weights)?];
    if chance(u, 64)? {
        chosen.push(*u.choose(weights)?);
    }
    chosen.sort_unstable();
    chosen.dedup();
    // The two that fill a table would overwrite each other's group.
    if chosen == [4, 5] {
        chosen.pop();
    }
    for &fault in &chosen {
        put_in(u, FAULTS[fault], case)?;
    }
    Ok(chosen.into_iter().map(|fault| FAULTS[fault]).collect())
}

fn put_in(u: &mut Unstructured<'_>, fault: &str, case: &mut LayoutCase) -> Result<()> {
    let extended = is_extended(case);
    let immediates = usize::from(case.immediate_size > 0);
    let groups = &mut case.groups;
    match fault {
        "binding-array" => some_entry(u, groups)?.count = NonZeroU32::new(1 + u32::from(u.arbitrary::<u8>()? % 16)),
        "external-texture" => some_entry(u, groups)?.ty = BindingType::ExternalTexture,
        "duplicate-binding" => duplicate(u, groups, extended)?,
        "too-many-groups" => {
            let len = u.int_in_range(9..=12)?;
            while groups.len() < len {
                groups.push(if chance(u, 64)? {
                    None
                } else {
                    Some(vec![entry(u, extended)?])
                });
            }
        }
        "slot-over-255" => {
            let ty = binding_type(u.arbitrary()?, u.arbitrary::<u8>()?.into(), 0);
            let stages = ShaderStages::from_bits_retain(1 + u.int_in_range(0..=30)?);
            fill(groups, ty, stages, u.int_in_range(257..=260)?);
        }
        _ => {
            // 256 buffers fit, but a storage buffer among them wants a 257th slot, for the sizes.
            let stage = u.choose(&Stage::ALL)?.visibility();
            let ty = buffer(
                BufferBindingType::Storage {
                    read_only: chance(u, 128)?,
                },
                0,
            );
            let count = 256 - (immediates + buffers(groups, stage)).min(255);
            fill(groups, ty, stage, count);
        }
    }
    Ok(())
}

/// A group that has entries, given one where none has.
fn some_group<'g>(u: &mut Unstructured<'_>, groups: &'g mut Vec<Group>) -> Result<&'g mut Vec<BindGroupLayoutEntry>> {
    let filled = |group: &Group| group.as_ref().is_some_and(|entries| !entries.is_empty());
    if !groups.iter().any(filled) {
        let group = Some(vec![entry(u, false)?]);
        match groups.last_mut() {
            Some(last) => *last = group,
            None => groups.push(group),
        }
    }
    let mut filled: Vec<_> = groups.iter_mut().filter(|group| filled(group)).flatten().collect();
    let chosen = u.choose_index(filled.len())?;
    Ok(filled.swap_remove(chosen))
}

fn some_entry<'g>(u: &mut Unstructured<'_>, groups: &'g mut Vec<Group>) -> Result<&'g mut BindGroupLayoutEntry> {
    let entries = some_group(u, groups)?;
    let chosen = u.choose_index(entries.len())?;
    Ok(&mut entries[chosen])
}

/// Lists one binding number twice: the same entry again, or another one.
fn duplicate(u: &mut Unstructured<'_>, groups: &mut Vec<Group>, extended: bool) -> Result<()> {
    let entries = some_group(u, groups)?;
    let first = entries[u.choose_index(entries.len())?];
    let second = if chance(u, 64)? {
        first
    } else {
        BindGroupLayoutEntry {
            binding: first.binding,
            ..entry(u, extended)?
        }
    };
    let place = u.int_in_range(0..=entries.len())?;
    entries.insert(place, second);
    Ok(())
}

/// Adds entries of one type, in a group of their own where that is no ninth one, at the lowest free numbers.
fn fill(groups: &mut Vec<Group>, ty: BindingType, visibility: ShaderStages, count: usize) {
    if groups.len() != 8 {
        groups.push(None);
    }
    let entries = groups
        .last_mut()
        .expect("a group was pushed if there was none")
        .get_or_insert_default();
    let mut used: Vec<u32> = entries.iter().map(|entry| entry.binding).collect();
    used.sort_unstable();
    let free = (0..).filter(|number| used.binary_search(number).is_err());
    entries.extend(free.take(count).map(|binding| BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    }));
}

/// How many buffer slots the bindings take in a stage.
fn buffers(groups: &[Group], stage: ShaderStages) -> usize {
    let seen = groups
        .iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.visibility.contains(stage));
    seen.map(|entry| usize::from(slots(entry)[BUFFERS])).sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::generators::Lane;

    use super::*;

    const CASES: u64 = 20_000;

    /// The bytes that a campaign would feed case `index`.
    fn bytes(index: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        crate::generators::bytes(Lane::Layouts, 1, index, &mut bytes);
        bytes
    }

    fn case(index: u64) -> Made<LayoutCase> {
        layout_case(&mut Unstructured::new(&bytes(index))).unwrap()
    }

    fn entries(case: &LayoutCase) -> impl Iterator<Item = &BindGroupLayoutEntry> {
        case.groups.iter().flatten().flatten()
    }

    fn has_duplicate(case: &LayoutCase) -> bool {
        case.groups.iter().flatten().any(|group| {
            let numbers: BTreeSet<u32> = group.iter().map(|entry| entry.binding).collect();
            numbers.len() < group.len()
        })
    }

    fn is_storage(entry: &BindGroupLayoutEntry) -> bool {
        matches!(
            entry.ty,
            BindingType::Buffer {
                ty: BufferBindingType::Storage { .. },
                ..
            }
        )
    }

    /// The most slots that a stage takes in a table, the sizes slot among them.
    fn most_slots(case: &LayoutCase) -> usize {
        let taken = |stage: Stage, wanted: usize| {
            let seen = || entries(case).filter(move |entry| entry.visibility.contains(stage.visibility()));
            let pulls = stage == Stage::Vertex && case.vertex_pulling;
            let sizes = wanted == BUFFERS && (pulls || seen().any(is_storage));
            let immediates = wanted == BUFFERS && case.immediate_size > 0;
            let bindings: usize = seen().map(|entry| usize::from(slots(entry)[wanted])).sum();
            bindings + usize::from(sizes) + usize::from(immediates)
        };
        let tables = [BUFFERS, TEXTURES, SAMPLERS_TABLE];
        Stage::ALL
            .into_iter()
            .flat_map(|stage| tables.map(|table| taken(stage, table)))
            .max()
            .unwrap()
    }

    #[test]
    fn every_type_is_seen_in_every_stage_and_every_fault_occurs() {
        let mut seen = BTreeSet::new();
        let mut visibilities = BTreeSet::new();
        let mut faults = BTreeSet::new();
        let mut faulty = 0;
        for index in 0..CASES {
            let Made { case, faults: named } = case(index);
            faulty += usize::from(!named.is_empty());
            faults.extend(named);
            for entry in entries(&case) {
                visibilities.insert(entry.visibility.bits());
                for stage in Stage::ALL {
                    if entry.visibility.contains(stage.visibility()) {
                        seen.insert((stage, format!("{:?}", entry.ty)));
                    }
                }
            }
        }
        let buffers = 3 * 2 * MIN_SIZES.len();
        let textures = SAMPLE_TYPES.len() * DIMENSIONS.len() * 2;
        let storage_textures = ACCESSES.len() * FORMATS.len() * DIMENSIONS.len();
        let external_texture = 1;
        let types = buffers + SAMPLERS.len() + textures + storage_textures + 2 + external_texture;
        assert_eq!(seen.len(), types * Stage::ALL.len());
        assert_eq!(visibilities, (0..32).collect());
        assert_eq!(faults, FAULTS.into_iter().collect());
        assert!((4_000..6_000).contains(&faulty), "{faulty}");
    }

    #[test]
    fn a_case_has_the_faults_it_names_and_no_other() {
        for index in 0..CASES {
            let Made { case, faults: named } = case(index);
            let has = |fault| named.contains(&fault);
            let arrays = entries(&case).any(|entry| entry.count.is_some());
            let external = entries(&case).any(|entry| entry.ty == BindingType::ExternalTexture);
            if is_extended(&case) {
                assert!(!has("binding-array") && !has("external-texture"));
            } else {
                assert_eq!((has("binding-array"), has("external-texture")), (arrays, external));
            }
            assert_eq!(has("duplicate-binding"), has_duplicate(&case));
            assert_eq!(has("too-many-groups"), case.groups.len() > 8);
            let over = has("slot-over-255") || has("sizes-slot-over-255");
            // Other faults add a slot or two, which may be what fills a table.
            assert!(!over || most_slots(&case) > 256);
            assert!(over || !named.is_empty() || most_slots(&case) <= 256);
            if named == ["sizes-slot-over-255"] {
                assert_eq!(most_slots(&case), 257);
            }
        }
    }

    #[test]
    fn the_same_bytes_make_the_same_case() {
        for index in 0..100 {
            assert_eq!(case(index), case(index));
        }
    }

    #[test]
    fn bytes_may_run_out_anywhere() {
        let empty = layout_case(&mut Unstructured::new(&[])).unwrap();
        assert!(empty.case.groups.is_empty() && empty.faults.is_empty());
        for index in 0..200 {
            let bytes = bytes(index);
            for len in 0..100 {
                layout_case(&mut Unstructured::new(&bytes[..len])).unwrap();
            }
        }
    }

    /// A case is cheap: counted in the bytes that it reads, since a clock would judge the machine.
    #[test]
    fn a_case_reads_few_bytes() {
        let read = |index| {
            let bytes = bytes(index);
            let mut u = Unstructured::new(&bytes);
            layout_case(&mut u).unwrap();
            bytes.len() - u.len()
        };
        let read: usize = (0..CASES).map(read).sum();
        assert!(read as u64 / CASES < 200, "{} bytes a case", read as u64 / CASES);
    }
}
