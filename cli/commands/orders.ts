import type { Command } from 'commander';
import type { ExchangeClient } from '../../lib/exchange/client.ts';
import { listConditionalOrders } from '../../lib/exchange/list-conditional-orders.ts';
import { listOpenOrders } from '../../lib/exchange/list-open-orders.ts';
import { mostFollowed } from '../../lib/ledger/executions.ts';
import { followedAs, orderRecordOf } from '../../lib/ledger/order-record.ts';
import type { Account } from '../../lib/model/account.ts';
import { orderRoles } from '../../lib/model/execution.ts';
import type { Order } from '../../lib/model/order.ts';
import { type Context, runCommand } from '../command.ts';
import { askExchange, explainMarket, timeoutMs } from '../session/exchange.ts';
import { chooseAccount, describeChosen, type Session } from '../session/session.ts';
import { paint } from '../show/print.ts';
import { type OpenAtExchange, renderOrders } from '../show/render-orders.ts';
import type { Screen } from '../show/terminal.ts';

interface ListOptions {
  readonly market?: string;
  readonly account?: string;
}

export function addOrdersCommand(program: Command): void {
  program
    .command('orders')
    .description('list the open orders of an account from the exchange')
    .option('--market <market>', "only this market, for example BTC_USDT (default: the account's markets)")
    .option('--account <name>', 'account whose key signs (default: the first configured one)')
    .action((options: ListOptions, command: Command) =>
      runCommand(command, (context) => showOrders(context, options)),
    );
}

async function showOrders({ session, terminal, print }: Context, options: ListOptions): Promise<void> {
  const account = chooseAccount(session.settings, options.account);
  const market = options.market?.toUpperCase();
  const markets = market === undefined ? Object.keys(account.markets) : [market];
  const hasList = session.locateExchange().dialect === 'live';
  const { groups, open, isWhole } = await askExchange(session, account, async (client) => {
    const listed = await listConditionalOrders(client, market, { timeoutMs });
    const all = hasList ? await listAllOpen(client, markets) : { open: null, isWhole: true };
    return { ...all, groups: listed.groups, isWhole: listed.isWhole && all.isWhole };
  }).catch((error: unknown) => {
    throw market === undefined ? error : explainMarket(error, account, market);
  });
  const asked = hasList ? markets : null;
  const signals = await findSignals(session, account);
  const document = { orders: groups, open, signals: Object.fromEntries(signals), markets: asked, isWhole };
  print({ account: account.name, ...document }, () =>
    [
      renderOpen({ groups, open, signals }, terminal),
      ...describeReach(asked, isWhole, options).map(paint),
      paint(describeChosen(session, account, options.account, 'orders --account')),
    ].join('\n\n'),
  );
}

/** Order id → the signal whose order, stop-loss or take-profit it is. */
async function findSignals(session: Session, { name }: Account): Promise<ReadonlyMap<number, string>> {
  const entries = await session.openExecutions().followed(name, mostFollowed);
  return new Map(
    entries.flatMap((entry) => {
      const record = orderRecordOf(entry);
      const orders = orderRoles.map((role) => followedAs(record, role));
      const ids = [entry.orderId, ...orders.map((order) => order?.orderId)];
      return ids.flatMap((id) => (typeof id === 'number' ? [[id, entry.signalId] as const] : []));
    }),
  );
}

interface AllOpen {
  readonly open: readonly Order[];
  readonly isWhole: boolean;
}

async function listAllOpen(client: ExchangeClient, markets: readonly string[]): Promise<AllOpen> {
  const open: Order[] = [];
  let isWhole = true;
  for (const market of markets) {
    const listed = await listOpenOrders(client, market, { timeoutMs });
    open.push(...listed.orders);
    isWhole &&= listed.isWhole;
  }
  return { open, isWhole };
}

function renderOpen(found: OpenAtExchange, screen: Screen): string {
  if (found.groups.length > 0 || (found.open?.length ?? 0) > 0) return renderOrders(found, screen);
  return found.open === null ? 'No open orders with stop-loss or take-profit.' : 'No open orders.';
}

/** Says what the list cannot show. @param markets null in a dialect that cannot list single orders */
function describeReach(
  markets: readonly string[] | null,
  isWhole: boolean,
  { market }: ListOptions,
): readonly string[] {
  const unread = isWhole
    ? []
    : ['There may be more orders: a list was too long, or a record of it could not be read.'];
  if (markets === null)
    return [
      ...unread,
      'The documented dialect cannot list orders without stop-loss and take-profit: `npx relay signals --status placed` shows the orders that the relay placed, and the website of the exchange shows all open orders.',
    ];
  return [
    ...unread,
    ...(market === undefined
      ? [`Markets included: ${markets.join(', ')}. Use --market for another one.`]
      : []),
  ];
}
