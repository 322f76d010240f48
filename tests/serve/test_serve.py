"""The server as a browser, a script and an attacker meet it."""
import csv
import http.client
import json
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

from server import HARD, KEPLER, PROGRAM, ROOT, SLOW, Server, wait_for


@pytest.fixture(scope="module")
def server():
    with Server("--max-jobs", "2", "--max-seconds", str(30 * SLOW), "--max-body", "1000000", "--max-rows", "5000",
                "--max-columns", "50") as s:
        yield s


def is_error(reply, status):
    """The right status, in the form that all errors have."""
    assert reply.status == status, reply
    error = reply.json["error"]
    assert error["status"] == status and error["text"] and error["remedy"], error
    assert reply.headers["Content-Type"] == "application/json"
    return True


def status_of(raw):
    assert raw.startswith(b"HTTP/1.1 "), raw[:200]
    return int(raw[9:12])


# ---------------------------------------------------------------- pages, info, examples

def test_info_names_limits_and_options(server):
    info = server.get("/api/v1/info").json
    assert info["limits"]["body_bytes"] == 1000000 and info["limits"]["rows"] == 5000
    names = [o["name"] for o in info["options"]]
    assert {"target", "inputs", "effort", "timeout", "seed"} <= set(names)
    assert not {"file", "model", "out", "plot", "candidates", "threads", "json"} & set(names)
    assert info["model"]["parameters"] > 1000 and info["study"] is None
    effort = next(o for o in info["options"] if o["name"] == "effort")
    assert effort["choices"] == ["low", "normal", "high"] and effort["default"] == "normal"


def test_examples_are_the_installed_tables(server):
    examples = server.get("/api/v1/examples").json["examples"]
    assert {e["name"] for e in examples} == {p.name for p in (ROOT / "examples").glob("*.csv")}
    kepler = next(e for e in examples if e["name"] == "kepler.csv")
    assert "planets" in kepler["title"] and "sqrt(a^3)" in kepler["text"]
    r = server.get("/api/v1/examples/kepler.csv")
    assert r.text == KEPLER and r.headers["Content-Type"].startswith("text/csv")


def test_files_have_tags_and_head_has_no_body(server):
    r = server.get("/api/v1/examples/wind.csv")
    again = server.get("/api/v1/examples/wind.csv", If_None_Match=r.headers["ETag"])
    assert again.status == 304 and again.bytes == b""
    head = server.ask("HEAD", "/api/v1/examples/wind.csv")
    assert head.status == 200 and head.bytes == b""
    assert int(head.headers["Content-Length"]) == len(r.bytes)


def test_every_reply_has_the_headers_of_a_safe_page(server):
    for path in ("/api/v1/info", "/", "/nothing", "/api/v1/examples/kepler.csv"):
        h = server.get(path).headers
        assert "default-src 'self'" in h["Content-Security-Policy"], path
        assert h["X-Content-Type-Options"] == "nosniff" and h["Referrer-Policy"] == "no-referrer"


@pytest.mark.skipif(not (ROOT / "web/index.html").exists(), reason="there is no page")
def test_the_page_is_served(server):
    r = server.get("/")
    assert r.status == 200 and r.headers["Content-Type"].startswith("text/html")
    scripts = re.findall(r'src="(\.?/?[\w.]+\.js)"', r.text)
    assert scripts
    for name in scripts:
        assert server.get("/" + name.lstrip("./")).headers["Content-Type"].startswith("text/javascript")


def test_routes_and_the_openapi_file_agree(server):
    routes = {(r["method"], r["path"]) for r in server.get("/api/v1").json["routes"]}
    described = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
    assert routes == {(m.upper(), path) for path, of in described.items() for m in of}


# ---------------------------------------------------------------- tables and formulas

def test_a_table_is_described(server):
    t = server.post("/api/v1/table", KEPLER, Content_Type="text/csv").json
    assert t["rows"] == 8 and t["target"] == "T" and t["inputs"] == ["a"]
    assert [c["kind"] for c in t["columns"]] == ["text", "number", "number"]
    t = server.post("/api/v1/table?separator=semicolon", KEPLER.replace(",", ";"), Content_Type="text/csv")
    assert t.json["rows"] == 8
    assert is_error(server.post("/api/v1/table?out=x", KEPLER, Content_Type="text/csv"), 400)
    assert is_error(server.post("/api/v1/table?model=/etc/passwd", KEPLER, Content_Type="text/csv"), 400)


def test_an_unreadable_table_is_400_and_names_no_path(server):
    r = server.post("/api/v1/table", "a,b\n1,2\n3\n4,5,6\n", Content_Type="text/csv")
    assert r.status in (200, 400)
    job = server.start("a,b\n1,x\n2,y\n")
    s = server.wait(job)
    assert s["state"] == "failed" and s["error"]["status"] == 400 and s["result"] is None
    assert "/proc" not in s["error"]["text"] and "table.csv" in s["error"]["text"]


def test_formulas_come_in_all_formats(server):
    r = server.post("/api/v1/formula", {"text": "b + a*sin(a)", "names": ["a", "b"]}).json
    assert r["canonical"] == "a*sin(a) + b" and "<math" in r["mathml"]
    assert r["formats"]["python"] and r["formats"]["c"] and r["formats"]["latex"] == r["latex"]
    bad = server.post("/api/v1/formula", {"text": "a*sin(b", "names": ["a", "b"]})
    assert is_error(bad, 400) and "column 6" in bad.json["error"]["text"]
    for body in ({}, {"text": 1}, {"text": "x1", "names": "a"}, {"text": "x1", "names": [1]}, {"text": "x1", "no": 1},
                 {"text": "x1", "format": "unknown"}, {"text": "x" * 500000}):
        assert is_error(server.post("/api/v1/formula", body), 400) if len(str(body)) < 1000 else True


# ---------------------------------------------------------------- jobs

def test_a_job_finds_the_law_and_tells_what_it_does(server):
    job = server.start()
    events = server.events(f"/api/v1/jobs/{job}/events")
    ids, names = [e[0] for e in events], [e[1] for e in events]
    assert ids == sorted(set(ids)) and names[-2:] == ["result", "end"] and "progress" in names
    assert "front" in names and events[-1][2] == {"state": "done"}
    front = [e[2]["front"] for e in events if e[1] == "front"][-1]
    assert [f["size"] for f in front] == sorted({f["size"] for f in front})
    assert all({"formula", "latex", "mathml", "r2", "rms", "size", "bits"} == set(f) for f in front)
    s = server.state(job)
    assert s["state"] == "done" and s["result"] == events[-2][2] and s["error"] is None
    assert s["result"]["formula"] == "a^(3/2)" and s["front"] == front and s["seconds"] > 0


def test_the_result_is_that_of_the_command_line(server, tmp_path):
    s = server.wait(server.start(seed=3))
    (tmp_path / "t.csv").write_text(KEPLER)
    r = subprocess.run([PROGRAM, "discover", str(tmp_path / "t.csv"), "--json", "--seed", "3"], capture_output=True)
    ours, theirs = s["result"], json.loads(r.stdout)
    for member in ("formula", "r2", "within_noise", "counts"):
        assert ours[member] == theirs[member]
    drop = lambda front: [{k: v for k, v in f.items() if k != "seconds"} for f in front]
    assert drop(ours["front"]) == drop(theirs["front"])


def test_a_stream_goes_on_behind_the_last_event(server):
    job = server.start()
    server.wait(job)
    whole = server.events(f"/api/v1/jobs/{job}/events")
    assert len(whole) >= 3
    for last in (0, whole[0][0], whole[-2][0]):
        assert server.events(f"/api/v1/jobs/{job}/events", last) == [e for e in whole if e[0] > last]
    assert server.events(f"/api/v1/jobs/{job}/events", whole[-1][0]) == []
    assert server.events(f"/api/v1/jobs/{job}/events", "nonsense") == whole


def test_a_candidate_has_what_a_picture_needs(server):
    job = server.start((ROOT / "examples/wind.csv").read_text())
    s = server.wait(job)
    for f in s["result"]["front"]:
        c = server.get(f"/api/v1/jobs/{job}/candidates/{f['place']}").json
        rows = c["rows"]
        assert rows["names"] == ["d", "v"] and rows["target"] == "P" and rows["shown"] == rows["of"] == len(rows["y"])
        assert len(rows["x"]) == 2 and len(rows["x"][0]) == len(rows["fitted"]) == len(rows["residual"])
        for y, fit, left in zip(rows["y"], rows["fitted"], rows["residual"]):
            assert left == pytest.approx(y - fit, abs=1e-9)
        rms = (sum(r * r for r in rows["residual"]) / len(rows["y"])) ** 0.5
        assert rms == pytest.approx(f["rms"], rel=1e-6)
        assert len(c["grid"]["y"]) == len(c["grid"]["x2"]) == 60 and len(c["grid"]["y"][0]) == 60
        assert [p["name"] for p in c["partial"]] == ["d", "v"]
    best = server.get(f"/api/v1/jobs/{job}/candidates/1").json
    value = lambda d, v: eval(best["formats"]["python"], {"d": d, "v": v})
    assert best["grid"]["y"][7][31] == pytest.approx(value(best["grid"]["x1"][31], best["grid"]["x2"][7]), rel=1e-9)
    assert is_error(server.get(f"/api/v1/jobs/{job}/candidates/100000"), 404)
    assert is_error(server.get(f"/api/v1/jobs/{job}/candidates/x"), 404)


def test_all_rows_come_with_values_and_residuals(server, tmp_path):
    """Of more rows than a picture shows: those of the command line, and any formula of the front."""
    lines = ["k,a b,y"] + [f"row {i},{i % 977 / 10},{3 * (i % 977 / 10) ** 2 + 0.5}" for i in range(1, 4001)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    job = server.start("\n".join(lines))
    front = server.wait(job)["result"]["front"]
    best = next(f for f in front if f["place"] == 1)
    reply = server.post("/api/v1/fitted", {"csv": "\n".join(lines), "formula": best["formula"]})
    assert reply.status == 200 and reply.headers["Content-Type"].startswith("text/csv"), reply
    rows = list(csv.reader(reply.text.splitlines()))
    assert rows[0] == ["k", "a b", "y", "y_fitted", "y_residual"] and len(rows) == 4001
    done = subprocess.run([PROGRAM, "discover", str(tmp_path / "t.csv"), "--quiet", "--fitted", str(tmp_path / "f.csv")],
                          capture_output=True, timeout=120 * SLOW)
    theirs = list(csv.reader((tmp_path / "f.csv").read_text().splitlines()))
    assert done.returncode == 0 and rows[0] == theirs[0] and [r[:3] for r in rows] == [r[:3] for r in theirs]
    for ours, their in zip(rows[1:], theirs[1:]):
        assert float(ours[3]) == pytest.approx(float(their[3]), rel=1e-12)
        assert float(ours[4]) == pytest.approx(float(ours[2]) - float(ours[3]), abs=1e-9)
    shown = server.get(f"/api/v1/jobs/{job}/candidates/{best['place']}").json["rows"]
    assert shown["shown"] == 2000 and shown["of"] == 4000


def test_one_input_has_a_curve(server):
    job = server.start()
    server.wait(job)
    c = server.get(f"/api/v1/jobs/{job}/candidates/1").json
    assert len(c["curve"]["x"]) == len(c["curve"]["y"]) == 400
    assert c["curve"]["y"][100] == pytest.approx(c["curve"]["x"][100] ** 1.5, rel=1e-6)


def test_odd_names_of_columns_stay(server):
    table = "a \"b\",größe,sin,y\n".replace('a "b"', '"a ""b"""')
    table += "".join(f"{i},{i % 7 + 1},{i % 5 + 2},{i * (i % 7 + 1) / (i % 5 + 2)}\n" for i in range(1, 40))
    job = server.start(table)
    s = server.wait(job)
    assert s["state"] == "done", s["error"]
    c = server.get(f"/api/v1/jobs/{job}/candidates/1")
    assert c.status == 200 and c.json["rows"]["names"] == ['a "b"', "größe", "sin"], c
    assert max(abs(x) for x in c.json["rows"]["residual"]) < 1e-9
    for f in s["result"]["front"]:
        if "`" in f["formula"]:  # a number alone has no column
            assert server.post("/api/v1/fitted", {"csv": table, "formula": f["formula"]}).text.count("\n") == 40


def test_cancelling_frees_the_worker_at_once():
    with Server("--max-jobs", "1", "--max-seconds", "3600") as s:
        long = s.start(HARD, effort="high")
        s.wait_for_formulas(long)
        waits = s.start()
        assert s.state(waits)["state"] == "queued"
        assert s.ask("DELETE", f"/api/v1/jobs/{long}").status == 202
        assert s.wait(waits)["state"] == "done"
        ended = s.wait(long)
        assert ended["state"] == "cancelled" and ended["result"]["cut"] == "cancel"
        assert s.ask("DELETE", f"/api/v1/jobs/{long}").status == 200  # it has ended


def test_a_job_that_waits_is_cancelled_at_once(server):
    jobs = [server.start(HARD, effort="high") for _ in range(3)]
    assert server.ask("DELETE", f"/api/v1/jobs/{jobs[2]}").json["state"] == "cancelled"
    events = server.events(f"/api/v1/jobs/{jobs[2]}/events")
    assert [e[1] for e in events] == ["end"]
    for job in jobs[:2]:
        server.ask("DELETE", f"/api/v1/jobs/{job}")
        server.wait(job)


def test_two_users_get_their_own_answers(server):
    tables = {f: (ROOT / "examples" / f).read_text() for f in ("kepler.csv", "resistors.csv")}
    answers = {}

    def user(name):
        for _ in range(3):
            s = server.wait(server.start(tables[name]))
            answers.setdefault(name, []).append((s["result"]["data"]["target"], s["result"]["formula"]))
    threads = [threading.Thread(target=user, args=(name,)) for name in tables]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert {a[0] for a in answers["kepler.csv"]} == {"T"} and len(set(answers["kepler.csv"])) == 1
    assert {a[0] for a in answers["resistors.csv"]} == {"R"} and len(set(answers["resistors.csv"])) == 1


def test_the_time_limit_gives_a_result(server):
    s = server.wait(server.start(HARD, effort="high", timeout=1))
    assert s["state"] == "done" and s["result"]["cut"] == "time"


@pytest.mark.parametrize("options", [{"file": "/etc/passwd"}, {"model": "/etc/passwd"}, {"out": "/tmp/x"},
                                     {"plot": "x.svg"}, {"candidates": "x"}, {"threads": 64}, {"nothing": 1},
                                     {"target": [1]}, {"effort": "extreme"}, {"max-memory": 1e6}])
def test_options_of_files_and_of_the_machine_are_refused(server, options):
    r = server.post("/api/v1/discover", {"csv": KEPLER, "options": options})
    if r.status == 202:  # known, with a value that the library refuses
        assert server.wait(r.json["job"])["error"]["status"] == 400
    else:
        assert is_error(r, 400)


@pytest.mark.parametrize("body", [{}, {"csv": 1}, {"csv": ""}, {"csv": KEPLER, "options": []},
                                  {"csv": KEPLER, "extra": 1}, {"csv": KEPLER, "options": {"target": "a\0b"}}])
def test_bodies_that_are_no_jobs_are_refused(server, body):
    assert is_error(server.post("/api/v1/discover", body), 400)


def test_unknown_jobs_are_404(server):
    for path in ("", "/events", "/candidates/1"):
        assert is_error(server.get("/api/v1/jobs/0123456789abcdef0123456789abcdef" + path), 404)
    assert is_error(server.ask("DELETE", "/api/v1/jobs/0"), 404)


# ---------------------------------------------------------------- sets and pairs

def test_the_universe_is_listed_found_and_searched(server):
    u = server.get("/api/v1/universe?depth=2&start=900&count=50").json
    assert u["count"] == 929 and u["hash"] == "869a90a8c1121705af106b093a99a6f3"
    assert [x["distinct"] for x in u["levels"]] == [2, 18, 909]
    assert [i["index"] for i in u["items"]] == list(range(900, 929)) and u["next"] is None
    assert server.get("/api/v1/universe?depth=1&count=3").json["next"] == 3
    found = server.get("/api/v1/universe?depth=2&find=x1*x2/x1").json
    assert found["index"] == 1 and found["item"]["formula"] == "x2" and found["item"]["level"] == 0
    assert server.get("/api/v1/universe?depth=1&find=x1%5E7").json == {"index": None, "item": None}
    sines = server.get("/api/v1/universe?depth=2&contains=sin(x1)&count=200").json["items"]
    assert len(sines) > 10 and all("sin(x1)" in i["formula"] for i in sines)
    for query in ("depth=4", "depth=x", "variables=0", "count=1000", "ops=nothing", "find=)", "unknown=1",
                  "depth=1&depth=2", "start=-1", "format=infix", "find=x1&contains=x"):
        assert is_error(server.get("/api/v1/universe?" + query), 400)


def test_pairs_are_those_of_the_command_line(server):
    p = server.get("/api/v1/pair?depth=2&split=test&index=11").json
    r = subprocess.run([PROGRAM, "pairs", "--depth", "2", "--split", "test", "--index", "11"], capture_output=True,
                       text=True, check=True)
    theirs = json.loads(r.stdout.splitlines()[0])
    assert p["y"] == pytest.approx(theirs["y"], rel=1e-15) and len(p["x"]) == 2
    drawn = server.get("/api/v1/pair?depth=1&member=5&draw=2").json
    assert drawn["member"] == 5
    assert server.get("/api/v1/pair?depth=1&member=5&draw=1").json["index"] < drawn["index"]
    for query in ("split=none", "depth=1&member=1000", "depth=1&index=999999999999", "draw=1", "index=1&member=1"):
        assert is_error(server.get("/api/v1/pair?" + query), 400)


# ---------------------------------------------------------------- refusals

@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:%d",
                                  "127.0.0.1:%d@evil.example", "", "[::2]:%d", "192.168.0.1:%d"])
def test_foreign_hosts_are_misdirected(server, host):
    host = host % server.port if "%d" in host else host
    assert is_error(server.get("/api/v1/info", Host=host), 421)


def test_own_hosts_are_taken(server):
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert server.get("/api/v1/info", Host=f"{host}:{server.port}").status == 200


def test_a_request_has_one_host(server):
    assert status_of(server.raw(b"GET / HTTP/1.1\r\n\r\n")) == 400
    two = b"GET /api/v1/info HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nHost: evil\r\n\r\n" % server.port
    assert status_of(server.raw(two)) == 400


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:%d", "http://127.0.0.1",
                                    "http://localhost:%d.evil.example"])
def test_other_pages_cannot_post_or_delete(server, origin):
    origin = origin % server.port if "%d" in origin else origin
    assert is_error(server.post("/api/v1/formula", {"text": "x1"}, Origin=origin), 403)
    assert is_error(server.ask("DELETE", "/api/v1/jobs/0", Origin=origin), 403)
    assert is_error(server.post("/api/v1/formula", {"text": "x1"}, Sec_Fetch_Site="cross-site"), 403)


def test_the_own_page_can(server):
    assert server.post("/api/v1/formula", {"text": "x1"}, Origin=f"http://127.0.0.1:{server.port}").status == 200


@pytest.mark.parametrize("path", ["/../etc/passwd", "/..%2fetc/passwd", "/%2e%2e/x", "/api/v1/examples/..%2f..%2fREADME.md",
                                  "/api/v1/examples/%2e%2e", "/a%00b", "/%", "/%zz", "/a%0ab", "/%ff%fe", "/a%5cb",
                                  "/api/v1/examples/.", "/api/v1/universe?find=%00", "/api/v1/universe?find=%ff"])
def test_tricks_with_paths_are_400(server, path):
    assert is_error(server.get(path), 400)


@pytest.mark.parametrize("path", ["/index.htm", "//", "/api", "/api/v1/", "/api/v2/info", "/api/v1/examples/README.md",
                                  "/api/v1/examples/passwd", "/api/v1/a/b/c/d/e/f/g/h/i/j", "/api/v1/examples/",
                                  "/web/index.html", "/etc/passwd", "/api/v1/study"])
def test_what_is_not_there_is_404(server, path):
    assert is_error(server.get(path), 404)


def test_wrong_methods_are_405_with_the_right_ones(server):
    r = server.ask("PUT", "/api/v1/info")
    assert is_error(r, 405) and r.headers["Allow"] == "GET, HEAD"
    assert server.get("/api/v1/discover").headers["Allow"] == "POST"
    assert "DELETE" in server.post("/api/v1/jobs/0", "{}", Content_Type="application/json").headers["Allow"]
    for method in ("OPTIONS", "PATCH", "TRACE", "NONSENSE"):
        assert server.ask(method, "/api/v1/info").status == 405


def test_addresses_that_are_too_long_are_414(server):
    assert server.get("/" + "a" * 6000).status == 414


@pytest.mark.parametrize("body, reason", [("{", "line 1"), ('{"text": NaN}', "line 1"), ("[1]", "object"), ("", "line 1"),
                                          ('{"text": "\\ud800"}', ""), ('{"text":"a","text":"b"}', ""),
                                          ('{"text": ' + "[" * 5000 + "}", "brackets"), ("\xff", "")])
def test_malformed_json_is_400(server, body, reason):
    r = server.post("/api/v1/formula", body.encode("latin-1"), Content_Type="application/json")
    assert is_error(r, 400) and reason in r.json["error"]["text"]


def test_other_types_of_bodies_are_415(server):
    multipart = "--x\r\nContent-Disposition: form-data; name=csv; filename=a\r\n\r\n1,2\r\n--x--\r\n"
    for kind in ("multipart/form-data; boundary=x", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"):
        assert is_error(server.post("/api/v1/discover", multipart, Content_Type=kind), 415)
        assert is_error(server.post("/api/v1/table", multipart, Content_Type=kind), 415)
    assert server.post("/api/v1/formula", '{"text":"x1"}', Content_Type="Application/JSON ; charset=utf-8").status == 200


def head(server, *lines):
    return "\r\n".join(["POST /api/v1/table HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Content-Type: text/csv",
                        *lines, "", ""]).encode()


def test_a_gigabyte_is_refused_before_it_is_read(server):
    raw = server.raw(head(server, "Content-Length: 1000000000") + b"1,2\n" * 1000)
    assert status_of(raw) == 413 and b"1000000000 bytes" in raw
    raw = server.raw(head(server, "Content-Length: 1000000000", "Expect: 100-continue"))
    assert status_of(raw) == 413
    assert status_of(server.raw(head(server, "Content-Length: 99999999999999999999999"))) in (400, 413)
    assert status_of(server.raw(head(server, "Content-Length: -1"))) == 400
    assert server.rss() < 600e6


def test_bodies_have_a_length(server):
    assert status_of(server.raw(head(server))) == 411
    assert status_of(server.raw(head(server, "Transfer-Encoding: chunked") + b"3\r\n1,2\r\n0\r\n\r\n")) == 411


def test_gets_have_no_body(server):
    r = b"GET /api/v1/info HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 3\r\n\r\nabc" % server.port
    assert status_of(server.raw(r)) == 400


def test_tables_that_are_too_large_are_413(server):
    rows = "a,b\n" + "1,2\n" * 6000
    wide = ",".join(f"c{i}" for i in range(60)) + "\n" + ",".join("1" * 60) + "\n"
    for table in (rows, wide):
        assert is_error(server.post("/api/v1/table", table, Content_Type="text/csv"), 413)
        assert is_error(server.post("/api/v1/discover", {"csv": table}), 413)
        assert is_error(server.post("/api/v1/fitted", {"csv": table, "formula": "a"}), 413)


def test_ten_thousand_headers_are_431(server):
    lines = "".join(f"X-{i}: {i}\r\n" for i in range(10000))
    for many in (lines, lines[:2000]):
        raw = server.raw(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{many}\r\n".encode())
        assert status_of(raw) == 431
    assert server.get("/api/v1/info").status == 200


@pytest.mark.parametrize("data", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 1000,
                                  b"GET http://evil/ HTTP/1.1\r\nHost: evil\r\n\r\n", b"\x16\x03\x01\x02\x00\x01",
                                  b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"A" * 100000])
def test_what_is_no_http_does_no_harm(server, data):
    raw = server.raw(data, wait=1)
    assert raw == b"" or status_of(raw) >= 400
    assert server.get("/api/v1/info").status == 200


def test_requests_come_one_after_the_other_on_a_connection(server):
    c = server.connect()
    for _ in range(50):
        c.request("GET", "/api/v1/info")
        assert len(c.getresponse().read()) > 1000
        c.request("POST", "/api/v1/formula", body='{"text":"x1"}', headers={"Content-Type": "application/json"})
        assert c.getresponse().read().startswith(b'{"canonical"')
    c.close()


# ---------------------------------------------------------------- limits

def test_one_client_has_so_many_jobs():
    with Server("--max-jobs", "1", "--max-client", "2") as s:
        jobs = [s.start(HARD, effort="high") for _ in range(2)]
        r = s.post("/api/v1/discover", {"csv": KEPLER})
        assert is_error(r, 429) and r.headers["Retry-After"]
        s.ask("DELETE", f"/api/v1/jobs/{jobs[1]}")
        assert s.post("/api/v1/discover", {"csv": KEPLER}).status == 202


def test_a_full_queue_is_503():
    with Server("--max-jobs", "1", "--max-queue", "1", "--max-client", "10") as s:
        [s.start(HARD, effort="high") for _ in range(2)]
        r = s.post("/api/v1/discover", {"csv": KEPLER})
        assert is_error(r, 503) and r.headers["Retry-After"]


def test_too_many_connections_are_503():
    with Server("--max-connections", "8") as s:
        held = []
        for _ in range(8):
            held.append(s.connect())
            held[-1].connect()
        wait_for(lambda: (r := s.get("/api/v1/info")).status == 503 and is_error(r, 503))
        for c in held:
            c.close()
        wait_for(lambda: s.get("/api/v1/info").status == 200)


def test_a_job_that_nobody_follows_is_cancelled():
    with Server("--max-jobs", "1", "--max-seconds", "3600") as s:
        job = s.start(HARD, effort="high")
        s.events(f"/api/v1/jobs/{job}/events", most=2)  # and away
        other = s.start(HARD, effort="high")  # never followed: it stays, and begins when the first is cancelled
        s.wait(other, "running")
        assert s.state(job)["state"] == "cancelled"


def test_slow_clients_are_closed_and_others_served():
    with Server() as s:
        slow = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(20)]
        begin = b"GET /api/v1/info HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX: " % s.port
        half = head(s, "Content-Length: 100") + b"half of it"
        for i, c in enumerate(slow):
            c.sendall(begin if i % 2 else half)
        end, closed = time.monotonic() + 180 * SLOW, set()
        while len(closed) < len(slow) and time.monotonic() < end:
            assert s.get("/api/v1/info").status == 200
            for i, c in enumerate(slow):
                if i in closed:
                    continue
                try:
                    c.sendall(b"y")
                    c.setblocking(False)
                    if c.recv(1000) == b"":
                        closed.add(i)
                except BlockingIOError:
                    pass
                except OSError:
                    closed.add(i)
                finally:
                    c.setblocking(True)
            time.sleep(0.5)
        assert len(closed) == len(slow)


# ---------------------------------------------------------------- a token

def test_elsewhere_a_token_is_asked_for():
    with Server("--bind", "0.0.0.0") as s:
        assert re.fullmatch(r"[0-9a-f]{32}", s.token)
        for path in ("/", "/api/v1/info", "/api/v1/nothing", "/api/v1/jobs/0"):
            r = s.get(path)
            assert is_error(r, 401) and r.headers["WWW-Authenticate"] == "Bearer"
            assert s.get(path, Authorization="Bearer " + s.token[:-1] + "x").status == 401
            assert s.get(path, Authorization="Basic " + s.token).status == 401
        assert s.get("/api/v1/info", Authorization=f"Bearer {s.token}").status == 200
        r = s.get(f"/?token={s.token}")
        assert r.status == 303 and r.headers["Location"] == "/"
        cookie = r.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert s.get("/api/v1/info", Cookie=cookie.split(";")[0]).status == 200
        assert s.get("/api/v1/info", Cookie="a=b; " + cookie.split(";")[0] + "; c=d").status == 200
        assert s.get("/api/v1/info", Cookie=cookie.split(";")[0] + "0").status == 401
        assert s.get("/api/v1/info?token=" + s.token).status == 400  # of the page alone
        assert is_error(s.get("/api/v1/info", Host="evil.example", Authorization=f"Bearer {s.token}"), 421)


def test_a_token_and_names_can_be_given():
    with Server("--token", "abcd1234", "--host", "lab,box.example") as s:
        assert s.get("/api/v1/info").status == 401
        assert s.get("/api/v1/info", Authorization="Bearer abcd1234", Host=f"box.example:{s.port}").status == 200
        assert s.get("/api/v1/info", Authorization="Bearer abcd1234", Host=f"ox.example:{s.port}").status == 421


# ---------------------------------------------------------------- start and end

@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_gracefully_with_a_running_job(how):
    """Each of many readers gets the result and the end of the stream before the server goes."""
    s = Server("--max-jobs", "1")
    job = s.start(HARD, effort="high")
    waits = s.start()
    s.wait_for_formulas(job)
    connections = [s.connect() for _ in range(20)]
    replies = []
    for c in connections:
        c.request("GET", f"/api/v1/jobs/{job}/events")
        replies.append(c.getresponse())
        replies[-1].readline()
    code, _, err = s.stop(how)
    assert code == 0, err
    for r in replies:
        rest = r.read().decode()
        assert '"cancelled"' in rest and "event: result" in rest
    for c in connections:
        c.close()
    del waits


def test_a_port_in_use_is_named():
    with Server() as s:
        r = subprocess.run([PROGRAM, "serve", "--port", str(s.port)], capture_output=True, text=True, timeout=60 * SLOW)
        assert r.returncode == 3 and "in use" in r.stderr and "--port 0" in r.stderr and r.stdout == ""


@pytest.mark.parametrize("args, text", [(["--port", "70000"], "0 to 65535"), (["--port", "x"], "whole number"),
                                        (["--bind", "nowhere"], "not an address"), (["--token", "a b"], "--token"),
                                        (["--unknown"], "unknown option"), (["word"], "unexpected argument"),
                                        (["--max-seconds", "0"], "--max-seconds"), (["--study", ""], "--study")])
def test_wrong_use_is_explained(args, text):
    r = subprocess.run([PROGRAM, "serve", *args], capture_output=True, text=True, timeout=60 * SLOW)
    assert r.returncode in (2, 3) and text in r.stderr and r.stdout == "", r


# ---------------------------------------------------------------- a study

@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study of tiny runs, still running."""
    folder = tmp_path_factory.mktemp("study") / "quick"
    work = subprocess.Popen([PROGRAM, "study", "run", str(ROOT / "studies/quick.json"), "--out", str(folder)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: list(folder.glob("runs/*/log.jsonl")))
    yield folder
    work.terminate()
    work.wait(timeout=120 * SLOW)


def test_a_running_study_is_watched(study):
    with Server("--study", str(study)) as s:
        now = s.get("/api/v1/study").json
        assert now["name"] == "quick" and len(now["runs"]) > 5 and not now["complete"]
        assert {"id", "size", "phase", "state", "batch", "lr", "step", "steps", "loss_valid"} <= set(now["runs"][0])
        events = s.events("/api/v1/study/events", most=3)
        assert [e[1] for e in events] == ["study"] * 3 and events[0][2] != events[2][2]
        name = next(p.parent.name for p in study.glob("runs/*/log.jsonl"))
        run = s.get(f"/api/v1/study/runs/{name}").json
        assert run["name"] == name and run["config"]["batch"] > 0
        steps = [p["step"] for p in run["curve"] if "loss" in p]
        assert steps and steps == sorted(steps) and len(steps) <= 502
        for bad in ("nothing", "..", "%2e%2e%2fplan.json", "."):
            assert s.get(f"/api/v1/study/runs/{bad}").status in (400, 404)
        assert is_error(s.get("/api/v1/study/report"), 404)
        assert s.get("/api/v1/info").json["study"] == {"name": "quick"}


PLAN = {
    "name": "tiny", "train": {"depth": 1, "points": 4, "ops": "+,*", "valid-pairs": 8, "dropout": 0, "attention-dropout": 0},
    "sizes": [{"width": 8, "layers": 1}, {"width": 16, "layers": 1}],
    "sweep": {"ratio": 2, "batch": [4], "lr": [8e-3], "grow": 0}, "scale": {"ratios": [1, 3], "seeds": [0]},
    "eval": {"test": {"limit": 4, "seeds": 1, "samples": 4}},
}


def test_laws_form_while_runs_finish(tmp_path):
    """Of a folder without one of its runs, then with it, then with the laws that the study itself has written."""
    plan, folder, aside = tmp_path / "tiny.json", tmp_path / "tiny", tmp_path / "aside"
    plan.write_text(json.dumps(PLAN))
    subprocess.run([PROGRAM, "study", "run", str(plan), "--out", str(folder), "--quiet"], check=True,
                   stdout=subprocess.DEVNULL, timeout=300 * SLOW)
    runs = sorted(folder.glob("runs/*"))
    run = next(r for r in runs if "-r3-" in r.name)
    run.rename(aside)
    with Server("--study", str(folder)) as s:
        def laws(n):
            """The state once the laws are of n runs."""
            return wait_for(lambda: (now := s.get("/api/v1/study").json) and (now["preliminary"] or {}).get("runs") == n and now)

        def fitted():
            r = subprocess.run([PROGRAM, "laws", str(folder), "--draws", "200", "--json"], capture_output=True, check=True)
            return {k: v for k, v in json.loads(r.stdout).items() if k not in ("exit", "command", "version", "config", "seconds")}
        now = laws(len(runs) - 1)
        assert now["preliminary"] == {"runs": len(runs) - 1, "of": now["planned"]} and now["planned"] == len(runs)
        assert now["laws"] == fitted() and now["laws"]["loss"]["known"]
        entry = next(r for r in now["runs"] if r["id"] == runs[0].name)
        assert entry["batch"] == 4 and entry["lr"] == 8e-3 and entry["step"] == entry["steps"] > 0
        before = now["laws"]["loss"]
        final, kept = folder / "laws.json", (folder / "laws.json").read_text()
        final.unlink()
        aside.rename(run)
        now = laws(len(runs))
        assert now["laws"] == fitted() and now["laws"]["loss"] != before
        final.write_text(kept)
        now = wait_for(lambda: (now := s.get("/api/v1/study").json)["preliminary"] is None and now)
        assert now["laws"] == json.loads(kept)


def test_a_report_is_sandboxed(tmp_path, study):
    (tmp_path / "plan.json").write_text((study / "plan.json").read_text())
    (tmp_path / "report.html").write_text("<!DOCTYPE html><title>report</title>")
    with Server("--study", str(tmp_path)) as s:
        r = s.get("/api/v1/study/report")
        assert r.status == 200 and "report" in r.text
        policy = r.headers["Content-Security-Policy"]
        assert policy.startswith("sandbox") and "allow-same-origin" not in policy


# ---------------------------------------------------------------- the document

def test_the_commands_of_the_document_run(server):
    lines = (ROOT / "docs/api.md").read_text().splitlines()
    code = [line[4:] for line in lines if line.startswith("    ")]
    assert code[0].startswith("symlaw serve --port 8017") and code[1] == "url=http://127.0.0.1:8017"
    text = "\n".join([f"url=http://127.0.0.1:{server.port}"] + code[2:])
    # each reply on its own, failing where one does
    text = re.sub(r"^curl -s", "echo ==; curl --fail-with-body -s", text, flags=re.M)
    r = subprocess.run(["bash", "-e", "-c", text], cwd=ROOT, capture_output=True, text=True, timeout=120 * SLOW)
    assert r.returncode == 0, r.stdout[-500:] + r.stderr
    replies = r.stdout.split("==\n")[1:]
    assert len(replies) == len(re.findall(r"^curl", "\n".join(code), re.M)) and all(replies)
    assert '"error":{"status"' not in r.stdout and "a^(3/2)" in replies[0]
