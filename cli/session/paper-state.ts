import * as z from 'zod';
import { quoteInName } from '../../lib/model/market.ts';
import { isQuoteSized, orderTypes, sides } from '../../lib/model/order.ts';
import { formatSecond } from '../show/print.ts';
import { renderTable } from '../show/table.ts';
import type { Screen } from '../show/terminal.ts';

type Width = Pick<Screen, 'width'>;

const Amounts = z.record(z.string(), z.string());
const Balances = z.record(z.string(), z.object({ available: z.string(), reserved: z.string() }));

/** The parts of the state that the tables show; `--json` prints all of it. */
const StateField = z.object({
  prices: Amounts,
  accounts: z.record(
    z.string(),
    z.object({
      main: Amounts,
      spot: Balances,
      collateral: Balances,
      leverage: z.int(),
      hedgeMode: z.boolean(),
      positions: z.record(
        z.string(),
        z.object({ amount: z.string(), basePrice: z.string(), margin: z.string() }),
      ),
    }),
  ),
  orders: z.array(
    z.object({
      orderId: z.int(),
      account: z.string(),
      market: z.string(),
      side: z.enum(sides),
      type: z.enum(orderTypes),
      status: z.string(),
      activated: z.boolean(),
      amount: z.string(),
      remaining: z.string(),
      price: z.string().nullable(),
      activationPrice: z.string().nullable(),
      createdAtMs: z.number(),
    }),
  ),
});
type ShownState = z.output<typeof StateField>;

/** How many ended orders are shown, the newest ones. */
const endedOrdersShown = 10;

/** Prices, balances and orders, as tables. */
export function renderPaperState(input: unknown, screen: Width): string {
  const state = StateField.parse(input);
  return [renderPrices, renderBalances, renderModes, renderPositions, renderOrders]
    .map((render) => render(state, screen))
    .filter((part) => part !== '')
    .join('\n\n');
}

function renderPrices({ prices }: ShownState, screen: Width): string {
  const columns = [{ title: 'market' }, { title: 'last price', align: 'right' as const }];
  return renderTable(columns, Object.entries(prices), screen);
}

function renderBalances({ accounts }: ShownState, screen: Width): string {
  const rows = Object.entries(accounts).flatMap(([account, { main, spot, collateral }]) => {
    const tickers = [...new Set([main, spot, collateral].flatMap(Object.keys))].sort();
    return tickers.map((ticker, index) => [
      index === 0 ? account : '',
      ticker,
      main[ticker] ?? '0',
      ...[spot, collateral].flatMap((balances) => [
        balances[ticker]?.available ?? '0',
        balances[ticker]?.reserved ?? '0',
      ]),
    ]);
  });
  return renderTable(
    [
      { title: 'account' },
      { title: 'ticker' },
      { title: 'main', align: 'right' },
      { title: 'spot', align: 'right' },
      { title: 'reserved', align: 'right' },
      { title: 'collateral', align: 'right' },
      { title: 'reserved', align: 'right' },
    ],
    rows,
    screen,
  );
}

function renderModes({ accounts }: ShownState): string {
  return Object.entries(accounts)
    .flatMap(([account, { leverage, hedgeMode }]) => [
      `Account ${account} has leverage ${leverage}.`,
      ...(hedgeMode ? [`Account ${account} is in hedge mode.`] : []),
    ])
    .join('\n');
}

function renderPositions({ accounts }: ShownState, screen: Width): string {
  const rows = Object.entries(accounts).flatMap(([account, { positions }]) =>
    Object.entries(positions).map(([market, { amount, basePrice, margin }]) => [
      account,
      market,
      amount,
      basePrice,
      margin,
    ]),
  );
  if (rows.length === 0) return '';
  return renderTable(
    [
      { title: 'account' },
      { title: 'position' },
      { title: 'amount', align: 'right' },
      { title: 'base price', align: 'right' },
      { title: 'margin', align: 'right' },
    ],
    rows,
    screen,
  );
}

/** An amount of an order, with its currency where the order is sized in the quote currency. */
function amountOf({ type, side, market }: ShownState['orders'][number], amount: string): string {
  return isQuoteSized({ type, side }) ? `${amount} ${quoteInName(market) ?? 'quote'}` : amount;
}

function renderOrders({ orders }: ShownState, screen: Width): string {
  const isOpen = ({ status }: ShownState['orders'][number]) =>
    status === 'open' || status === 'partially_filled';
  const ended = orders.filter((order) => !isOpen(order));
  const shown = [...orders.filter(isOpen), ...ended.slice(-endedOrdersShown)];
  if (shown.length === 0) return 'No orders yet.';
  const table = renderTable(
    [
      { title: 'since (UTC)', optional: true },
      { title: 'order', align: 'right' },
      { title: 'account', optional: true },
      { title: 'market' },
      { title: 'type', optional: true },
      { title: 'side' },
      { title: 'amount', align: 'right' },
      { title: 'remaining', align: 'right' },
      { title: 'trigger', align: 'right' },
      { title: 'price', align: 'right' },
      { title: 'status' },
    ],
    shown.map((order) => [
      formatSecond(order.createdAtMs),
      String(order.orderId),
      order.account,
      order.market,
      order.type,
      order.side,
      amountOf(order, order.amount),
      amountOf(order, order.remaining),
      order.activationPrice ?? '–',
      order.price ?? 'market',
      order.status,
    ]),
    screen,
  );
  const hidden = ended.length - endedOrdersShown;
  return hidden > 0 ? `${table}\n\n${hidden} older ended orders are not shown; --json contains all.` : table;
}
