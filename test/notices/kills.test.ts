import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Alarms, createLogAlarms } from '../../lib/base/alarms.ts';
import { createSqliteFile } from '../../lib/base/sqlite.ts';
import { createTransport } from '../../lib/base/transport.ts';
import type { Transport } from '../../lib/base/wire.ts';
import { createSqliteAccountFacts } from '../../lib/ledger/sqlite-account-facts.ts';
import { createSqliteLedger } from '../../lib/ledger/sqlite-ledger.ts';
import { createTeller } from '../../lib/ledger/tell-once.ts';
import {
  type NoticeOutbox,
  noteAlarms,
  openNoticeOutbox,
  tellChanges,
} from '../../lib/notices/notice-outbox.ts';
import { type ChannelName, defaultLevels, type NoticeSettings } from '../../lib/notices/notice-settings.ts';
import { openRequestChannel } from '../../lib/notices/request-channel.ts';
import type { OpenChannel } from '../../lib/notices/tell-channel.ts';
import { lostResponseOutcome, settleEntry } from '../../lib/relay/settle/settle-entry.ts';
import { orderIn } from '../queue/open-store.ts';
import { acceptOne } from '../support/accept-one.ts';
import { createListeningLog } from '../support/listening-log.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { spotSettings } from '../support/spot-settings.ts';
import { type StandIn, startStandIn } from './stand-in.ts';

const settings: NoticeSettings = {
  channels: ['telegram', 'slack'],
  levels: defaultLevels,
  accounts: {},
  heartbeatAt: '08:00',
  timeZone: 'Etc/UTC',
};
const startMs = Date.UTC(2026, 10, 24, 12);
/** Each is told once by an alarm that comes once, or by an outcome that nobody knows. */
const alarms = ['"word-1"', '"word-2"', 'signalId: a', 'signalId: b'];

/** Kills a process between two acts: whatever it does after the last act that it may do never ends. */
class Executioner {
  acts = 0;
  readonly #last: number;
  readonly killed = Promise.withResolvers<'killed'>();

  constructor(last: number) {
    this.#last = last;
  }

  /** @returns whether the process lives */
  act(): boolean {
    this.acts += 1;
    if (this.acts > this.#last) this.killed.resolve('killed');
    return this.acts <= this.#last;
  }

  async actOrHang(): Promise<void> {
    if (!this.act()) await new Promise(() => undefined);
  }
}

/** What a broken relay does otherwise. */
interface Defect {
  readonly note?: (alarms: Alarms) => Alarms;
  readonly beforeSending?: (outbox: NoticeOutbox, name: ChannelName) => Promise<void>;
  readonly states?: (outbox: NoticeOutbox) => NoticeOutbox;
}

let standIn: StandIn;
let folder: string;
beforeEach(async () => {
  standIn = await startStandIn();
});
afterEach(async () => {
  await standIn.close();
});

/** One process, from its start until its work is done, or until it is killed. */
async function live(executioner: Executioner, defect: Defect = {}): Promise<'done' | 'killed'> {
  const clock = createManualClock(startMs);
  const { log } = createListeningLog();
  const database = new DatabaseSync(join(folder, 'relay.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
  const file = createSqliteFile(database, {
    scheduleFlush: (flush) => setImmediate(() => void (executioner.act() && flush())),
  });
  const wire = createTransport();
  const transport: Transport = {
    async send(request) {
      await executioner.actOrHang();
      const outcome = await wire.send(request);
      await executioner.actOrHang();
      return outcome;
    },
    close: () => wire.close(),
  };

  async function work(): Promise<'done'> {
    const opened = await openNoticeOutbox(file, settings.channels);
    const outbox = defect.states?.(opened) ?? opened;
    const logged = createLogAlarms(log);
    const raised = defect.note?.(logged) ?? noteAlarms(logged, outbox, clock, log);
    const ledger = createSqliteLedger(file);
    const facts = createSqliteAccountFacts(file);
    const teller = createTeller({ clock, alarms: raised, facts });
    const openChannel = async (name: ChannelName): Promise<OpenChannel> => {
      await defect.beforeSending?.(outbox, name);
      return openRequestChannel(name as 'slack', standIn.ways, { transport, clock });
    };
    const tell = () => tellChanges({ outbox, settings, clock, log, ledger, openChannel });
    for (const [index, signalId] of ['a', 'b'].entries()) {
      await tellWord(teller, `word-${index + 1}`);
      const key = { account: 'main', signalId };
      if ((await ledger.read(key)) === null)
        await acceptOne(ledger, { ...orderIn(signalId), ...key, atMs: startMs });
      const accepted = await ledger.read(key);
      if (accepted?.status === 'accepted')
        await ledger.start(key, { status: 'sending', atMs: startMs, note: 'sending' }, null);
      const sending = await ledger.read(key);
      if (sending?.status === 'sending')
        await settleEntry(
          { clock, log, alarms: raised, ledger, settings: spotSettings, facts },
          sending,
          lostResponseOutcome(sending),
        );
      await tell();
    }
    await tell();
    return 'done';
  }

  const result = await Promise.race([work(), executioner.killed.promise]);
  wire.close();
  // What was not flushed is lost.
  database.close();
  return result;
}

function tellWord(teller: ReturnType<typeof createTeller>, word: string): Promise<void> {
  const alarm = { name: 'unknown_word', message: `a word that nobody knows: "${word}"` } as const;
  return teller.tell('main', { key: word, alarm, facts: { word }, everyMs: null });
}

interface Tally {
  /** Alarms that some service never showed. */
  readonly lost: number;
  /** How many requests showed an alarm again that the same service had shown before. */
  readonly again: number;
}

function tally(): Tally {
  const perService = (['telegram', 'slack'] as const).map((name) => {
    const texts = standIn.shown[name].map(({ text }) => text);
    const lost = alarms.filter((alarm) => !texts.some((text) => text.includes(alarm))).length;
    const repeats = texts.filter((text, index) =>
      alarms.some(
        (alarm) => text.includes(alarm) && texts.slice(0, index).some((one) => one.includes(alarm)),
      ),
    );
    return { lost, again: repeats.length };
  });
  return {
    lost: perService.reduce((sum, { lost }) => sum + lost, 0),
    again: Math.max(...perService.map(({ again }) => again)),
  };
}

/** Kills a process after so many acts, then lets another one finish. */
async function killAfter(acts: number, defect?: Defect): Promise<Tally & { readonly wasKilled: boolean }> {
  folder = mkdtempSync(join(tmpdir(), 'relay-kills-'));
  standIn.shown.telegram.length = 0;
  standIn.shown.slack.length = 0;
  try {
    const first = await live(new Executioner(acts), defect);
    if (first === 'killed') await live(new Executioner(Number.POSITIVE_INFINITY), defect);
    return { ...tally(), wasKilled: first === 'killed' };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function killEverywhere(defect?: Defect) {
  let [kills, lost, again] = [0, 0, 0];
  for (let acts = 0; ; acts += 1) {
    const found = await killAfter(acts, defect);
    if (!found.wasKilled) return { kills, lost, again, undisturbed: found };
    kills += 1;
    lost += found.lost;
    again = Math.max(again, found.again);
  }
}

test('a kill between any two acts loses no alarm, and lets no service show one more than once again', async () => {
  const { kills, lost, again, undisturbed } = await killEverywhere();

  expect(undisturbed).toEqual({ lost: 0, again: 0, wasKilled: false });
  expect(kills).toBeGreaterThan(20);
  expect(lost).toBe(0);
  // Where the kill falls between the service's taking a message and the note of it.
  expect(again).toBe(1);
});

test.each<[string, Defect, 'lost' | 'again']>([
  ['alarms are only logged', { note: (logged) => logged }, 'lost'],
  [
    'the cursor moves before the message is sent',
    {
      async beforeSending({ changes, states }, name) {
        const state = await states.read(name);
        if (state !== null) await states.write(name, { ...state, seq: changes.last() });
      },
    },
    'lost',
  ],
  [
    'the cursor is not kept',
    {
      states: ({ changes, states }) => ({
        changes: { ...changes, forget: async () => undefined },
        states: { ...states, write: async () => undefined },
      }),
    },
    'again',
  ],
])('this test notices that %s', async (_, defect, what) => {
  const found = await killEverywhere(defect);
  expect(found[what]).toBeGreaterThan(what === 'lost' ? 0 : 1);
});
