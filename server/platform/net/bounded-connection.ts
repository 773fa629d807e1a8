import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { AnswerTooLong } from "#server/platform/net/read-up-to.ts";

/**
 * A TCP connection that is cut once more than `most` bytes have come in over it, for drivers that read whatever a server
 * sends. Encrypted or not: what comes in is counted below TLS, which does not compress.
 */
export class BoundedConnection extends Duplex {
  readonly #socket = new Socket();
  readonly #most: number;
  #bytes = 0;

  constructor(most: number) {
    super();
    this.#most = most;
    this.#socket.on("connect", () => this.emit("connect"));
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#socket.on("end", () => this.push(null));
    this.#socket.on("error", (error) => this.destroy(error));
    this.#socket.on("close", () => this.destroy());
  }

  #take(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#most) this.destroy(new AnswerTooLong(this.#most));
    else if (!this.push(chunk)) this.#socket.pause();
  }

  connect(port: number, host: string): this {
    this.#socket.connect(port, host);
    return this;
  }

  setNoDelay(on: boolean): this {
    this.#socket.setNoDelay(on);
    return this;
  }

  setKeepAlive(on: boolean, delay: number): this {
    this.#socket.setKeepAlive(on, delay);
    return this;
  }

  ref(): this {
    this.#socket.ref();
    return this;
  }

  unref(): this {
    this.#socket.unref();
    return this;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
