import type { IncomingMessage } from 'node:http';

/** The body of a request, as much of it as was kept. */
export interface BodyStart {
  readonly start: Buffer;
  /** How many bytes came after `start`; 0: it is the whole body. */
  readonly omittedBytes: number;
}

/**
 * Reads the whole body of a request; null when it is larger than `maximumBytes`.
 *
 * @throws Error when the connection closes before the end of the body
 */
export async function readBody(request: IncomingMessage, maximumBytes: number): Promise<Buffer | null> {
  const { start, omittedBytes } = await readBodyStart(request, maximumBytes);
  return omittedBytes > 0 ? null : start;
}

/**
 * Reads the body of a request and keeps `maximumBytes` of it at most.
 *
 * A body that is larger is still read to its end, because a response sent earlier would be lost with the connection.
 *
 * @throws Error when the connection closes before the end of the body
 */
export function readBodyStart(request: IncomingMessage, maximumBytes: number): Promise<BodyStart> {
  // By events: an iterator over the stream takes twice as long.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request
      .on('data', (chunk: Buffer) => {
        const room = maximumBytes - bytes;
        bytes += chunk.byteLength;
        if (room > 0) chunks.push(chunk.byteLength > room ? chunk.subarray(0, room) : chunk);
      })
      .on('end', () => {
        const start = Buffer.concat(chunks);
        resolve({ start, omittedBytes: bytes - start.byteLength });
      })
      .on('error', reject)
      .on('close', () => {
        if (!request.complete) reject(new Error('the connection closed before the end of the body'));
      });
  });
}
