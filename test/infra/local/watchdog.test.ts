import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { startWatchdog } from '../../../infra/local/watchdog.ts';
import { createListeningLog } from '../../support/listening-log.ts';

test('a relay that is not ready asks no ping URL, and does as soon as it is; none of its lines names the URL', async () => {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let isReady = false;
  let looks = 0;
  const asked: boolean[] = [];
  server.on('request', () => asked.push(isReady));
  const { log, lines, nextLine } = createListeningLog();
  const watchdog = startWatchdog({
    environment: {},
    pingUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-of-the-watch`,
    isReady: async () => {
      looks += 1;
      isReady = looks > 1;
      return isReady;
    },
    findObstacle: async () => null,
    log,
  });
  await once(server, 'request');
  if (lines.length === 0) await nextLine();
  watchdog.stop();
  server.close();

  expect([looks, asked]).toEqual([2, [true]]);
  expect(lines).toMatchObject([{ message: 'the ping URL could not be asked' }]);
  expect(JSON.stringify(lines)).not.toContain('secret-of-the-watch');
});
