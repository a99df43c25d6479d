"""A real server on this machine for tests: with or without ranges, breaking off, refusing."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from imputefree.lab.studies._data_files import File


class Web:
    """What the server holds and does, and the ranges it was asked for."""

    def __init__(self, content):
        self.content = content
        self.ranges = True  # honour Range
        self.breaks = []  # after so many bytes, one entry per answer; then it behaves
        self.status = 200
        self.asked = []
        self.address = ""

    def file(self, content=None, name="thing.bin"):
        known = hashlib.sha256(self.content if content is None else content).hexdigest()
        return File(name, f"{self.address}/{name}?download", known)


@contextmanager
def serving(content):
    web = Web(content)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            wanted = self.headers.get("Range")
            web.asked.append(wanted)
            if web.status != 200:
                self.send_error(web.status)
                return
            start = int(wanted[6:-1]) if wanted and web.ranges else 0
            if start >= len(web.content) and start:
                self.send_error(416)
                return
            body = web.content[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: web.breaks.pop(0)] if web.breaks else body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.address = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
