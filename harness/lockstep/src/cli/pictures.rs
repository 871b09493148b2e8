//! `lockstep repro` of a case that renders: what each engine's attachments hold, and where they part, as PNG files.
//!
//! A texel's first three bytes are shown as red, green and blue, a single byte as gray, whatever the format's numbers mean: a picture is
//! there to see where something was drawn. It shows mip level 0 of the first layer.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use crate::case::Object;
use crate::files::slug;
use crate::gpu::shadow::texel_bytes;

/// Small textures are shown larger: their longer side has about so many pixels.
const LONGER_SIDE: usize = 128;

/// What an engine's textures hold, by the replayer's ids, as [`crate::gpu::Outcome`] says.
pub type Held = BTreeMap<u32, Option<Vec<u8>>>;

/// How a texture's bytes are to be seen.
struct Shape {
    width: usize,
    height: usize,
    texel: usize,
    blue_first: bool,
}

impl Shape {
    /// That of the texture of that id, of a format whose texels stand alone.
    fn of(objects: &[Object], id: u32) -> Option<Shape> {
        let object = objects.iter().rfind(|object| object.id == id)?;
        let body: Value = serde_json::from_str(&object.body).ok()?;
        let side = |at: usize, name: &str| match body["size"].get(at).or_else(|| body["size"].get(name)) {
            Some(side) => side.as_u64().map(|side| side as usize),
            None => Some(1),
        };
        let format = body["format"].as_str()?;
        Some(Shape {
            width: side(0, "width")?,
            height: side(1, "height")?,
            texel: texel_bytes(format)?,
            blue_first: format.starts_with("bgra"),
        })
    }

    /// The texels of the first level and layer; none where the bytes are too few.
    fn texels<'a>(&self, bytes: &'a [u8]) -> Option<impl Iterator<Item = &'a [u8]> + use<'a>> {
        let size = self.width.checked_mul(self.height)?.checked_mul(self.texel)?;
        Some(bytes.get(..size)?.chunks(self.texel))
    }

    fn color(&self, texel: &[u8]) -> [u8; 3] {
        match *texel {
            [gray] => [gray; 3],
            [a, b] => [a, b, 0],
            [a, b, c, ..] if self.blue_first => [c, b, a],
            [a, b, c, ..] => [a, b, c],
            [] => [0; 3],
        }
    }
}

/// Writes a picture of each of the textures `attachments` from each of those who say what it holds, and of the difference where there are
/// two or more: white where they do not all agree. Files are called `STEM.textureID.WHO.png`. Gives their paths.
///
/// # Errors
///
/// A file cannot be written.
pub fn write(
    objects: &[Object],
    attachments: &[u32],
    holders: &[(&str, &Held)],
    folder: &Path,
    stem: &str,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for &id in attachments {
        let Some(shape) = Shape::of(objects, id) else { continue };
        let mut seen: Vec<Vec<&[u8]>> = Vec::new();
        let mut file = |who: &str, colors: Vec<[u8; 3]>| -> anyhow::Result<()> {
            let path = folder.join(format!("{stem}.texture{id}.{}.png", slug(who)));
            save(&path, &shape, &colors).with_context(|| format!("{}: cannot write the picture", path.display()))?;
            written.push(path);
            Ok(())
        };
        for (who, held) in holders {
            let Some(texels) = held
                .get(&id)
                .and_then(Option::as_deref)
                .and_then(|bytes| shape.texels(bytes))
            else {
                continue;
            };
            let texels: Vec<&[u8]> = texels.collect();
            file(who, texels.iter().map(|texel| shape.color(texel)).collect())?;
            seen.push(texels);
        }
        if let [first, others @ ..] = &seen[..]
            && !others.is_empty()
        {
            let parts = |at: usize| others.iter().any(|other| other[at] != first[at]);
            let colors = (0..first.len()).map(|at| [if parts(at) { 255 } else { 0 }; 3]);
            file("difference", colors.collect())?;
        }
    }
    Ok(written)
}

fn save(path: &Path, shape: &Shape, colors: &[[u8; 3]]) -> anyhow::Result<()> {
    let scale = (LONGER_SIDE / shape.width.max(shape.height).max(1)).max(1);
    let mut pixels = Vec::with_capacity(colors.len() * scale * scale * 3);
    for row in colors.chunks(shape.width.max(1)) {
        let wide: Vec<u8> = row.iter().flat_map(|color| color.repeat(scale)).collect();
        (0..scale).for_each(|_| pixels.extend_from_slice(&wide));
    }
    let (width, height) = (
        u32::try_from(shape.width * scale)?,
        u32::try_from(shape.height * scale)?,
    );
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    Ok(writer.finish()?)
}

#[cfg(test)]
mod tests {
    use wire::Kind;

    use super::*;

    fn texture() -> Object {
        Object {
            id: 7,
            kind: Kind::Texture,
            refs: Vec::new(),
            body: r#"{"size":[2,1],"format":"bgra8unorm","usage":16}"#.into(),
        }
    }

    #[test]
    fn a_picture_of_each_and_the_difference() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = |bytes: [u8; 8]| Held::from([(7, Some(bytes.to_vec()))]);
        let (one, two) = (held([1, 2, 3, 4, 5, 6, 7, 8]), held([1, 2, 3, 4, 5, 6, 9, 8]));
        let holders = [("wgpu:a", &one), ("deno", &two)];
        let written = write(&[texture()], &[7], &holders, folder.path(), "case").expect("pictures");
        let names: Vec<_> = written.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(
            names,
            [
                "case.texture7.wgpu-a.png",
                "case.texture7.deno.png",
                "case.texture7.difference.png"
            ]
        );

        let pixels = |path: &Path| {
            let decoder = png::Decoder::new(std::io::BufReader::new(File::open(path).expect("the file")));
            let mut reader = decoder.read_info().expect("a picture");
            let mut pixels = vec![0; reader.output_buffer_size().expect("its size")];
            let info = reader.next_frame(&mut pixels).expect("its pixels");
            assert_eq!((info.width, info.height), (128, 64), "64 pixels a texel, each way");
            [pixels[..3].to_vec(), pixels[127 * 3..128 * 3].to_vec()]
        };
        assert_eq!(
            pixels(&written[0]),
            [[3, 2, 1], [7, 6, 5]],
            "blue stands first in memory"
        );
        assert_eq!(pixels(&written[2]), [[0; 3], [255; 3]]);
    }

    #[test]
    fn what_cannot_be_read_back_has_no_picture() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = Held::from([(7, None)]);
        let written = write(&[texture()], &[7, 8], &[("deno", &held)], folder.path(), "case").expect("no error");
        assert_eq!(written, Vec::<PathBuf>::new());
    }
}
