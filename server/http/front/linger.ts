import type { ServerResponse } from "node:http";

/** For how long what a client still sends is read and dropped, in milliseconds: in all, and while nothing comes. */
const LINGER_MS = 30_000;
const SILENT_MS = 5000;

/**
 * Lets an answer reach a client that is still sending. The connection ends with the answer, but closing one with bytes
 * unread resets it, and a reset may take away what the client has not read yet (RFC 9112, section 9.6). So only our half
 * ends at first, and what comes is dropped until the client ends its half, stops sending or has had its time.
 */
export function lingerAfter(response: ServerResponse): void {
  response.setHeader("connection", "close");
  const { req, socket } = response;
  if (!socket || req.complete) return;
  const { destroySoon } = socket;
  // What Node calls once the answer has been written.
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    if (req.complete) return socket.destroySoon();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once("close", () => clearTimeout(timer)).setTimeout(SILENT_MS, () => socket.destroy());
    // Not by way of the request: whoever had enough of its body may have destroyed that, and then nothing is read any more.
    socket.removeAllListeners("data").on("data", () => undefined);
    socket.resume();
    socket.end();
  };
}
