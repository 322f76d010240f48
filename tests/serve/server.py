"""Starts `symlaw serve` and talks to it. SYMLAW names the program; else the release build is taken."""
import http.client
import json
import os
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


class Server:
    def __init__(self, *args, **more):
        self.process = subprocess.Popen([PROGRAM, "serve", *args], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, **more)
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

    def raw(self, data, wait=10):
        """Bytes to the socket; what comes back until it is closed or quiet."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait * SLOW) as s:
            try:
                s.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            s.settimeout(wait * SLOW)
            got = b""
            try:
                while True:
                    piece = s.recv(65536)
                    if not piece:
                        break
                    got += piece
                    if b"\r\n\r\n" in got:
                        s.settimeout(0.3)
            except (TimeoutError, socket.timeout, ConnectionResetError):
                pass
            return got

    def start(self, csv=KEPLER, **options):
        r = self.post("/api/v1/discover", {"csv": csv, "options": options})
        assert r.status == 202, r
        return r.json["job"]

    def state(self, job):
        return self.get(f"/api/v1/jobs/{job}").json

    def wait(self, job, *states, seconds=60):
        end = time.monotonic() + seconds * SLOW
        while time.monotonic() < end:
            s = self.state(job)
            if s["state"] in (states or ("done", "failed", "cancelled")):
                return s
            time.sleep(0.05)
        raise AssertionError(f"still {s['state']}")

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

    def stop(self, how=signal.SIGTERM, seconds=20):
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
