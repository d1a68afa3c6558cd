"""Listens where systemd would (sys.argv[1]) and prints each word that it is told, one a line."""
import os
import socket
import sys

listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
print("listening", flush=True)
while True:
    told, descriptors, _, _ = socket.recv_fds(listener, 4096, 4)
    for descriptor in descriptors:
        # The sender waits until the other end of its pipe is closed.
        os.close(descriptor)
    for word in told.decode().splitlines():
        print(word, flush=True)
