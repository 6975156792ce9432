"""A real Slurm cluster of two nodes on this machine, for tests: a controller, two node daemons and an authenticator.

All four run in the foreground as children of the test process, with their files in one folder and on ports that were
free, so nothing of the machine's own Slurm or munge is touched, and what is ended at the end is exactly what was
started: the children by their handles, and the steps they left by a mark in their environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

NEEDED = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo", "munged")
MARK = "AISIMC_TEST_CLUSTER"
NODES = ("node1", "node2")
SBIN = os.pathsep.join(("/usr/local/sbin", "/usr/sbin", "/sbin"))
PR_SET_PDEATHSIG = 1


def why_not() -> str:
    """Why no cluster can be started here; empty when one can."""
    path = os.environ.get("PATH", "") + os.pathsep + SBIN
    missing = [name for name in NEEDED if shutil.which(name, path=path) is None]
    if missing:
        return f"{', '.join(missing)} not installed (Debian: slurmctld slurmd slurm-client munge)"
    return "" if os.geteuid() == 0 else "slurmd starts jobs as their user, for which it must be root"


class Cluster:
    """Two nodes that answer to `SLURM_CONF=<folder>/slurm.conf`."""

    def __init__(self, folder: Path, *, node_timeout_s: int = 300) -> None:
        self.folder = folder
        self.node_timeout_s = node_timeout_s
        self.conf = folder / "slurm.conf"
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def environment(self) -> dict[str, str]:
        """The environment of commands that speak to this cluster."""
        path = os.environ.get("PATH", "") + os.pathsep + SBIN
        return {**os.environ, "PATH": path, "SLURM_CONF": str(self.conf)}

    # --- starting and ending ----------------------------------------------------------------------------------

    def start(self) -> None:
        """Start everything and wait until both nodes are idle."""
        for name in ("state", "log", "spool"):
            (self.folder / name).mkdir(parents=True)
        self.conf.write_text(self._configuration())
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        self._start_daemon("munged", ["munged", "--foreground", "--force", *self._munge_options(key)])
        wait_for("munged to listen", (self.folder / "munge.socket").exists)
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        wait_for("both nodes to be idle", lambda: self.node_states() == {"node1": "idle", "node2": "idle"})

    def start_controller(self) -> None:
        """Start slurmctld; it takes up the jobs that it knew."""
        self._start_daemon("slurmctld", ["slurmctld", "-D", "-f", str(self.conf)])
        wait_for("the controller to answer", lambda: self.try_run("scontrol", "ping").returncode == 0)

    def stop_controller(self) -> None:
        """End slurmctld as an administrator would."""
        self._end_daemon("slurmctld", grace_s=10)

    def start_node(self, node: str) -> None:
        """Start one node's daemon."""
        self._start_daemon(node, ["slurmd", "-D", "-f", str(self.conf), "-N", node])

    def cut_off(self, node: str) -> None:
        """Take a node's daemon away; its jobs go on, as on a node whose network broke."""
        process = self._running.pop(node)
        process.kill()
        process.wait()

    def stop(self) -> None:
        """End every job, then everything that was started here, and nothing else."""
        if "slurmctld" in self._running:
            self.try_run("scancel", "--user=root")
            with contextlib.suppress(TimeoutError):
                wait_for("the jobs to end", lambda: not self.run("squeue", "-h", "-o", "%i").split(), timeout_s=10)
        for name in ("slurmctld", *NODES, "munged"):
            self._end_daemon(name, grace_s=5)
        for pid in self._marked():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _start_daemon(self, name: str, argv: Sequence[str]) -> None:
        environment = {**self.environment, MARK: str(self.folder)}
        program = shutil.which(argv[0], path=environment["PATH"])
        assert program is not None
        with (self.folder / "log" / f"{name}.out").open("ab") as log:
            self._running[name] = subprocess.Popen(
                [program, *argv[1:]],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )

    def _end_daemon(self, name: str, grace_s: float) -> None:
        process = self._running.pop(name, None)
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(timeout=grace_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _marked(self) -> list[int]:
        """Processes that descend from this cluster's daemons, by the mark in their environment."""
        mark = f"{MARK}={self.folder}".encode()
        found = []
        for path in Path("/proc").iterdir():
            if path.name.isdigit() and int(path.name) != os.getpid():
                with contextlib.suppress(OSError):
                    if mark in (path / "environ").read_bytes().split(b"\0"):
                        found.append(int(path.name))
        return found

    def _munge_options(self, key: Path) -> list[str]:
        files = {"key-file": key, "socket": "munge.socket", "pid-file": "munge.pid", "log-file": "log/munge.log"}
        seed = {"seed-file": "munge.seed"}
        return [f"--{name}={self.folder / value}" for name, value in {**files, **seed}.items()]

    def _configuration(self) -> str:
        host = socket.gethostname().split(".")[0]
        controller, first, second = _free_ports(3)
        cpus = os.cpu_count() or 1
        same = f"NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=3000 State=UNKNOWN"
        nodes = "\n".join(
            f"NodeName={node} Port={port} {same}" for node, port in zip(NODES, (first, second), strict=True)
        )
        return f"""ClusterName=aisimctest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool/%n
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.%n.pid
SlurmctldLogFile={self.folder}/log/slurmctld.log
SlurmdLogFile={self.folder}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0
ReturnToService=1
MpiDefault=none
KillWait=3
SlurmdTimeout={self.node_timeout_s}
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MessageTimeout=4
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1 State=UP
PartitionName=urgent Nodes=ALL MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF State=UP
"""

    # --- speaking to it ---------------------------------------------------------------------------------------

    def try_run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """Run one of Slurm's commands, whatever becomes of it."""
        return subprocess.run(argv, env=self.environment, capture_output=True, text=True, timeout=60, check=False)

    def run(self, *argv: str) -> str:
        """Run one of Slurm's commands; its output. Raises `CalledProcessError`."""
        done = self.try_run(*argv)
        done.check_returncode()
        return done.stdout

    def node_states(self) -> dict[str, str]:
        """State word by node; empty while the controller does not answer."""
        done = self.try_run("sinfo", "-h", "-N", "-o", "%N %T")
        return dict(line.split() for line in done.stdout.splitlines()) if done.returncode == 0 else {}

    def jobs(self) -> dict[str, tuple[str, str, str]]:
        """(state, node, name) of every job that the controller remembers, by number."""
        lines = self.run("squeue", "-h", "-t", "all", "-o", "%i|%T|%N|%j").splitlines()
        return {job: (state, node, name) for job, state, node, name in (line.split("|", 3) for line in lines)}

    def is_launched(self, job: str) -> bool:
        """Whether a process that carries a life of this job is still there, whatever the controller says."""
        for pid in self._marked():
            with contextlib.suppress(OSError):
                if f"slurmstepd: [{job}." in Path(f"/proc/{pid}/cmdline").read_text(errors="replace"):
                    return True
        return False

    def running(self) -> dict[str, str]:
        """Node by job, of jobs that run."""
        return {job: node for job, (state, node, _) in self.jobs().items() if state == "RUNNING"}


def wait_for(what: str, condition: Callable[[], object], timeout_s: float = 120.0) -> None:
    """Wait until something holds. Raises `TimeoutError` naming it."""
    until = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {timeout_s:g} s for {what}")
        time.sleep(0.1)


@contextlib.contextmanager
def two_nodes(*, node_timeout_s: int = 300) -> Iterator[Cluster]:
    """A cluster for the length of a `with` block, in a folder with a short path, as sockets need it."""
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder:
        cluster = Cluster(Path(folder), node_timeout_s=node_timeout_s)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def _die_with_parent() -> None:
    """A test process that is killed takes its daemons along."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
