import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { serveParent } from './bench-process.ts';
import { createForwarder } from './forward-order.ts';
import { listenLocally } from './listen-locally.ts';

/**
 * The durable floor: the bare server with the fewest durable writes that the relay's promise needs.
 *
 * - With three flushes: `accepted` is on the disk before anything else happens, `sending` before the order is sent, and
 *   the outcome after the response.
 * - With two: `accepted` and `sending` are written in one transaction.
 *
 * It checks nothing, and answers at the end. Its storage is this file's own, so that a change of the relay's storage
 * does not move the floor: SQLite with a write-ahead log that is flushed at every commit, and writes requested within
 * two turns of the event loop share a commit, as in the relay.
 */
const [exchangeUrl = '', databasePath = '', flushes = '3'] = process.argv.slice(2);
const forwardOrder = createForwarder(exchangeUrl);
const database = new DatabaseSync(databasePath);
database.exec(`PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE entries (
    seq INTEGER PRIMARY KEY, client_order_id TEXT NOT NULL, status TEXT NOT NULL, alert TEXT NOT NULL, response TEXT
  ) STRICT;`);
const insert = database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, NULL)');
const start = database.prepare("UPDATE entries SET status = 'sending' WHERE seq = ?");
const settle = database.prepare("UPDATE entries SET status = 'placed', response = ? WHERE seq = ?");
const begin = database.prepare('BEGIN IMMEDIATE');
const commit = database.prepare('COMMIT');

interface Write {
  run(): void;
  resolve(): void;
}
let pending: Write[] = [];

/** Resolves when the operation's changes are on the disk. */
function write(operation: () => void): Promise<void> {
  return new Promise((resolve) => {
    if (pending.length === 0) setImmediate(() => setImmediate(flush));
    pending.push({ run: operation, resolve });
  });
}

function flush(): void {
  const writes = pending;
  pending = [];
  begin.run();
  for (const { run } of writes) run();
  commit.run();
  for (const { resolve } of writes) resolve();
}

let lastSeq = 0;

async function placeOrder(clientOrderId: string, alert: string): Promise<Buffer> {
  lastSeq += 1;
  const seq = lastSeq;
  if (flushes === '3') {
    await write(() => insert.run(seq, clientOrderId, 'accepted', alert));
    await write(() => start.run(seq));
  } else await write(() => insert.run(seq, clientOrderId, 'sending', alert));
  const response = await new Promise<Buffer>((resolve) => forwardOrder(clientOrderId, resolve));
  const text = response.toString('utf8');
  await write(() => settle.run(text, seq));
  return response;
}

const server = createServer(async (request, response) => {
  const alert = await buffer(request);
  const body = await placeOrder((request.url ?? '').slice(1), alert.toString('utf8'));
  response.writeHead(202, { 'content-type': 'application/json' }).end(body);
});

serveParent(await listenLocally(server));
