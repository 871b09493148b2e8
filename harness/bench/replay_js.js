/**
 * Times replay.js's decode for `benches/throughput.rs`: the argument is the path of a blob; of each line on standard input, a number of
 * times to decode it, the nanoseconds that they took are written to standard output.
 */
import { decode, parseBlob } from "../../reference/replay.js";

const stream = parseBlob(await Deno.readFile(Deno.args[0]));
if (stream.reason !== null) throw new Error(stream.reason);
const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
let left = "";
for await (const text of lines) {
  left += text;
  for (let end = left.indexOf("\n"); end >= 0; end = left.indexOf("\n")) {
    const times = Number(left.slice(0, end));
    left = left.slice(end + 1);
    const start = performance.now();
    for (let i = 0; i < times; i++) decode(stream.words, stream.data.length);
    console.log(Math.round((performance.now() - start) * 1e6));
  }
}
