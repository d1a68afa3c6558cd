import { request as issueRequest } from 'node:http';
import { Duplex } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { runs } from '../support/runs.ts';
import { cutAt, DamageArb, eachByte, readPieces, WrittenResponseArb } from './response-bytes.ts';

const settings = { seed: 20_260_101, numRuns: runs(1000) };
const CutsArb = fc.array(fc.nat(), { maxLength: 12 });

/** How Node's own client, with another parser, reads the bytes of a response. Null: it refuses them. */
async function readByNode(method: string, bytes: Buffer): Promise<{ status: number; body: string } | null> {
  const { promise, resolve } = Promise.withResolvers<{ status: number; body: string } | null>();
  const connection = new Duplex({ read: () => undefined, write: (_, __, done) => done() });
  issueRequest({ method, path: '/', createConnection: () => connection })
    .on('response', async (response) => {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of response) chunks.push(chunk);
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') });
      } catch {
        resolve(null);
      }
    })
    .on('error', () => resolve(null))
    .end(() => {
      connection.push(bytes);
      connection.push(null);
    });
  return await promise;
}

describe('a response', () => {
  test('is the same however its bytes are cut', () => {
    fc.assert(
      fc.property(WrittenResponseArb, CutsArb, ({ method, bytes, status, body }, cuts) => {
        for (const pieces of [[bytes], cutAt(bytes, cuts), eachByte(bytes)])
          expect(readPieces(method, pieces)).toMatchObject({
            kind: 'response',
            response: { head: { status }, body },
            readBytes: bytes.length,
          });
      }),
      settings,
    );
  });

  test('that ends early at any byte is refused, unless it ends with the connection', () => {
    fc.assert(
      fc.property(WrittenResponseArb, fc.nat(), ({ method, bytes, isUntilClose, status }, cut) => {
        const start = bytes.subarray(0, cut % bytes.length);
        const reading = readPieces(method, [start]);
        if (reading.kind === 'malformed') return true;
        return (
          isUntilClose && reading.response.head.status === status && reading.response.reusableForMs === 0
        );
      }),
      settings,
    );
  });

  test('that is damaged is refused, or read as another parser reads it, and the same however it is cut', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(
        WrittenResponseArb,
        fc.array(DamageArb, { minLength: 1, maxLength: 3 }),
        CutsArb,
        async ({ method, bytes }, damages, cuts) => {
          const damaged = damages.reduce((damagedBytes, damage) => damage(damagedBytes), bytes);
          const reading = readPieces(method, eachByte(damaged));
          const cutReading = readPieces(method, cutAt(damaged, cuts));
          expect(cutReading.kind).toBe(reading.kind);
          if (reading.kind === 'malformed' || cutReading.kind === 'malformed') return;
          const { head, body } = reading.response;
          expect(cutReading.response).toMatchObject({ head, body });
          accepted += 1;
          const byNode = await readByNode(method, damaged.subarray(0, reading.readBytes));
          expect({ status: head.status, body }).toEqual(byNode);
        },
      ),
      settings,
    );
    expect(accepted).toBeGreaterThan(settings.numRuns / 10);
  });
});
