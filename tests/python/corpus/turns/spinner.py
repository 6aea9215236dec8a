"""Spinner."""

import itertools, sys, threading, time


class Spinner:
    def __enter__(self):
        self.done = False
        self.t = threading.Thread(target=self.run)
        self.t.start()
        return self

    def run(self):
        while not self.done:
            time.sleep(0.01)

    def __exit__(self, *a):
        self.done = True
        self.t.join()


with Spinner():
    print("busy")
print("end")
