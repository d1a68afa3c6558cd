import { AsyncLocalStorage } from 'node:async_hooks';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { AlarmName, Alarms } from '../../lib/base/alarms.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { refusalIdOf } from '../../lib/signals/identity.ts';
import { override } from '../support/override.ts';
import { rollWhole } from './dice.ts';
import { overlookEarlier } from './ledger-mutants.ts';
import type { Mutant } from './mutation.ts';

/** The id that an alert states; null when it has none. */
function explicitIdOf(event: APIGatewayProxyEvent): string | null {
  const alert: unknown = JSON.parse(bodyOf(event));
  const id = typeof alert === 'object' && alert !== null && 'id' in alert ? alert.id : null;
  return typeof id === 'string' ? id : null;
}

function bodyOf({ body }: APIGatewayProxyEvent): string {
  return Buffer.from(body ?? '', 'base64').toString();
}

/** The body of the current delivery, for a mutant that compares secrets with it. */
const deliveredBodies = new AsyncLocalStorage<string>();

function silence(alarms: Alarms, name: AlarmName): Alarms {
  return { raise: (alarm, facts) => (alarm.name === name ? undefined : alarms.raise(alarm, facts)) };
}

/** Whatever has a known id and the same bytes is a resend, however late it comes. */
function forgiveLateness(ledger: Ledger): Ledger {
  return override(ledger, {
    async accept(entries, limit) {
      const accepted = await ledger.accept(entries, limit);
      if (accepted.result !== 'id_taken' || accepted.by.fingerprint !== entries[0]?.fingerprint)
        return accepted;
      const found = await Promise.all(entries.map((entry) => ledger.read(entry)));
      const known = found.filter((entry) => entry !== null);
      return { result: 'stored', signals: known.map((entry) => ({ entry, isNew: false })) };
    },
  });
}

/** Every arrival of bytes without id and time is a new alert. */
function forgetArrivals(ledger: Ledger): Ledger {
  return override(ledger, {
    accept: (entries, limit) =>
      ledger.accept(
        entries.map((entry) => ({ ...entry, isByArrival: false })),
        limit,
      ),
  });
}

/** Records refused bytes once, however often they come. */
function foldRefusals(ledger: Ledger): Ledger {
  return override(ledger, {
    refuse(entry) {
      const [id = '', refused] = entry.signalId.split('@');
      const signalId = refusalIdOf(entry.fingerprint, refused === undefined ? null : id);
      return ledger.refuse({ ...entry, signalId });
    },
  });
}

/** Broken variants of the relay with defects in the webhook, the queue or the log. */
export const webhookMutants: readonly Mutant[] = [
  {
    name: 'unordered-market',
    breaks: 'neither the queue nor the ledger keeps the order of a market',
    seeds: 100,
    fromSeed: 17,
    dialect: 'live',
    mutation: {
      ledger: overlookEarlier,
      queue: (queue, { process }) => ({
        enqueue: (message, attempt) =>
          queue.enqueue(
            { ...message, market: `${message.market}#${rollWhole(process.stage.random, 1, 1e9)}` },
            attempt,
          ),
      }),
    },
  },
  {
    name: 'acknowledge-before-store',
    breaks: 'the response 202 is sent before anything is stored',
    seeds: 100,
    dialect: 'live',
    mutation: {
      webhook: (handler) => async (event) => {
        const id = explicitIdOf(event);
        if (id === null) return await handler(event);
        handler(event).catch(() => undefined);
        return { statusCode: 202, body: JSON.stringify({ signalId: id, status: 'accepted' }) };
      },
    },
  },
  {
    name: 'open-door',
    breaks: 'any token is accepted',
    seeds: 100,
    dialect: 'live',
    mutation: {
      webhook:
        (handler, { secrets }) =>
        (event) => {
          const account = event.pathParameters?.['account'] ?? '';
          const token = secrets.tokens.get(account)?.current;
          return handler({ ...event, pathParameters: { account, token } });
        },
    },
  },
  {
    name: 'late-alarm',
    breaks: 'an outcome becomes unknown in silence, and only the reminder of the reconciler tells it',
    seeds: 100,
    dialect: 'documented',
    mutation: {
      alarms: (alarms) => ({
        raise(alarm, facts) {
          if (alarm.message !== 'signal outcome unknown') alarms.raise(alarm, facts);
        },
      }),
    },
  },
  {
    name: 'forgotten-alarm',
    breaks: 'an alarm is not raised',
    seeds: 100,
    dialect: 'documented',
    mutation: { alarms: () => ({ raise: () => undefined }) },
  },
  {
    name: 'silent-cancel',
    breaks: 'a cancellation without effect raises no alarm',
    seeds: 100,
    fromSeed: 5,
    dialect: 'live',
    mutation: { alarms: (alarms) => silence(alarms, 'orders_left_open') },
  },
  {
    name: 'leaking-log',
    breaks: 'the body of a refused alert is logged',
    seeds: 100,
    dialect: 'live',
    mutation: {
      webhook:
        (handler, { process }) =>
        async (event) => {
          const response = await handler(event);
          if (response.statusCode >= 400) process.log.warn('refused', { body: bodyOf(event) });
          return response;
        },
    },
  },
  {
    name: 'undecoded-secrets',
    breaks: 'the message is searched for secrets before it is decoded',
    seeds: 100,
    fromSeed: 4,
    dialect: 'live',
    mutation: {
      webhook: (handler) => (event) => deliveredBodies.run(bodyOf(event), () => handler(event)),
      heldSecrets: (held) => async () => {
        const body = deliveredBodies.getStore() ?? '';
        return (await held()).filter((secret) => typeof secret !== 'string' || body.includes(secret));
      },
    },
  },
  {
    name: 'nameless-refusal',
    breaks: 'a refusal is recorded only under the bytes of the alert',
    seeds: 100,
    dialect: 'live',
    mutation: {
      ledger: (ledger) =>
        override(ledger, {
          refuse: (entry) => ledger.refuse({ ...entry, signalId: refusalIdOf(entry.fingerprint, null) }),
        }),
    },
  },
  {
    name: 'silent-overload',
    breaks: 'an account over its limit of signals raises no alarm',
    seeds: 300,
    fromSeed: 19,
    dialect: 'live',
    mutation: { alarms: (alarms) => silence(alarms, 'signals_over_limit') },
  },
  {
    name: 'late-resend',
    breaks: 'an id that is used again after minutes is answered as a resend',
    seeds: 100,
    fromSeed: 29,
    dialect: 'live',
    mutation: { ledger: forgiveLateness },
  },
  {
    name: 'forgotten-arrival',
    breaks: 'a resend of an alert without id and time is a new signal',
    seeds: 100,
    fromSeed: 19,
    dialect: 'live',
    mutation: { ledger: forgetArrivals },
  },
  {
    name: 'folded-repeats',
    breaks: 'bytes that come again are recorded once',
    seeds: 100,
    fromSeed: 25,
    dialect: 'live',
    mutation: { ledger: foldRefusals },
  },
  {
    name: 'silent-repeat',
    breaks: 'an alert with a used id raises no alarm',
    seeds: 100,
    fromSeed: 4,
    dialect: 'live',
    mutation: { alarms: (alarms) => silence(alarms, 'alert_repeated') },
  },
];
