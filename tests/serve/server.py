"""Starts `symlaw serve` and talks to it. SYMLAW names the program; else the release build is taken."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

os.environ.setdefault("SYMLAW_CACHE", "off")
ROOT = Path(__file__).parents[2]
PROGRAM = os.environ.get("SYMLAW") or str(ROOT / "build" / "symlaw")
SLOW = float(os.environ.get("SYMLAW_TEST_SLOW", "1"))  # times are longer by this under sanitizers

# no formula: the search goes through all of its steps
HARD = "x1,x2,x3,y\n" + "".join(
    f"{(i * 7919) % 1000 / 100},{(i * 104729) % 997 / 100},{(i * 1299709) % 991 / 100},"
    f"{(i * 15485863) % 983 / 7}\n" for i in range(1, 300))
KEPLER = (ROOT / "examples/kepler.csv").read_text()


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.bytes = response.read()

    @property
    def text(self):
        return self.bytes.decode()

    @property
    def json(self):
        return json.loads(self.bytes)

    def __repr__(self):
        return f"{self.status} {self.bytes[:500]!r}"


def is_whole(raw):
    """Does it have as many bytes behind the headers as they say?"""
    head, _, body = raw.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", head)
    return bool(length) and len(body) >= int(length[1])


def wait_for(condition, seconds=120):
    """The first value that is true."""
    end = time.monotonic() + seconds * SLOW
    while not (found := condition()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
    return found


class Server:
    def __init__(self, *args, **more):
        # a shell has its background jobs ignore SIGINT, and what they start inherits that
        self.process = subprocess.Popen([PROGRAM, "serve", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **more)
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://"), (self.url, self.process.stderr.read())
        rest = self.url.split("//")[1].split("/")[0]
        self.host, port = rest.rsplit(":", 1)
        self.port = int(port)
        self.token = self.url.split("token=")[1] if "token=" in self.url else None

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout * SLOW)

    def ask(self, method, path, body=None, **headers):
        """One request on a connection of its own."""
        c = self.connect()
        headers = {k.replace("_", "-"): v for k, v in headers.items()}
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        try:
            c.request(method, path, body=body.encode() if isinstance(body, str) else body, headers=headers)
            return Reply(c.getresponse())
        finally:
            c.close()

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, body, **headers):
        return self.ask("POST", path, body, **headers)

    def raw(self, data, wait=30):
        """Bytes to the socket; what comes back: one reply, or all until the socket is closed or quiet for `wait` seconds."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait * SLOW) as s:
            got = b""
            try:
                s.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            try:
                while not is_whole(got) and (piece := s.recv(65536)):
                    got += piece
            except (TimeoutError, socket.timeout, ConnectionResetError):
                pass
            return got

    def start(self, csv=KEPLER, **options):
        r = self.post("/api/v1/discover", {"csv": csv, "options": options})
        assert r.status == 202, r
        return r.json["job"]

    def state(self, job):
        return self.get(f"/api/v1/jobs/{job}").json

    def wait(self, job, *states):
        """Its state, once it is one of these, or has ended."""
        return wait_for(lambda: (s := self.state(job))["state"] in (states or ("done", "failed", "cancelled")) and s)

    def wait_for_formulas(self, job):
        """Until it has some: a job that is cancelled has a result from then on."""
        wait_for(lambda: self.state(job)["front"])

    def events(self, path, last=None, most=None):
        """The events of a stream until its end, or the first `most`: (id, name, data)."""
        c = self.connect()
        c.request("GET", path, headers={"Last-Event-ID": str(last)} if last is not None else {})
        r = c.getresponse()
        assert r.status == 200 and r.headers["Content-Type"] == "text/event-stream", r.status
        found, now = [], {}
        for line in r:
            line = line.decode().rstrip("\n")
            if line.startswith(":"):
                continue
            if line:
                name, value = line.split(": ", 1)
                now[name] = value
            elif now:
                found.append((int(now["id"]), now["event"], json.loads(now["data"])))
                now = {}
                if most and len(found) >= most:
                    break
        c.close()
        return found

    def rss(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024

    def stop(self, how=signal.SIGTERM, seconds=60):
        if self.process.poll() is None:
            self.process.send_signal(how)
        out, err = self.process.communicate(timeout=seconds * SLOW)
        return self.process.returncode, out, err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            code, _, err = self.stop()
            assert code == 0, (code, err)
