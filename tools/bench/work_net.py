# SPDX-License-Identifier: GPL-2.0-only
"""What servers do: accept, read requests, answer, over loopback."""
import select
import socket

CLIENTS, ROUNDS = 12, 120


def answer(request):
    method, path, *fields = request.decode().split("\r\n")[0].split(" ")
    body = "%s %s %s\n" % (method, path, fields) * 4
    return ("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)).encode()


server = socket.create_server(("127.0.0.1", 0), backlog=CLIENTS)
clients = [socket.create_connection(server.getsockname()) for _ in range(CLIENTS)]
poll = select.epoll()
peers = {}
for _ in clients:
    peer, _ = server.accept()
    peers[peer.fileno()] = peer
    poll.register(peer, select.EPOLLIN)
received = 0
for number in range(ROUNDS):
    for client in clients:
        client.sendall(b"GET /page/%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % number)
    left = CLIENTS
    while left:
        for fileno, _ in poll.poll():
            peers[fileno].sendall(answer(peers[fileno].recv(4096)))
            left -= 1
    for client in clients:
        received += len(client.recv(65536))
print(received)
