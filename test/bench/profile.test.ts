import type { Profiler } from 'node:inspector';
import { expect, test } from '@jest/globals';
import { sumByPart } from './profile.ts';

function node(id: number, functionName: string, url: string, children: number[] = []): Profiler.ProfileNode {
  return {
    id,
    callFrame: { functionName, url, scriptId: '0', lineNumber: 0, columnNumber: 0 },
    children,
  };
}

function profileOf(nodes: Profiler.ProfileNode[], samples: number[], timeDeltas: number[]): Profiler.Profile {
  return { nodes, startTime: 0, endTime: 0, samples, timeDeltas };
}

test('a sample counts for the innermost known frame, and for nobody when there is none', () => {
  const shares = sumByPart(
    profileOf(
      [
        node(1, '(root)', '', [2, 6, 7, 9, 10]),
        node(2, 'executeSignal', 'file:///p/lib/relay/execute-signal.ts', [3, 5]),
        node(3, 'sign', 'file:///p/lib/exchange/signing.ts', [4]),
        node(4, 'Hmac', 'node:internal/crypto/hash'),
        node(5, 'parse', 'file:///p/node_modules/big.js/big.mjs'),
        node(6, '(idle)', ''),
        node(7, '#commit', 'file:///p/lib/base/sqlite.ts', [8]),
        node(8, 'run', ''),
        node(9, 'listOnTimeout', 'node:internal/timers'),
        node(10, 'post', 'node:inspector'),
      ],
      [4, 5, 6, 8, 9, 4, 10],
      [100, 20, 5000, 300, 7, 100, 9000],
    ),
  );

  expect(shares).toEqual([
    { part: 'SQLite: commits, waiting for the disk included', micros: 300 },
    { part: 'signature and nonce', micros: 200 },
    { part: 'receive and execute', micros: 20 },
    { part: 'sockets, streams, timers, promises', micros: 7 },
  ]);
});

test('what no rule knows is told as such', () => {
  const shares = sumByPart(profileOf([node(1, 'strange', 'file:///p/elsewhere.ts')], [1], [42]));

  expect(shares).toEqual([{ part: 'anything else', micros: 42 }]);
});
