import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDecimal } from '../../lib/base/decimal.ts';
import { parseConfig } from '../../lib/host/config.ts';
import { createDataFolder, type DataFolder } from '../../lib/host/data-folder.ts';
import type { PaperControl } from '../../lib/paper/server/control.ts';
import type { PaperState } from '../../lib/paper/server/state.ts';
import { buyAlert } from './alerts.ts';
import type { LoggedLine } from './listening-log.ts';
import { createManualClock } from './manual-clock.ts';
import { openWorld, testConfig } from './world.ts';

/** A day of a relay that records balances, fees and interest every hour, and is off from noon to 14:30. */
export interface SnapshotDay {
  /** The data folder with everything that it recorded. */
  readonly dataPath: string;
  /** Time of each run, for example `10:00` → the state of the exchange then. */
  readonly seen: ReadonlyMap<string, PaperState>;
  /** The state of the exchange at the first start, which is between two times of the schedule. */
  readonly atStart: PaperState;
  readonly logged: readonly LoggedLine[];
  close(): Promise<void>;
}

/** A time of that day. It lies before the machine's own time, for the tool shows nothing of the future. */
export const at = (time: string) => Date.parse(`2026-04-01T${time}:00.000Z`);

const hourly = 'cron(0 * * * ? *)';
const { settings, snapshots } = parseConfig({
  ...testConfig,
  // Those of relay.config.ts, which the tool reads.
  accounts: { main: testConfig.accounts.main, rehearsal: testConfig.accounts.rehearsal },
  snapshots: { balances: hourly, fees: hourly, interest: hourly },
});

/** One run of relay and paper exchange, from start to stop. */
interface Life {
  readonly control: PaperControl;
  readonly logged: readonly LoggedLine[];
  /** Moves the clock to the time; resolves with the state of the exchange once everything is recorded. */
  runAt(time: string): Promise<PaperState>;
  /** Has the relay buy 0.01 BTC at the next price. */
  buy(): Promise<void>;
  stop(): Promise<void>;
}

/** Runs the whole day; nothing waits for the machine's clock. */
export async function runSnapshotDay(): Promise<SnapshotDay> {
  const folder = createDataFolder(mkdtempSync(join(tmpdir(), 'relay-snapshots-')));
  const seen = new Map<string, PaperState>();

  const first = await beginLife('09:30', folder);
  const atStart = first.control.state();
  seen.set('10:00', await first.runAt('10:00'));
  changeInTheMorning(first.control);
  seen.set('11:00', await first.runAt('11:00'));
  await first.buy();
  changeBeforeNoon(first.control);
  seen.set('12:00', await first.runAt('12:00'));
  // No run sees this balance.
  first.control.setBalance('main', 'BTC', parseDecimal('99'));
  await first.stop();

  const second = await beginLife('14:30', folder);
  changeInTheAfternoon(second.control);
  seen.set('15:00', await second.runAt('15:00'));
  return {
    dataPath: folder.path,
    atStart,
    seen,
    logged: [...first.logged, ...second.logged],
    async close() {
      await second.stop();
      rmSync(folder.path, { recursive: true });
    },
  };
}

function changeInTheMorning(control: PaperControl): void {
  control.setBalance('main', 'BTC', parseDecimal('2.5'));
  control.setBalance('main', 'ETH', parseDecimal('0'));
  control.setBalance('main', 'UAH', parseDecimal('0.00000001'));
  control.setBalance('second', 'USDT', parseDecimal('499.99'));
  control.setFee('BTC', { withdraw: { fixed: '0.0005' } });
  pay(control, 'plan-1', 'USDT', '1.5', '10:15');
  pay(control, 'plan-1', 'USDT', '1.5', '10:15');
  pay(control, 'plan-1', 'BTC', '0.00000001', '10:15');
}

function changeBeforeNoon(control: PaperControl): void {
  control.setBalance('main', 'USDT', parseDecimal('123456789.12345678'));
  pay(control, 'plan-1', 'USDT', '1.5', '11:30');
  // Entered late, and alike in every field to two that are known.
  pay(control, 'plan-1', 'USDT', '1.5', '10:15');
}

function changeInTheAfternoon(control: PaperControl): void {
  control.setBalance('main', 'BTC', parseDecimal('0.1'));
  control.setFee('BTC', { canWithdraw: false });
  pay(control, 'plan-2', 'BTC', '0.2', '14:45');
}

function pay(control: PaperControl, planId: string, ticker: string, amount: string, time: string): void {
  const investmentId = `investment of ${planId}`;
  control.payInterest('main', { planId, investmentId, ticker, amount, timestamp: at(time) / 1000 });
}

async function beginLife(time: string, folder: DataFolder): Promise<Life> {
  const clock = createManualClock(at(time), { jumps: false });
  const world = await openWorld({ dialect: 'live', clock, settings, snapshots, folder });
  // Waits for the snapshots of the start.
  await clock.whenAsleep();
  const { control } = world.paper;
  return {
    control,
    logged: world.logged,
    async runAt(slot) {
      clock.advance(at(slot) - clock.nowMs());
      await clock.whenAsleep();
      return control.state();
    },
    async buy() {
      world.setPrice('BTC_USDT', '50000');
      await world.post(buyAlert({ stopLoss: undefined, takeProfit: undefined }));
      await world.settled('buy-1');
      world.setPrice('BTC_USDT', '50150');
    },
    async stop() {
      clock.letGo();
      await world.close();
    },
  };
}
