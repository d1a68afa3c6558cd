import * as z from 'zod';
import { findRehearsalReason } from '../../lib/model/account.ts';
import { observations } from '../../lib/relay/settle/resolve-signal.ts';
import { membersOf, memberValue } from '../../lib/translate/own-message.ts';
import { translateMessage } from '../../lib/translate/translate-message.ts';
import { CommandFailure, reportFailure } from '../failure.ts';
import { readReceipt } from '../session/alert-receipt.ts';
import { chooseAccount, type Session } from '../session/session.ts';
import { type ApiContext, parseWith } from './api-context.ts';
import { checkMessage, contextOf, fillWithSamples } from './check-message.ts';
import { needsSlippage } from './read-signals.ts';
import { placeAgain } from './send-again.ts';

/** A call of the page that is no plain reading. */
export interface PageAction {
  /** Whether it changes something, or shows what lets others change something. */
  readonly changes: boolean;
  run(context: ApiContext, body: unknown): Promise<unknown>;
}

const Name = z.string().min(1).max(100);
const Id = z.int().positive();
const Message = z
  .string()
  .min(1)
  .max(64 * 1024);
const Side = z.enum(['long', 'short']).optional();

const Resolve = z.strictObject({
  account: Name,
  id: Name,
  how: z.enum(['look', 'cancel', ...observations]),
  note: z.string().max(200).optional(),
  orderId: Id.optional(),
});
const Cancel = z.strictObject({
  account: Name,
  market: Name,
  orderId: Id.optional(),
  oco: Id.optional(),
  oto: Id.optional(),
});
const Close = z.strictObject({
  account: Name,
  market: Name,
  part: Name.optional(),
  side: Side,
  maxSlippage: Name.optional(),
});
const Protect = z.strictObject({
  account: Name,
  market: Name,
  stopLoss: Name.optional(),
  takeProfit: z.array(Name).max(5).optional(),
  trailing: Name.optional(),
  side: Side,
});
const Pause = z.strictObject({
  account: Name.optional(),
  reason: z.string().max(200).optional(),
  everything: z.boolean().optional(),
});
const Check = z.strictObject({
  account: Name,
  message: Message,
  ticker: Name.optional(),
  values: z.record(z.string().max(100), z.string().max(100)).optional(),
});

/** Every action. Those that change something do what the command of the same name does. */
export const actions: Readonly<Record<string, PageAction>> = {
  '/api/resolve': change(Resolve, ({ ask }, { account, id, how, note, orderId }) => {
    const saw = how === 'look' || how === 'cancel' ? undefined : how;
    const options = { account, cancel: how === 'cancel', saw, note, 'order-id': orderId };
    return ask({ command: 'resolve', args: [id], options });
  }),
  '/api/again': change(z.strictObject({ account: Name, id: Name }), async ({ session }, { account, id }) => ({
    signals: await placeAgain(session, account, id),
  })),
  '/api/cancel': change(Cancel, ({ ask }, { account, market, orderId, oco, oto }) =>
    ask({ command: 'cancel', args: [market], options: { account, 'order-id': orderId, oco, oto } }),
  ),
  '/api/close': change(Close, ({ ask }, { account, market, part, side, maxSlippage }) => {
    const options = { account, part, side, 'max-slippage': maxSlippage };
    return ask({ command: 'close', args: [market], options });
  }),
  '/api/protect': change(Protect, ({ ask }, { account, market, stopLoss, takeProfit, trailing, side }) => {
    const options = { account, 'stop-loss': stopLoss, 'take-profit': takeProfit, trailing, side };
    return ask({ command: 'protect', args: [market], options });
  }),
  '/api/pause': change(Pause, ({ ask }, { account, reason, everything }) =>
    ask({ command: 'pause', args: account === undefined ? [] : [account], options: { reason, everything } }),
  ),
  '/api/resume': change(z.strictObject({ account: Name.optional() }), ({ ask }, { account }) =>
    ask({ command: 'resume', args: account === undefined ? [] : [account] }),
  ),
  '/api/stop': change(z.strictObject({ maxSlippage: Name.optional() }), stopAll),
  '/api/redrive': change(z.strictObject({}), ({ ask }) => ask({ command: 'redrive' })),
  '/api/try': change(Check, tryMessage),
  '/api/webhook': change(z.strictObject({ account: Name }), async ({ session }, { account }) => ({
    url: await session.readWebhookUrl(chooseAccount(session.settings, account)),
    hint: session.reachHint,
  })),
  '/api/check': reading(Check, ({ session }, { account, message, ticker, values }) =>
    checkMessage(session, chooseAccount(session.settings, account), message, { ticker, values }),
  ),
  '/api/translate': reading(Check, async ({ session }, { account, message }) =>
    translate(session, account, message),
  ),
};

function change<Body>(
  schema: z.ZodType<Body>,
  run: (context: ApiContext, body: Body) => Promise<unknown>,
): PageAction {
  return { changes: true, run: async (context, body) => await run(context, parseWith(schema, body)) };
}

function reading<Body>(
  schema: z.ZodType<Body>,
  run: (context: ApiContext, body: Body) => Promise<unknown>,
): PageAction {
  return { changes: false, run: async (context, body) => await run(context, parseWith(schema, body)) };
}

/**
 * First the pause: nothing may open a position while the others are closed. A close passes it. One account after another is
 * closed, so that what fails for one keeps no other open.
 *
 * @throws CommandFailure `not_closed` when anything was not surely closed
 */
async function stopAll(
  { session, ask }: ApiContext,
  { maxSlippage = '1%' }: { readonly maxSlippage?: string | undefined },
): Promise<unknown> {
  const paused = await ask({
    command: 'pause',
    options: { reason: 'stopped with the red button of the page' },
  });
  const closes: unknown[] = [];
  const coins: unknown[] = [];
  const notLookedAt: string[] = [];
  const failures: string[] = [];
  for (const account of Object.values(session.settings.accounts)) {
    const options = {
      account: account.name,
      'max-slippage': needsSlippage(account) ? maxSlippage : undefined,
    };
    try {
      const closed = CloseAllDocument.parse(await ask({ command: 'close-all', options }));
      closes.push(...closed.closes);
      coins.push(...closed.coins);
      notLookedAt.push(...closed.notLookedAt);
    } catch (error) {
      failures.push(reportFailure(error).message);
    }
  }
  if (failures.length > 0)
    throw new CommandFailure(
      'not_closed',
      `every account is paused, but ${failures.join('; ')}`,
      'Look at the positions. In an emergency close them on the website of the exchange.',
    );
  return { paused, closes, coins, notLookedAt };
}

const CloseAllDocument = z.object({
  closes: z.array(z.unknown()),
  coins: z.array(z.unknown()),
  notLookedAt: z.array(z.string()),
});

/**
 * Sends a message as TradingView would, with sample values.
 *
 * @throws CommandFailure `moves_money` for an account whose orders are real
 */
async function tryMessage(
  { session }: ApiContext,
  { account: name, message, ...chosen }: z.output<typeof Check>,
): Promise<unknown> {
  const account = chooseAccount(session.settings, name);
  const isPaper = session.locateExchange().kind === 'paper';
  if (!isPaper && findRehearsalReason(account.mode, false) === null)
    throw new CommandFailure(
      'moves_money',
      `account ${name} trades real money, and a message is tried on paper or in dry-run mode only`,
      'Choose another account.',
    );
  const body = await fillWithSamples(session, account, message, chosen);
  const response = await session.sendAlert(account, Buffer.from(body));
  return { account: name, signals: readReceipt(response, session.relayName) };
}

/** What `relay translate` says, also when it finds nothing to paste. */
function translate(session: Session, name: string, text: string) {
  const account = chooseAccount(session.settings, name);
  const { product, messages, words, missing, advice, isTaken } = translateMessage(
    text,
    contextOf(session, account),
  );
  const documents = messages.map((message) =>
    Object.fromEntries(membersOf(message).map(([key, value]) => [key, memberValue(key, value)])),
  );
  const message = documents.length === 1 ? documents[0] : documents;
  return {
    product,
    isTaken,
    message: documents.length === 0 ? null : JSON.stringify(message, null, 2),
    words: words.map(({ theirs, ours, note }) => ({
      theirs,
      ours: Object.entries(ours)
        .map(([key, value]) => `"${key}": "${value}"`)
        .join(', '),
      note,
    })),
    missing,
    advice,
  };
}
