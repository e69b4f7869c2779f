#!/usr/bin/python3 -B
"""hungfs.py DIRECTORY [UID [OPTION]]: mount a FUSE file system there whose server takes every request and answers only the first, as an NFS
or Lustre server does that is gone while its client has a hard mount: who asks it anything cannot be killed.  It ends with us.
With UID it is that user's own, as fusermount makes it: root gets EACCES, unless OPTION is allow_other."""
import ctypes
import os
import struct
import sys

FUSE_INIT = 26
HEADER = 40  # of a request; of an answer it is 16


def answer_init(fd, unique, readahead):
    """struct fuse_init_out of protocol 7.31, 64 bytes"""
    out = struct.pack("<IIIIHHII", 7, 31, readahead, 0, 12, 10, 1 << 16, 1).ljust(64, b"\0")
    os.write(fd, struct.pack("<IiQ", 16 + len(out), 0, unique) + out)


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open("/dev/fuse", os.O_RDWR)
    uid, *more = sys.argv[2:] or ["0", "allow_other"]
    options = ",".join([f"fd={fd},rootmode=40000,user_id={uid},group_id={uid}", *more])
    if libc.mount(b"hung", sys.argv[1].encode(), b"fuse", 0, options.encode()) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    while True:
        try:
            got = os.read(fd, 1 << 17)
        except OSError:
            break
        _, opcode, unique = struct.unpack_from("<IIQ", got)
        if opcode == FUSE_INIT:
            answer_init(fd, unique, struct.unpack_from("<III", got, HEADER)[2])


main()
