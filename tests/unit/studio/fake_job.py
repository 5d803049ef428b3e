"""Jobs that do not do what a job should: they are slow, fail, flood, die or will not stop. Run in place of the real process."""

from __future__ import annotations

import os
import signal
import socket
import time

from hushtable.errors import Fault, InputError, PlanError
from hushtable.studio import job_process
from hushtable.table.disk import whole_folder

SECRET = "Maria Musterfrau"


def quick(request, folder, progress):
    progress("counting", 0.5)
    progress("counting", 1.0)
    (folder / "ran").write_text(str(request["n"]))
    return {"n": request["n"]}


def slow(request, folder, progress):
    progress.plan({"walking": 3.0, "resting": 1.0})
    with whole_folder(folder / "release") as partial:
        (partial / "data.csv").write_text("half")
        for step in range(600):
            progress("walking", step / 600)
            time.sleep(0.05)
    return {}


def stubborn(request, folder, progress):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with whole_folder(folder / "release"):
        progress("refusing to stop", 0.1)
        time.sleep(60)
    return {}


def refuses(request, folder, progress):
    error = InputError([Fault("k", "must be at least 2"), Fault("column age", "has no domain")])
    error.add_note("nothing was spent")
    raise error


def plans(request, folder, progress):
    raise PlanError("this cannot be done")


def breaks(request, folder, progress):
    raise ValueError(SECRET)


def runs_out(request, folder, progress):
    raise MemoryError


def floods(request, folder, progress):
    for step in range(50_000):
        progress.voice.say(name=f"stage {step % 7}", share=step / 50_000, done=1, total=7)
    return {"flooded": True}


def babbles(request, folder, progress):
    progress.voice._pipe.write(b"no JSON\n")
    time.sleep(60)
    return {}


def goes_on_and_on(request, folder, progress):
    while True:
        progress.voice._pipe.write(b"x" * 65536)


def prints(request, folder, progress):
    os.write(1, b'{"result": {"forged": true}}\n')
    print(SECRET)  # noqa: T201 - it must go nowhere
    return {}


def dies(request, folder, progress):
    os.kill(os.getpid(), signal.SIGKILL)


def leaves(request, folder, progress):
    os._exit(3)


def connects(request, folder, progress):
    try:
        socket.create_connection(("192.0.2.1", 80), 0.2)
    except ConnectionRefusedError as error:
        return {"refused": str(error)}
    return {}


if __name__ == "__main__":
    names = (
        quick,
        slow,
        stubborn,
        refuses,
        plans,
        breaks,
        runs_out,
        floods,
        babbles,
        goes_on_and_on,
        prints,
        dies,
        leaves,
        connects,
    )
    job_process.run({one.__name__: f"tests.unit.studio.fake_job:{one.__name__}" for one in names})
