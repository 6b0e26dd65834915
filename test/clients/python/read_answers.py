"""Reads answers by a client that openapi-python-client made: one line of JSON for each that it can't read."""

import importlib
import json
import pathlib
import re
import sys

import httpx

folder, answers = sys.argv[1:]
sys.path.insert(0, folder)
package = next(path.parent.name for path in pathlib.Path(folder).glob("*/client.py"))
modules = {
    path.stem: f"{package}.api.{path.parent.name}.{path.stem}"
    for path in pathlib.Path(folder, package, "api").glob("*/*.py")
}
client = importlib.import_module(f"{package}.client").Client(
    base_url="http://127.0.0.1", raise_on_unexpected_status=True
)
read = 0
for answer in json.loads(pathlib.Path(answers).read_text()):
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", answer["operationId"]).lower()
    module = importlib.import_module(modules[name])
    try:
        parsed = module._parse_response(
            client=client, response=httpx.Response(answer["status"], json=answer["body"])
        )
        assert parsed is not None, "nothing was read"
        words = [json.dumps(body).count("a_newer_word") for body in (parsed.to_dict(), answer["body"])]
        assert words[0] == words[1], f"read as {parsed.to_dict()}"
        read += 1
    except Exception as error:  # noqa: BLE001
        print(json.dumps({"answer": answer["operationId"], "status": answer["status"], "fault": repr(error)}))
print(json.dumps({"read": read}))
