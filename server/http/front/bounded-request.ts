import { IncomingMessage } from "node:http";
import type { AppError } from "#server/platform/errors.ts";

/**
 * A request whose body can be cut off where it comes in, before anything is kept of it, whoever reads it and however its
 * length is told. A class, as EnvelopeResponse is and for its reason.
 */
export class BoundedRequest extends IncomingMessage {
  #refusal: AppError | undefined;
  #admit: ((bytes: number) => AppError | undefined) | undefined;

  /**
   * Looks at each piece of the body before it is kept.
   * @param admit says why the body may not go on, if it may not
   */
  watch(admit: (bytes: number) => AppError | undefined): void {
    this.#admit = admit;
  }

  /** Takes nothing more of the body. Whoever reads it meets the error; the connection stays, for the answer. */
  refuse(error: AppError): void {
    this.#refusal = error;
    this.destroy(error);
    // Nobody reads on who would have the rest come in.
    this.socket.resume();
  }

  override push(chunk: Uint8Array | null, encoding?: BufferEncoding): boolean {
    if (chunk === null) return super.push(chunk, encoding);
    // Told that it is wanted, Node goes on reading from the connection; what is dropped fills nothing.
    if (this.destroyed) return true;
    const error = this.#admit?.(chunk.length);
    if (!error) return super.push(chunk, encoding);
    this.refuse(error);
    return true;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Node's own ends the connection of a request that is not whole, and the answer with it.
    if (!this.#refusal || error !== this.#refusal) super._destroy(error, callback);
    else process.nextTick(() => callback(this.listenerCount("error") > 0 ? error : null));
  }
}
