"""Manager."""

import multiprocessing as mp


def work(d, l, i):
    d[i] = i * i
    l.append(i)


if __name__ == "__main__":
    with mp.Manager() as m:
        d = m.dict()
        l = m.list()
        ps = [mp.Process(target=work, args=(d, l, i)) for i in range(3)]
        for p in ps:
            p.start()
        for p in ps:
            p.join()
        print(dict(sorted(d.items())), sorted(l))
