const initialBytes = 1024;

/** Bytes that arrive in pieces, copied one after another into a buffer that doubles when it is full. */
export class ByteStore {
  #bytes: Buffer | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  append(piece: Buffer): void {
    if (piece.length === 0) return;
    const size = this.#size + piece.length;
    if (this.#bytes === null || this.#bytes.length < size) {
      const larger = Buffer.allocUnsafe(Math.max(initialBytes, 2 * this.#size, size));
      this.#bytes?.copy(larger, 0, 0, this.#size);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.#size);
    this.#size = size;
  }

  /** Removes that many bytes from the beginning. */
  drop(count: number): void {
    this.#bytes?.copyWithin(0, count, this.#size);
    this.#size -= count;
  }

  /** Valid until the next change. */
  view(): Buffer {
    return this.#bytes === null ? Buffer.alloc(0) : this.#bytes.subarray(0, this.#size);
  }
}
