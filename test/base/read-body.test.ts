import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readBody, readBodyStart } from '../../lib/base/read-body.ts';

describe('the body of a request', () => {
  let server: Server;
  let url: string;
  let read: Promise<Buffer | null>;
  let request: PromiseWithResolvers<IncomingMessage>;
  const maximumBytes = 10;

  beforeEach(async () => {
    request = Promise.withResolvers();
    read = request.promise.then((asked) => readBody(asked, maximumBytes));
    server = createServer((asked, response) => {
      request.resolve(asked);
      void read.then(() => response.end()).catch(() => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  test.each(['', 'ten bytes.'])('is returned with its bytes: "%s"', async (body) => {
    await fetch(url, { method: 'POST', body });
    expect(String(await read)).toBe(body);
  });

  test('is null when it is too large, and was read to its end', async () => {
    const { status } = await fetch(url, { method: 'POST', body: 'x'.repeat(1_000_000) });
    expect(status).toBe(200);
    expect(await read).toBeNull();
  });

  test('is kept up to the limit, and what comes after it is counted', async () => {
    const beginning = request.promise.then((asked) => readBodyStart(asked, maximumBytes));
    await fetch(url, { method: 'POST', body: 'x'.repeat(1_000_000) });
    expect(await beginning).toEqual({ start: Buffer.from('xxxxxxxxxx'), omittedBytes: 999_990 });
  });

  test('is an error when the sender closes the connection before its end', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf', () => socket.destroy());
    await expect(read).rejects.toThrow();
  });
});
