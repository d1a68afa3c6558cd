import { createLogAlarms } from '../../lib/base/alarms.ts';
import type { Log, LogFacts } from '../../lib/base/log.ts';
import { createDynamodbLedger } from '../../lib/ledger/dynamodb-ledger.ts';
import type { Settings } from '../../lib/model/settings.ts';
import { createQueuedEntrance } from '../../lib/relay/receive/queued-entrance.ts';
import { startDynamodb } from '../support/dynamodb/start-dynamodb.ts';
import { openFunctions } from '../support/functions.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { override } from '../support/override.ts';
import { createStackTable } from '../support/stack-tables.ts';
import { meterDynamodb } from './metered-ledger.ts';
import type { Resource } from './synthesized.ts';

/** What one alert uses, from the webhook to the placed order. */
export interface SignalUsage {
  readonly writeUnits: number;
  readonly readUnits: number;
  /** Requests of this kind: the alert's own, and what Lambda asks of the queue for it. */
  readonly queueRequests: number;
  /** What the functions log. */
  readonly logBytes: number;
  /** Of its entry in the ledger and its indexes, when the order is placed. */
  readonly storedBytes: number;
}

/** Lambda receives the message and deletes it. */
const queueRequestsOfLambda = 2;

/** A fixed time without zeros at its end: DynamoDB stores those without bytes, and most times have none. */
const measuredAtMs = Date.UTC(2026, 10, 22, 17, 0, 1, 234);

const alert = {
  ticker: 'BTCUSDT',
  action: 'buy',
  quantity: '0.01',
  stopPrice: '61000',
};

/**
 * Runs both functions over DynamoDB's stand-in, with both limits a minute that the shipped configuration sets.
 * Measures the second alert: the first one also creates what lasts for a minute.
 *
 * @param table the ledger's, as the template defines it
 */
export async function measureSignal(table: Resource): Promise<SignalUsage> {
  const dynamodb = await startDynamodb();
  await createStackTable(dynamodb.client, 'ledger', 'ledger');
  const { client, units, storedBytesOf } = meterDynamodb(dynamodb.relayClient, table);
  const ledger = createDynamodbLedger({ client, tableName: 'ledger', keepDays: 400 });
  const counted = { queueRequests: 0, logBytes: 0 };
  const enqueue = async () => {
    counted.queueRequests += 1;
  };
  const log = createCountingLog((bytes) => {
    counted.logBytes += bytes;
  });
  const functions = await openFunctions(
    ({ settings }) => ({
      settings: withBothLimits(settings),
      ledger: override(ledger, createQueuedEntrance(ledger, { enqueue })),
      log,
      alarms: createLogAlarms(log),
    }),
    createManualClock(measuredAtMs),
  );
  try {
    const place = async (id: string) => {
      await functions.receive(JSON.stringify({ id, ...alert }));
      await functions.execute(id);
    };
    await place('9f1c2d3e-1');
    const [writesBefore, readsBefore] = [units.write, units.read];
    Object.assign(counted, { queueRequests: 0, logBytes: 0 });
    await place('9f1c2d3e-2');
    return {
      writeUnits: units.write - writesBefore,
      readUnits: units.read - readsBefore,
      queueRequests: counted.queueRequests + queueRequestsOfLambda,
      logBytes: counted.logBytes,
      storedBytes: await storedBytesOf('ledger', {
        account: { S: 'main' },
        item: { S: 'signal#9f1c2d3e-2' },
      }),
    };
  } finally {
    await functions.close();
    await dynamodb.close();
  }
}

function withBothLimits(settings: Settings): Settings {
  const { main } = settings.accounts;
  if (main === undefined) throw new Error('there is no account main');
  const limited = { ...main, maxSignalsPerMinute: 120, maxOrdersPerMinute: 60 };
  return { ...settings, accounts: { ...settings.accounts, main: limited } };
}

/** Counts lines with the attributes that the functions' logger adds to each. */
function createCountingLog(count: (bytes: number) => void): Log {
  const write = (message: string, facts: LogFacts) => {
    const line = {
      level: 'INFO',
      message,
      timestamp: '2026-11-22T17:00:00.000Z',
      service: 'receive-signal',
      sampling_rate: 0,
      xray_trace_id: '1-5759e988-bd862e3fe1be46a994272793',
      ...facts,
    };
    count(Buffer.byteLength(JSON.stringify(line)));
  };
  return { info: write, warn: write, error: write };
}
