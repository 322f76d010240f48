"""The Python of docs/python.md and of the package's README does what they say."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "python/README.md"])
def test_blocks_of_a_page_run(page, monkeypatch, capsys):
    for module in ("pandas", "sklearn", "sympy"):
        pytest.importorskip(module)
    path = ROOT / page
    if not path.exists() or not (ROOT / "examples").exists():
        pytest.skip("not in the source tree")
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert "R1*R2/(R1 + R2)" in capsys.readouterr().out


def test_pairs_are_a_data_set_of_pytorch():
    pytest.importorskip("torch")
    example = ROOT / "examples" / "torch_pairs.py"
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=300,
                          env={**os.environ})
    assert done.stdout.startswith("pairs ") and "data (32, 16, 3)" in done.stdout, done.stdout + done.stderr
