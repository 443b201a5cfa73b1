"""Runs the conversations of `clients.py` with the proxy of LiteLLM in front of the server.

Usage: python proxy.py URL, with a Python that has `litellm[proxy]`. The server is that of `clients.py`.
"""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

URL = sys.argv[1]
CONFIG = f"""
model_list:
  - model_name: assistant
    litellm_params: {{model: openai/assistant, api_base: "{URL}/v1", api_key: none, max_retries: 0}}
litellm_settings: {{num_retries: 0, request_timeout: 60, telemetry: false}}
router_settings: {{num_retries: 0}}
"""


def is_ready(url):
    try:
        return urllib.request.urlopen(f"{url}/health/liveliness", timeout=5).status == 200
    except (urllib.error.URLError, OSError):
        return False


def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "config.yaml")
        config.write_text(CONFIG)
        program = pathlib.Path(sys.executable).with_name("litellm")
        command = [str(program), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        with open(pathlib.Path(folder, "log"), "w+") as log:
            proxy = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=os.environ)
            try:
                url = f"http://127.0.0.1:{port}"
                while proxy.poll() is None and not is_ready(url):
                    pass
                clients = str(pathlib.Path(__file__).with_name("clients.py"))
                result = subprocess.run([sys.executable, "-B", clients, "proxy", url, "-", "-"]).returncode
            finally:
                proxy.terminate()
                proxy.wait()
            if result:
                log.seek(0)
                print(log.read()[-4000:])
            return result


sys.exit(main())
