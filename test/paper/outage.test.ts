import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createOutage, type Outage } from '../../lib/paper/faults/outage.ts';

const host = '127.0.0.1';
const anHourMs = 3_600_000;
let server: Server;
let outage: Outage;
let port: number;

beforeEach(async () => {
  server = createServer().listen(0, host);
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  outage = createOutage(server, host);
});

afterEach(async () => {
  jest.useRealTimers();
  await outage.closeForGood();
});

async function takePort(): Promise<Server> {
  const squatter = createServer().listen(port, host);
  await once(squatter, 'listening');
  return squatter;
}

describe('an outage whose port another program took meanwhile', () => {
  test('tries again until the port is free', async () => {
    const ended: string[] = [];
    outage.begin(anHourMs, () => ended.push('ended'));
    const squatter = await takePort();
    const failed = once(server, 'error');

    outage.end();

    expect(await failed).toMatchObject([{ code: 'EADDRINUSE' }]);
    expect(ended).toEqual([]);
    const listening = once(server, 'listening');
    squatter.close();
    await listening;
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toEqual(['ended']);
    expect((server.address() as AddressInfo).port).toBe(port);
  });

  test('ends its retries when the server is closed for good', async () => {
    outage.begin(anHourMs, () => {});
    const squatter = await takePort();
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const failed = once(server, 'error');
    outage.end();

    await outage.closeForGood();

    expect(await failed).toMatchObject([{ code: 'EADDRINUSE' }]);
    expect(server.listening).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
    squatter.close();
    await once(squatter, 'close');
  });
});

test('closing for good while the server is coming back leaves nothing listening', async () => {
  outage.begin(anHourMs, () => {});
  outage.end();

  await outage.closeForGood();

  expect(server.listening).toBe(false);
});

test('no outage begins once the server is closed for good', async () => {
  await outage.closeForGood();
  jest.useFakeTimers();

  outage.begin(anHourMs, () => {});

  expect(jest.getTimerCount()).toBe(0);
});

test('an end without an outage does nothing', () => {
  outage.end();

  expect((server.address() as AddressInfo).port).toBe(port);
});
