/**
 * TensorFlow.js on its WebGPU backend: a matrix product, then a small convolution network. Prints both results as JSON. Its
 * argument is how often the network runs, 1.
 */

import { createRequire } from "node:module";

const [TIMES = 1] = Deno.args.map(Number);
const require = createRequire(new URL("../../.lockstep/npm/", import.meta.url));
const tf = require("@tensorflow/tfjs-core");
require("@tensorflow/tfjs-backend-webgpu");

/** Numbers that look at random and are the same everywhere. @param {number} count */
function numbers(count) {
  return Float32Array.from({ length: count }, (_, i) => ((i * 7919) % 1009) / 1009 - 0.5);
}

/** @param {number[]} shape */
function tensor(shape) {
  return tf.tensor(numbers(shape.reduce((product, size) => product * size, 1)), shape);
}

await tf.setBackend("webgpu");
// Small tensors would stay on the CPU otherwise.
tf.env().set("WEBGPU_CPU_FORWARD", false);

const product = tf.matMul(tensor([24, 40]), tensor([40, 16]));
const productData = await product.data();

/** @type {() => any} */
const network = () =>
  tf.tidy(() => {
    const image = tensor([1, 16, 16, 3]);
    const first = tf.relu(tf.add(tf.conv2d(image, tensor([3, 3, 3, 8]), 1, "same"), tensor([8])));
    const pooled = tf.maxPool(first, 2, 2, "same");
    const second = tf.relu(tf.conv2d(pooled, tensor([3, 3, 8, 8]), 2, "same"));
    return tf.softmax(tf.matMul(tf.reshape(second, [1, 128]), tensor([128, 10])));
  });
let classesData;
for (let time = 0; time < TIMES; time++) classesData = await network().data();

console.log(JSON.stringify({ product: Array.from(productData), classes: Array.from(classesData) }));
