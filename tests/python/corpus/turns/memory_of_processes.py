"""Memory of processes."""

import multiprocessing as mp

count = 0
seen = []


def work(x):
    global count
    count += 1
    seen.append(x)
    return x


if __name__ == "__main__":
    with mp.Pool(2) as p:
        print(p.map(work, [1, 2, 3]))
    print(count, seen)
    p = mp.Process(target=work, args=(1,))
    p.start()
    p.join()
    print(count, seen, p.exitcode, p.is_alive())
