"""Thread class."""

import threading, time


class W(threading.Thread):
    def __init__(self, n):
        super().__init__(name=f"w{n}")
        self.__n = n
        self.r = None

    def run(self):
        for i in range(2):
            time.sleep(0.01 * self.__n)
        self.r = self.__n * 10


ws = [W(i) for i in range(1, 4)]
for w in ws:
    w.start()
print(any(w.is_alive() for w in ws))
for w in ws:
    w.join()
print([w.r for w in ws])
