import { type Command, Option } from 'commander';
import { formatDecimal } from '../../lib/base/decimal.ts';
import { cancelOrder } from '../../lib/exchange/endpoints/cancel-order.ts';
import { ExchangeError } from '../../lib/exchange/errors.ts';
import { listConditionalOrders } from '../../lib/exchange/list-conditional-orders.ts';
import type { ConditionalOrder, Order } from '../../lib/model/order.ts';
import { type Context, readCount, runCommand } from '../command.ts';
import { askExchange, timeoutMs } from '../exchange.ts';
import { CommandFailure, createUsageFailure } from '../failure.ts';
import { type Cell, formatAmount, formatSecond, renderFields } from '../print.ts';
import { chooseAccount } from '../session.ts';
import { renderTable } from '../table.ts';
import type { Screen } from '../terminal.ts';

interface CancelOptions {
  readonly orderId?: number;
  readonly clientOrderId?: string;
  readonly account?: string;
}

export function addOrderCommands(program: Command): void {
  program
    .command('orders')
    .description('list the open conditional orders: pairs (OCO) and orders with exits to come (OTO)')
    .option('--market <market>', 'only those of this market, for example BTC_USDT')
    .option('--account <name>', 'whose key signs (default: the first configured account)')
    .action((options: { market?: string; account?: string }, command: Command) =>
      runCommand(command, (context) => showOrders(context, options)),
    );
  program
    .command('cancel')
    .description('cancel one open order, straight at the exchange')
    .argument('<market>', 'for example BTC_USDT')
    .addOption(
      new Option('--order-id <n>', "the exchange's id")
        .argParser(readCount(1, Number.MAX_SAFE_INTEGER))
        .conflicts('clientOrderId'),
    )
    .option('--client-order-id <id>', "the relay's id; `signal` shows it")
    .option('--account <name>', 'whose key signs (default: the first configured account)')
    .action((market: string, options: CancelOptions, command: Command) =>
      runCommand(command, (context) => cancelOne(context, market, options)),
    );
}

async function showOrders(
  { session, terminal, print }: Context,
  { market, account: name }: { market?: string; account?: string },
): Promise<void> {
  const account = chooseAccount(session.settings, name);
  const orders = await askExchange(session, account, (client) =>
    listConditionalOrders(client, market, { timeoutMs }),
  );
  print({ account: account.name, orders }, () => renderConditionalOrders(orders, terminal));
}

function renderConditionalOrders(orders: readonly ConditionalOrder[], screen: Screen): string {
  if (orders.length === 0)
    return 'No open conditional orders. Plain stop-limits are not among them: see `signals`.';
  return renderTable(
    [
      { title: 'group' },
      { title: 'leg' },
      { title: 'order', align: 'right' },
      { title: 'market' },
      { title: 'side' },
      { title: 'left', align: 'right' },
      { title: 'trigger', align: 'right' },
      { title: 'price', align: 'right' },
      { title: 'status' },
      { title: 'since (UTC)' },
    ],
    orders.flatMap((record) =>
      legRows(record).map((cells, index) => [index === 0 ? groupName(record) : '', ...cells]),
    ),
    screen,
  );
}

function groupName({ kind, id }: ConditionalOrder): string {
  return `${kind.toUpperCase()} ${id}`;
}

function legRows(record: ConditionalOrder): readonly (readonly Cell[])[] {
  if (record.kind === 'oco')
    return [orderRow('stop loss', record.stopLoss), orderRow('take profit', record.takeProfit)];
  const { primary, stopLossPrice, takeProfitPrice } = record;
  return [
    orderRow('entry', primary),
    ...(stopLossPrice === null ? [] : [exitRow('stop loss', primary, formatDecimal(stopLossPrice), '–')]),
    ...(takeProfitPrice === null
      ? []
      : [exitRow('take profit', primary, '–', formatDecimal(takeProfitPrice))]),
  ];
}

function orderRow(leg: string, order: Order): readonly Cell[] {
  return [
    leg,
    String(order.orderId),
    order.market,
    order.side,
    formatDecimal(order.left),
    describeTrigger(order),
    formatDecimal(order.price),
    order.status,
    formatSecond(order.createdAtMs),
  ];
}

const conditionSigns: Readonly<Record<string, string>> = { gte: '≥ ', lte: '≤ ' };

function describeTrigger({ activationPrice, activationCondition, activated }: Order): string {
  if (activationPrice === undefined) return '–';
  const sign = conditionSigns[activationCondition ?? ''] ?? '';
  return `${sign}${formatDecimal(activationPrice)}${activated === true ? ' met' : ''}`;
}

/** An exit that does not exist yet: it is placed when the entry fills. */
function exitRow(
  leg: string,
  { market, side, amount }: Order,
  trigger: string,
  price: string,
): readonly Cell[] {
  const exitSide = side === 'buy' ? 'sell' : 'buy';
  return [leg, '–', market, exitSide, formatDecimal(amount), trigger, price, 'to come', ''];
}

async function cancelOne(
  { session, printChange }: Context,
  market: string,
  options: CancelOptions,
): Promise<void> {
  const account = chooseAccount(session.settings, options.account);
  const params = cancelParams(market, options);
  const order = await askExchange(session, account, (client) =>
    client.call(cancelOrder, params, { timeoutMs }),
  ).catch((error: unknown) => {
    throw isPerhapsDone(error) ? createPerhapsCancelled() : error;
  });
  printChange({ account: account.name, order }, () =>
    renderFields([
      ['cancelled', `order ${order.orderId}`],
      ['client order id', order.clientOrderId === '' ? null : order.clientOrderId],
      [
        'was',
        `${order.side} ${formatAmount(order.amount)} of ${order.market} at ${formatAmount(order.price)}`,
      ],
      ['filled before', formatAmount(order.dealStock)],
      ['left', formatAmount(order.left)],
    ]),
  );
}

function cancelParams(market: string, { orderId, clientOrderId }: CancelOptions) {
  if (orderId !== undefined) return { market, orderId };
  if (clientOrderId !== undefined) return { market, clientOrderId };
  throw createUsageFailure('it is not said which order to cancel', 'Give --order-id or --client-order-id.');
}

/** After a lost answer a cancellation is tried again, and then the exchange may only say that nothing is open. */
function isPerhapsDone(error: unknown): boolean {
  return (
    error instanceof ExchangeError &&
    error.failure.kind === 'rejected' &&
    error.attempts.some(({ failure }) => failure.kind === 'ambiguous')
  );
}

function createPerhapsCancelled(): CommandFailure {
  return new CommandFailure(
    'perhaps_cancelled',
    'an answer was lost, and then the exchange refused: the order was cancelled by this, or it was not open before',
    "Look at the exchange's order history for which; here, `paper state` shows it.",
  );
}
