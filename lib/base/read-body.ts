import type { IncomingMessage } from 'node:http';

/**
 * Reads the whole body of a request; null when it is larger than `maximumBytes`.
 *
 * A body that is too large is still read to its end, because a response sent earlier would be lost with the
 * connection. No more than `maximumBytes` of it are kept.
 */
export async function readBody(request: IncomingMessage, maximumBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes <= maximumBytes) chunks.push(chunk);
  }
  return bytes > maximumBytes ? null : Buffer.concat(chunks);
}
