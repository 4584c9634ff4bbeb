"""What a contained program tries, and what becomes of it: `PROGRAM` runs inside and says so for each operation."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping


def namespaces() -> bool:
    """Whether the system gives them, without which less is contained."""
    if sys.platform != "linux":
        return False
    return subprocess.run(["unshare", "-Urmn", "true"], capture_output=True, check=False).returncode == 0


REFUSED, DONE = "refused", "done"

OPERATIONS: Mapping[str, tuple[str, str, str]] = {
    # name: (what it is in words, what becomes of it, the expression that tries it)
    "write": ("write to a file of yours", REFUSED, "open(outside + '/file', 'a')"),
    "create": ("create a file beside it", REFUSED, "open(outside + '/new', 'w')"),
    "truncate": ("truncate it", REFUSED, "os.truncate(outside + '/file', 0)"),
    "delete": ("delete it", REFUSED, "os.unlink(outside + '/file')"),
    "rename": ("rename it", REFUSED, "os.rename(outside + '/file', outside + '/other')"),
    "folder": ("make a folder", REFUSED, "os.mkdir(outside + '/folder')"),
    "symbolic link": ("make a symbolic link", REFUSED, "os.symlink('a', outside + '/link')"),
    "hard link": ("link it into a folder of its own", REFUSED, "os.link(outside + '/file', own + '/link')"),
    "chmod": ("change its mode", REFUSED, "os.chmod(outside + '/file', 0o777)"),
    "chown": ("change its owner", REFUSED, "os.chown(outside + '/file', os.getuid(), os.getgid())"),
    "utime": ("change its times", REFUSED, "os.utime(outside + '/file')"),
    "xattr": ("set an extended attribute", REFUSED, "os.setxattr(outside + '/file', 'user.a', b'b')"),
    "through its input": (
        "change the mode, times or attributes of a file that its input is", REFUSED, "os.fchmod(0, 0o777)"
    ),
    "times of its input": ("the same through `/dev/stdin`", REFUSED, "os.utime('/dev/stdin')"),
    "executable": (
        "change those of its own executable (`/proc/self/exe`)", REFUSED,
        "os.chmod('/proc/self/exe', os.stat('/proc/self/exe').st_mode)"
    ),
    "executables of others": ("change those of the processes around it", REFUSED, "os.utime('/proc/1/exe')"),
    "through a link": ("write through a link from its own folder", REFUSED, "through_link()"),
    "through /proc": ("write through `/proc/self/root`", REFUSED, "open('/proc/self/root' + outside + '/file', 'a')"),
    "read": ("read a file of yours", DONE, "open(outside + '/file').read()"),
    "lock": ("lock one (`flock`)", DONE, "lock()"),
    "own file": ("write, chmod and utime files of its own", DONE, "own_file()"),
    "/tmp": ("use `/tmp`, which is its own", DONE, "open('/tmp/a', 'w')"),
    "others' /tmp": ("see what others have in `/tmp`", REFUSED, "os.stat(in_tmp)"),
    "/dev/shm": ("use `/dev/shm`, which is its own", DONE, "open('/dev/shm/a', 'w')"),
    "others' /dev/shm": ("see what others have in `/dev/shm`", REFUSED, "os.stat(in_shm)"),
    "/run": ("see what is in `/run`", REFUSED, "os.listdir('/run')[0]"),
    "/dev/null": ("write to `/dev/null`", DONE, "open('/dev/null', 'w').write('a')"),
    "disk": ("open a disk, the memory or a terminal of others", REFUSED, "device()"),
    "/dev/fd": ("list its descriptors in `/dev/fd`", DONE, "os.listdir('/dev/fd')"),
    "device": ("make a device", REFUSED, "os.mknod(own + '/device', 0o20666, os.makedev(1, 3))"),
    "network": ("connect to another machine", REFUSED, "socket.create_connection(('192.0.2.1', 9), timeout=2)"),
    "loopback": ("connect to itself", DONE, "loopback()"),
    "service": ("connect to a socket of a service by its path", REFUSED, "unix(service)"),
    "datagrams": ("reach one through a pair of datagram sockets", REFUSED, "datagrams(service)"),
    "named pipe": (
        "write to a named pipe of a service", REFUSED, "os.open(service + '.pipe', os.O_WRONLY | os.O_NONBLOCK)"
    ),
    "abstract": ("open an abstract socket", REFUSED, "unix('\\0a')"),
    "socketpair": ("talk to its own processes", DONE, "pairs()"),
    "processes": ("see other processes", REFUSED, "os.stat('/proc/%d' % parent)"),
    "signal": ("send a signal to one", REFUSED, "os.kill(parent, 0)"),
    "priority": ("change the priority of one", REFUSED, "os.setpriority(os.PRIO_PROCESS, parent, 19)"),
    "scheduling": ("change where one runs", REFUSED, "os.sched_setaffinity(parent, [0])"),
    "limits": ("change the limits of one", REFUSED, "resource.prlimit(parent, resource.RLIMIT_CORE, (0, 0))"),
    "trace": ("look into one (`ptrace`)", REFUSED, "call(101, 117, 16, parent, 0, 0)"),
    "keys": ("read the keyring", REFUSED, "call(250, 219, 0, -3, 0)"),
    "shared memory": ("see shared memory of others (System V)", REFUSED, "call(29, 194, key, 1, 0)"),
    "mount": ("mount", REFUSED, "libc_call('mount', b'tmpfs', b'/tmp', b'tmpfs', 0, None)"),
    "unshare": ("make a namespace", REFUSED, "libc_call('unshare', 0x10000000)"),
    "setns": ("enter another namespace", REFUSED, "libc_call('setns', os.open('/proc/self/ns/net', 0), 0)"),
    "chroot": ("change its root", REFUSED, "os.chroot(own)"),
    "host name": ("change the host's name", REFUSED, "socket.sethostname('a')"),
    "clock": ("set the clock", REFUSED, "time.clock_settime(time.CLOCK_REALTIME, 1)"),
    "kernel setting": ("change a setting of the kernel", REFUSED, "open('/proc/sys/kernel/pid_max', 'w').write('9')"),
    "io_uring": ("use io_uring, bpf or userfaultfd", REFUSED, "call(425, 425, 1, 0)"),
    "fork bomb": ("start 2,000 processes", REFUSED, "fork_bomb()"),
    "large file": ("write a file of 2 GB", REFUSED, "large_file()"),
    "threads": ("start threads and a pool of processes", DONE, "pool()"),
    "programs": ("start other programs", DONE, "subprocess.run(['true'], check=True)"),
}  # fmt: skip

PROGRAM = """
import ctypes, json, multiprocessing, os, platform, resource, signal, socket, stat, subprocess, sys, threading, time
own, outside, in_tmp, in_shm, service, parent, key = json.loads(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
if "processes" in aspects:
    resource.setrlimit(resource.RLIMIT_NPROC, (512, 512))
libc = ctypes.CDLL(None, use_errno=True)

def libc_call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)

def call(x86, arm, *arguments):
    libc_call("syscall", x86 if platform.machine() == "x86_64" else arm, *arguments)

def through_link():
    os.symlink(outside + "/file", own + "/through")
    open(own + "/through", "a")

def lock():
    import fcntl
    with open(outside + "/file") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

def own_file():
    open(own + "/a", "w")
    os.chmod(own + "/a", 0o700)
    os.utime(own + "/a")

def device():
    for name in os.listdir("/dev"):
        mode = os.lstat("/dev/" + name).st_mode
        usual = name in ("null", "zero", "full", "random", "urandom", "tty")
        if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not usual):
            return os.open("/dev/" + name, os.O_RDONLY | os.O_NONBLOCK)
    return os.open("/dev/pts/" + os.listdir("/dev/pts")[0], os.O_WRONLY | os.O_NOCTTY)

def loopback():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        socket.create_connection(one.getsockname(), timeout=2).close()

def unix(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)

def datagrams(path):
    one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"a", path + ".datagrams")

def pairs():
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        one, other = socket.socketpair(socket.AF_UNIX, kind)
        one.send(b"a")
        other.recv(1)

def fork_bomb():
    children = []
    try:
        for _ in range(2000):
            child = os.fork()
            if not child:
                time.sleep(60)
                os._exit(0)
            children.append(child)
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)

def large_file():
    with open(own + "/large", "wb") as file:
        file.seek(2 << 30)
        file.write(b"a")

def pool():
    thread = threading.Thread(target=str)
    thread.start()
    thread.join()
    with multiprocessing.Pool(2) as workers:
        workers.map(len, ["a", "b"])

found = {}
for name, text in json.loads(sys.argv[2]).items():
    try:
        eval(text)
        found[name] = "done"
    except Exception:
        found[name] = "refused"
print(json.dumps(found))
"""


def containment_table() -> str:
    """The table of docs/verify.md."""
    rows = "".join(f"| {words} | {outcome} |\n" for words, outcome, _ in OPERATIONS.values())
    return f"| a contained program tries to | what happens |\n|---|---|\n{rows}"
