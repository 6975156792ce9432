"""A driver that does as it is told by `spec.act`: what a real engine may do to the row runner, on purpose."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def leave(out: Path, value: str) -> None:
    """A canonical record and counters, as the process contract has them."""
    line = json.dumps({"coverage": {}, "metadata": {}, "per_request": [], "planner": None, "summary": {"v": value}})
    data = line.encode() + b"\n"
    (out / "canonical.jsonl").write_bytes(data)
    (out / "qualification.jsonl").write_text(json.dumps({"canonical_sha256": hashlib.sha256(data).hexdigest()}))


def main() -> None:
    config_path, out = map(Path, sys.argv[-2:])
    out.mkdir(exist_ok=True)
    act = json.loads(config_path.read_text())["spec"]["act"]
    if act == "hang":
        time.sleep(600)
    elif act == "spin":
        while True:
            pass
    elif act == "eat":
        hoard = []
        while True:
            hoard.append(bytearray(8 << 20))
            time.sleep(0.01)
    elif act == "flood":
        while True:
            os.write(2, b"x" * 65536)
    elif act == "fill":
        with (out / "big").open("wb") as stream:
            while True:
                stream.write(b"x" * 65536)
    elif act == "fork":
        for _ in range(40):
            subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
        time.sleep(600)
    elif act == "escape":
        subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
        leave(out, "same")
    elif act == "abort":
        os.abort()
    elif act == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif act == "refuse":
        sys.exit("engine error: no such thing")
    elif act == "full":
        (out / "canonical.jsonl").write_bytes(b"half")
        sys.exit("canonical.jsonl: No space left on device (os error 28)")
    elif act == "nothing":
        return
    elif act == "lie":
        leave(out, "same")
        with (out / "canonical.jsonl").open("ab") as stream:
            stream.write(b"more")
    elif act == "threads":
        import threading

        for _ in range(3):
            threading.Thread(target=lambda: [pow(3, 10**7 + n, 10**9 + 7) for n in range(10**6)], daemon=True).start()
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 10**6)
        leave(out, "same")
    elif act == "random":
        leave(out, os.urandom(8).hex())
    elif act == "environment":
        leave(out, json.dumps(sorted(os.environ)))
    elif act == "slow":
        time.sleep(0.3)
        leave(out, "same")
    else:
        leave(out, act)


main()
