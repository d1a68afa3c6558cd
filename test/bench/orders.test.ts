import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startProcess } from './bench-process.ts';
import { openRelay } from './orders.ts';

test('the exchange of the benchmark answers all that the relay asks for an order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-bench-'));
  const exchange = await startProcess('exchange-stub.ts');
  const relay = await openRelay(exchange, join(folder, 'relay'));

  try {
    for (const kind of ['stop_limit', 'market'] as const)
      for (let place = 0; place < 8; place += 1) await relay.place(place, kind);
    const arrivals = await exchange.ask('take-arrivals');
    expect([arrivals.length, [...relay.log.asides]]).toEqual([16, []]);
  } finally {
    await relay.process.stop();
    await exchange.stop();
    rmSync(folder, { recursive: true });
  }
});
