"""Members of a job that are threads of one process, without Dask: each has its own box of letters."""

from concurrent.futures import ThreadPoolExecutor

from nearfield.cluster.letters import Box
from nearfield.cluster.members import Members


class Boxes:
    """The boxes of all threads; a letter is put where it belongs at once."""

    def __init__(self, boxes, rank):
        self.boxes, self.rank = boxes, rank

    def box(self, job):
        return self.boxes[self.rank]

    def send(self, address, job, number, sender, values):
        self.boxes[int(address)].put(number, sender, values)


def together(count, work):
    """What `work(members)` gives in each of so many threads, in their order."""
    boxes = [Box() for _ in range(count)]
    addresses = tuple(str(rank) for rank in range(count))

    def one(rank):
        try:
            return work(Members(Boxes(boxes, rank), "job", rank, addresses))
        except BaseException as error:
            for box in boxes:
                box.end(repr(error))
            raise

    with ThreadPoolExecutor(count) as pool:
        pending = [pool.submit(one, rank) for rank in range(count)]
    errors = [each.exception() for each in pending if each.exception() is not None]
    if errors:
        raise next((each for each in errors if type(each).__name__ != "Ended"), errors[0])
    return [each.result() for each in pending]
