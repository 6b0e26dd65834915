"""Where the API is, and who asks."""

from __future__ import annotations

import os
import re
from typing import Dict, Optional

from .version import VERSION


def base_url_of(given: Optional[str]) -> str:
    """The address of the API, from GPU_API_URL by default, without a slash at its end."""
    url = (given or os.environ.get("GPU_API_URL") or "").strip()
    if not re.match(r"^https?://[^\s/?#@]+(/[^\s?#]*)?$", url):
        raise ValueError(
            "base_url (or GPU_API_URL) must be an http or https address such as https://api.example.com"
            + (f", not {url!r}" if url else "")
        )
    return url.rstrip("/")


def headers_of(api_key: Optional[str], user_agent: Optional[str]) -> Dict[str, str]:
    """What each request tells of who asks. A key that no header could carry is refused without being shown."""
    headers = {"User-Agent": user_agent or f"gpu-rental-python/{VERSION}"}
    if api_key is not None:
        if not re.match(r"^[\x21-\x7e]+\Z", api_key.strip()):
            raise ValueError("api_key (or GPU_API_KEY) is not a key: it is gpur_ and 36 letters and digits")
        headers["Authorization"] = f"Bearer {api_key.strip()}"
    return headers
