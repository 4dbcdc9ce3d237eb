"""The network, sockets of the machine, other programs."""
import os
import socket
import threading

from box import PYTHON, refused, want
from cases_files import only


class Server:
    """Counts who reaches it."""

    def __init__(self, family, address, kind=socket.SOCK_STREAM):
        self.s = socket.socket(family, kind)
        self.s.bind(address)
        self.kind, self.reached = kind, 0
        if kind == socket.SOCK_STREAM:
            self.s.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                if self.kind == socket.SOCK_STREAM:
                    c, _ = self.s.accept()
                    self.reached += 1
                    c.sendall(b"REACHED")
                    c.close()
                else:
                    self.s.recv(10)
                    self.reached += 1
            except OSError:
                return

    def close(self):
        self.s.close()


def case_tcp(b):
    server = Server(socket.AF_INET, ("127.0.0.1", 0))
    port = server.s.getsockname()[1]
    r = b.sh(f"exec 3<>/dev/tcp/127.0.0.1/{port} && cat <&3")
    want(r.code != 0 and not server.reached, "reached", r)
    r = b.py(f"import socket; print(socket.create_connection(('127.0.0.1', {port}), 3).recv(9))")
    server.close()
    want(r.code != 0 and not server.reached, "reached", r)


def case_udp(b):
    server = Server(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)
    port = server.s.getsockname()[1]
    b.py(f"import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', {port}))")
    b.sh(f"echo x > /dev/udp/127.0.0.1/{port}")
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    before = server.reached
    probe.sendto(b"y", ("127.0.0.1", port))
    server.thread.join(0.3)
    want(before == 0 and server.reached <= 1, "reached")
    server.close()


def case_names_and_far_hosts(b):
    r = b.py("import socket; socket.getaddrinfo('example.com', 80)")
    refused(r, "no network", "allowedDomains")
    r = b.py("import socket; socket.create_connection(('192.0.2.1', 80), 3)")
    want(r.code != 0, "connected", r)
    if b.kind == "bwrap":
        refused(r, "no network")


def case_unix_path(b):
    path = f"{b.outside}/sock"
    server = Server(socket.AF_UNIX, path)
    os.chmod(path, 0o777)
    r = b.py(f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{path}'); print(s.recv(9))")
    server.close()
    want(r.code != 0 and not server.reached, "reached", r)


def case_unix_path_in_project(b):
    path = f"{b.project}/agent.sock"
    server = Server(socket.AF_UNIX, path)
    os.chmod(path, 0o777)
    r = b.py(f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('{path}'); print(s.recv(9))")
    server.close()
    want(r.code != 0 and not server.reached, "reached", r)


def case_unix_path_out_of_reach(b):
    """In a folder that nobody in the sandbox can enter it needs no hiding, and costs no command."""
    folder = f"{b.outside}/shut"
    os.mkdir(folder)
    server = Server(socket.AF_UNIX, f"{folder}/sock")
    if os.geteuid() == 0:
        os.chown(folder, 12345, 12345)
    os.chmod(folder, 0o700 if os.geteuid() == 0 else 0)
    r = b.sh("echo fine")
    os.chmod(folder, 0o700)
    server.close()
    want(r.out == "fine\n" and not server.reached, "a command was lost", r)


def case_unix_abstract(b):
    name = "\0" + os.path.basename(b.base)
    server = Server(socket.AF_UNIX, name)
    r = b.py(f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0{name[1:]}'); print(s.recv(9))")
    server.close()
    want(r.code != 0 and not server.reached, "reached", r)


def case_other_sockets(b):
    for family, kind, proto in ((17, 3, 3), (40, 1, 0), (38, 5, 0), (16, 3, 15), (16, 3, 9), (2, 3, 1), (2, 3, 255), (31, 3, 1), (21, 5, 0)):
        r = b.py(f"import socket; socket.socket({family}, {kind}, {proto})")
        want(r.code != 0, f"a socket of family {family}, kind {kind}, protocol {proto}", r)


def case_run_is_hidden(b):
    r = b.sh("echo $SSH_AUTH_SOCK$DISPLAY$DBUS_SESSION_BUS_ADDRESS$DOCKER_HOST$TMUX",
             env={"SSH_AUTH_SOCK": "/tmp/a", "DISPLAY": ":0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/x", "DOCKER_HOST": "unix:///y", "TMUX": "/z"})
    want(r.out == "\n", "addresses of agents", r)
    if b.kind == "bwrap":
        want(b.sh("ls -A /run").out == "", "/run")
        refused(b.sh("touch /run/x"), "sandbox")


@only("bwrap")
def case_own_loopback(b):
    """Tests of a project that start a server work."""
    r = b.py("import socket, threading\ns = socket.create_server(('127.0.0.1', 0))\n"
             "threading.Thread(target=lambda: s.accept()[0].sendall(b'mine')).start()\n"
             "print(socket.create_connection(s.getsockname()).recv(9))\n"
             "u = socket.socket(socket.AF_UNIX); u.bind('u.sock'); u.listen(); v = socket.socket(socket.AF_UNIX); v.connect('u.sock')")
    want(r.code == 0 and "mine" in r.out, "no loopback", r)


@only("bwrap")
def case_other_loopback_is_told(b):
    refused(b.py("import socket\ntry: socket.create_connection(('127.0.0.1', 9))\nexcept OSError as e: raise SystemExit(f'127.0.0.1: {e}')"),
            "loopback is the command's own")


def case_socket_pairs(b):
    want(b.py("import socket; a, c = socket.socketpair(); a.send(b'x'); print(c.recv(1))").code == 0, "socketpair")


@only("bwrap")
def case_proxy(b):
    """All that leads out is the proxy's socket."""
    path = f"{b.base}/proxy.sock"
    server = Server(socket.AF_UNIX, path)
    os.chmod(path, 0o777)
    r = b.py("import os, socket\np = os.environ['HTTPS_PROXY'].rsplit(':', 1)[1]\n"
             "print(socket.create_connection(('127.0.0.1', int(p)), 5).recv(9))", ["--proxy", path])
    want(r.code == 0 and "REACHED" in r.out, "the proxy is not reached", r)
    other = Server(socket.AF_INET, ("127.0.0.1", 0))
    r = b.py(f"import socket; print(socket.create_connection(('127.0.0.1', {other.s.getsockname()[1]}), 3).recv(9))", ["--proxy", path])
    want(r.code != 0 and not other.reached, "a way past the proxy", r)
    r = b.py("import socket; socket.getaddrinfo('example.com', 80)", ["--proxy", path])
    refused(r, "proxy", "allowedDomains")
    server.close()
    other.close()


def case_open_network(b):
    server = Server(socket.AF_INET, ("127.0.0.1", 0))
    options = b.settings(network={"allowedDomains": ["*"]})
    r = b.py(f"import socket; print(socket.create_connection(('127.0.0.1', {server.s.getsockname()[1]}), 5).recv(9))", options)
    want(r.code == 0 and "REACHED" in r.out, "allowedDomains * opens it", r)
    name = "\0" + os.path.basename(b.base)
    hidden = Server(socket.AF_UNIX, name)
    r = b.py(f"import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0{name[1:]}'); print(s.recv(9))", options)
    want(r.code != 0 and not hidden.reached, "with the network open an abstract socket is reached", r)
    server.close()
    hidden.close()


@only("bwrap")
def case_sockets_that_come_and_go(b):
    """One that is gone before it is hidden costs no command."""
    stop = threading.Event()

    def churn():
        i = 0
        while not stop.is_set():
            i += 1
            path = f"{b.outside}/s{i % 40}"
            s = socket.socket(socket.AF_UNIX)
            s.bind(path)
            s.listen()
            s.close()
            os.unlink(path)
    t = threading.Thread(target=churn)
    t.start()
    try:
        for _ in range(10):
            r = b.sh("echo fine")
            want(r.out == "fine\n", "a command was lost", r)
    finally:
        stop.set()
        t.join()
