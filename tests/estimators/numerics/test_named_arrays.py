"""Arrays by name: the same numbers from every kind of file, and clear words for one that is none."""

from pathlib import Path

import numpy as np
import pytest
import scipy.io

from estimators.numerics.named_arrays import arrays

T = np.arange(40) / 7
X = np.column_stack([np.sin(T), np.cos(T)])


def test_every_kind_of_file_gives_the_same_numbers_to_the_bit(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "a.mat", {"t": T, "rec": {"x": X, "gain": 2.5}, "words": "no number"})
    np.savez(tmp_path / "a.npz", t=T, x=X, words=np.array(["no", "number"]))
    rows = (",".join(map(repr, map(float, (t, *x)))) for t, x in zip(T, X, strict=True))
    (tmp_path / "a.csv").write_text("\n".join(['t, "x0" ,x1', *rows, ""]))
    mat, npz, csv = (arrays(tmp_path / f"a.{kind}") for kind in ("mat", "npz", "csv"))
    assert set(mat) == {"t", "rec.x", "rec.gain"}
    assert float(mat["rec.gain"]) == 2.5
    assert set(npz) == {"t", "x"}
    for t, x in ((mat["t"], mat["rec.x"]), (npz["t"], npz["x"]), (csv["t"], np.column_stack([csv["x0"], csv["x1"]]))):
        assert np.array_equal(t, T)
        assert np.array_equal(x, X)


@pytest.mark.parametrize("gap", ["", "n/a", "-"])
def test_what_is_no_number_is_nan_and_its_neighbours_stay(tmp_path: Path, gap: str) -> None:
    (tmp_path / "a.csv").write_text(f"t,x\n0.1,1.5\n0.2,{gap}\n0.3,2.5\n")
    found = arrays(tmp_path / "a.csv")
    assert np.array_equal(found["t"], [0.1, 0.2, 0.3])
    assert np.array_equal(found["x"], [1.5, np.nan, 2.5], equal_nan=True)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.bag", b"", r"expected one of \.mat, \.npz, \.npy, \.csv.*, found \.bag"),
        ("a.mat", b"rubbish", "cannot be read"),
        ("a.npz", b"rubbish", "cannot be read"),
        ("a.csv", b"t,x\n1\n2\n", "cannot be read: the first line names 2 columns, the others have 1"),
        ("a.csv", b"t,x\n1,2\n3\n", "cannot be read"),
        ("a.csv", b"\xff\xfe\n1\n", "cannot be read"),
    ],
)
def test_a_file_that_is_none_is_said_in_words(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=words):
        arrays(tmp_path / name)


def test_an_empty_file_has_nothing(tmp_path: Path) -> None:
    for content in ("", "t,x\n", "t,x\n\n"):
        (tmp_path / "a.csv").write_text(content)
        assert arrays(tmp_path / "a.csv") == {}
