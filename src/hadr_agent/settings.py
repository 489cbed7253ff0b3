"""Settings: the only room that reads the environment and `.env`, and the one that knows where the prompts are.

It does not know what the settings are used for. Flags beat the environment, the environment `.env`, and `.env` the
defaults.
"""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

DEFAULT_MODEL = "minimax-m3"


class SettingsError(ValueError):
    """A setting that cannot be used: which one, what is wrong, what to do."""


@dataclass(frozen=True)
class Settings:
    """Where the model is and what it needs.

    `base_url` None means OpenAI's own. `drop_fields`: see `OpenAIProvider`. `sources`: where each setting came from.
    """

    api_key: str | None = field(repr=False)
    base_url: str | None
    model: str
    drop_fields: tuple[str, ...]
    sources: Mapping[str, str]

    @property
    def offline(self) -> bool:
        """Is there no model to talk to, so that the stand-in answers?"""
        return self.api_key is None and self.base_url is None

    @property
    def shown_url(self) -> str:
        """The base URL without the credentials that it may hold."""
        return "not set" if self.base_url is None else _shown(self.base_url)


def load_settings(model: str | None = None) -> Settings:
    """Read the settings; `model` is the flag's.

    Variables that `.env` sets and the environment does not are put into the environment, where tools find them too.
    Raises SettingsError.
    """
    from_file = _read_dotenv(Path(".env"))
    sources = {name: "the environment" if name in os.environ else ".env" for name in {*from_file, *os.environ}}
    os.environ |= {name: value for name, value in from_file.items() if name not in os.environ}
    key, url = os.environ.get("OPENAI_API_KEY") or None, os.environ.get("OPENAI_BASE_URL")
    if key is not None and not re.fullmatch(r"[\x21-\x7e]+", key):
        raise SettingsError(
            f"OPENAI_API_KEY (from {sources['OPENAI_API_KEY']}) holds a line break, a space or a special character. "
            "Set it again, the key alone."
        )
    if url is not None:
        _check_url(url, sources["OPENAI_BASE_URL"])
        if key is None and not _is_loopback(url):
            raise SettingsError(
                "OPENAI_BASE_URL names a server on the network, but OPENAI_API_KEY is not set. "
                "Set the key, or unset OPENAI_BASE_URL to run offline."
            )
    sources |= {"HADR_MODEL": "--model"} if model else {}
    model = model or os.environ.get("HADR_MODEL") or DEFAULT_MODEL
    dropped = tuple(filter(None, re.split(r"[,\s]+", os.environ.get("HADR_DROP_FIELDS", ""))))
    names = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HADR_MODEL", "HADR_DROP_FIELDS")
    return Settings(key, url, model, dropped, {name: sources.get(name, "the default") for name in names})


def _read_dotenv(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values  # only where there is such a file

    try:
        values = {name: value for name, value in dotenv_values(path).items() if value is not None}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    if any("\0" in name + value for name, value in values.items()):
        raise SettingsError(f"{path} cannot be read: it holds a NUL character")
    return values


def _check_url(url: str, source: str) -> None:
    """Say what is wrong with a base URL before the first request does, in words nobody understands."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        (parts.hostname or "").encode("idna")  # what the connection will do with the name
    except ValueError:
        parts, usable = None, False
    name = f"OPENAI_BASE_URL (from {source})"
    if not url:
        raise SettingsError(f"{name} is set but empty. Unset it, or give the API's address, such as https://host/v1.")
    if not usable or parts is None or re.search(r"[\s\x00-\x1f\x7f]", url):
        raise SettingsError(f"{name} is not an address: {_shown(url)!r}. It looks like http://localhost:8000/v1.")
    if parts.path.rstrip("/").endswith("/chat/completions") or parts.query or parts.fragment:
        raise SettingsError(f"{name} goes too far: leave out /chat/completions and all behind it.")


def _shown(url: str) -> str:
    return re.sub(r"//.*@", "//***@", url)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def prompts_folder() -> Path:
    """The folder of the prompts: in an installed package beside this file, in a checkout at its root."""
    installed = Path(__file__).with_name("prompts")
    return installed if installed.is_dir() else Path(__file__).parents[2] / "prompts"
