import type { Command } from 'commander';
import * as z from 'zod';
import { statuses } from '../../lib/model/outcome.ts';
import { CommandFailure, type FailureReport, reportFailure } from '../failure.ts';
import type { Session } from '../session/session.ts';
import type { Terminal } from '../show/terminal.ts';
import { actions } from './actions.ts';
import { type ApiContext, parseWith } from './api-context.ts';
import { askCommand } from './ask-command.ts';
import type { ApiAnswer, ApiCall } from './page-server.ts';
import { readHealth } from './read-health.ts';
import { describeHeld } from './read-money.ts';
import { readPrice } from './read-price.ts';
import { readWholeSignal } from './read-signal.ts';
import { describeRelay, listSignals, readAttention } from './read-signals.ts';
import { offerAgain } from './send-again.ts';

export interface ApiOptions {
  readonly session: Session;
  /** Whether everything is refused that changes something or shows a webhook's token. */
  readonly isReadOnly: boolean;
  /** Makes the program with all commands. */
  createProgram(terminal: Terminal): Command;
}

type Reading = (context: ApiContext, query: Query) => Promise<unknown>;

const Text = z.string().min(1).max(200).optional();
const Milliseconds = z.coerce.number().int().nonnegative().optional();
const QuerySchema = z.strictObject({
  account: Text,
  id: Text,
  market: Text,
  status: z.enum(statuses).optional(),
  text: Text,
  fromMs: Milliseconds,
  untilMs: Milliseconds,
  before: z.string().max(2000).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  by: Text,
  from: Text,
  to: Text,
  interval: Text,
  ticker: Text,
  collateral: z.literal('true').optional(),
  timeZone: Text,
});
type Query = z.output<typeof QuerySchema>;

/** What is read: nothing here changes anything. */
const readings: Readonly<Record<string, Reading>> = {
  '/api/about': async ({ session, isReadOnly }) => describeRelay(session, isReadOnly),
  '/api/signals': ({ session }, query) => listSignals(session, query),
  '/api/attention': ({ session }) => readAttention(session),
  '/api/signal': (context, { id = '', account }) => readWholeSignal(context, id, account),
  '/api/again': ({ session }, { id = '', account = '' }) => offerAgain(session, account, id),
  '/api/orders': ({ ask }, { account }) => ask({ command: 'orders', options: { account } }),
  '/api/positions': ({ ask }, { account }) => ask({ command: 'positions', args: listOf(account) }),
  '/api/limits': ({ ask }, { account }) => ask({ command: 'limits', args: listOf(account) }),
  '/api/report': ({ ask }, { account, by, from, to, timeZone }) =>
    ask({ command: 'report', args: listOf(account), options: { by, from, to }, ...placeOf(timeZone) }),
  '/api/balances': async ({ session, ask }, { account, from, to, collateral }) => {
    const options = { account, from, to, collateral: collateral === 'true' };
    return await describeHeld(session, await ask({ command: 'balances', options }));
  },
  '/api/fees': ({ ask }, { account }) => ask({ command: 'fees', options: { account } }),
  '/api/interest': ({ ask }, { account, by }) => ask({ command: 'interest', options: { account, by } }),
  '/api/price': ({ session }, { market = '', interval = '' }) => readPrice(session, market, interval),
  '/api/health': async ({ session, ask }) => {
    const { checks } = DoctorDocument.parse(await ask({ command: 'doctor' }));
    return await readHealth(session, checks);
  },
};

const DoctorDocument = z.object({
  checks: z.array(
    z.object({
      name: z.string(),
      verdict: z.enum(['ok', 'warn', 'fail']),
      found: z.string(),
      advice: z.string().nullable(),
    }),
  ),
});

/** Makes the function that answers the calls of the page. It never throws. */
export function createApi({
  session,
  isReadOnly,
  createProgram,
}: ApiOptions): (call: ApiCall) => Promise<ApiAnswer> {
  const context: ApiContext = {
    session,
    isReadOnly,
    ask: (command) => askCommand(createProgram, session, command),
  };
  return async (call) => {
    try {
      return { httpStatus: 200, document: (await run(context, call)) ?? null };
    } catch (error) {
      return answerFailure(error);
    }
  };
}

async function run(context: ApiContext, { method, path, query, body }: ApiCall): Promise<unknown> {
  if (method === 'GET') {
    const read = Object.hasOwn(readings, path) ? readings[path] : undefined;
    if (read === undefined) throw createNoSuchPath(path);
    return await read(context, parseWith(QuerySchema, Object.fromEntries(query)));
  }
  const action = Object.hasOwn(actions, path) ? actions[path] : undefined;
  if (action === undefined) throw createNoSuchPath(path);
  if (context.isReadOnly && action.changes) throw createReadOnly();
  return await action.run(context, body);
}

function listOf(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [text];
}

/** The time zone of the browser, if this machine knows it. */
function placeOf(timeZone: string | undefined): { readonly timeZone?: string } {
  if (timeZone === undefined) return {};
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return { timeZone };
  } catch {
    return {};
  }
}

function createNoSuchPath(path: string): CommandFailure {
  return new CommandFailure('not_found', `the page has no ${path}`, 'Reload the page.');
}

function createReadOnly(): CommandFailure {
  return new CommandFailure(
    'read_only',
    'this page only shows: it was started with --read-only',
    'Use a page without it, or a terminal.',
  );
}

const httpStatuses: Readonly<Record<string, number>> = {
  usage: 400,
  not_found: 404,
  unknown_signal: 404,
  read_only: 403,
  unexpected: 500,
};

function answerFailure(error: unknown): ApiAnswer {
  const { exitStatus: _, ...failure }: FailureReport = reportFailure(error);
  return { httpStatus: httpStatuses[failure.code] ?? 422, document: { error: failure } };
}
