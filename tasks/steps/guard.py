"""What a process that works for the curator of a private data set may open: its reports, its own folder, and code.

Two guards. An audit hook of Python, which no code can remove, tells clearly what was refused. Landlock, where the
kernel has it (Linux 5.13 and later), holds for native code too, and keeps the process out of others' memory.

The hook calls nothing that can be replaced: it is closed over what it needs, and who could search the interpreter for
it (``gc``, tracing) is refused.
"""

from __future__ import annotations

import ctypes
import errno
import os
import site
import struct
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path, PosixPath
from typing import Any

OPENS = frozenset({"open", "os.listdir", "os.scandir", "os.walk", "os.getxattr", "os.listxattr"})
CHANGES = frozenset(
    {"os.chmod", "os.chown", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.setxattr", "os.truncate", "os.utime"}
)
REFUSED = frozenset(
    {
        # other programs, and other processes
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty"),
        *("pty.spawn", "os.kill", "os.killpg"),
        # other names for a file
        *("os.link", "os.symlink", "os.chdir", "os.fchdir", "sqlite3.connect"),
        # who would listen, or send
        *("socket.bind", "socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"),
        # a way to this hook
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.settrace", "sys.setprofile"),
    }
)
"""Events that are refused whatever they are about; those of ``OPENS`` and ``CHANGES`` by their paths."""
C_FUNCTIONS = frozenset(
    {
        *("open", "open64", "openat", "openat64", "openat2", "creat", "fopen", "fopen64", "freopen", "opendir"),
        *("syscall", "dlopen", "system", "popen", "fork", "vfork", "clone", "posix_spawn", "posix_spawnp"),
        *("execl", "execle", "execlp", "execv", "execve", "execveat", "execvp", "execvpe", "fexecve"),
        *("ptrace", "process_vm_readv", "connect", "link", "linkat", "symlink", "symlinkat"),
    }
)
"""What ``ctypes`` may not look up; the libraries look up much else."""
SYSTEM = ("/usr", "/lib", "/lib64", "/etc", "/proc", "/sys")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
MOST_LINKS = 40


class NotTheCurators(PermissionError):
    """A step of the curator asked for what is not the curator's."""


def keep_to(label: str, reads: Iterable[Path], writes: Iterable[Path]) -> None:
    """From now on this process opens nothing but code, the system's files and these folders; it cannot be undone."""
    changed = _real(writes)
    # Other processes' folders are below /proc, too: the hook knows its own.
    readable = _real([*map(Path, (*SYSTEM, *DEVICES)), *_code(), *reads, *writes])
    os.chdir("/")
    restrict_kernel(readable, [*changed, *DEVICES])
    sys.addaudithook(_hook(label, readable, (*changed, *DEVICES)))


def _real(places: Iterable[Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(place) for place in places))


def _code() -> list[Path]:
    named = ("stdlib", "platstdlib", "purelib", "platlib")
    found = [sysconfig.get_path(name) for name in named] + site.getsitepackages() + [site.getusersitepackages()]
    # Of a virtual environment the first are the interpreter's own.
    return [Path(place) for place in (*found, os.__file__.rpartition("/")[0]) if place]


def _hook(
    label: str, readable: tuple[str, ...], writable: tuple[str, ...]
) -> Callable[[str, tuple[object, ...]], None]:
    """The hook; what it uses is bound here, for a step could replace what a module holds, and the built-in names."""
    kind, text, binary, whole, path_object, reverse = type, str, bytes, int, PosixPath, reversed
    readlink, fspath, error, refusal, own = os.readlink, os.fspath, OSError, NotTheCurators, f"/proc/{os.getpid()}"
    read_below = tuple(f"{place}/" for place in readable)
    write_below = tuple(f"{place}/" for place in writable)
    opens, changes, refused, c_functions, most = OPENS, CHANGES, REFUSED, C_FUNCTIONS, MOST_LINKS
    denied, writing = errno.EACCES, os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    told = f"{label}: the curator's step tried to "
    why = "of a private set it reads its reports alone, and raw data is not the curator's to read"

    def real(path: str) -> str:
        """The path without links; the working directory is the root."""
        if path[:1] != "/" and ".." in path.split("/"):
            raise refusal(denied, f"{told}open {path}: {why}")  # it may be below any folder that was opened
        found, links, left = "", 0, path.split("/")[::-1]
        while left:
            part = left.pop()
            if part == "..":
                found = found[: found.rfind("/")] if found else ""
            elif part and part != ".":
                try:
                    target = readlink(f"{found}/{part}")
                except error:
                    found = f"{found}/{part}"
                    continue
                links += 1
                if links > most:
                    raise refusal(denied, f"{told}open {path}: {why}")
                if target[:1] == "/":
                    found = ""
                left += reverse(target.split("/"))
        return found or "/"

    def check(path: Any, changing: bool) -> None:
        if kind(path) is whole:
            return  # a file that is open already
        if path is None:
            path = "."
        if kind(path) is path_object:
            path = fspath(path)
        if kind(path) is binary:
            path = path.decode("utf-8", "surrogateescape")
        if kind(path) is not text:
            raise refusal(denied, f"{told}open a path of no plain kind: {why}")
        place = real(path)
        ours, below = (writable, write_below) if changing else (readable, read_below)
        foreign = place[:6] == "/proc/" and place[6:7].isdigit() and f"{place}/"[: len(own) + 1] != f"{own}/"
        if foreign or not (place in ours or place.startswith(below)):
            raise refusal(denied, f"{told}open {place}: {why}")

    def guard(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            check(path, flags & writing != 0)
        elif event in opens:
            check(arguments[0], False)
        elif event in changes:
            check(arguments[0], True)
            if event == "os.rename":
                check(arguments[1], True)
        elif event in refused:
            raise refusal(denied, f"{told}use {event}: {why}")
        elif event[:12] == "ctypes.dlsym" and arguments[1] in c_functions:
            raise refusal(denied, f"{told}call {arguments[1]}: {why}")
        elif event == "import" and arguments[0] == "_posixsubprocess":
            raise refusal(denied, f"{told}start a program: {why}")

    return guard


# Landlock's rights, as linux/landlock.h has them; later versions of the interface know more of them.
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
REMOVE, MAKE_FOLDER, MAKE_FILE = 0b110000, 1 << 7, 1 << 8
ALL, REFER, TRUNCATE = (1 << 13) - 1, 1 << 13, 1 << 14
OF_FILES = EXECUTE | WRITE | READ | TRUNCATE
RULESET, ADD_RULE, RESTRICT, NO_NEW_PRIVILEGES = 444, 445, 446, 38


def landlock_version() -> int:
    """The kernel's version of Landlock; 0 where there is none."""
    version = ctypes.CDLL(None).syscall(RULESET, None, ctypes.c_size_t(0), 1)
    return max(int(version), 0)


def restrict_kernel(readable: Iterable[str], writable: Iterable[str]) -> bool:
    """Have the kernel refuse this thread, and those that it starts, all other files; False where it cannot."""
    version = landlock_version()
    if not version:
        return False
    handled = ALL | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    # Of the network: connecting and binding by TCP (4); signals and abstract sockets to others (6).
    fields = [handled, *([3] if version >= 4 else []), *([3] if version >= 6 else [])]
    content = struct.pack(f"{len(fields)}Q", *fields)
    libc = ctypes.CDLL(None, use_errno=True)
    rules = libc.syscall(RULESET, content, ctypes.c_size_t(len(content)), 0)
    if rules < 0:
        return False
    changes = handled & (READ | LIST | WRITE | REMOVE | MAKE_FOLDER | MAKE_FILE | REFER | TRUNCATE)
    try:
        rights = [(place, EXECUTE | READ | LIST) for place in readable] + [(place, changes) for place in writable]
        for place, granted in rights:
            if not Path(place).exists():
                continue
            handle = os.open(place, os.O_PATH)
            try:
                granted &= handled if Path(place).is_dir() else OF_FILES & handled
                libc.syscall(ADD_RULE, rules, 1, struct.pack("=Qi", granted, handle), 0)
            finally:
                os.close(handle)
        return not libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) and not libc.syscall(RESTRICT, rules, 0)
    finally:
        os.close(rules)
