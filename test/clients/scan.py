"""The second example of the API's documentation: a client in Python that keeps the pin.

It is written against the standard library, in the manner of the requests package. Host
and key come from the environment. It prints one JSON response a line: the list's first
scan, a scan with the pin of the first, and one of a changed list.
"""

import json
import os
import urllib.request


class Response:
    def __init__(self, raw):
        self.status_code = raw.status
        self.headers = raw.headers
        self.text = raw.read().decode("utf-8")

    def json(self):
        return json.loads(self.text)


def post(url, headers, json):
    request = urllib.request.Request(
        url, data=dumps(json).encode(), headers={**headers, "Content-Type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=30) as raw:
        return Response(raw)


dumps = json.dumps

tools = [
    {
        "name": "read_file",
        "description": "Read a file.",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
    {"name": "echo", "description": "Echo it back \u2014 unchanged.", "annotations": {"readOnlyHint": True}},
]
stored_pin = None  # the first time

for description in ["Read a file.", "Read a file.", "Read a file, or a folder."]:
    tools[0]["description"] = description
    resp = post(
        os.environ["API_HOST"] + "/api/v1/mcp/manifest-scan",
        headers={"X-API-Key": os.environ["API_KEY"]},
        json={"tools": tools, "pin": stored_pin},
    )
    scan = resp.json()
    for finding in scan["findings"]:
        assert finding["code"] and finding["tool"] and finding["reason"], finding
    print(resp.text.strip())
    stored_pin = stored_pin or scan["sha256"]
