/**
 * A canvas for programs that want one, where there is no page: its context hands out a texture of the program's own device.
 * @param {number} width
 * @param {number} height
 */
export function makeCanvas(width, height) {
  /** @type {any} */
  let configuration = null;
  /** @type {any} */
  let texture = null;
  const context = {
    configure: (/** @type {any} */ given) => configuration = given,
    unconfigure: () => configuration = null,
    getConfiguration: () => configuration,
    getCurrentTexture: () => {
      const { device, format, usage = 0 } = configuration;
      const { RENDER_ATTACHMENT, COPY_SRC } = GPUTextureUsage;
      texture ??= device.createTexture({ size: [width, height], format, usage: usage | RENDER_ATTACHMENT | COPY_SRC });
      return texture;
    },
  };
  const canvas = {
    width,
    height,
    style: {},
    addEventListener: () => {},
    removeEventListener: () => {},
    getContext: () => context,
  };
  return {
    canvas,
    /** The rows of what was drawn, each padded to a multiple of 256 bytes. */
    read: async () => {
      const { device } = configuration;
      const bytesPerRow = Math.ceil(width * 4 / 256) * 256;
      const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
      const buffer = device.createBuffer({ size: bytesPerRow * height, usage });
      const encoder = device.createCommandEncoder();
      encoder.copyTextureToBuffer({ texture }, { buffer, bytesPerRow }, [width, height]);
      device.queue.submit([encoder.finish()]);
      await buffer.mapAsync(GPUMapMode.READ);
      const bytes = new Uint8Array(buffer.getMappedRange()).slice();
      buffer.destroy();
      return bytes;
    },
  };
}

/** How many different 4-byte pixels there are, and FNV-1a of the bytes. @param {Uint8Array} bytes */
export function summary(bytes) {
  const pixels = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const hash = bytes.reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193) >>> 0, 0x811c9dc5);
  return { colors: new Set(pixels).size, hash };
}
