"""Reading zip archives that came from elsewhere: every member checked, nothing ever extracted to disk."""

from __future__ import annotations

import stat
import zlib
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile, ZipInfo

from tasks.errors import UserError

MEGABYTE = 1 << 20
MEMBER_LIMIT = 256 * MEGABYTE
TOTAL_LIMIT = 512 * MEGABYTE
MEMBERS_LIMIT = 10_000


def read_archive(path: Path, *, member_limit: int = MEMBER_LIMIT, total_limit: int = TOTAL_LIMIT) -> dict[str, bytes]:
    """The content of every file in the archive, by its path inside it, in memory.

    Args:
        path: a zip file.
        member_limit: largest size of one member, in bytes as decompressed, not as declared.
        total_limit: largest size of all members together.

    Raises:
        UserError: for a member that leaves the archive's folder, is a link or encrypted, comes twice, or is
            too large; for a damaged archive.
    """
    contents: dict[str, bytes] = {}
    left = total_limit
    try:
        with ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MEMBERS_LIMIT:
                raise refusal(path, f"holds more than {MEMBERS_LIMIT} members")
            for member in members:
                name = safe_name(path, member)
                if member.is_dir():
                    continue
                if name in contents:
                    raise refusal(path, f"member {name!r} comes twice")
                limit = min(member_limit, left)
                with archive.open(member) as stream:
                    content = stream.read(limit + 1)
                if len(content) > limit:
                    raise refusal(path, f"member {name!r} is larger than allowed")
                left -= len(content)
                contents[name] = content
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise UserError(f"{path}: not a readable zip archive; delete it and download it again") from error
    return contents


def safe_name(path: Path, member: ZipInfo) -> str:
    """The member's path with single slashes, refused unless it stays inside the archive's folder."""
    name = member.filename
    parts = PurePosixPath(name).parts
    if name.startswith("/") or "\\" in name or ":" in name or ".." in parts or not parts:
        raise refusal(path, f"member {name!r} would leave its folder")
    mode = member.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise refusal(path, f"member {name!r} is a link or a device")
    if member.flag_bits & 0x1:
        raise refusal(path, f"member {name!r} is encrypted")
    return str(PurePosixPath(*parts))


def refusal(path: Path, reason: str) -> UserError:
    """The error for an archive that must not be read."""
    return UserError(f"{path}: refused: {reason}; get the archive from its publisher again")
