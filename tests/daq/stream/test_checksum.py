"""A sealed content is read back exactly, or refused with the reason."""

from pathlib import Path

import pytest

from daq.stream.checksum import HEAD, DamagedError, SealedFile, seal, seal_text, unseal, unseal_text

CONTENT = bytes(range(256))


def test_what_is_sealed_is_read_back_and_what_follows_does_not_count() -> None:
    for content in (b"", b"x", CONTENT):
        assert unseal(seal(content)) == content
        assert unseal(seal(content) + CONTENT) == content


def test_every_changed_bit_and_every_missing_byte_is_noticed() -> None:
    sealed = seal(CONTENT[:20])
    for place in range(8 * len(sealed)):
        damaged = bytearray(sealed)
        damaged[place // 8] ^= 1 << place % 8
        with pytest.raises(DamagedError, match="damaged"):
            unseal(bytes(damaged))
    for length in range(len(sealed)):
        with pytest.raises(DamagedError, match="too few" if length < HEAD.size else "expected 20 bytes, found"):
            unseal(sealed[:length])
    with pytest.raises(DamagedError, match="an earlier version wrote it"):
        unseal(CONTENT)


def test_json_with_its_checksum_is_the_same_text_without_and_any_change_is_noticed() -> None:
    text = b'{\n "version": 1,\n "joints": {\n  "elbow": "00000000"\n }\n}'
    sealed = seal_text(text)
    assert unseal_text(sealed) == unseal_text(text) == text
    for place in range(len(sealed) - len(b'",\n "checksum": "00000000"\n}')):
        with pytest.raises(DamagedError, match="was edited"):
            unseal_text(sealed[:place] + b"~" + sealed[place + 1 :])


def test_a_file_is_written_in_place_and_read_by_the_next_process(tmp_path: Path) -> None:
    for content, before in ((CONTENT, b""), (b"short", CONTENT), (b"", b"short"), (CONTENT, b"")):
        file = SealedFile(tmp_path / "counters")
        assert file.read() == before
        file.write(content)
        assert file.read() == content
        file.close()
    assert (tmp_path / "counters").stat().st_mode & 0o077 == 0, "no other user reads or writes it"
