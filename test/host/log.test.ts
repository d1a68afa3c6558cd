import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createLog } from '../../lib/host/log.ts';

test('each event is one line of JSON with its facts beside the message', () => {
  const output = new PassThrough();
  const log = createLog('relay', output);

  log.info('signal placed', { account: 'main', orderId: 7 });
  log.error('signal outcome unknown', { alarm: true });

  const lines = String(output.read())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toMatchObject([
    { level: 'INFO', message: 'signal placed', account: 'main', orderId: 7, service: 'relay' },
    { level: 'ERROR', message: 'signal outcome unknown', alarm: true },
  ]);
});
