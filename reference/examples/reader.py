"""A lockstep reader, from wire.md and PROTOCOL.md alone: run --reader 'exec:python3 reference/examples/reader.py'"""
import io, struct, sys
REASONS = """bad-length bad-magic bad-version unknown-op wrong-context truncated too-many zero-id bad-enum bad-flag
non-finite unsafe-integer data-range - write-size read-alignment read-size read-window unknown-id open-pass not-a-buffer
out-of-range too-many-workgroups no-map-read past-window bad-descriptor wrong-kind threw""".split()
# Section 2: opcode, name, where it may stand, the kind of each word up to the first count; "n" is any number.
COMMANDS = """1 SetPipeline RC id | 2 SetBindGroup RC n id? | 3 Draw R n n n n | 4 DrawIndexed R n n n n n |
5 SetVertexBuffer R n id? u64 u64 | 6 SetIndexBuffer R id 1-2 u64 u64 | 7 SetViewport R f f f f f f |
8 SetScissorRect R n n n n | 9 SetBlendConstant R f f f f | 10 SetStencilReference R n | 11 ExecuteBundles R |
12 DrawIndirect R id u64 | 13 DrawIndexedIndirect R id u64 | 20 BeginRenderPass T | 21 EndPass RC |
22 BeginComputePass T | 23 Dispatch C n n n | 24 DispatchIndirect C id u64 | 30 WriteBuffer TRC id u64 n n |
31 CopyBufferToBuffer T id u64 id u64 u64 | 32 CopyTextureToTexture T id n n n n 0-3 id n n n n 0-3 n n n |
33 WriteTexture TRC id n n n n 0-3 n n u64 n n n n n | 34 ReadBuffer TRC id u64 n n | 40 Submit T"""
TABLE = {int(op): row for op, _, *row in map(str.split, COMMANDS.replace("u64", "low high").split("|"))}
COUNTS = {2: [(65536, "too-many", ["n"])], 11: [(65536, "too-many", ["id"])],  # then counts: limit, reason, kinds
    20: [(8, "too-many", "id? id? 1-2 1-2 f f f f".split()), (1, "bad-flag", "id 0-2 0-2 f 0-1 0-2 0-2 n 0-1".split())]}
KINDS = {"id": (range(1, 2**32), "zero-id"), "0-1": (range(2), "bad-flag"), "high": (range(2**21), "unsafe-integer"),
    "1-2": (range(1, 3), "bad-enum"), "0-2": (range(3), "bad-enum"), "0-3": (range(4), "bad-enum"),
    "f": (range(0x7F800000), "non-finite")}  # check 7 of section 3: the values of a word, a float's without its sign
# Checks 8 to 10: the word that is named, what must hold of the command c and the data's length, the reason.
RULES = {30: [(4, lambda c, size: c[4] + c[5] <= size, "data-range"), (5, lambda c, _: c[5] % 4 == 0, "write-size")],
    33: [(7, lambda c, size: c[7] + c[8] <= size, "data-range")],
    34: [(2, lambda c, _: c[2] % 8 == 0, "read-alignment"), (4, lambda c, _: c[4] and c[4] % 4 == 0, "read-size"),
         (5, lambda c, _: c[4] + c[5] <= 64 << 20, "read-window")]}
RANGES = {12: ([1], lambda c: 16), 13: ([1], lambda c: 20), 24: ([1], lambda c: 12), 30: ([1], lambda c: c[5]),
    31: ([1, 4], lambda c: c[7] | c[8] << 32)}  # section 5: where buffers stand, each before its offset; bytes touched
numbers = lambda file, count=1: struct.unpack(f"<{count}I", file.read(4 * count))
rows = lambda file, width: [numbers(file, width) for _ in range(*numbers(file))]
pack = lambda *values: struct.pack(f"<{len(values)}I", *values)
counted = lambda values: pack(len(values), *values)
sized = lambda content: pack(len(content)) + content
class Refused(Exception): pass  # its arguments are what the answer says of the refusal, the reason by its name
def must(holds, *refusal):
    if not holds: raise Refused(*refusal)
def answered(parts):  # an answer is a row of parts, the last of which may be a refusal
    answer = b""
    try:
        for part in parts: answer += part
    except Refused as refusal: answer += pack(1, *(REASONS.index(x) + 1 if x in REASONS else x for x in refusal.args))
    return answer

def kinds_at(words, at, op):  # checks 3 to 6 of section 3: the kind of each word after the opcode
    kinds = TABLE[op][1:]
    for limit, reason, counted in COUNTS.get(op, ()):
        count = at + 1 + len(kinds)
        must(count < len(words), at, op, "truncated")
        must(words[count] <= limit, count, op, reason)
        kinds = kinds + ["n"] + counted * words[count]
    must(at + len(kinds) < len(words), at, op, "truncated")
    return kinds
def read_commands(words, data, ids=None):  # section 3; with `ids` this is Remap, which rewrites the words in place
    starts, at, context, opened = [], 0, "T", ()
    while at < len(words):
        op = words[at]
        must(op in TABLE, at, 0, "unknown-op")
        must(context in TABLE[op][0], at, op, "wrong-context")
        kinds = kinds_at(words, at, op)
        for place, kind in enumerate(kinds, at + 1):
            word, (values, reason) = words[place], KINDS.get(kind, (range(2**32), ""))
            must((word & 0x7FFFFFFF if kind == "f" else word) in values, place - (kind == "high"), op, reason)
            if ids is not None and kind in ("id", "id?") and word:
                must(ids.get(word), place, op, "unknown-id")
                words[place] = ids[word]
        for place, holds, reason in RULES.get(op, ()):
            must(holds(words[at:at + 9], data), at + place, op, reason)
        context, opened = {20: ("R", (at, op)), 21: ("T", ()), 22: ("C", (at, op))}.get(op, (context, opened))
        starts.append(at)
        at += 1 + len(kinds)
    must(context == "T", *opened, "open-pass")
    return starts
def decode(words, data): yield pack(0) + counted(read_commands(words, data))
def check_ranges(commands, buffers, bound):  # section 5
    for index, command in enumerate(commands):
        op, (places, size) = command[0], RANGES.get(command[0], ((), None))
        for buffer, low, high in (command[place:place + 3] for place in places):
            must(buffer in buffers, index, op, "not-a-buffer")
            must((low | high << 32) + size(command) <= buffers[buffer][1], index, op, "out-of-range")
        must(op != 23 or max(command[1:4]) <= (bound or 65535), index, op, "too-many-workgroups")
    yield pack(0)
def check_reads(reads, buffers, window):  # section 6
    for index, (buffer, low, high, size, place) in enumerate(reads):
        must(buffer in buffers, index, "not-a-buffer")
        must(buffers[buffer][0] & 1, index, "no-map-read")
        must((low | high << 32) + size <= buffers[buffer][1], index, "out-of-range")
        must(place + size <= window, index, "past-window")
    yield pack(0)

def stream(item):
    blob, ids = item.read(*numbers(item)), dict(rows(item, 2))
    buffers = {id: (usage, low | high << 32) for id, usage, low, high in rows(item, 4)}
    bound, window = numbers(item, 2)
    must(len(blob) >= 16, "bad-length")  # section 1
    magic, version, count, data = struct.unpack_from("<4s3I", blob)
    must(magic == b"WIRE", "bad-magic")
    must(version == 4, "bad-version")
    must(len(blob) == 16 + 4 * count + data, "bad-length")
    words = list(struct.unpack_from(f"<{count}I", blob, 16))
    yield pack(0) + answered(decode(words, data))
    commands = [words[at:at + 9] for at in read_commands(words, data, ids)]
    reads = [command[1:6] for command in commands if command[0] == 34]
    yield pack(0) + counted(words) + pack(len(reads), *(word for read in reads for word in read))
    yield answered(check_ranges(commands, buffers, bound)) + answered(check_reads(reads, buffers, window))
def descriptor(item):  # section 7
    whole, ids = item.read(*numbers(item)), dict(rows(item, 2))
    must(len(whole) >= 4, "truncated")
    count = int.from_bytes(whole[:4], "little")
    must(count <= 4096, "too-many")
    must(len(whole) >= 4 + 4 * count, "truncated")
    references, body = struct.unpack_from(f"<{count}I", whole, 4), whole[4 + 4 * count:]
    yield pack(0) + counted(references) + sized(body)
    for index, reference in enumerate(references): must(reference == 0 or ids.get(reference), "unknown-id", index)
    yield pack(0) + sized(counted([reference and ids[reference] for reference in references]) + body)
while head := sys.stdin.buffer.read(4):
    frame = io.BytesIO(sys.stdin.buffer.read(*struct.unpack("<I", head)))
    kind, first = numbers(frame, 2)  # the version in a hello, and in the others how many items there are
    if kind == 1: reply = pack(1) + b'{"name": "reader.py", "answers": ["streams", "descriptors"]}'
    else: reply = pack(first) + b"".join(sized(answered({2: stream, 3: descriptor}[kind](frame))) for _ in range(first))
    sys.stdout.buffer.write(pack(4 + len(reply), kind) + reply)
    sys.stdout.buffer.flush()
    if kind == 1 and first != 1: break
