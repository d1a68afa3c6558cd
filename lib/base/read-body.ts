import type { IncomingMessage } from 'node:http';

/**
 * Reads the whole body of a request; null when it is larger than `maximumBytes`.
 *
 * A body that is too large is still read to its end, because a response sent earlier would be lost with the
 * connection. No more than `maximumBytes` of it are kept.
 *
 * @throws Error when the connection closes before the end of the body
 */
export function readBody(request: IncomingMessage, maximumBytes: number): Promise<Buffer | null> {
  // By events: an iterator over the stream costs an order 12 µs more.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request
      .on('data', (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes <= maximumBytes) chunks.push(chunk);
      })
      .on('end', () => resolve(bytes > maximumBytes ? null : Buffer.concat(chunks)))
      .on('error', reject)
      .on('close', () => {
        if (!request.complete) reject(new Error('the connection closed before the end of the body'));
      });
  });
}
