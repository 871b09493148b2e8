"""A reader that fails in the way that its first argument names, for outside_readers.rs. It passes what it is asked to a good
reader, the command after its folder, and spoils what comes back. It leaves a file named after each process that it starts."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import time

WAY, DETAIL, FOLDER, *GOOD = sys.argv[1:]
HELLO, STREAMS, DESCRIPTORS, LAYOUTS = 1, 2, 3, 7
HELLOS = {
    "another version": struct.pack("<I", 2) + b'{"name": "bad", "answers": ["streams"]}',
    "no JSON": struct.pack("<I", 1) + b'{"name": "bad", "answers": [',
    "another JSON": struct.pack("<I", 1) + b'["bad", "streams"]',
    "no name": struct.pack("<I", 1) + b'{"name": "", "answers": ["streams"]}',
    "answers nothing": struct.pack("<I", 1) + b'{"name": "bad", "answers": ["riddles"]}',
    "no version": b"",
    "streams alone": struct.pack("<I", 1) + b'{"name": "bad", "answers": ["riddles", "streams"], "mood": "fine"}',
    "descriptors alone": struct.pack("<I", 1) + b'{"name": "bad", "answers": ["descriptors"]}',
}


def two_kinds(hello):
    """The good reader's hello, for two kinds of question alone, or for layouts alone."""
    said = json.loads(hello[4:])
    kinds = ["layouts"] if "layout" in WAY else ["streams", "descriptors"]
    return hello[:4] + json.dumps(said | {"answers": kinds}).encode()


def read_frame(file):
    head = file.read(4)
    return file.read(*struct.unpack("<I", head)) if head else None


def write(file, *frames):
    for frame in frames:
        file.write(struct.pack("<I", len(frame)) + frame)
    file.flush()


def spoil(question, answer):
    """What is written instead of the answer."""
    kind, payload = struct.unpack("<I", answer[:4])[0], answer[4:]
    if kind == HELLO:
        return [answer[:4] + HELLOS.get(WAY, two_kinds(payload))]
    if (WAY, kind) in [("streams alone", DESCRIPTORS), ("descriptors alone", STREAMS)]:
        sys.exit("a frame of a type that the hello does not list")
    if WAY == "dies over a case" and bytes.fromhex(DETAIL) in question:
        sys.exit(3)
    if WAY == "hangs over a case" and bytes.fromhex(DETAIL) in question or WAY == "hangs":
        time.sleep(1000)
    if WAY == "dies over layouts":
        sys.exit(3)
    if WAY == "slow over layouts":
        time.sleep(0.2)
    if WAY == "no layout answer":
        return [answer[:4] + struct.pack("<II", 1, 4) + b"\xff" * 4]
    if WAY == "half a frame":
        sys.stdout.buffer.write((struct.pack("<I", len(answer)) + answer)[: 4 + len(answer) // 2])
        sys.stdout.buffer.flush()
        sys.exit(0)
    if WAY == "nonsense length":
        sys.stdout.buffer.write(b"\xff" * 8)
        sys.stdout.buffer.flush()
        time.sleep(1000)
    if WAY == "a line of text":
        print("one batch more", flush=True)
    if WAY == "wrong type":
        return [struct.pack("<I", 9) + payload]
    count = struct.unpack("<I", payload[:4])[0]
    if WAY == "wrong count":
        return [answer[:4] + struct.pack("<I", count + 1) + payload[4:] + bytes(4)]
    if WAY == "not an answer":
        return [answer[:4] + struct.pack("<I", count) + struct.pack("<II", 4, 7) * count]
    if WAY == "unasked" and kind == DESCRIPTORS:
        return [answer, struct.pack("<II", STREAMS, 0)]
    if WAY == "wrong":  # DispatchIndirect out-of-range becomes DispatchIndirect not-a-buffer
        return [answer.replace(struct.pack("<II", 24, 22), struct.pack("<II", 24, 21))]
    return [answer]


def main():
    folder = pathlib.Path(FOLDER)
    (folder / str(os.getpid())).touch()
    if WAY == "dies at the start":
        sys.exit(5)
    if WAY == "hangs at the start":
        time.sleep(1000)
    good = subprocess.Popen(GOOD, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    (folder / str(good.pid)).touch()
    while question := read_frame(sys.stdin.buffer):
        write(good.stdin, question)
        write(sys.stdout.buffer, *spoil(question, read_frame(good.stdout)))


main()
