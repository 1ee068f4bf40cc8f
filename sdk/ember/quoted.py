"""Any text becomes a part of generated C, CMake, linker scripts or HTML.

Names come from programs, files and boards. Whatever writes them into such a text asks
here, so that no name can end a comment or a string, or be taken for anything else.
"""

from __future__ import annotations

import html as markup
import re

_MOST_STRING = 4095  # characters of a literal, as C promises
_MOST_NAME = 200  # characters of an identifier, which becomes that of a file
# Names of targets that CMake keeps for itself.
_TARGETS = {
    *("all", "clean", "depend", "edit_cache", "help", "install", "package"),
    *("package_source", "preinstall", "rebuild_cache", "test"),
}


def c_string(text: str) -> str:
    """A C constant `const char *`: a literal, if C allows one of that length."""
    content = text.encode("utf-8", "replace")
    if len(content) > _MOST_STRING:
        signed = (byte - 256 if byte > 127 else byte for byte in (*content, 0))
        return f"(const char[]){{{', '.join(map(str, signed))}}}"
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
        for byte in content
    )
    return f'"{plain}"'


def comment(text: str) -> str:
    """Text for one line of a comment in C or a linker script. Without trigraphs,
    because a `??/` at its end is a backslash, which would continue the comment."""
    return re.sub(r"[^ -~]|[\\?*]", ".", text)


def identifier(text: str) -> str:
    """Letters, digits and _, as part of a C identifier or macro."""
    return re.sub(r"\W", "_", text, flags=re.ASCII)[:_MOST_NAME]


def cmake(text: str) -> str:
    """A quoted argument for CMake."""
    escaped = re.sub(r'[\\"$]', r"\\\g<0>", text)
    return f'"{escaped}"'.replace("\r", "\\r")


def target(text: str) -> str:
    """The name of a CMake target and of its file, also within quotes of a shell."""
    plain = re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII)
    fits = re.match(r"\w", plain) and plain.lower() not in _TARGETS
    return plain if fits else f"app_{plain}"


def pattern(text: str) -> str:
    """A file name for a linker script, in which special characters match themselves."""
    return re.sub(r"[^\w./-]", "?", text, flags=re.ASCII)


def html(words: object) -> str:
    """Text for HTML, also in attributes, or for XML."""
    return markup.escape(
        "".join(c if c.isprintable() else "\ufffd" for c in str(words))
    )
