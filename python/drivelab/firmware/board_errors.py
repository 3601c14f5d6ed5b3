"""What ssh says when it does not reach a board, in a line that says what to do."""

from __future__ import annotations

from drivelab.errors import UsageError


def ssh_error(place: str, host: str, port: int | None, said: str) -> UsageError:
    """Return the error for what ssh wrote before it gave up.

    Parameters
    ----------
    place
        The board as it is called.
    host, port
        Where it is.
    said
        What ssh wrote.
    """
    known = host if port is None else f"'[{host}]:{port}'"
    at_port = "" if port is None else f" -p {port}"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    last = lines[-1] if lines else "ssh gave no reason"
    if "IDENTIFICATION HAS CHANGED" in said:
        return UsageError(
            f"{place} shows another key than ssh knows for it: another machine answers, or it was "
            f"set up anew; if you know why, forget the old one: ssh-keygen -R "
            f"{known}"
        )
    if "Host key verification failed" in said or "host key is known for" in said:
        return UsageError(
            f"ssh does not know {place}: look at its key (ssh-keyscan{at_port} {host} | ssh-keygen "
            f"-lf -), compare it with the board's own, then log in once by hand to keep it (ssh"
            f"{at_port} {place})"
        )
    if "Permission denied" in said or "Too many authentication failures" in said:
        return UsageError(
            f"{place} lets nobody in with the keys of this machine: put a public key there "
            f"(ssh-copy-id{at_port} {place}); no password is asked for"
        )
    return UsageError(f"{place} cannot be reached: {last.removeprefix('ssh: ')}")
