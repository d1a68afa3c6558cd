import { Argument, type Command, Option } from 'commander';
import { formatDecimal, parseDecimal } from '../../lib/base/decimal.ts';
import type { Account } from '../../lib/model/account.ts';
import { type Order, type OrderRequest, type OrderType, type Side, sides } from '../../lib/model/order.ts';
import { endpointOfType } from '../../lib/orders/order-types.ts';
import { type Context, runCommand } from '../command.ts';
import { createUsageFailure } from '../failure.ts';
import { askExchange, timeoutMs } from '../session/exchange.ts';
import { chooseAccount } from '../session/session.ts';
import { formatAmount, renderFields } from '../show/print.ts';
import { readPositiveOption } from './paper-main-account.ts';

interface HandOptions {
  readonly price?: string;
  readonly stop?: string;
  readonly stopLoss?: string;
  readonly takeProfit?: string;
  readonly reduceOnly?: true;
  readonly spot?: true;
  readonly account?: string;
}

interface HandOrder extends HandOptions {
  readonly market: string;
  readonly side: Side;
  readonly amount: string;
}

/** The command that places an order by hand, as the owner does on the exchange's website. */
export function addPaperOrderCommand(paper: Command): void {
  paper
    .command('order')
    .description(
      'place an order by hand, as you would on the website of the exchange; the relay knows nothing of it',
    )
    .argument('<market>', 'for example BTC_USDT')
    .addArgument(new Argument('<side>', 'what it does').choices(sides))
    .argument('<amount>', 'in the base currency', readPositiveOption)
    .option('--price <price>', 'a limit order at this price (default: a market order)', readPositiveOption)
    .option('--stop <price>', 'the order waits until the market reaches this price', readPositiveOption)
    .option('--stop-loss <price>', 'placed when the order fills', readPositiveOption)
    .option('--take-profit <price>', 'placed when the order fills', readPositiveOption)
    .option('--reduce-only', 'only reduces a position')
    .addOption(
      new Option(
        '--spot',
        'trade the spot balance (default: where the account trades this market)',
      ).conflicts(['stopLoss', 'takeProfit', 'reduceOnly']),
    )
    .option('--account <name>', 'account of the relay whose key signs (default: the first configured one)')
    .action((market: string, side: Side, amount: string, options: HandOptions, command: Command) =>
      runCommand(command, (context) => placeByHand(context, { ...options, market, side, amount })),
    );
}

async function placeByHand(context: Context, asked: HandOrder): Promise<void> {
  const { session, printChange } = context;
  const account = chooseAccount(session.settings, asked.account);
  // Only a relay with a paper exchange goes on: the key of any other one trades real money.
  session.locatePaper();
  const { type, ...fields } = requestOf(asked, account);
  const order = await askExchange(session, account, (client) =>
    client.call(endpointOfType(type), fields, { timeoutMs }),
  );
  printChange({ account: account.name, order }, () => renderFields(describePlaced(order)));
}

function requestOf(asked: HandOrder, account: Account): OrderRequest {
  const { market, side, amount, price, stop, stopLoss, takeProfit, reduceOnly } = asked;
  const isSpot = asked.spot === true || account.markets[market]?.tradesOn === 'spot';
  const type = typeOf(asked, isSpot);
  if (isSpot && (stopLoss ?? takeProfit ?? reduceOnly) !== undefined)
    throw createUsageFailure(
      `${market} trades on spot, where an order takes no stop-loss, no take-profit and no --reduce-only`,
      'Leave them out, or name a market that the account trades on margin or futures.',
    );
  if (type === 'spot_stop_market' && side === 'buy')
    throw createUsageFailure(
      'the exchange takes the amount of a stop-market buy on spot in the quote currency',
      'Give a --price beside --stop.',
    );
  return {
    type,
    market,
    side,
    amount: parseDecimal(amount),
    ...(price === undefined ? {} : { price: parseDecimal(price) }),
    ...(stop === undefined ? {} : { activationPrice: parseDecimal(stop) }),
    ...(stopLoss === undefined ? {} : { stopLoss: parseDecimal(stopLoss) }),
    ...(takeProfit === undefined ? {} : { takeProfit: parseDecimal(takeProfit) }),
    ...(reduceOnly === true ? { reduceOnly } : {}),
    // Orders of the website have none.
    clientOrderId: '',
  };
}

function typeOf({ price, stop }: HandOrder, isSpot: boolean): OrderType {
  if (stop !== undefined && price !== undefined) return isSpot ? 'spot_stop_limit' : 'stop_limit';
  if (stop !== undefined) return isSpot ? 'spot_stop_market' : 'stop_market';
  if (price !== undefined) return isSpot ? 'spot_limit' : 'limit';
  return isSpot ? 'spot_stock_market' : 'market';
}

function describePlaced(order: Order): readonly (readonly [string, string | null])[] {
  const { oto } = order;
  return [
    ['placed', `order ${order.orderId}`],
    ['order', `${order.side} ${formatAmount(order.amount)} of ${order.market}`],
    ['status', order.status],
    ['filled', formatAmount(order.filled)],
    ['stop price', order.activationPrice === undefined ? null : formatDecimal(order.activationPrice)],
    ['exits', oto == null ? null : 'placed when the order fills'],
  ];
}
