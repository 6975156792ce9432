"""Entry point of the driver around a wheel's compiled runtime.

Executed by path in `python -I -S`: standard library only.

    driver.py --runtime FILE [options] CONFIG OUTPUT_DIR    one replay (process contract)
    driver.py --runtime FILE [options] --describe           one JSON object about the artifact

Options: --runtime-sha256, --wheel-version, --wheel-sha256 (identity, reported back), --orjson FILE (fast reader),
--correction NAME (applied to the report), --chunks-count-as-readmissions (SGLang evidence is not to be had).
"""

import os
import sys
import time

STARTED = time.perf_counter()
FLAGS = ("--describe", "--chunks-count-as-readmissions")
OPTIONS = ("--runtime", "--runtime-sha256", "--wheel-version", "--wheel-sha256", "--orjson", "--correction")


def arguments(argv: list[str]) -> tuple[dict[str, str], list[str]]:
    """Options by name and the positional rest. Raises `ValueError` for what is not known."""
    options: dict[str, str] = {}
    rest: list[str] = []
    words = iter(argv)
    for word in words:
        if word in FLAGS:
            options[word] = "yes"
        elif word in OPTIONS:
            value = next(words, None)
            if value is None:
                raise ValueError(f"{word} needs a value")
            options[word] = value
        elif word.startswith("--"):
            raise ValueError(f"unknown option {word}")
        else:
            rest.append(word)
    if "--runtime" not in options or len(rest) != (0 if "--describe" in options else 2):
        raise ValueError("usage: driver.py --runtime FILE [options] (CONFIG OUTPUT_DIR | --describe)")
    return options, rest


def main(argv: list[str]) -> int:
    """Do what the command line asks; any failure is one line on standard error and a non-zero status."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I keeps the script's own folder out
    try:
        options, rest = arguments(argv)
        if "--describe" in options:
            import probe

            sys.stdout.write(probe.describe(options) + "\n")
        else:
            import replay

            replay.replay(options, rest[0], rest[1], STARTED)
    except BaseException as error:  # a Rust panic arrives as a BaseException
        lines = str(error).strip().splitlines() or [type(error).__name__]
        sys.stderr.write(" ".join(line.strip() for line in lines)[:4000] + "\n")
        return 1
    return 0


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # every file is closed; taking a hundred megabytes of records apart serves nobody
