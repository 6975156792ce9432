"""Executed by path as `python -I -S guard.py COMMAND...`: runs one tool, and ends it when the runtime goes away.

The kernel tells this process when its parent is gone, however it ended; it then kills its whole process group, the
tool and its children included. Otherwise it ends as the tool does.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Run the tool and end as it does."""
    parent = os.getppid()
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(125)
    try:
        child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, setsigdef=[signal.SIGTERM, signal.SIGPIPE])
    except OSError as error:
        sys.stderr.write(f"{sys.argv[1]} cannot be started: {(error.strerror or str(error)).lower()}\n")
        os._exit(127)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
