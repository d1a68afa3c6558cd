import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ScriptStep } from '../support/scripted-server.ts';
import { fine, type Line, openLine } from './line.ts';

let line: Line;

beforeEach(() => {
  line = openLine();
});

afterEach(() => line.close());

describe('a response', () => {
  test('is returned with its status and text', async () => {
    const server = await line.serve([{ status: 422, body: '{"message":"é€😀"}' }]);

    const outcome = await line.post(server.url);

    expect(outcome).toEqual({ kind: 'answered', status: 422, body: '{"message":"é€😀"}' });
    expect(server.seen).toMatchObject([
      { method: 'POST', path: '/api/v4/order', body: '{"a":1}', headers: { 'content-length': '7' } },
    ]);
  });

  test('may arrive byte by byte, through the middle of a character', async () => {
    const server = await line.serve([
      (response) => {
        const bytes = Buffer.from('"€"');
        response.writeHead(200);
        for (const byte of bytes) response.write(Buffer.of(byte));
        response.end();
      },
    ]);

    expect(await line.post(server.url)).toEqual({ kind: 'answered', status: 200, body: '"€"' });
  });

  test('comes with those of the wanted headers that it has', async () => {
    const headers = { Date: 'Thu, 09 Jul 2020 12:17:45 GMT', 'x-amzn-RequestId': 'A1', 'set-cookie': 'b' };
    const server = await line.serve([{ status: 200, body: '{}', headers }]);

    const outcome = await line.post(server.url, {
      wantedHeaders: ['date', 'x-amzn-requestid', 'x-amzn-errortype'],
    });

    expect(outcome).toEqual({
      kind: 'answered',
      status: 200,
      body: '{}',
      headers: { date: 'Thu, 09 Jul 2020 12:17:45 GMT', 'x-amzn-requestid': 'A1' },
    });
  });

  test('that redirects is not followed', async () => {
    const server = await line.serve([{ status: 307, body: '', headers: { location: '/elsewhere' } }, fine]);

    expect(await line.post(server.url)).toEqual({ kind: 'answered', status: 307, body: '' });
    expect(server.seen).toHaveLength(1);
  });

  test('may be ended by closing the connection', async () => {
    const server = await line.serve([
      (response) => {
        response.socket?.end('HTTP/1.0 200 OK\r\n\r\n{"ok":true}');
      },
    ]);

    expect(await line.post(server.url)).toEqual({ kind: 'answered', status: 200, body: '{"ok":true}' });
  });
});

describe('connections', () => {
  test('are reused', async () => {
    const server = await line.serve([fine, fine, fine]);

    for (let count = 0; count < 3; count += 1) await line.post(server.url);

    expect(server.connectionCount()).toBe(1);
  });

  test('that are too old are closed, and a younger one takes the request', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = gates.map(
      ({ promise }): ScriptStep =>
        (response) => {
          promise.then(() => response.end('{}'));
        },
    );
    const server = await line.serve([...held, fine, fine]);
    const calls = [line.post(server.url), line.post(server.url)];
    await server.untilSeen(2);
    gates[0]?.resolve();
    await Promise.race(calls);
    line.clock.advance(100);
    gates[1]?.resolve();
    await Promise.all(calls);

    // The one that was used last seems to come from the future, so nothing is known of its age.
    line.clock.advance(-50);
    const outcomes = [await line.post(server.url), await line.post(server.url)];

    expect(outcomes.map(({ kind }) => kind)).toEqual(['answered', 'answered']);
    expect([server.connectionCount(), server.seen.length]).toEqual([2, 4]);
  });

  test('are not reused after four idle seconds, nor when the clock was set back', async () => {
    const server = await line.serve([fine, fine, fine, fine]);
    await line.post(server.url);
    line.clock.advance(4000);
    await line.post(server.url);
    const withinLimit = server.connectionCount();

    line.clock.advance(4001);
    await line.post(server.url);
    const beyondLimit = server.connectionCount();
    line.clock.advance(-1);
    await line.post(server.url);

    expect([withinLimit, beyondLimit, server.connectionCount()]).toEqual([1, 2, 3]);
  });
});
